#pragma once

#include <openmp/pcg_steps.hpp>

namespace cnc::openmp::CNC_ISA {

/// Specialised per format, in the file of its kernel. Units are what a thread's share is counted in:
/// block rows, slices, rows.
template <class Operand, class V>
struct FormatKernel;

/// A thread's share of the matrix, in units, cut at whole groups of equal work.
template <class V, class Operand>
CNC_INLINE Range share_of(const Operand& A, int part, int parts) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t units = Kernel::units(A), group = Kernel::units_per_group(A);
  const auto unit_at = [=](index_t g) {
    const offset_t unit = static_cast<offset_t>(g) * group;
    return unit < units ? static_cast<index_t>(unit) : units;
  };
  const Range share = balanced_share(ceil_div(units, group), part, parts,
                                     [&](index_t g) { return Kernel::work_before(A, unit_at(g)); });
  return {unit_at(share.begin), unit_at(share.end)};
}

template <class V, class Operand>
CNC_INLINE int threads_for(const Queue& queue, const Operand& A) {
  using Kernel = FormatKernel<Operand, V>;
  return useful_threads(queue, Kernel::work_before(A, Kernel::units(A)));
}

/// q := A p and partial sums of p . q on a thread's share.
template <class V, class Operand>
CNC_INLINE void spmv_dot_share(const Operand& A, const V* p, V* q, double* partials, Range share) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t group = Kernel::units_per_group(A);
  for (index_t i = share.begin; i < share.end; i += group) {
    const index_t end = share.end - i < group ? share.end : i + group;
    Kernel::spmv(A, V(1), p, V(0), q, i, end);
    partials[i / group] = Kernel::dot(A, p, q, i, end);
  }
}

template <class Operand, class V>
void spmv(const Queue& queue, V alpha, const Operand& A, const V* x, V beta, V* y) {
  using Kernel = FormatKernel<Operand, V>;
  run_team(threads_for<V>(queue, A), Shares::equal, [&](const Team& team) {
    const Range share = share_of<V>(A, team.part(), team.parts());
    Kernel::spmv(A, alpha, x, beta, y, share.begin, share.end);
  });
}

template <class Operand, class V>
void spmv_dot(const Queue& queue, const Operand& A, const V* x, V* y, double* result) {
  using Kernel = FormatKernel<Operand, V>;
  run_team(threads_for<V>(queue, A), Shares::equal, [&](const Team& team) {
    spmv_dot_share(A, x, y, queue.partials, share_of<V>(A, team.part(), team.parts()));
  });
  *result = sum_partials(queue.partials, ceil_div(Kernel::units(A), Kernel::units_per_group(A)));
}

}  // namespace cnc::openmp::CNC_ISA
