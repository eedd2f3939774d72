// Any bytes are a file: read it as a surface of any format and name, and expect a mesh or an Error.
// Windows are a few bytes, so that every boundary is met, and the result must be the same as with
// one window. What was read is analyzed, oriented, written and read again.

#include <cnc/error.hpp>

#include "geometry/read_mesh.hpp"
#include "geometry/topology.hpp"
#include "geometry/write_mesh.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace {

using namespace cnc::geometry;

void expect(bool condition) {
  if (!condition) std::abort();
}

struct Outcome {
  std::optional<Mesh> mesh;
  std::string error;
};

Outcome read(std::string_view bytes, const std::string& name, std::size_t window) {
  cnc::detail::ReadOptions options;
  options.window_bytes = window;
  options.threads = 1;
  options.memory_limit = std::size_t{1} << 20;
  try {
    return {parse_mesh(bytes, name, options), ""};
  } catch (const cnc::Error& error) {
    return {std::nullopt, error.what()};
  }
}

void expect_same(const Mesh& a, const Mesh& b) {
  // No coordinate is NaN, so that equal means equal; the sign of a zero is kept by other tests.
  expect(a.points == b.points && a.triangles == b.triangles);
}

std::size_t twice_the_edges_of(const Topology& topology) {
  std::size_t triangles = 0;
  for (const Component& part : topology.components) triangles += part.triangles.size();
  return 3 * triangles;
}

void check_topology(const Mesh& mesh) {
  const Topology topology = analyze(mesh);
  std::size_t boundary = 0;
  for (const Component& part : topology.components) {
    for (const auto& loop : part.loops) boundary += loop.size();
    expect(!part.vertices.empty() && !part.triangles.empty());
  }
  try {
    require_manifold(mesh, topology);
  } catch (const cnc::InvalidArgument&) {
    return;
  }
  // Of a manifold, every edge has two triangles or is on the boundary, and genus and loops fit.
  expect(twice_the_edges_of(topology) + boundary == 2 * topology.edges.size());
  for (const Component& part : topology.components) {
    expect(part.genus >= 0 && part.euler + static_cast<cnc::offset_t>(part.loops.size()) ==
                                  2 - 2 * cnc::offset_t{part.genus});
  }
}

void check_orientation(Mesh mesh) {
  try {
    orient(mesh);
  } catch (const cnc::InvalidArgument&) {
    return;
  }
  expect(analyze(mesh).misoriented_edges.empty());
  expect(orient(mesh) == 0);
}

void check_written(const Mesh& mesh) {
  std::ostringstream obj;
  std::ostringstream ply;
  write_obj(obj, mesh);
  write_ply(ply, mesh);
  expect_same(parse_mesh(obj.str(), "fuzz.obj"), mesh);
  expect_same(parse_mesh(ply.str(), "fuzz.ply"), mesh);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::array<std::string, 5> names = {"fuzz", "fuzz.obj", "fuzz.off", "fuzz.ply", "fuzz.stl"};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t last = size > 0 ? data[size - 1] : 0;
  const std::string& name = names[last % names.size()];
  const Outcome whole = read(bytes, name, 4096);
  const Outcome parts = read(bytes, name, 1 + last);
  expect(whole.error == parts.error);
  expect(whole.mesh.has_value() == parts.mesh.has_value());
  if (whole.mesh) {
    expect_same(*whole.mesh, *parts.mesh);
    check_topology(*whole.mesh);
    check_orientation(*whole.mesh);
    check_written(*whole.mesh);
  }
  return 0;
}
