#pragma once

#include <cnc/solver.hpp>

#include "solve/residual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cnc::detail {

/// A solve with a singular matrix whose null space is known: for what b has outside of that, and it says so where b has
/// something inside. x has nothing there in the end, and the report tells of that x.
template <class V, class Exec>
struct RangeSolve {
  using Space = typename Exec::memory_space;

  const System<V, Exec>& system;
  const Workspace<V, Space>& work;
  const NullVectors<V, Exec>& null_space;
  const SolveOptions& options;

  /// solve(rest) solves for a right-hand side, to x and the report.
  template <class Solve>
  void operator()(const Vector<const V, Space>& b, const Vector<V, Space>& x, SolveReport& report,
                  const Solve& solve) const {
    Tally tally;
    const Exec& exec = system.ctx->execution_space_instance();
    const Kokkos::Timer timer;
    const Vector<V, Space>& rest = null_space.rhs();
    TrueResidual<V, Exec> residual(system, work, null_space, rest, x, tally);
    const Vector<V, Space>& taken = work.r;  // free before there is a recurrence
    Kokkos::deep_copy(exec, rest, b);
    Kokkos::deep_copy(exec, taken, b);
    const double whole = residual.norm(rest);
    null_space.project(system, rest, tally);
    system.ctx->template vectors<V>().axpy(system.ctx->queue(), system.rows, V(-1), rest.data(),
                                           taken.data());
    const double inside = residual.norm(taken);
    // Rounding leaves a part to every b, in the null space and beside it.
    const double rounding = 64 * double(std::numeric_limits<V>::epsilon()) * whole;
    if (residual.norm(rest) <= rounding) Kokkos::deep_copy(exec, rest, V(0));
    solve(rest);
    if (report.status != SolveStatus::unsuitable && std::isfinite(whole)) {
      null_space.project(system, x, tally);
      add_what_is_inside(residual(work.r), inside, whole, rounding, report);
    }
    system.ctx->fence();
    report.rhs_norm = whole;
    report.backend_calls += tally.backend_calls + 4;
    report.host_synchronisations += tally.host_synchronisations;
    report.seconds = timer.seconds();
  }

 private:
  void add_what_is_inside(double outside, double inside, double whole, double rounding,
                          SolveReport& report) const {
    const bool relative_to_rhs = options.reference == ToleranceReference::rhs;
    const double reference = relative_to_rhs ? whole : report.initial_residual;
    if (relative_to_rhs) report.tolerance = std::max(options.rtol * whole, options.atol);
    report.true_residual = std::hypot(outside, inside > rounding ? inside : 0.0);
    report.relative_residual = reference > 0 ? report.true_residual / reference : 0;
    if (!report.converged() || !report.detail.empty()) return;  // or accepted by the callback
    if (outside > 2 * std::max(report.tolerance, rounding)) {
      report.status = SolveStatus::stagnated;
      report.detail =
          "x without its part in the null space does not solve the system: A does not map what was "
          "given to zero";
    } else if (inside > std::max(rounding, report.tolerance)) {
      report.status = SolveStatus::inconsistent;
      char norm[32];
      std::snprintf(norm, sizeof norm, "%.3e", inside);
      report.detail = std::string("the right-hand side has a part of norm ") + norm +
                      " in the null space; x solves the rest";
    }
  }
};

}  // namespace cnc::detail
