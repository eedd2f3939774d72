#include "harness/operation_systems.hpp"

#include "harness/check.hpp"
#include "harness/mesh_systems.hpp"

#include "geometry/read_mesh.hpp"

#include <cnc/error.hpp>
#include <cnc/io.hpp>

#include <charconv>
#include <filesystem>

namespace cnc::perf {
namespace {

constexpr const char* terrain = "terrain:";

bool is_terrain(const std::string& source) { return source.rfind(terrain, 0) == 0; }

geometry::Mesh load_terrain(const std::string& source) {
  const std::string number = source.substr(std::string(terrain).size());
  index_t n = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), n);
  require(error == std::errc() && end == number.data() + number.size(),
          [&] { return "'" + source + "': a number of vertices must follow the colon"; });
  return terrain_mesh(n);
}

bool is_mesh_file(const std::string& source) {
  std::filesystem::path name(source);
  if (name.extension() == ".gz") name = name.stem();
  const std::string end = name.extension().string();
  return end == ".obj" || end == ".off" || end == ".ply" || end == ".stl";
}

/// The name of a file without its directory and its last extensions.
std::string stem_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

/// "dir/A.mtx.gz" gives "dir/A.b.mtx.gz".
std::string right_hand_side_of(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string(), stem = stem_of(path);
  return (file.parent_path() / (stem + ".b" + name.substr(stem.size()))).string();
}

MeasuredSystem finish(MeasuredSystem system) {
  system.structure = analyze(system.A);
  const std::string why = unfit(Method::pcg, system.structure);
  require(why.empty(), [&] { return system.name + ": " + why; });
  return system;
}

MeasuredSystem load_one(const std::string& source) {
  TestMatrix matrix = load_matrix(source);
  MeasuredSystem system;
  const bool is_file = std::filesystem::exists(source);
  system.name = is_file ? stem_of(source) : matrix.name;
  system.A = matrix.A;
  const std::string right = right_hand_side_of(source);
  if (is_file && std::filesystem::exists(right)) {
    system.b = read_vector<double>(right);
    require(system.b.extent(0) == static_cast<std::size_t>(system.A.rows),
            [&] { return right + ": not as long as the matrix has rows"; });
  } else {
    system.b = random_vector<double>(system.A.rows, 2);
  }
  return finish(std::move(system));
}

MeasuredSystem system_of(const geometry::Mesh& mesh, const std::string& kind,
                         const MeshOptions& options) {
  const double start = now();
  NormalEquations equations = kind == "lscm"
                                  ? conformal_system(mesh)
                                  : smoothing_system(mesh, options.fit, options.unknowns);
  MeasuredSystem system;
  system.assembly = now() - start;
  system.name =
      stem_of(mesh.name) + "." + kind + (kind == "smooth" && options.unknowns == 3 ? "3" : "");
  std::replace(system.name.begin(), system.name.end(), ':', '_');
  system.A = std::move(equations.A);
  system.b = std::move(equations.b);
  return finish(std::move(system));
}

}  // namespace

std::vector<MeasuredSystem> load_systems(const std::string& source, const MeshOptions& options) {
  std::vector<MeasuredSystem> systems;
  if (!is_terrain(source) && !is_mesh_file(source)) {
    systems.push_back(load_one(source));
    return systems;
  }
  const geometry::Mesh mesh =
      is_terrain(source) ? load_terrain(source) : geometry::read_mesh(source);
  for (const std::string& kind : options.systems) systems.push_back(system_of(mesh, kind, options));
  return systems;
}

std::string write_system(const std::string& directory, const std::string& suffix,
                         const MeasuredSystem& system) {
  const std::string stem = (std::filesystem::path(directory) / system.name).string();
  const std::string matrix = stem + "." + suffix, right = stem + ".b." + suffix;
  if (suffix == "cnc") {
    write_cache(matrix, system.A);
    write_cache(right, Vector<const double>(system.b));
  } else {
    write_matrix_market(matrix, system.A, true);
    write_vector(right, Vector<const double>(system.b));
  }
  return matrix;
}

}  // namespace cnc::perf
