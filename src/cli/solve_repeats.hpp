#pragma once

#include "interrupt.hpp"
#include "iteration_timing.hpp"
#include "solve_run.hpp"
#include "text.hpp"

#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/spmv.hpp>

#include <algorithm>

namespace cnc::cli {

/// The product that an iteration takes, in the layout and storage that the solver chose.
template <class V, class Exec, class Space = typename Exec::memory_space>
Timing time_product(Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const CsrMatrix<V>& on_host,
                    const SolveOutcome& outcome) {
  const Vector<V, Space> x = zeroed<V, Space>("x", static_cast<std::size_t>(A.cols)),
                         y = zeroed<V, Space>("y", static_cast<std::size_t>(A.rows));
  const auto time = [&](const auto& matrix) -> Timing {
    try {
      const auto plan = plan_spmv<V>(ctx, matrix);
      const auto product = [&] { spmv(ctx, V(1), matrix, x, V(0), y, plan.get()); };
      return time_calls({}, 1e-3, product, [&] { ctx.fence(); });
    } catch (const UnsupportedOperation&) {
      return {};
    }
  };
  const auto time_layout = [&](auto layout) {
    if (outcome.report.row_kinds > 0) find_row_dictionary(layout, A);
    if (outcome.report.short_columns) find_short_columns(layout);
    if (outcome.report.value_kinds > 0) find_value_table(layout);
    return time(layout);
  };
  const FormatSpec format = parse_format(outcome.report.format);
  if constexpr (std::is_same_v<V, double>)
    if (outcome.report.values_in_float)
      return time_layout(build_format(copy_to<Space>(convert_values<float>(on_host)), format));
  return time_layout(build_format(A, format));
}

/// The solves after the first, one iteration alone, later calls of prepare, and a product. An interrupt
/// leaves out what is not measured yet. Leaves x and the solver as the last of them does.
template <class V, class Exec, class Space = typename Exec::memory_space>
void measure_repeats(Context<Exec>& ctx, Solver<V, Exec>& solver, const CsrMatrix<V, Space>& A,
                     const CsrMatrix<V>& on_host, const Vector<const V, Space>& b,
                     const Vector<V, Space>& x, const Vector<V, Space>& x0,
                     const SolveRequest& request, SolveOutcome& outcome) {
  Repeats& repeats = outcome.repeats;
  const index_t iterations = outcome.report.iterations;
  const auto reset = [&] { Kokkos::deep_copy(x, x0); };
  std::vector<double> later;
  int different = 0;
  std::vector<SolveForm> forms;  // of these
  while (static_cast<int>(later.size()) + 1 < request.repeat) {
    const TimedSolve solve = time_solve(solver, b, x, reset);
    if (Interrupt::requested()) break;  // this one was cut short
    different += solve.iterations != iterations;
    forms.push_back(solve.form);
    later.push_back(solve.seconds);
  }
  repeats.solves = static_cast<int>(later.size()) + 1;
  repeats.later = summarize(std::move(later));
  if (different > 0)
    repeats.notes.push_back(print("%d of them took another number of iterations", different));
  std::string changes = to_string(outcome.report.form);
  SolveForm last = outcome.report.form;
  for (const SolveForm form : forms)
    if (form != last) changes += std::string(", then ") + to_string(last = form);
  if (changes != to_string(outcome.report.form))
    repeats.notes.push_back("forms of the solves: " + changes);
  if (Interrupt::requested()) return;
  if (iterations >= 4) {
    const TimedIteration one = time_iteration(solver, iterations / 4, iterations, b, x, reset,
                                              {std::min(request.repeat, 20), 0.1});
    repeats.iteration = one.timing;
    const auto is_alike = [&](SolveForm form) { return one.has_one_form && form == one.form; };
    repeats.first_is_alike = is_alike(outcome.report.form);
    repeats.later_are_alike = std::all_of(forms.begin(), forms.end(), is_alike);
    if (one.timing.measured() && !repeats.later_are_alike)
      repeats.notes.push_back(print("since then iterations have the form %s", to_string(one.form)));
  }
  repeats.product = time_product(ctx, A, on_host, outcome);
  repeats.prepare = collect({std::min(request.repeat - 1, 5), 0}, [&] {
    const double start = now();
    solver.prepare(A);
    ctx.fence();
    return now() - start;
  });
}

}  // namespace cnc::cli
