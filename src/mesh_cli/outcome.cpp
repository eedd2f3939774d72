#include "outcome.hpp"

#include "cli/memory.hpp"
#include "cli/residual_plot.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

/// Of the solve with the most iterations.
void plot(std::ostream& out, const Outcome& outcome) {
  const auto longest = std::max_element(outcome.solves.begin(), outcome.solves.end(),
                                        [](const NamedSolve& a, const NamedSolve& b) {
                                          return a.report.iterations < b.report.iterations;
                                        });
  if (longest == outcome.solves.end() || longest->report.history.size() < 2) return;
  const SolveReport& report = longest->report;
  if (!(report.rhs_norm > 0)) return;
  std::vector<double> relative;
  for (const double residual : report.history) relative.push_back(residual / report.rhs_norm);
  out << '\n';
  plot_residuals(out, relative, report.tolerance / report.rhs_norm);
  out << '\n';
}

nlohmann::json solve_json(const NamedSolve& solve) {
  const SolveReport& report = solve.report;
  return {{"of", solve.of},
          {"done", solve.done},
          {"status", solve.done ? to_string(report.status) : "stopped"},
          {"detail", report.detail},
          {"choice", report.choice},
          {"iterations", report.iterations},
          {"restarts", report.restarts},
          {"initial_residual", report.initial_residual},
          {"true_residual", report.true_residual},
          {"relative_residual", report.relative_residual},
          {"tolerance", report.tolerance},
          {"least_squares_residual", report.least_squares_residual},
          {"seconds", report.seconds},
          {"format", report.format},
          {"preconditioner", report.preconditioner},
          {"form", to_string(report.form)},
          {"history", report.history}};
}

std::string format_of(const Outcome& outcome) {
  for (auto solve = outcome.solves.rbegin(); solve != outcome.solves.rend(); ++solve)
    if (!solve->report.format.empty()) return solve->report.format;
  return "";
}

}  // namespace

bool Outcome::converged() const {
  return std::all_of(solves.begin(), solves.end(), [](const NamedSolve& solve) {
    return solve.done && solve.report.converged();
  });
}

std::string Outcome::status() const {
  for (const NamedSolve& solve : solves)
    if (!solve.done)
      return to_string(SolveStatus::stopped);
    else if (!solve.report.converged())
      return to_string(solve.report.status);
  return to_string(SolveStatus::converged);
}

index_t Outcome::iterations() const {
  index_t all = 0;
  for (const NamedSolve& solve : solves) all += solve.report.iterations;
  return all;
}

double Outcome::relative_residual() const {
  double worst = 0;
  for (const NamedSolve& solve : solves)
    if (std::isfinite(solve.report.relative_residual))
      worst = std::max(worst, solve.report.relative_residual);
  return worst;
}

void print_outcome(std::ostream& out, const Surface& surface, const Outcome& outcome) {
  out << labelled("Solver", outcome.method + ", " + count_text(outcome.unknowns) + " unknowns, " +
                                format_of(outcome) + " on " + outcome.place.backend->name);
  plot(out, outcome);
  const bool good = outcome.converged();
  std::string status = styled(good ? Style::good : Style::bad, outcome.status());
  for (const NamedSolve& solve : outcome.solves)
    if (solve.done && !solve.report.converged() && !solve.report.detail.empty()) {
      status += " (" + solve.of + "): " + solve.report.detail;
      break;
    }
  out << labelled("Status", status) << labelled("Iterations", count_text(outcome.iterations()))
      << labelled("Residual", print("%.3e relative%s", outcome.relative_residual(),
                                    outcome.solves.size() > 1 ? ", the largest" : ""));
  out << labelled("Time", "reading " + seconds_text(surface.reading_seconds) + ", topology " +
                              seconds_text(surface.analysis_seconds) + ", assembly " +
                              seconds_text(outcome.times.assembly) + ", set-up " +
                              seconds_text(outcome.times.set_up) + ", solving " +
                              seconds_text(outcome.times.solving) + ", writing " +
                              seconds_text(outcome.writing_seconds));
}

nlohmann::json outcome_json(const std::string& program, const MeshArguments& arguments,
                            const Surface& surface, const Outcome& outcome) {
  nlohmann::json solves = nlohmann::json::array();
  for (const NamedSolve& solve : outcome.solves) solves.push_back(solve_json(solve));
  const geometry::WorkTimes& times = outcome.times;
  return {{"cnc_version", version_string},
          {"program", program},
          {"mesh", surface_json(surface)},
          {"output", arguments.output},
          {"picture", arguments.picture},
          {"options",
           {{"least_squares", arguments.least_squares},
            {"precision", arguments.precision},
            {"rtol", tolerance_of(arguments)},
            {"max_iterations", arguments.max_iterations}}},
          {"least_squares", outcome.method},
          {"backend", outcome.place.backend->name},
          {"memory", to_string(outcome.place.backend->memory)},
          {"threads", outcome.place.threads},
          {"format", format_of(outcome)},
          {"equations", outcome.equations},
          {"unknowns", outcome.unknowns},
          {"status", outcome.status()},
          {"converged", outcome.converged()},
          {"iterations", outcome.iterations()},
          {"relative_residual", outcome.relative_residual()},
          {"solves", solves},
          {"seconds",
           {{"reading", surface.reading_seconds},
            {"topology", surface.analysis_seconds},
            {"assembly", times.assembly},
            {"set_up", times.set_up},
            {"solving", times.solving},
            {"writing", outcome.writing_seconds}}}};
}

}  // namespace cnc::cli
