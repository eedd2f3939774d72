#pragma once

#include <openmp/matrix_ops.hpp>

namespace cnc::openmp::CNC_ISA {

// Classic PCG in one parallel region: threads are woken once per call instead of three times per
// iteration, each keeps to its own rows, and three waits per iteration order the phases. After a
// reduction's wait every thread sums all partial sums itself, in the same order: same bits, and no
// further wait to hand out the result.

/// A thread's rows for the vector phases: its share of the matrix, moved to where groups begin.
template <class V, class Operand>
CNC_INLINE Range vector_share(const Operand& A, Range units, index_t unit_rows) {
  using Kernel = FormatKernel<Operand, V>;
  const auto cut = [&](index_t unit) {
    const index_t row = Kernel::rows_before(A, unit);
    return row == A.rows ? A.rows : row / unit_rows * unit_rows;
  };
  return {cut(units.begin), cut(units.end)};
}

/// p := M^-1 r + beta p. Jacobi reads r and 1/diag again instead of a stored z: no z at all.
template <class V>
CNC_INLINE void direction_range(const PreconditionerOperand<V>& M, const PcgVectors<V>& v, V beta,
                                index_t begin, index_t end) {
  V* __restrict p = v.p;
  if (M.kind == PreconditionerKind::jacobi) {
    const V* __restrict r = v.r;
    const V* __restrict inverse = M.inverse;
    if (beta == V(0)) {
      for (index_t i = begin; i < end; ++i) p[i] = inverse[i] * r[i];
    } else {
#pragma omp simd
      for (index_t i = begin; i < end; ++i) p[i] = inverse[i] * r[i] + beta * p[i];
    }
    return;
  }
  const V* __restrict z = M.kind == PreconditionerKind::none ? v.r : v.z;
  if (beta == V(0)) {
    for (index_t i = begin; i < end; ++i) p[i] = z[i];
  } else {
#pragma omp simd
    for (index_t i = begin; i < end; ++i) p[i] = z[i] + beta * p[i];
  }
}

/// As update_range, but writes z only where direction_range will read it.
template <class V>
CNC_INLINE ResidualSums run_update_range(const PreconditionerOperand<V>& M, const PcgVectors<V>& v,
                                         V alpha, index_t begin, index_t end) {
  if (M.kind == PreconditionerKind::block_jacobi) return update_range(M, v, alpha, begin, end);
  V* __restrict x = v.x;
  V* __restrict r = v.r;
  const V* __restrict p = v.p;
  const V* __restrict q = v.q;
  double rz = 0, rr = 0;
  if (M.kind == PreconditionerKind::jacobi) {
    const V* __restrict inverse = M.inverse;
#pragma omp simd reduction(+ : rz, rr)
    for (index_t i = begin; i < end; ++i) {
      x[i] += alpha * p[i];
      const V residual = r[i] - alpha * q[i];
      r[i] = residual;
      rz += double(residual) * double(inverse[i] * residual);
      rr += double(residual) * double(residual);
    }
    return {rz, rr};
  }
#pragma omp simd reduction(+ : rr)
  for (index_t i = begin; i < end; ++i) {
    x[i] += alpha * p[i];
    const V residual = r[i] - alpha * q[i];
    r[i] = residual;
    rr += double(residual) * double(residual);
  }
  return {rr, rr};
}

template <class Operand, class V>
void pcg_run(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
             const PcgVectors<V>& v, PcgScalars* scalars, PcgRun* run) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t unit = group_of(M);
  const index_t vector_groups = ceil_div(A.rows, unit);
  const index_t matrix_groups = ceil_div(Kernel::units(A), Kernel::units_per_group(A));
  // Slots of their own for each sum: a thread that is ahead writes none that another still reads.
  double* pq = queue.partials;
  double* rz = pq + matrix_groups;
  double* rr = rz + vector_groups;
  PcgScalars result = *scalars;
  index_t done = 0;
  const auto goes_on = [run](const PcgScalars& s, index_t iteration) {
    return iteration < run->max_iterations && !(s.rr <= run->rr_target) &&
           s.breakdown == PcgBreakdown::none;
  };

  // Once, unless the team dissolves on the way: a thread alone then goes on from the same scalars.
  while (goes_on(result, done))
    run_team(threads_for<V>(queue, A), Shares::equal, [&](Team& team) {
      const Range units = share_of<V>(A, team.part(), team.parts());
      const Range rows = vector_share<V>(A, units, unit);
      const bool first_thread = team.part() == 0;
      PcgScalars s = result;  // every thread keeps its own copy, all the same
      index_t iteration = done;
      bool stay = true;
      while (stay && goes_on(s, iteration)) {
        s.beta = direction_coefficient(s);
        direction_range(M, v, static_cast<V>(s.beta), rows.begin, rows.end);
        team.wait();
        spmv_dot_share(A, static_cast<const V*>(v.p), v.q, pq, units);
        team.wait();
        s.pq = sum_partials(pq, matrix_groups);
        s.breakdown = pcg_breakdown(s.rz, s.pq);
        if (s.breakdown != PcgBreakdown::none) break;  // the same decision on every thread
        s.alpha = s.rz / s.pq;
        for (index_t i = rows.begin; i < rows.end; i += unit) {
          const ResidualSums sums = run_update_range(M, v, static_cast<V>(s.alpha), i,
                                                     rows.end - i < unit ? rows.end : i + unit);
          rz[i / unit] = sums.rz;
          rr[i / unit] = sums.rr;
        }
        stay = team.wait_and_stay();
        advance(&s, {sum_partials(rz, vector_groups), sum_partials(rr, vector_groups)});
        if (first_thread && run->history != nullptr) run->history[iteration] = s.rr;
        ++iteration;
      }
      if (first_thread) {  // the others have read them, two waits ago at least
        result = s;
        done = iteration;
      }
    });
  run->iterations = done;
  *scalars = run->scalars = result;
}

}  // namespace cnc::openmp::CNC_ISA
