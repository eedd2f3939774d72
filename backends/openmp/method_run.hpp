#pragma once

#include <openmp/matrix_ops.hpp>
#include <openmp/pass.hpp>

namespace cnc::openmp::CNC_ISA {

// Iterations of any method in one parallel region: threads are woken once per call instead of once per phase, each
// keeps to its own rows, and waits order the phases. After the wait that ends a phase with sums every thread adds up all
// partial sums itself, in the same order: same bits, and no further wait to hand out the result.

/// A thread's rows for the passes: its share of the matrix, moved to where groups begin.
template <class V>
CNC_INLINE Range vector_share(const SharedProduct<V>& A, Range units, index_t unit_rows) {
  const auto cut = [&](index_t unit) {
    const index_t row = A.rows_before(A.matrix, unit);
    return row == A.rows ? A.rows : row / unit_rows * unit_rows;
  };
  return {cut(units.begin), cut(units.end)};
}

/// The matrix of a run, and its transpose where the method has products with it.
template <class V>
struct MethodProducts {
  SharedProduct<V> A, transpose;
  /// Whichever has more.
  CNC_INLINE index_t groups() const {
    return A.groups > transpose.groups ? A.groups : transpose.groups;
  }
};

/// The part of one thread in a run.
template <class Method, class V>
struct RunPart {
  const MethodProducts<V>& products;
  const PreconditionerOperand<V>& M;
  const MethodVectors<V>& v;
  double* partials;
  Team& team;
  index_t unit;           ///< rows of a group
  Range units;            ///< of the matrix
  Range transpose_units;  ///< of its transpose, if the method has products with it
  Range rows;
  MethodScalars s;  ///< a copy of its own, the same on every thread
  index_t iteration;
  bool stay = true;
  int turn = 0;

  /// Two sets of slots for the sums of passes, used in turn by one pass with sums after the other: that everybody has
  /// read those of the one before the last is known, of the last it is not.
  CNC_INLINE GroupSums pass_sums() {
    const index_t groups = ceil_div(products.A.rows, unit);
    double* const slots = partials + 2 * static_cast<offset_t>(products.groups());
    turn = 1 - turn;
    return {slots + turn * 3 * static_cast<offset_t>(groups), groups};
  }

  template <class Phase>
  CNC_INLINE void product() {
    constexpr int dots = Phase::dots;
    const SharedProduct<V>& A = Phase::transposed ? products.transpose : products.A;
    GroupSums sums{partials, A.groups};
    A.multiply(A.matrix, v[Phase::of], v[Phase::to], dots > 0 ? v[Phase::with[0]] : nullptr,
               sums.slots, dots > 1 ? sums.slots + A.groups : nullptr,
               Phase::transposed ? transpose_units : units);
    team.wait();
    double total[2];
    sums.total(total, dots);
    for (int k = 0; k < dots; ++k) s[Phase::scalar[k]] = total[k];
  }

  template <class Pass, bool waits, bool last>
  CNC_INLINE void pass() {
    MethodScalars now = begin_pass<Pass>(s);
    if (now.breakdown != Breakdown::none) {  // the same decision on every thread
      s.breakdown = now.breakdown;
      return;
    }
    GroupSums sums{};
    if constexpr (Pass::sums.count > 0) sums = pass_sums();
    pass_groups(any_pass<true, V>(Pass(now)), M, v, PassPart::whole, unit, rows.begin, rows.end,
                sums);
    if constexpr (last)
      stay = team.wait_and_stay();
    else if constexpr (waits || Pass::sums.count > 0)
      team.wait();
    if constexpr (stores_scalars<Pass>) {
      double total[3];
      sums.total(total, Pass::sums.count);
      end_pass<Pass>(now, total);
      s = now;
    }
  }

  template <class... Phase>
  CNC_INLINE void iterate(Phases<Phase...>) {
    constexpr int size = sizeof...(Phase);
    // Rows are gathered by the product that follows a pass.
    constexpr bool before_product[] = {is_product<Phase>..., false};
    [&]<std::size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
      (phase<Phase, before_product[k + 1], k + 1 == size>(), ...);
    }
    (std::make_index_sequence<size>());
  }
  template <class Phase, bool before_product, bool last>
  CNC_INLINE void phase() {
    if (s.breakdown != Breakdown::none) return;
    if constexpr (is_product<Phase>)
      product<Phase>();
    else
      pass<Phase, before_product, last>();
  }
};

template <class Method, class V>
void run_method(const Queue& queue, const MethodProducts<V>& products,
                const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
                MethodScalars* scalars, MethodRun* run) {
  const SharedProduct<V>& A = products.A;
  const SharedProduct<V>& At = products.transpose;
  MethodScalars result = *scalars, ended;
  index_t done = 0, done_at_end = 0;
  const auto goes_on = [run](const MethodScalars& s, index_t iteration) {
    return iteration < run->max_iterations && !(s.rr() <= run->rr_target) &&
           s.breakdown == Breakdown::none;
  };
  // Once, unless the team dissolves on the way: a thread alone then goes on from the same scalars.
  while (goes_on(result, done)) {
    run_team(A.threads, Shares::equal, [&](Team& team) {
      const index_t unit = group_of(M);
      const Range units = A.share(A.matrix, team.part(), team.parts());
      Range transpose_units{};
      if constexpr (transposes<Method>)
        transpose_units = At.share(At.matrix, team.part(), team.parts());
      RunPart<Method, V> part{products,
                              M,
                              v,
                              queue.partials,
                              team,
                              unit,
                              units,
                              transpose_units,
                              vector_share(A, units, unit),
                              result,
                              done};
      const bool first_thread = team.part() == 0;
      while (part.stay && goes_on(part.s, part.iteration)) {
        part.iterate(typename Method::Iteration());
        if (part.s.breakdown != Breakdown::none) break;
        if (first_thread)
          log_iteration<typename Method::Iteration::Last>(part.s, part.iteration, run->history,
                                                          run->energy_gains);
        ++part.iteration;
      }
      if constexpr (!std::is_void_v<typename Method::Finish>) {
        if (!goes_on(part.s, part.iteration) && part.s.breakdown == Breakdown::none) {
          using Finish = typename Method::Finish;
          const MethodScalars s = begin_pass<Finish>(part.s);
          pass_groups(any_pass<true, V>(Finish(s)), M, v, PassPart::whole, unit, part.rows.begin,
                      part.rows.end, GroupSums{});
          Finish::after(part.s);
        }
      }
      if (first_thread) {
        ended = part.s;
        done_at_end = part.iteration;
      }
    });
    result = ended;
    done = done_at_end;
  }
  run->iterations = done;
  *scalars = run->scalars = result;
}

/// Executes the phases of a start one by one.
template <class V, class Operand, class... Phase>
CNC_INLINE void run_phases(Phases<Phase...>, const Queue& queue, const Operand& A,
                           const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
                           MethodScalars* scalars) {
  const auto one = [&]<class P>(std::type_identity<P>) {
    if constexpr (is_product<P>) {
      spmv_dot(queue, P::transposed ? *A.transpose : A, static_cast<const V*>(v[P::of]), v[P::to],
               dots_of<P>(v, scalars));
    } else {
      run_pass<P>(queue, A.rows, M, v, scalars, PassPart::whole);
    }
  };
  (one(std::type_identity<Phase>()), ...);
}

/// The entry of the operation table for one method and format: the run itself is compiled once per method.
template <class Method, class Operand, class V>
void run(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
         const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  if (run->starts) run_phases(typename Method::Start(), queue, A, M, v, scalars);
  MethodProducts<V> products{shared_product<V>(queue, A), {}};
  if constexpr (transposes<Method>) products.transpose = shared_product<V>(queue, *A.transpose);
  run_method<Method>(queue, products, M, v, scalars, run);
}

}  // namespace cnc::openmp::CNC_ISA
