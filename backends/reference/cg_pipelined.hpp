#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// Conjugate gradients whose inner products may be under way during the product.
///
/// Method   Ghysels & Vanroose, Hiding global synchronization latency in the preconditioned conjugate gradient
///          algorithm, 2014, algorithm 4.
template <class Operand, class V>
void cg_pipelined(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
                  const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = CgPipelined<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const u = v[C::u], *const w = v[C::w];
  V *const m = v[C::m], *const Am = v[C::n];
  V *const p = v[C::p], *const Ap = v[C::s], *const q = v[C::q], *const Aq = v[C::z];
  MethodScalars& s = *scalars;

  const auto sums = [&] {
    s[C::gamma] = inner_product(n, r, u);
    s[C::delta] = inner_product(n, w, u);
    s[C::rr] = inner_product(n, r, r);
    precondition(queue, n, M, w, m);
  };
  if (run->starts) {
    s = {};
    precondition(queue, n, M, r, u);
    product(queue, A, u, w);
    sums();
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    product(queue, A, m, Am);
    const double beta = s.first ? 0.0 : s[C::gamma] / s[C::gamma_previous];
    const double curvature = s.first ? s[C::delta] : s[C::delta] - beta * s[C::gamma] / s[C::alpha];
    s.breakdown = check_positive(s[C::gamma], curvature);
    if (s.breakdown != Breakdown::none) break;
    s[C::beta] = beta;
    s[C::curvature] = curvature;
    s[C::alpha] = s[C::gamma] / curvature;
    const double energy_gain = s[C::alpha] * s[C::gamma];
    s[C::gamma_previous] = s[C::gamma];

    renew_direction(n, s.first, beta, Am, Aq);
    renew_direction(n, s.first, beta, m, q);
    renew_direction(n, s.first, beta, w, Ap);
    renew_direction(n, s.first, beta, u, p);
    add_scaled(n, s[C::alpha], p, x);
    add_scaled(n, -s[C::alpha], Ap, r);
    add_scaled(n, -s[C::alpha], q, u);
    add_scaled(n, -s[C::alpha], Aq, w);
    sums();
    iteration_done(s, *run, &energy_gain);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
