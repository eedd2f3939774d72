#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// Conjugate gradients, and after each iteration the mean of its residuals that is the shortest.
///
/// Method   Weiss, Parameter-free iterative linear solvers, 1996, section 5; x and r follow one iteration later, as in the
///          contract's form.
template <class Operand, class V>
void cg_smoothed(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
                 const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = CgSmoothed<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const g = v[C::g], *const z = v[C::z],
           *const p = v[C::p], *const q = v[C::q], *const e = v[C::e];
  MethodScalars& s = *scalars;

  if (run->starts) {
    s = {};
    std::copy(r, r + n, g);
    std::fill(e, e + n, V(0));
    precondition(queue, n, M, g, z);
    s[C::gz] = s[C::tau] = inner_product(n, g, z);
    s[C::rr] = inner_product(n, r, r);
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    const double beta = s.first || s[C::gz] == 0 ? 0.0 : s[C::gz] / s[C::gz_previous];
    const double eta = s[C::eta];
    add_scaled(n, eta, e, x);
    for (index_t i = 0; i < n; ++i) e[i] = static_cast<V>((1 - eta) * e[i]);
    renew_direction(n, s.first, beta, z, p);
    product(queue, A, p, q);
    s[C::pq] = inner_product(n, p, q);
    const bool solved = s[C::gz] == 0 && s[C::rr] > 0 && eta > 0;
    s.breakdown = solved ? Breakdown::none : check_positive(s[C::gz], s[C::pq]);
    if (s.breakdown != Breakdown::none) break;
    s[C::alpha] = solved ? 0.0 : s[C::gz] / s[C::pq];
    for (index_t i = 0; i < n; ++i) r[i] = static_cast<V>(r[i] + eta * (g[i] - r[i]));
    add_scaled(n, s[C::alpha], p, e);
    add_scaled(n, -s[C::alpha], q, g);
    s[C::gz_previous] = s[C::gz];
    precondition(queue, n, M, g, z);
    s[C::gz] = inner_product(n, g, z);
    s[C::rr] = inner_product(n, r, r);

    const double both = s[C::tau] + s[C::gz];
    s[C::eta] = both > 0 ? s[C::tau] / both : 0.0;
    s[C::tau] = s[C::eta] * s[C::gz];
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
