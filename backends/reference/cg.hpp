#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// Preconditioned conjugate gradients by their method: Cg, or CgFlexible, whose directions are made orthogonal to the one
/// before by a product with A.
///
/// Method   Hestenes & Stiefel, Methods of conjugate gradients for solving linear systems, 1952; Notay, Flexible conjugate
///          gradients, 2000, algorithm FCG(1).
template <class C, class Operand, class V>
void conjugate_gradients(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
                         const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  constexpr bool is_flexible = requires { C::qz; };
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const z = v[C::z], *const p = v[C::p],
           *const q = v[C::q];
  MethodScalars& s = *scalars;

  if (run->starts) {
    s = {};
    precondition(queue, n, M, r, z);
    s[C::rz] = inner_product(n, r, z);
    s[C::rr] = inner_product(n, r, r);
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    double beta = 0;
    if constexpr (is_flexible)
      beta = s.first ? 0.0 : -s[C::qz] / s[C::pq];
    else
      beta = s.first ? 0.0 : s[C::rz] / s[C::rz_previous];
    renew_direction(n, s.first, beta, z, p);
    product(queue, A, p, q);
    s[C::pq] = inner_product(n, p, q);

    s.breakdown = check_positive(s[C::rz], s[C::pq]);
    if (s.breakdown != Breakdown::none) break;
    // Not kept in the scalars: x takes its step at once and lacks nothing when a later run goes on.
    const double alpha = s[C::rz] / s[C::pq];
    add_scaled(n, alpha, p, x);
    add_scaled(n, -alpha, q, r);

    const double energy_gain = alpha * s[C::rz];
    s[C::rz_previous] = s[C::rz];
    precondition(queue, n, M, r, z);
    s[C::rz] = inner_product(n, r, z);
    s[C::rr] = inner_product(n, r, r);
    if constexpr (is_flexible) s[C::qz] = inner_product(n, q, z);
    iteration_done(s, *run, &energy_gain);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
