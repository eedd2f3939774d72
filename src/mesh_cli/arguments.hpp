#pragma once

#include <CLI/CLI.hpp>

#include <cnc/contract/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cnc::cli {

/// What the programs on meshes have in common, as typed.
struct MeshArguments {
  std::string mesh;
  std::string output;
  std::string picture;
  std::string report;
  std::string backend = "auto";
  std::string memory;
  std::string precision = "f64";
  std::string least_squares = "auto";
  std::string up;
  std::vector<double> view;
  std::optional<double> rtol;
  double usual_rtol = 1e-8;  // where none is given
  index_t max_iterations = 100'000;
  int picture_size = 1200;
  int threads = 0;
  bool quiet = false;
};

/// `picture`: what the picture shows, for the help.
void add_file_options(CLI::App& app, MeshArguments& arguments, const std::string& picture);
void add_solver_options(CLI::App& app, MeshArguments& arguments);
void add_picture_options(CLI::App& app, MeshArguments& arguments);

/// Everything that can be said before the mesh is read: outputs that cannot be written, names of unknown kinds, a backend that is
/// not there. `picture_kinds`: endings that --picture may have.
/// Errors   InvalidArgument, IoError.
void check_arguments(const MeshArguments& arguments, const std::vector<std::string>& picture_kinds,
                     const std::vector<std::string>& other_inputs);

}  // namespace cnc::cli
