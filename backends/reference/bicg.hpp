#pragma once

#include <reference/run.hpp>
#include <reference/transposed_product.hpp>

namespace cnc::reference {

/// The bi-conjugate gradients.
///
/// Method   Barrett et al., Templates for the solution of linear systems, 1994, section 2.3.5.
template <class Operand, class V>
void bicg(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
          const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Bicg<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const z = v[C::z], *const p = v[C::p],
           *const q = v[C::q];
  V *const shadow_r = v[C::shadow_r], *const shadow_z = v[C::shadow_z],
           *const shadow_p = v[C::shadow_p], *const shadow_q = v[C::shadow_q];
  MethodScalars& s = *scalars;
  const auto precondition_both = [&] {
    precondition(queue, n, M, r, z);
    precondition_transposed(n, M, shadow_r, shadow_z);
    s[C::rho] = inner_product(n, shadow_r, z);
    s[C::rr] = inner_product(n, r, r);
  };

  if (run->starts) {
    s = {};
    for (index_t i = 0; i < n; ++i) shadow_r[i] = r[i];
    precondition_both();
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    s.breakdown = check_divisor(s.first ? 1.0 : s[C::rho_previous], s[C::rho]);
    if (s.breakdown != Breakdown::none) break;
    const double beta = s.first ? 0.0 : s[C::rho] / s[C::rho_previous];
    renew_direction(n, s.first != 0, beta, z, p);
    renew_direction(n, s.first != 0, beta, shadow_z, shadow_p);
    product(queue, A, p, q);
    s[C::shadow_pq] = inner_product(n, shadow_p, q);
    s.breakdown = check_divisor(s[C::rho], s[C::shadow_pq]);
    if (s.breakdown != Breakdown::none) break;
    s[C::alpha] = s[C::rho] / s[C::shadow_pq];
    transposed_product(A, shadow_p, shadow_q);
    add_scaled(n, s[C::alpha], p, x);
    add_scaled(n, -s[C::alpha], q, r);
    add_scaled(n, -s[C::alpha], shadow_q, shadow_r);
    s[C::rho_previous] = s[C::rho];
    precondition_both();
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
