#pragma once

#include <reference/run.hpp>

#include <cmath>

namespace cnc::reference {

/// Minimal residuals.
///
/// Method   Elman, Silvester & Wathen, Finite elements and fast iterative solvers, 2nd ed., 2014, algorithm 4.1, its
///          vectors not normalised.
template <class Operand, class V>
void minres(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
            const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Minres<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const u = v[C::u],
           *const u_previous = v[C::u_previous], *const w = v[C::w],
           *const w_previous = v[C::w_previous], *const z = v[C::z], *const q = v[C::q];
  MethodScalars& k = *scalars;

  if (run->starts) {
    k = {};
    for (index_t i = 0; i < n; ++i) u[i] = r[i];
    precondition(queue, n, M, u, z);
    k[C::uz] = inner_product(n, u, z);
    k[C::rr] = inner_product(n, r, r);
    k[C::eta] = std::sqrt(std::fmax(k[C::uz], 0.0));
    k[C::c] = k[C::c_previous] = k[C::rho] = k[C::rho_previous] = 1;
  }
  run->iterations = 0;
  while (goes_on(k, *run)) {
    product(queue, A, z, q);
    k[C::zq] = inner_product(n, z, q);
    k.breakdown = check_positive(k[C::uz], k[C::uz]);
    if (k.breakdown == Breakdown::none && !is_finite(k[C::zq])) k.breakdown = Breakdown::not_finite;
    if (k.breakdown != Breakdown::none) break;

    // The column of the tridiagonal matrix: gamma, delta and, later, the next gamma.
    k[C::gamma_previous] = k[C::gamma];
    const double gamma = k[C::gamma] = std::sqrt(k[C::uz]);
    const double delta = k[C::zq] / k[C::uz];
    const double above = k[C::s] * delta + k[C::c_previous] * k[C::c] * gamma;
    const double above_that = k[C::s_previous] * gamma;
    for (index_t i = 0; i < n; ++i) {
      double next = q[i] / gamma - delta / gamma * u[i];
      double direction = z[i] / gamma;
      if (!k.first) {
        next -= gamma / k[C::gamma_previous] * u_previous[i];
        direction -= above_that / k[C::rho_previous] * w_previous[i] + above / k[C::rho] * w[i];
      }
      u_previous[i] = u[i];
      u[i] = static_cast<V>(next);
      w_previous[i] = k.first ? V(0) : w[i];
      w[i] = static_cast<V>(direction);
    }
    precondition(queue, n, M, u, z);
    k[C::uz] = inner_product(n, u, z);

    if (!is_finite(k[C::uz])) k.breakdown = Breakdown::not_finite;
    if (k[C::uz] < 0) k.breakdown = Breakdown::not_positive_definite;
    if (k.breakdown != Breakdown::none) break;
    const double next_gamma = std::sqrt(k[C::uz]);
    const double diagonal = k[C::c] * delta - k[C::c_previous] * k[C::s] * gamma;
    const double rho = std::hypot(diagonal, next_gamma);
    k.breakdown = check_divisor(k[C::eta], rho);
    if (k.breakdown != Breakdown::none) break;
    k[C::c_previous] = k[C::c];
    k[C::s_previous] = k[C::s];
    k[C::rho_previous] = k[C::rho];
    k[C::c] = diagonal / rho;
    k[C::s] = next_gamma / rho;
    k[C::rho] = rho;

    const double step_length = k[C::c] * k[C::eta] / rho;
    add_scaled(n, step_length, w, x);
    for (index_t i = 0; i < n; ++i)
      r[i] = static_cast<V>(k[C::s] * k[C::s] * r[i] - step_length * u[i]);
    k[C::rr] = inner_product(n, r, r);
    k[C::eta] = -k[C::s] * k[C::eta];
    iteration_done(k, *run);
  }
  run->scalars = k;
}

}  // namespace cnc::reference
