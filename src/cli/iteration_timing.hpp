#pragma once

#include "timing.hpp"

#include <cnc/solver.hpp>

#include <algorithm>

namespace cnc::cli {

struct TimedSolve {
  double seconds = 0;
  index_t iterations = 0;
  SolveForm form = SolveForm::automatic;
};

/// A solve from what `reset` leaves in x, which does not count.
template <class AnySolver, class B, class X, class Reset>
TimedSolve time_solve(AnySolver& solver, const B& b, const X& x, const Reset& reset) {
  reset();
  const double start = now();
  const SolveReport report = solver.solve(b, x);
  return {now() - start, report.iterations, report.form};
}

struct TimedIteration {
  Timing timing;
  SolveForm form = SolveForm::automatic;  ///< of the last solve
  bool has_one_form = true;               ///< all had it
};

/// One iteration as the difference between solves of `longer` and of `shorter` iterations, which
/// leaves out what every solve does once. Unmeasured when a solve ends before its limit. Three
/// samples at least, since a difference without its spread says nothing; each of as many pairs of
/// solves as take a millisecond.
template <class V, class Exec, class Space = typename Exec::memory_space, class Reset>
TimedIteration time_iteration(Solver<V, Exec>& solver, index_t shorter, index_t longer,
                              const Vector<const V, Space>& b, const Vector<V, Space>& x,
                              const Reset& reset, Effort effort) {
  const SolveOptions given = solver.options();
  bool complete = true;
  SolveForm form = SolveForm::automatic;
  bool has_one_form = true;
  const auto seconds_of = [&](index_t iterations) {
    SolveOptions options = given;
    options.max_iterations = iterations;
    solver.set_options(std::move(options));
    const TimedSolve solve = time_solve(solver, b, x, reset);
    complete = complete && solve.iterations == iterations;
    has_one_form = has_one_form && (form == SolveForm::automatic || form == solve.form);
    form = solve.form;
    return solve.seconds;
  };
  const auto measure = [&]() -> Timing {
    const long pairs = detail::calls_filling(
        1e-3, [&] { (void)seconds_of(longer); }, [] {});
    if (!complete) return {};
    effort.repeats = std::max(effort.repeats, 3);
    return collect(effort, [&] {
      double difference = 0;
      for (long k = 0; k < pairs; ++k) difference += seconds_of(longer) - seconds_of(shorter);
      return difference / static_cast<double>(pairs) / (longer - shorter);
    });
  };
  const Timing timing = measure();
  solver.set_options(given);
  return {complete ? timing : Timing{}, form, has_one_form};
}

}  // namespace cnc::cli
