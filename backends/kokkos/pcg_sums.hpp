#pragma once

#include "kokkos/sum.hpp"

#include <cnc/contract/pcg.hpp>

namespace cnc::kokkos {

/// r.z and r.r, in this order.
using PcgSums = Sum<double, 2>;

/// z := M^-1 r in unit i, and its share of r.z and r.r.
template <class V, class P>
KOKKOS_INLINE_FUNCTION void precondition_and_sum(const P& M, index_t i, index_t n, const V* r, V* z,
                                                 PcgSums& sum) {
  M.apply(i, n, r, z);
  const index_t first = M.first(i);
  const int height = M.height(i, n);
  for (int k = 0; k < height; ++k) {
    const double residual = static_cast<double>(r[first + k]);
    sum.value[0] += residual * static_cast<double>(z[first + k]);
    sum.value[1] += residual * residual;
  }
}

/// What an update must decide before it touches a vector. Both its passes work it out for
/// themselves, since the first must not write what all its threads read.
struct PcgStep {
  PcgBreakdown breakdown;
  double alpha;
  double beta;
};

/// The breakdown that is set already, else the one that this division brings.
KOKKOS_INLINE_FUNCTION PcgBreakdown breakdown_of(const PcgScalars& scalars, double denominator) {
  return scalars.breakdown != PcgBreakdown::none ? scalars.breakdown
                                                 : pcg_breakdown(scalars.rz, denominator);
}

/// Second pass of an update: moves the scalars on, or records why the first pass did nothing.
KOKKOS_INLINE_FUNCTION void finish_update(const PcgStep& step, const PcgSums& total,
                                          PcgScalars& scalars) {
  scalars.breakdown = step.breakdown;
  if (step.breakdown != PcgBreakdown::none) return;
  scalars.alpha = step.alpha;
  scalars.beta = step.beta;
  scalars.rz_previous = scalars.rz;
  scalars.rz = total.value[0];
  scalars.rr = total.value[1];
}

}  // namespace cnc::kokkos
