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
#include "geometry/conformal.hpp"
#include "geometry/write_mesh.hpp"
#include "model/timing.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace cnc::cli {
namespace {

struct ParameterizeArguments : MeshArguments {
  std::string pins;
  std::string method = "lscm";
  bool spectral() const { return method == "spectral"; }
};

std::string part_name(const Surface& surface, std::size_t part) {
  const std::size_t parts = surface.topology.components.size();
  return parts == 1 ? "the surface"
                    : "part " + std::to_string(part + 1) + " of " + std::to_string(parts);
}

geometry::ConformalMap map_surface(const ParameterizeArguments& arguments, const Surface& surface,
                                   Outcome& outcome) {
  geometry::ConformalOptions options;
  if (arguments.spectral()) options.method = geometry::ConformalMethod::spectral;
  if (!arguments.pins.empty()) options.pins = parse_pins(arguments.pins, surface.mesh.vertices());
  ProgressLine line(!arguments.quiet);
  std::string label;
  options.go_on = [&](std::size_t part) {
    label = "  " + part_name(surface, part);
    if (line.due()) line.show(label + "  preparing ...");
    return !Interrupt::requested();
  };
  geometry::ConformalMap map;
  with_solver(arguments, 2 * offset_t{surface.mesh.vertices()}, line, label,
              [&](geometry::SystemSolver& solver, const SolverPlace& place) {
                outcome.place = place;
                map = map_conformally(surface.unit, surface.topology, options, solver);
              });
  outcome.times = map.times;
  for (std::size_t k = 0; k < map.charts.size(); ++k) {
    const geometry::Chart& chart = map.charts[k];
    outcome.equations += chart.equations;
    outcome.unknowns += chart.unknowns;
    if (!chart.method.empty()) outcome.method = chart.method;
    outcome.solves.push_back({part_name(surface, k), chart.solved, chart.report});
  }
  lay_out(map, surface.topology);
  return map;
}

void write_picture(const ParameterizeArguments& arguments, const Surface& surface,
                   std::span<const geometry::Uv> uv) {
  if (arguments.picture.ends_with(".svg")) {
    const std::string svg = layout_svg(surface, uv);
    write_output(arguments.picture, [&](std::ostream& out) { out << svg; });
    return;
  }
  const geometry::Image image = parameterization_picture(arguments, surface, uv);
  write_small_png(arguments.picture, image.rgb, image.width, image.height);
}

std::string pins_text(const geometry::ConformalMap& map) {
  if (map.charts.size() != 1)
    return count_text(static_cast<long long>(map.charts.size())) + " charts";
  const std::vector<geometry::Pin>& pins = map.charts[0].pins;
  if (pins.size() > 4) return count_text(static_cast<long long>(pins.size())) + " pins";
  std::string text = "pins at vertices";
  for (std::size_t k = 0; k < pins.size(); ++k)
    text += (k == 0                ? " "
             : k + 1 < pins.size() ? ", "
                                   : " and ") +
            std::to_string(offset_t{pins[k].vertex} + 1);
  return text;
}

std::string spectral_text(const geometry::ConformalMap& map) {
  std::string text = "spectral conformal, ";
  if (map.charts.size() != 1) return text + pins_text(map);
  return text +
         print("eigenvalue %.4e after %d solves", map.charts[0].eigenvalue, map.charts[0].solves);
}

void print_map(std::ostream& out, const ParameterizeArguments& arguments, const Surface& surface,
               const Outcome& outcome, const geometry::ConformalMap& map,
               const geometry::Distortion& distortion) {
  out << labelled("Map", arguments.spectral() ? spectral_text(map)
                                              : "least squares conformal, " + pins_text(map));
  print_outcome(out, surface, outcome);
  out << labelled("Angles", print("%.4f mean s1/s2, 99 %% within %.4f, largest %.4g",
                                  distortion.angle_mean, distortion.angle_99, distortion.angle_max))
      << labelled("Areas", print("%.4f mean max(a, 1/a), largest %.4g", distortion.area_mean,
                                 distortion.area_max))
      << labelled("Flipped", count_text(distortion.flipped) + " of " +
                                 count_text(surface.mesh.faces()) + " triangles" +
                                 (distortion.collapsed > 0
                                      ? ", " + count_text(distortion.collapsed) + " collapsed"
                                      : ""))
      << labelled("Written",
                  arguments.output + (arguments.picture.empty() ? "" : ", " + arguments.picture));
}

nlohmann::json charts_json(const Surface& surface, const geometry::ConformalMap& map) {
  nlohmann::json charts = nlohmann::json::array();
  for (std::size_t k = 0; k < map.charts.size(); ++k) {
    nlohmann::json pins = nlohmann::json::array();
    for (const geometry::Pin& pin : map.charts[k].pins)
      pins.push_back({{"vertex", offset_t{pin.vertex} + 1}, {"u", pin.u}, {"v", pin.v}});
    charts.push_back({{"vertices", surface.topology.components[k].vertices.size()},
                      {"triangles", surface.topology.components[k].triangles.size()},
                      {"pins", pins},
                      {"eigenvalue", map.charts[k].eigenvalue},
                      {"solves", map.charts[k].solves},
                      {"placed", map.charts[k].placed}});
  }
  return charts;
}

void write_report(const ParameterizeArguments& arguments, const Surface& surface,
                  const Outcome& outcome, const geometry::ConformalMap& map,
                  const geometry::Distortion& d) {
  nlohmann::json json = outcome_json("cnc-parameterize", arguments, surface, outcome);
  json["method"] = arguments.method;
  json["charts"] = charts_json(surface, map);
  json["skipped_triangles"] = map.skipped.size();
  // Infinite where a triangle has collapsed: null.
  json["distortion"] = {
      {"angle", {{"mean", d.angle_mean}, {"p99", d.angle_99}, {"max", d.angle_max}}},
      {"area", {{"mean", d.area_mean}, {"max", d.area_max}}},
      {"collapsed", d.collapsed}};
  json["flipped"] = d.flipped;
  write_output(arguments.report, [&](std::ostream& out) { out << json.dump(2) << '\n'; });
}

int parameterize(ParameterizeArguments arguments) {
  if (arguments.spectral()) arguments.usual_rtol = 1e-4;  // each solve goes on from the last
  check_arguments(
      arguments, {".png", ".svg"},
      names_file(arguments.pins) ? std::vector{arguments.pins} : std::vector<std::string>{});
  // Pure JSON on standard output leaves no place for the report.
  const bool shown = !arguments.quiet && arguments.report != "-";
  const Session session(arguments.threads);
  check_solver(arguments);
  const Surface surface = load_surface(arguments.mesh);
  const Interrupt interrupt;  // from here on, Ctrl-C ends the solves and keeps their results
  if (shown) print_surface(std::cout, surface);
  Outcome outcome;
  const geometry::ConformalMap map = map_surface(arguments, surface, outcome);
  const geometry::Distortion distortion =
      geometry::measure_distortion(surface.unit, map.uv, map.skipped);
  if (shown && !map.skipped.empty())
    std::cout << labelled("", count_text(static_cast<long long>(map.skipped.size())) +
                                  " triangles without an area have no equation");

  const double start = detail::now();
  geometry::write_mesh(arguments.output, surface.mesh, map.uv);
  if (!arguments.picture.empty()) write_picture(arguments, surface, map.uv);
  outcome.writing_seconds = detail::now() - start;
  if (shown) print_map(std::cout, arguments, surface, outcome, map, distortion);
  if (!arguments.report.empty()) write_report(arguments, surface, outcome, map, distortion);
  return outcome.converged() ? exit_ok : exit_not_converged;
}

int start(int argc, char** argv) {
  CLI::App app("Lays a surface flat with its angles kept as far as can be: conformal maps.",
               "cnc-parameterize");
  ParameterizeArguments arguments;
  add_file_options(app, arguments, "Draw the map with a checkerboard (.png or .svg)");
  app.add_option("--method", arguments.method,
                 "lscm (least squares, with pins) or spectral (without: areas are kept better)")
      ->check(CLI::IsMember({"lscm", "spectral"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--pins", arguments.pins,
                 "Vertices that are held, \"3,17\", with places \"3:0:0,17:1:0\", or a FILE "
                 "(default: two far apart on the boundary)")
      ->check(not_empty)
      ->type_name("LIST");
  add_solver_options(app, arguments);
  add_picture_options(app, arguments);
  return run_mesh_program(
      app, [&] { return parameterize(arguments); }, argc, argv);
}

}  // namespace
}  // namespace cnc::cli

int main(int argc, char** argv) { return cnc::cli::start(argc, argv); }
