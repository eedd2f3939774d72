#include "solve_output.hpp"

#include "multigrid.hpp"
#include "partition_output.hpp"
#include "residual_plot.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

/// The norm that relative residuals are relative to.
double reference_norm(const SolveReport& report) {
  return report.relative_residual > 0 ? report.true_residual / report.relative_residual
                                      : report.rhs_norm;
}

/// A norm of the report relative to that one; NaN where one of them was not computed.
double relative(double norm, const SolveReport& report) {
  const double reference = reference_norm(report);
  return reference == 0 ? norm : norm / reference;
}

/// A 2-norm of the recurrence relative to that norm or, where that is another norm, to the first one.
double relative_of_recurrence(double residual, const SolveReport& report) {
  if (report.norm == ResidualNorm::two) return relative(residual, report);
  const double first = report.history.empty() ? 0 : report.history.front();
  return first > 0 ? residual / first : residual;
}

/// What the plot shows: the history relative to that norm, as the tolerance is.
std::vector<double> relative_history(const SolveReport& report) {
  std::vector<double> history = report.history;
  for (double& residual : history) residual = relative_of_recurrence(residual, report);
  return history;
}
double plotted_tolerance(const SolveReport& report) {
  return report.norm == ResidualNorm::two ? relative(report.tolerance, report) : 0;
}

/// `method` is the one that was used in the end.
std::string solver_text(const SolveRequest& request, Method method) {
  const SolveOptions& options = request.options;
  std::string text = std::string(method_name(options.method)) + ", " + precondition_text(request) +
                     ", " + to_string(request.precision);
  if (options.reordering == Reordering::rcm) text += ", rcm";
  const bool from_rhs = options.reference == ToleranceReference::rhs;
  const bool normal = method_facts(method).least_squares;
  const auto b = normal ? glyph("‖Aᵀb‖", "|A^T b|") : glyph("‖b‖", "|b|");
  const auto r0 = normal ? glyph("‖Aᵀr₀‖", "|A^T r0|") : glyph("‖r₀‖", "|r0|");
  text += print(", rtol %g of %s", options.rtol, std::string(from_rhs ? b : r0).c_str());
  if (options.atol > 0) text += print(", atol %g", options.atol);
  if (options.norm == ResidualNorm::infinity) text += ", infinity norm";
  if (options.components > 1) text += print(", %d components", options.components);
  return text;
}

std::string status_text(const SolveReport& report) {
  const std::string status =
      styled(report.converged() ? Style::good : Style::bad, to_string(report.status));
  return report.detail.empty() ? status : status + ": " + report.detail;
}

std::string residual_text(const SolveReport& report) {
  if (std::isnan(report.true_residual)) return "not computed";
  if (report.norm == ResidualNorm::infinity)
    return print("%.3e true relative residual in the infinity norm (asked for %.3e)",
                 report.relative_residual, relative(report.tolerance, report));
  return print("%.3e true relative residual (recurrence %.3e; asked for %.3e)",
               report.relative_residual, relative(report.recurrence_residual, report),
               relative(report.tolerance, report));
}

/// A line for each component: its residual and what it has to meet.
void print_components(std::ostream& out, const SolveReport& report) {
  for (std::size_t c = 0; c < report.component_residuals.size(); ++c)
    out << labelled(c == 0 ? "Components" : "",
                    print("%zu: residual %.3e (asked for %.3e)", c, report.component_residuals[c],
                          report.component_tolerances[c]));
}

std::string energy_text(const SolveReport& report) {
  return print("%.3e at least in the energy norm, at iteration %s", report.energy_error,
               count_text(report.energy_iteration).c_str());
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

std::string spread_text(double median, double spread) {
  if (std::isnan(spread)) return "";
  return print(" %s%.0f %%", std::string(glyph("±", "+-")).c_str(), 50 * spread / median);
}
std::string spread_text(const Timing& t) { return spread_text(t.median, t.spread); }

/// "1.62 ms ±1 %, 158 iterations, 10.3 us per iteration, 58.0 us over them"
std::string one_solve_text(double seconds, double spread, bool is_alike,
                           const SolveOutcome& outcome) {
  const index_t iterations = outcome.report.iterations;
  std::string text = seconds_text(seconds) + spread_text(seconds, spread) + ", " +
                     count_text(iterations) + " iteration" + plural(iterations);
  if (iterations > 0) text += ", " + seconds_text(seconds / iterations) + " per iteration";
  if (const auto over = outcome.repeats.overhead(seconds, spread, iterations, is_alike))
    text += (over->resolved() ? ", " + seconds_text(over->seconds)
                              : ", below noise (" + seconds_text(over->noise) + ")") +
            " over them";
  return text;
}

std::string product_count(double products) {
  return print(products < 99.95 ? "%.1f products" : "%.0f products", products);
}

void print_repeats(std::ostream& out, const SolveOutcome& outcome) {
  const Repeats& r = outcome.repeats;
  out << labelled("First solve",
                  one_solve_text(r.first_seconds, std::nan(""), r.first_is_alike, outcome))
      << labelled("Later solves",
                  print("%d: ", r.later.repeats) +
                      one_solve_text(r.later.median, r.later.spread, r.later_are_alike, outcome));
  if (!r.iteration.measured())
    out << labelled("", "an iteration alone was not measured");
  else if (!r.iteration.resolved())
    out << labelled("", "an iteration alone: below noise");
  else
    out << labelled(
        "", "an iteration alone: " + seconds_text(r.iteration.median) + spread_text(r.iteration));
  for (const std::string& note : r.notes) out << labelled("", note);
  const auto products = [&](double seconds) {
    return seconds_text(seconds) + (r.product.resolved()
                                        ? " = " + product_count(seconds / r.product.median)
                                        : std::string());
  };
  std::string text = products(outcome.prepare_seconds);
  if (r.prepare.measured()) text += ", again in " + products(r.prepare.median);
  if (r.product.measured())
    text += "; a product y = A x: " + (r.product.resolved()
                                           ? seconds_text(r.product.median) + spread_text(r.product)
                                           : std::string("below noise"));
  out << labelled("Prepare", text);
}

std::string speed_text(const SolveOutcome& outcome) {
  std::string text = print(
      "%.2f GB/s, %.2f GFLOP/s", outcome.report.gigabytes_per_second(),
      outcome.report.seconds > 0 ? outcome.report.flops / outcome.report.seconds * 1e-9 : 0.0);
  if (outcome.bandwidth > 0)
    text += print(", %.0f %% of the %.1f GB/s this machine reads at this size%s",
                  outcome.report.gigabytes_per_second() * 1e11 / outcome.bandwidth,
                  outcome.bandwidth * 1e-9,
                  outcome.report.gigabytes_per_second() * 1e9 > 1.005 * outcome.bandwidth
                      ? " (above it: busy, or a nearer cache)"
                      : "");
  return text;
}

std::string backend_text(const SolveOutcome& outcome) {
  const SolveReport& report = outcome.report;
  std::string text = outcome.backend->name;
  const std::string detail = outcome.backend->availability().detail;
  if (!detail.empty()) text += " (" + detail + ")";
  if (report.arithmetic != Arithmetic::fast)
    text += print(", arithmetic %s", to_string(report.arithmetic));
  return text + print(", %s%s, %s call%s, %s host synchronisation%s", to_string(report.form),
                      report.unit_diagonal ? " of the matrix scaled to a unit diagonal" : "",
                      count_text(report.backend_calls).c_str(), plural(report.backend_calls),
                      count_text(report.host_synchronisations).c_str(),
                      plural(report.host_synchronisations));
}

std::string different_values(const SolveReport& report) {
  if (report.value_kinds == 0) return "";
  return print(", %d different value%s", report.value_kinds, plural(report.value_kinds));
}

std::string repeating_rows(const SolveReport& report) {
  if (report.row_kinds == 0) return "";
  return print(", %d different row%s", static_cast<int>(report.row_kinds),
               plural(report.row_kinds));
}

/// Of the advice what was said about the layout taken and about csr; info and JSON have all of it.
void print_format(std::ostream& out, const SolveRequest& request, const SolveOutcome& outcome) {
  const std::string& format = outcome.report.format;
  const bool automatic = request.options.format.name == "auto";
  const bool in_float = outcome.report.values_in_float && request.precision == Precision::f64;
  out << labelled("Format", format + (automatic ? " (auto)" : "") +
                                (in_float ? ", its values in float without loss" : "") +
                                (outcome.report.short_columns ? ", columns of 16 bits" : "") +
                                different_values(outcome.report) + repeating_rows(outcome.report));
  if (!automatic) return;
  for (const std::string& reason : outcome.advice)
    if (reason.rfind(format + ":", 0) == 0 || reason.rfind("csr:", 0) == 0 ||
        reason.rfind("chosen:", 0) == 0)
      out << labelled("", styled(Style::dim, reason));
}

/// By how much an iteration made the residual smaller, in the mean.
std::string convergence_text(const SolveReport& report) {
  return print("%.3f times the residual per iteration",
               std::pow(report.true_residual / report.initial_residual, 1.0 / report.iterations));
}

}  // namespace

std::string precondition_text(const SolveRequest& request) {
  if (const auto object =
          make_preconditioner<double, Kokkos::DefaultHostExecutionSpace>(request.preconditioner))
    return object->name();
  const SolveOptions& options = request.options;
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
  out << labelled("Solver", solver_text(request, report.method));
  if (!report.choice.empty()) out << labelled("", styled(Style::dim, report.choice));
  out << labelled("Backend", backend_text(outcome));
  if (outcome.on_ranks.ranks > 1) out << labelled("Ranks", ranks_text(outcome.on_ranks));
  print_format(out, request, outcome);
  if (!outcome.preconditioner_choice.empty())
    out << labelled("Precondition", outcome.report.preconditioner)
        << labelled("", styled(Style::dim, outcome.preconditioner_choice));
  if (outcome.hierarchy) print_hierarchy(out, *outcome.hierarchy);
  if (report.history.size() > 1) {
    out << '\n';
    plot_residuals(out, relative_history(report), plotted_tolerance(report));
    out << '\n';
  }
  out << labelled("Status", status_text(report)) << labelled("Iterations", iterations_text(report))
      << labelled("Residual", residual_text(report));
  if (std::isfinite(report.least_squares_residual))
    out << labelled(
        "LSQ residual",
        print("%.6e = %s; the residual above is that of the normal equations",
              report.least_squares_residual, std::string(glyph("‖b - A x‖", "|b - A x|")).c_str()));
  if (report.iterations > 0 && report.true_residual > 0 && report.initial_residual > 0)
    out << labelled("Convergence", convergence_text(report));
  print_components(out, report);
  if (std::isfinite(report.energy_error)) out << labelled("Energy", energy_text(report));
  if (report.spectrum.largest > 0)
    out << labelled(
        "Spectrum",
        print("%.3e to %.3e%s", report.spectrum.smallest, report.spectrum.largest,
              request.options.spectrum.largest > 0 ? "" : ", by Ritz values of iterations of pcg"));
  if (request.solution_is_ones())
    out << labelled("Error",
                    print("%.3e = max |x - 1| (the exact solution is all ones)", outcome.error));
  out << labelled("Time", time_text(outcome));
  if (outcome.repeats.solves > 1) print_repeats(out, outcome);
  if (report.bytes > 0) out << labelled("Speed", speed_text(outcome));
  if (!request.output.empty()) out << labelled("Solution", request.output);
}

void write_history_csv(std::ostream& out, const SolveReport& report) {
  out << "iteration,residual,relative_residual\n";
  for (std::size_t k = 0; k < report.history.size(); ++k)
    out << print("%zu,%.17g,%.17g\n", k, report.history[k],
                 relative_of_recurrence(report.history[k], report));
}

}  // namespace cnc::cli
