#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// BiCGstab(2), preconditioned on the right.
///
/// Method   van der Vorst, Iterative Krylov methods for large linear systems, 2003, section 9.2, whose u, v, w, s, t are
///          p, Bp, BBp, Br, BBr here. x is changed when all coefficients are known.
template <class Operand, class V>
void bicgstab2(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
               const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Bicgstab2<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const shadow = v[C::shadow], *const p = v[C::p],
           *const Bp = v[C::Bp], *const BBp = v[C::BBp], *const Br = v[C::Br],
           *const BBr = v[C::BBr], *const y = v[C::y], *const z = v[C::z], *const Cy = v[C::Cy],
           *const Cz = v[C::Cz];
  MethodScalars& s = *scalars;
  const auto multiply = [&](const V* of, V* preconditioned, V* to) {
    precondition(queue, n, M, of, preconditioned);
    product(queue, A, preconditioned, to);
  };
  // of := from - factor of
  const auto renew = [&](const V* from, double factor, V* of) {
    renew_direction(n, false, -factor, from, of);
  };

  if (run->starts) {
    s = {};
    for (index_t i = 0; i < n; ++i) shadow[i] = r[i];
    s[C::rho] = s[C::rr] = inner_product(n, r, r);
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    // The step of even number.
    double alpha_2 = s[C::shadow_BBp] == 0 ? 0 : s[C::shadow_Br] / s[C::shadow_BBp];
    if (!s.first) {
      s.breakdown = check_divisor(s[C::rho], s[C::omega_2]);
      if (s.breakdown == Breakdown::none) s.breakdown = check_divisor(s[C::rho], alpha_2);
      if (s.breakdown == Breakdown::none) s.breakdown = check_divisor(s[C::omega_2], s[C::rho]);
      if (s.breakdown != Breakdown::none) break;
    }
    const double beta = s.first ? 0 : alpha_2 * s[C::rho] / (-s[C::omega_2] * s[C::shadow_Br]);
    renew_direction(n, s.first != 0, -beta, r, p);
    multiply(p, y, Bp);
    s[C::shadow_Bp] = inner_product(n, shadow, Bp);
    s.breakdown = check_divisor(s[C::rho], s[C::shadow_Bp]);
    if (s.breakdown != Breakdown::none) break;
    const double alpha = s[C::rho] / s[C::shadow_Bp];
    add_scaled(n, -alpha, Bp, r);
    multiply(r, z, Br);

    // That of odd number, unless it has nothing to divide by.
    s[C::shadow_Br] = inner_product(n, shadow, Br);
    s.breakdown = check_divisor(s[C::shadow_Br], s[C::rho]);
    if (s.breakdown != Breakdown::none) break;
    const double beta_2 = alpha * s[C::shadow_Br] / s[C::rho];
    renew(Br, beta_2, Bp);
    multiply(Bp, Cy, BBp);
    s[C::shadow_BBp] = inner_product(n, shadow, BBp);
    if (!is_finite(s[C::shadow_BBp])) {
      s.breakdown = Breakdown::not_finite;
      break;
    }
    alpha_2 = s[C::shadow_BBp] == 0 ? 0 : s[C::shadow_Br] / s[C::shadow_BBp];
    renew(r, beta_2, p);
    add_scaled(n, -alpha_2, Bp, r);
    add_scaled(n, -alpha_2, BBp, Br);
    multiply(Br, Cz, BBr);

    // The least residual over Br and BBr, or over Br if BBr is a multiple of it.
    s[C::r_Br] = inner_product(n, r, Br);
    s[C::Br_Br] = inner_product(n, Br, Br);
    s[C::r_BBr] = inner_product(n, r, BBr);
    s[C::Br_BBr] = inner_product(n, Br, BBr);
    s[C::BBr_BBr] = inner_product(n, BBr, BBr);
    const double r_Br = s[C::r_Br], mu = s[C::Br_Br], nu = s[C::Br_BBr];
    if (!is_finite(r_Br) || !is_finite(mu) || !is_finite(s[C::r_BBr]) || !is_finite(nu) ||
        !is_finite(s[C::BBr_BBr])) {
      s.breakdown = Breakdown::not_finite;
      break;
    }
    s[C::omega] = s[C::omega_2] = 0;
    if (mu > 0) {
      const double tau = s[C::BBr_BBr] - nu * (nu / mu);
      if (tau > C::least_sine_2 * s[C::BBr_BBr])
        s[C::omega_2] = (s[C::r_BBr] - nu * (r_Br / mu)) / tau;
      s[C::omega] = (r_Br - nu * s[C::omega_2]) / mu;
    }
    add_scaled(n, alpha, y, x);
    renew(z, beta_2, y);  // M^-1 p of the second step
    add_scaled(n, alpha_2, y, x);
    add_scaled(n, -alpha_2, Cy, z);  // M^-1 r
    add_scaled(n, s[C::omega], z, x);
    add_scaled(n, s[C::omega_2], Cz, x);
    add_scaled(n, -s[C::omega], Br, r);
    add_scaled(n, -s[C::omega_2], BBr, r);
    add_scaled(n, -s[C::omega], Bp, p);
    add_scaled(n, -s[C::omega_2], BBp, p);

    s[C::rho] = inner_product(n, shadow, r);
    s[C::rr] = inner_product(n, r, r);
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
