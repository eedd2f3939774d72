#pragma once

#include <reference/blas1.hpp>
#include <reference/precondition.hpp>

namespace cnc::reference {

// The fused steps of preconditioned CG, here not fused at all: one line of the textbook after the
// other. Scalars are double; every vector entry is computed in double and rounded to V once.

/// y := alpha x + y with the iteration's double alpha
template <class V>
void add_scaled(index_t n, double alpha, const V* x, V* y) {
  for (index_t i = 0; i < n; ++i) y[i] = static_cast<V>(y[i] + alpha * x[i]);
}

/// p := z + beta p. At the first iteration p is not read: it may hold anything, NaN included.
template <class V>
void renew_direction(index_t n, bool first, double beta, const V* z, V* p) {
  for (index_t i = 0; i < n; ++i) p[i] = first ? z[i] : static_cast<V>(z[i] + beta * p[i]);
}

/// z := M^-1 r; rz := r.z; rr := r.r
template <class V>
void precondition_residual(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                           const PcgVectors<V>& v, PcgScalars* scalars) {
  precondition(queue, n, M, v.r, v.z);
  scalars->rz = inner_product(n, v.r, v.z);
  scalars->rr = inner_product(n, v.r, v.r);
}

template <class V>
void pcg_start(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
               const PcgVectors<V>& v, PcgScalars* scalars) {
  *scalars = {};
  precondition_residual(queue, n, M, v, scalars);
}

template <class V>
void pcg_direction(const Queue&, index_t n, const PcgVectors<V>& v, PcgScalars* scalars) {
  const bool first = scalars->rz_previous == 0;
  scalars->beta = first ? 0.0 : scalars->rz / scalars->rz_previous;
  renew_direction(n, first, scalars->beta, v.z, v.p);
}

template <class V>
void pcg_update(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                const PcgVectors<V>& v, PcgScalars* scalars) {
  if (scalars->breakdown != PcgBreakdown::none) return;
  scalars->breakdown = pcg_breakdown(scalars->rz, scalars->pq);
  if (scalars->breakdown != PcgBreakdown::none) return;

  scalars->alpha = scalars->rz / scalars->pq;
  add_scaled(n, scalars->alpha, v.p, v.x);
  add_scaled(n, -scalars->alpha, v.q, v.r);
  scalars->rz_previous = scalars->rz;
  precondition_residual(queue, n, M, v, scalars);
}

template <class V>
void pcg_single_reduction_update(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                                 const PcgVectors<V>& v, PcgScalars* scalars) {
  if (scalars->breakdown != PcgBreakdown::none) return;
  const bool first = scalars->rz_previous == 0;
  const double beta = first ? 0.0 : scalars->rz / scalars->rz_previous;
  // p.Ap by recurrence: z.Az less what the old direction contributes.
  const double curvature = first ? scalars->pq : scalars->pq - beta * scalars->rz / scalars->alpha;
  scalars->breakdown = pcg_breakdown(scalars->rz, curvature);
  if (scalars->breakdown != PcgBreakdown::none) return;

  scalars->beta = beta;
  scalars->alpha = scalars->rz / curvature;
  renew_direction(n, first, beta, v.z, v.p);
  renew_direction(n, first, beta, v.q, v.s);  // s = A p, because q = A z
  add_scaled(n, scalars->alpha, v.p, v.x);
  add_scaled(n, -scalars->alpha, v.s, v.r);
  scalars->rz_previous = scalars->rz;
  precondition_residual(queue, n, M, v, scalars);
}

}  // namespace cnc::reference
