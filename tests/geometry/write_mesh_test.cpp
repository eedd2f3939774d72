#include "geometry/write_mesh.hpp"
#include "mesh_support.hpp"
#include "support/catch.hpp"

#include <random>

using namespace cnc;
using namespace cnc::test;
using geometry::TextureCoordinate;
using geometry::write_mesh;

namespace {

/// A grid with numbers of every size.
Mesh rough_grid() {
  Mesh mesh = grid(40, 30);
  std::mt19937 random(3);
  for (Point& x : mesh.points) {
    for (double& value : x) {
      value = std::ldexp(static_cast<double>(random()) - 2147483648.0,
                         static_cast<int>(random() % 400) - 250);
    }
  }
  return mesh;
}

const std::vector<TextureCoordinate> four = {{0, 0}, {1, 0.1}, {0.25, 1}, {-1e-300, 2}};

template <class Write>
std::string written(const Write& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

}  // namespace

TEST_CASE("OBJ as text") {
  CHECK(written([](auto& out) { geometry::write_obj(out, tetrahedron()); }) ==
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  CHECK(written([](auto& out) { geometry::write_obj(out, tetrahedron(), four); }) ==
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0.1\nvt 0.25 1\nvt -1e-300 2\n"
        "f 1/1 3/3 2/2\nf 1/1 2/2 4/4\nf 1/1 4/4 3/3\nf 2/2 3/3 4/4\n");
}

TEST_CASE("PLY as bytes") {
  std::string expected =
      "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty double x\nproperty double "
      "y\n"
      "property double z\nproperty double s\nproperty double t\nelement face 4\n"
      "property list uchar int vertex_indices\nend_header\n";
  for (std::size_t v = 0; v < 4; ++v) {
    for (const double x : corner_points[v]) expected += bytes_of(x);
    for (const double x : four[v]) expected += bytes_of(x);
  }
  for (const Triangle& triangle : corner_triangles) {
    expected += '\3';
    for (const index_t v : triangle) expected += bytes_of(v);
  }
  CHECK(written([](auto& out) { geometry::write_ply(out, tetrahedron(), four); }) == expected);
}

TEST_CASE("what is written reads back the same, bit by bit") {
  const TemporaryDirectory directory;
  const Mesh mesh = rough_grid();
  std::vector<TextureCoordinate> uv;
  for (const Point& x : mesh.points) uv.push_back({x[0], x[1]});
  for (const char* name : {"a.obj", "a.ply", "a.obj.gz", "a.ply.gz", "a.OBJ", "a.Ply"}) {
    INFO(name);
    const std::string path = directory.file(name);
    write_mesh(path, mesh);
    Mesh back = geometry::read_mesh(path);
    CHECK(back.points == mesh.points);
    CHECK(back.triangles == mesh.triangles);
    CHECK(back.name == path);
    write_mesh(path, mesh, uv);
    back = geometry::read_mesh(path);
    CHECK(back.points == mesh.points);
    CHECK(back.triangles == mesh.triangles);
  }
  CHECK(read_text(directory.file("a.obj.gz")).substr(0, 2) == "\x1f\x8b");
}

TEST_CASE("what cannot be written") {
  const TemporaryDirectory directory;
  for (const char* name : {"a.off", "a", "a.stl", "a.obj.bz2", "obj", "a.gz"}) {
    const std::string path = directory.file(name);
    const std::string message =
        path + ": a surface is written to .obj or .ply (or either with .gz), not to this name";
    CHECK(message_of([&] { geometry::require_mesh_name(path); }) == message);
    CHECK(message_of([&] { write_mesh(path, tetrahedron()); }) == message);
    CHECK_THROWS_AS(write_mesh(path, tetrahedron()), InvalidArgument);
  }
  const std::vector<TextureCoordinate> three(3);
  CHECK(message_of([&] { write_mesh(directory.file("a.obj"), tetrahedron(), three); }) ==
        "write_mesh: 3 texture coordinates for 4 vertices");
  CHECK(directory.files() == 0);
  const std::string nowhere = directory.file("no/where.obj");
  CHECK_THROWS_AS(write_mesh(nowhere, tetrahedron()), IoError);
}

TEST_CASE("a disk without room keeps the old file") {
  if (!std::filesystem::exists("/dev/full")) CNC_SKIP("no /dev/full here");
  const TemporaryDirectory directory;
  const std::string path = directory.file("full.obj");
  std::filesystem::create_symlink("/dev/full", path);
  CHECK(message_of([&] { write_mesh(path, rough_grid()); }) ==
        path + ": cannot write: No space left on device");
}
