#include "arguments.hpp"

#include "cli/option_checks.hpp"
#include "cli/output_file.hpp"
#include "geometry/write_mesh.hpp"

#include <cnc/context.hpp>
#include <cnc/error.hpp>

namespace cnc::cli {

void add_file_options(CLI::App& app, MeshArguments& a, const std::string& picture) {
  app.add_option("MESH", a.mesh, "Surface: OBJ, OFF, PLY or STL, plain or .gz")
      ->required()
      ->check(not_empty);
  app.add_option("-o,--output", a.output, "Write the result (.obj, .ply, .obj.gz, .ply.gz)")
      ->required()
      ->check(not_empty)
      ->type_name("FILE");
  app.add_option("--picture", a.picture, picture)->check(not_empty)->type_name("FILE");
  app.add_option("--report", a.report, "Write everything as JSON ('-': standard output)")
      ->check(not_empty)
      ->type_name("FILE");
  app.add_flag("-q,--quiet", a.quiet, "Print nothing but errors");
}

void add_solver_options(CLI::App& app, MeshArguments& a) {
  app.add_option("--least-squares", a.least_squares, "auto, lsqr, cgnr or normal-equations")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--backend", a.backend, "Kernel set; 'cnc backends' lists them")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--memory", a.memory, "host or device (default: the backend's)")
      ->check(CLI::IsMember({"host", "device"}))
      ->type_name("NAME");
  app.add_option("--precision", a.precision, "f64, f32, or f32/f64 (float matrix, double vectors)")
      ->check(CLI::IsMember({"f32", "f64", "f32/f64"}))
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_option(
         "--rtol", a.rtol,
         "Relative tolerance of a solve (default: 1e-8, in f32 1e-5, of spectral maps 1e-4)")
      ->check(not_negative)
      ->type_name("X");
  app.add_option("--max-iterations", a.max_iterations, "Iteration limit of each solve")
      ->check(not_negative)
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--threads", a.threads, "Threads (default: all)")
      ->check(CLI::Range(1, largest_threads()))
      ->type_name("N");
}

void add_picture_options(CLI::App& app, MeshArguments& a) {
  app.add_option("--view", a.view, "From where the picture looks, in degrees")
      ->expected(2)
      ->check(CLI::Range(-360.0, 360.0))
      ->type_name("AZIMUTH ELEVATION");
  app.add_option("--up", a.up, "Axis at the top of the picture: x, y or z")
      ->check(CLI::IsMember({"x", "y", "z"}))
      ->type_name("AXIS");
  app.add_option("--picture-size", a.picture_size, "Pixels across; half as many down")
      ->check(CLI::Range(64, 8192))
      ->type_name("N")
      ->capture_default_str();
}

void check_arguments(const MeshArguments& a, const std::vector<std::string>& picture_kinds,
                     const std::vector<std::string>& other_inputs) {
  check_readable(a.mesh);
  geometry::require_mesh_name(a.output);
  if (!a.picture.empty()) {
    bool known = false;
    std::string kinds;
    for (const std::string& kind : picture_kinds) {
      known = known || a.picture.ends_with(kind);
      kinds += (kinds.empty() ? "" : ", ") + kind;
    }
    if (!known)
      throw InvalidArgument(a.picture + ": unknown kind of picture (known: " + kinds + ")");
  }
  std::vector<std::string> inputs = other_inputs;
  inputs.push_back(a.mesh);
  check_outputs({a.output, a.picture, a.report}, inputs);
}

}  // namespace cnc::cli
