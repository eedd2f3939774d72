#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// Conjugate gradients with all inner products of an iteration at one point.
///
/// Method   Chronopoulos & Gear, s-step iterative methods for symmetric linear systems, 1989, algorithm 2.2.
template <class Operand, class V>
void cg_single_reduction(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
                         const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = CgSingleReduction<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const z = v[C::z], *const p = v[C::p],
           *const q = v[C::q], *const Ap = v[C::s];
  MethodScalars& s = *scalars;

  if (run->starts) {
    s = {};
    precondition(queue, n, M, r, z);
    s[C::rz] = inner_product(n, r, z);
    s[C::rr] = inner_product(n, r, r);
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    product(queue, A, z, q);
    s[C::zq] = inner_product(n, z, q);

    const double beta = s.first ? 0.0 : s[C::rz] / s[C::rz_previous];
    // p.Ap by recurrence: z.Az less what the old direction contributes.
    const double curvature = s.first ? s[C::zq] : s[C::zq] - beta * s[C::rz] / s[C::alpha];
    s.breakdown = check_positive(s[C::rz], curvature);
    if (s.breakdown != Breakdown::none) break;
    s[C::beta] = beta;
    s[C::pAp] = curvature;
    s[C::alpha] = s[C::rz] / curvature;

    renew_direction(n, s.first, beta, z, p);
    renew_direction(n, s.first, beta, q, Ap);
    add_scaled(n, s[C::alpha], p, x);
    add_scaled(n, -s[C::alpha], Ap, r);

    const double energy_gain = s[C::alpha] * s[C::rz];
    s[C::rz_previous] = s[C::rz];
    precondition(queue, n, M, r, z);
    s[C::rz] = inner_product(n, r, z);
    s[C::rr] = inner_product(n, r, r);
    iteration_done(s, *run, &energy_gain);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
