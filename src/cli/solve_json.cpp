#include "multigrid.hpp"
#include "partition_output.hpp"
#include "solve_output.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

nlohmann::json options_json(const SolveRequest& request) {
  const SolveOptions& options = request.options;
  nlohmann::json json = {
      {"rhs", request.rhs},
      {"x0", request.x0},
      {"coordinates", request.coordinates},
      {"solver", method_name(options.method)},
      {"restart", options.restart},
      {"form", to_string(options.form)},
      {"arithmetic", to_string(options.arithmetic)},
      {"precondition", precondition_text(request)},
      {"format", options.format.text()},
      {"precision", to_string(request.precision)},
      {"reorder", options.reordering == Reordering::rcm ? "rcm" : "none"},
      {"rtol", options.rtol},
      {"atol", options.atol},
      {"relative_to", options.reference == ToleranceReference::rhs ? "b" : "r0"},
      {"norm", options.norm == ResidualNorm::two ? "two" : "inf"},
      {"components", options.components},
      {"spectrum", {options.spectrum.smallest, options.spectrum.largest}},
      {"max_iterations", options.max_iterations},
      {"allow_nonsymmetric", options.allow_nonsymmetric},
      {"null_space", options.null_space == NullSpace::constant ? "constant" : "none"},
  };
  json["max_seconds"] =
      std::isfinite(options.max_seconds) ? nlohmann::json(options.max_seconds) : nlohmann::json();
  return json;
}

nlohmann::json report_json(const SolveReport& report) {
  return {
      {"status", to_string(report.status)},
      {"converged", report.converged()},
      {"detail", report.detail},
      {"iterations", report.iterations},
      {"restarts", report.restarts},
      {"rhs_norm", report.rhs_norm},
      {"initial_residual", report.initial_residual},
      {"recurrence_residual", report.recurrence_residual},
      {"true_residual", report.true_residual},
      {"least_squares_residual", report.least_squares_residual},
      {"relative_residual", report.relative_residual},
      {"tolerance", report.tolerance},
      {"norm", report.norm == ResidualNorm::two ? "two" : "inf"},
      {"component_residuals", report.component_residuals},
      {"component_tolerances", report.component_tolerances},
      {"spectrum", {report.spectrum.smallest, report.spectrum.largest}},
      {"energy_error", report.energy_error},
      {"energy_iteration", report.energy_iteration},
      {"seconds", report.seconds},
      {"bytes", report.bytes},
      {"flops", report.flops},
      {"gigabytes_per_second", report.gigabytes_per_second()},
      {"backend", report.backend},
      {"format", report.format},
      {"values_in_float", report.values_in_float},
      {"row_kinds", report.row_kinds},
      {"short_columns", report.short_columns},
      {"value_kinds", report.value_kinds},
      {"unit_diagonal", report.unit_diagonal},
      {"form", to_string(report.form)},
      {"arithmetic", to_string(report.arithmetic)},
      {"method", method_name(report.method)},
      {"preconditioner", report.preconditioner},
      {"choice", report.choice},
      {"backend_calls", report.backend_calls},
      {"host_synchronisations", report.host_synchronisations},
      {"history", report.history},
  };
}

/// Null where nothing was measured or the figure is inside its noise.
nlohmann::json timing_json(const Timing& t) {
  if (!t.measured()) return nullptr;
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  return {{"seconds", t.resolved() ? nlohmann::json(t.median) : nlohmann::json()},
          {"spread_seconds", number(t.spread)},
          {"below_noise", !t.resolved()},
          {"repeats", t.repeats}};
}

nlohmann::json repeats_json(const SolveOutcome& outcome) {
  const Repeats& r = outcome.repeats;
  const index_t iterations = outcome.report.iterations;
  // Null: not measured, inside its noise, or of solves by another form than the iteration.
  const auto add_overhead = [&](nlohmann::json& json, double seconds, double spread,
                                bool is_alike) {
    const auto over = r.overhead(seconds, spread, iterations, is_alike);
    json["overhead_seconds"] = json["overhead_noise_seconds"] = nullptr;
    if (!over) return;
    json["overhead_noise_seconds"] = over->noise;
    if (over->resolved()) json["overhead_seconds"] = over->seconds;
  };
  const auto per_iteration = [&](double seconds) {
    return iterations > 0 ? nlohmann::json(seconds / iterations) : nlohmann::json();
  };
  nlohmann::json first = {{"seconds", r.first_seconds},
                          {"iterations", iterations},
                          {"seconds_per_iteration", per_iteration(r.first_seconds)}};
  add_overhead(first, r.first_seconds, std::nan(""), r.first_is_alike);
  nlohmann::json later = timing_json(r.later);
  later["iterations"] = iterations;
  later["seconds_per_iteration"] =
      r.later.resolved() ? per_iteration(r.later.median) : nlohmann::json();
  add_overhead(later, r.later.median, r.later.spread, r.later_are_alike);
  nlohmann::json json = {{"solves", r.solves},
                         {"first", first},
                         {"later", later},
                         {"iteration", timing_json(r.iteration)},
                         {"product", timing_json(r.product)},
                         {"prepare_again", timing_json(r.prepare)},
                         {"notes", r.notes}};
  json["prepare_in_products"] = r.product.resolved()
                                    ? nlohmann::json(outcome.prepare_seconds / r.product.median)
                                    : nlohmann::json();
  json["prepare_again_in_products"] = r.product.resolved() && r.prepare.resolved()
                                          ? nlohmann::json(r.prepare.median / r.product.median)
                                          : nlohmann::json();
  return json;
}

}  // namespace

void write_outcome_json(std::ostream& out, const LoadedMatrix& matrix, const SolveRequest& request,
                        const SolveOutcome& outcome) {
  nlohmann::json json = {
      {"cnc_version", version_string},
      {"matrix",
       {{"name", matrix.name},
        {"rows", matrix.A.rows},
        {"cols", matrix.A.cols},
        {"nonzeros", matrix.A.nonzeros},
        {"seconds", matrix.seconds}}},
      {"options", options_json(request)},
      {"threads", outcome.threads},
      {"memory", to_string(outcome.backend->memory)},
      {"backend_detail", outcome.backend->availability().detail},
      {"advice", outcome.advice},
      {"prepare_seconds", outcome.prepare_seconds},
      {"report", report_json(outcome.report)},
  };
  if (!outcome.preconditioner_choice.empty())
    json["preconditioner_choice"] = outcome.preconditioner_choice;
  if (outcome.on_ranks.ranks > 1) json["ranks"] = ranks_json(outcome.on_ranks);
  if (outcome.hierarchy) json["multigrid"] = hierarchy_json(*outcome.hierarchy);
  if (outcome.repeats.solves > 1) json["repeat"] = repeats_json(outcome);
  // NaN and "not measured" are both null.
  json["error"] = std::isfinite(outcome.error) ? nlohmann::json(outcome.error) : nlohmann::json();
  if (outcome.bandwidth > 0) {
    json["measured_bytes_per_second"] = outcome.bandwidth;
    json["bandwidth_fraction"] = outcome.report.gigabytes_per_second() * 1e9 / outcome.bandwidth;
  }
  out << json.dump(2) << '\n';
}

}  // namespace cnc::cli
