#include "arguments.hpp"
#include "mesh_program.hpp"
#include "outcome.hpp"
#include "pictures.hpp"
#include "surface.hpp"
#include "vertex_list.hpp"

#include "cli/app.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_checks.hpp"
#include "cli/output_file.hpp"
#include "cli/png_image.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "geometry/point_math.hpp"
#include "geometry/smoothing.hpp"
#include "geometry/write_mesh.hpp"
#include "model/timing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace cnc::cli {
namespace {

struct SmoothArguments : MeshArguments {
  std::string fix = "boundary";
  std::string weights = "uniform";
  double fit = geometry::SmoothingOptions().fit;
};

/// What became of the surface.
struct Change {
  double rough_before = 0, rough_after = 0;
  double moved_most = 0, moved_mean = 0;  // of the size of the surface
  std::size_t fixed = 0;
};

geometry::SmoothingOptions options_from(const SmoothArguments& arguments, const Surface& surface) {
  geometry::SmoothingOptions options;
  if (arguments.weights == "cotangent") options.weights = geometry::SmoothingWeights::cotangent;
  options.fit = arguments.fit;
  options.fixed = parse_vertices(arguments.fix, surface.topology, surface.mesh.vertices());
  return options;
}

geometry::SmoothedSurface smooth_surface(const SmoothArguments& arguments, const Surface& surface,
                                         geometry::SmoothingOptions options, Outcome& outcome) {
  static constexpr const char* axes[] = {"x", "y", "z"};
  ProgressLine line(!arguments.quiet);
  std::string label;
  options.go_on = [&](int axis) {
    label = std::string("  ") + axes[axis];
    return !Interrupt::requested();
  };
  line.show("  preparing ...");
  geometry::SmoothedSurface result;
  with_solver(arguments, surface.mesh.vertices(), line, label,
              [&](geometry::SystemSolver& solver, const SolverPlace& place) {
                outcome.place = place;
                result = smooth(surface.unit, surface.topology, options, solver);
              });
  outcome.method = result.method;
  outcome.equations = result.equations;
  outcome.unknowns = result.unknowns;
  outcome.times = result.times;
  for (std::size_t k = 0; k < 3; ++k)
    outcome.solves.push_back({axes[k], result.solved[k], result.reports[k]});
  return result;
}

/// The surface in its own place and size; vertices that were held keep every bit.
geometry::Mesh moved_mesh(const Surface& surface, const std::vector<geometry::Point>& points) {
  geometry::Mesh moved = surface.mesh;
  for (std::size_t v = 0; v < points.size(); ++v)
    if (points[v] != surface.unit.points[v])
      moved.points[v] = geometry::to_original(points[v], surface.placement);
  return moved;
}

Change change_of(const Surface& surface, const std::vector<geometry::Point>& points,
                 std::size_t fixed) {
  Change change;
  change.fixed = fixed;
  change.rough_before = geometry::roughness(surface.unit.points, surface.topology);
  change.rough_after = geometry::roughness(points, surface.topology);
  for (std::size_t v = 0; v < points.size(); ++v) {
    const double moved = geometry::distance(points[v], surface.unit.points[v]);
    change.moved_most = std::max(change.moved_most, moved);
    change.moved_mean += moved / static_cast<double>(points.size());
  }
  return change;
}

void print_change(std::ostream& out, const SmoothArguments& arguments, const Surface& surface,
                  const Outcome& outcome, const Change& change) {
  out << labelled("Smoothing", arguments.weights + " weights, fit " + print("%g", arguments.fit) +
                                   ", " + count_text(static_cast<long long>(change.fixed)) +
                                   " vertices fixed");
  print_outcome(out, surface, outcome);
  out << labelled("Roughness",
                  print("%.4f before, %.4f after", change.rough_before, change.rough_after))
      << labelled("Moved", print("%.3g of the size at most, %.3g in the mean", change.moved_most,
                                 change.moved_mean))
      << labelled("Written",
                  arguments.output + (arguments.picture.empty() ? "" : ", " + arguments.picture));
}

void write_report(const SmoothArguments& arguments, const Surface& surface, const Outcome& outcome,
                  const Change& change) {
  nlohmann::json json = outcome_json("cnc-smooth", arguments, surface, outcome);
  json["method"] = "discrete smooth interpolation";
  json["weights"] = arguments.weights;
  json["fit"] = arguments.fit;
  json["fixed_vertices"] = change.fixed;
  json["roughness"] = {{"before", change.rough_before}, {"after", change.rough_after}};
  json["moved"] = {{"max", change.moved_most}, {"mean", change.moved_mean}};
  write_output(arguments.report, [&](std::ostream& out) { out << json.dump(2) << '\n'; });
}

int smooth_mesh(const SmoothArguments& arguments) {
  check_arguments(
      arguments, {".png"},
      names_file(arguments.fix) ? std::vector{arguments.fix} : std::vector<std::string>{});
  const bool shown = !arguments.quiet && arguments.report != "-";
  const Session session(arguments.threads);
  check_solver(arguments);
  const Surface surface = load_surface(arguments.mesh);
  const Interrupt interrupt;  // from here on, Ctrl-C ends the solves and keeps their results
  if (shown) print_surface(std::cout, surface);
  const geometry::SmoothingOptions options = options_from(arguments, surface);
  Outcome outcome;
  const geometry::SmoothedSurface result = smooth_surface(arguments, surface, options, outcome);
  const Change change = change_of(surface, result.points, options.fixed.size());

  const double start = detail::now();
  geometry::write_mesh(arguments.output, moved_mesh(surface, result.points));
  if (!arguments.picture.empty()) {
    const geometry::Image image = smoothing_picture(arguments, surface, result.points);
    write_small_png(arguments.picture, image.rgb, image.width, image.height);
  }
  outcome.writing_seconds = detail::now() - start;
  if (shown) print_change(std::cout, arguments, surface, outcome, change);
  if (!arguments.report.empty()) write_report(arguments, surface, outcome, change);
  return outcome.converged() ? exit_ok : exit_not_converged;
}

int start(int argc, char** argv) {
  CLI::App app(
      "Smooths a surface between what it was and the mean of its neighbours: discrete smooth "
      "interpolation.",
      "cnc-smooth");
  SmoothArguments arguments;
  add_file_options(app, arguments, "Draw the surface before and after (.png)");
  app.add_option("--fix", arguments.fix,
                 "Vertices that stay where they are: boundary, none, \"3,7,20-29\" or a FILE")
      ->check(not_empty)
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--weights", arguments.weights, "Of neighbours: uniform or cotangent")
      ->check(CLI::IsMember({"uniform", "cotangent"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--fit", arguments.fit,
                 "How much a vertex is held where it was; 0 leaves that to the fixed ones")
      ->check(not_negative)
      ->type_name("W")
      ->capture_default_str();
  add_solver_options(app, arguments);
  add_picture_options(app, arguments);
  return run_mesh_program(
      app, [&] { return smooth_mesh(arguments); }, argc, argv);
}

}  // namespace
}  // namespace cnc::cli

int main(int argc, char** argv) { return cnc::cli::start(argc, argv); }
