#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// The stabilised bi-conjugate gradients, preconditioned on the right.
///
/// Method   van der Vorst, Bi-CGSTAB, 1992, section 4.
template <class Operand, class V>
void bicgstab(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
              const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Bicgstab<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const shadow = v[C::shadow], *const p = v[C::p],
           *const y = v[C::y], *const Ay = v[C::Ay], *const z = v[C::z], *const Az = v[C::Az];
  MethodScalars& s = *scalars;

  if (run->starts) {
    s = {};
    for (index_t i = 0; i < n; ++i) shadow[i] = r[i];
    s[C::rho] = s[C::rr] = inner_product(n, r, r);
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    if (s.first) {
      for (index_t i = 0; i < n; ++i) p[i] = r[i];
    } else {
      s.breakdown = check_divisor(s[C::alpha], s[C::omega]);
      if (s.breakdown == Breakdown::none)
        s.breakdown = check_divisor(s[C::rho_previous], s[C::rho]);
      if (s.breakdown != Breakdown::none) break;
      const double beta = s[C::rho] / s[C::rho_previous] * (s[C::alpha] / s[C::omega]);
      for (index_t i = 0; i < n; ++i)
        p[i] = static_cast<V>(r[i] + beta * (p[i] - s[C::omega] * Ay[i]));
    }
    precondition(queue, n, M, p, y);
    product(queue, A, y, Ay);
    s[C::shadow_Ay] = inner_product(n, shadow, Ay);
    s.breakdown = check_divisor(s[C::rho], s[C::shadow_Ay]);
    if (s.breakdown != Breakdown::none) break;
    s[C::alpha] = s[C::rho] / s[C::shadow_Ay];
    add_scaled(n, -s[C::alpha], Ay, r);  // the paper's s

    precondition(queue, n, M, r, z);
    product(queue, A, z, Az);
    s[C::r_Az] = inner_product(n, r, Az);
    s[C::Az_Az] = inner_product(n, Az, Az);
    if (!is_finite(s[C::r_Az]) || !is_finite(s[C::Az_Az])) {
      s.breakdown = Breakdown::not_finite;
      break;
    }
    s[C::omega] = s[C::Az_Az] > 0 ? s[C::r_Az] / s[C::Az_Az] : 0.0;
    add_scaled(n, s[C::alpha], y, x);
    add_scaled(n, s[C::omega], z, x);
    add_scaled(n, -s[C::omega], Az, r);

    s[C::rho_previous] = s[C::rho];
    s[C::rho] = inner_product(n, shadow, r);
    s[C::rr] = inner_product(n, r, r);
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
