#include "solve_output.hpp"

#include "residual_plot.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

/// The norm that relative residuals are relative to.
double reference_norm(const SolveReport& report) {
  return report.relative_residual > 0 ? report.true_residual / report.relative_residual
                                      : report.rhs_norm;
}

/// What the plot shows: the history relative to that norm, as the tolerance is.
std::vector<double> relative_history(const SolveReport& report) {
  const double reference = reference_norm(report);
  std::vector<double> history = report.history;
  if (reference > 0)
    for (double& residual : history) residual /= reference;
  return history;
}

double relative_tolerance(const SolveReport& report) {
  const double reference = reference_norm(report);
  return reference > 0 ? report.tolerance / reference : 0;
}

std::string solver_text(const SolveRequest& request) {
  const SolveOptions& options = request.options;
  std::string text = std::string(method_text(options.method)) + ", " + precondition_text(options) +
                     ", " + to_string(request.precision);
  if (options.reordering == Reordering::rcm) text += ", rcm";
  const bool from_rhs = options.reference == ToleranceReference::rhs;
  text += print(", rtol %g of %s", options.rtol,
                std::string(from_rhs ? glyph("‖b‖", "|b|") : glyph("‖r₀‖", "|r0|")).c_str());
  if (options.atol > 0) text += print(", atol %g", options.atol);
  return text;
}

std::string status_text(const SolveReport& report) {
  const std::string status =
      styled(report.converged() ? Style::good : Style::bad, to_string(report.status));
  return report.detail.empty() ? status : status + ": " + report.detail;
}

std::string residual_text(const SolveReport& report) {
  return print(
      "%.3e true relative residual (recurrence %.3e; asked for %.3e)", report.relative_residual,
      reference_norm(report) > 0 ? report.recurrence_residual / reference_norm(report) : 0.0,
      relative_tolerance(report));
}

std::string iterations_text(const SolveReport& report) {
  std::string text = count_text(report.iterations);
  if (report.restarts > 0)
    text +=
        print(" (%d restart%s from the true residual)", report.restarts, plural(report.restarts));
  return text;
}

std::string time_text(const SolveOutcome& outcome) {
  const SolveReport& report = outcome.report;
  std::string text = seconds_text(report.seconds);
  if (report.iterations > 0)
    text += ", " + seconds_text(report.seconds / report.iterations) + " per iteration";
  return text + " (prepared in " + seconds_text(outcome.prepare_seconds) + ")";
}

std::string speed_text(const SolveOutcome& outcome) {
  std::string text = print(
      "%.2f GB/s, %.2f GFLOP/s", outcome.report.gigabytes_per_second(),
      outcome.report.seconds > 0 ? outcome.report.flops / outcome.report.seconds * 1e-9 : 0.0);
  if (outcome.bandwidth > 0)
    text += print(", %.0f %% of the %.1f GB/s this machine reads at this size",
                  outcome.report.gigabytes_per_second() * 1e11 / outcome.bandwidth,
                  outcome.bandwidth * 1e-9);
  return text;
}

std::string backend_text(const SolveOutcome& outcome) {
  const SolveReport& report = outcome.report;
  std::string text = outcome.backend->name;
  const std::string detail = outcome.backend->availability().detail;
  if (!detail.empty()) text += " (" + detail + ")";
  return text + print(", %s, %s call%s, %s host synchronisation%s", report.form.c_str(),
                      count_text(report.backend_calls).c_str(), plural(report.backend_calls),
                      count_text(report.host_synchronisations).c_str(),
                      plural(report.host_synchronisations));
}

/// Of the advice what was said about the layout taken and about csr; info and JSON have all of it.
void print_format(std::ostream& out, const SolveRequest& request, const SolveOutcome& outcome) {
  const std::string& format = outcome.report.format;
  const bool automatic = request.options.format.name == "auto";
  out << labelled("Format", format + (automatic ? " (auto)" : ""));
  if (!automatic) return;
  for (const std::string& reason : outcome.advice)
    if (reason.rfind(format + ":", 0) == 0 || reason.rfind("csr:", 0) == 0 ||
        reason.rfind("chosen:", 0) == 0)
      out << labelled("", styled(Style::dim, reason));
}

nlohmann::json options_json(const SolveRequest& request) {
  const SolveOptions& options = request.options;
  nlohmann::json json = {
      {"rhs", request.rhs},
      {"x0", request.x0},
      {"solver", method_text(options.method)},
      {"form", to_string(options.form)},
      {"precondition", precondition_text(options)},
      {"format", options.format.text()},
      {"precision", to_string(request.precision)},
      {"reorder", options.reordering == Reordering::rcm ? "rcm" : "none"},
      {"rtol", options.rtol},
      {"atol", options.atol},
      {"relative_to", options.reference == ToleranceReference::rhs ? "b" : "r0"},
      {"max_iterations", options.max_iterations},
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
      {"relative_residual", report.relative_residual},
      {"tolerance", report.tolerance},
      {"seconds", report.seconds},
      {"bytes", report.bytes},
      {"flops", report.flops},
      {"gigabytes_per_second", report.gigabytes_per_second()},
      {"backend", report.backend},
      {"format", report.format},
      {"form", report.form},
      {"backend_calls", report.backend_calls},
      {"host_synchronisations", report.host_synchronisations},
      {"history", report.history},
  };
}

}  // namespace

const char* method_text(Method method) {
  return method == Method::pcg ? "pcg" : "pcg-single-reduction";
}

std::string precondition_text(const SolveOptions& options) {
  switch (options.preconditioner) {
    case PreconditionerKind::none: return "none";
    case PreconditionerKind::jacobi: return "jacobi";
    case PreconditionerKind::block_jacobi: break;
  }
  const int size = options.preconditioner_block_size;
  return size > 0 ? print("block-jacobi:%d", size) : "block-jacobi";
}

void print_outcome(std::ostream& out, const SolveRequest& request, const SolveOutcome& outcome) {
  const SolveReport& report = outcome.report;
  out << labelled("Solver", solver_text(request)) << labelled("Backend", backend_text(outcome));
  print_format(out, request, outcome);
  if (report.history.size() > 1) {
    out << '\n';
    plot_residuals(out, relative_history(report), relative_tolerance(report));
    out << '\n';
  }
  out << labelled("Status", status_text(report)) << labelled("Iterations", iterations_text(report))
      << labelled("Residual", residual_text(report));
  if (request.rhs == "a-times-ones")
    out << labelled("Error",
                    print("%.3e = max |x - 1| (the exact solution is all ones)", outcome.error));
  out << labelled("Time", time_text(outcome));
  if (report.bytes > 0) out << labelled("Speed", speed_text(outcome));
  if (!request.output.empty()) out << labelled("Solution", request.output);
}

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
  // NaN and "not measured" are both null.
  json["error"] = std::isfinite(outcome.error) ? nlohmann::json(outcome.error) : nlohmann::json();
  if (outcome.bandwidth > 0) {
    json["measured_bytes_per_second"] = outcome.bandwidth;
    json["bandwidth_fraction"] = outcome.report.gigabytes_per_second() * 1e9 / outcome.bandwidth;
  }
  out << json.dump(2) << '\n';
}

void write_history_csv(std::ostream& out, const SolveReport& report) {
  const double reference = reference_norm(report);
  out << "iteration,residual,relative_residual\n";
  for (std::size_t k = 0; k < report.history.size(); ++k)
    out << print("%zu,%.17g,%.17g\n", k, report.history[k],
                 reference > 0 ? report.history[k] / reference : 0.0);
}

}  // namespace cnc::cli
