#pragma once

#include <reference/run.hpp>
#include <reference/transposed_product.hpp>

namespace cnc::reference {

/// Conjugate gradients of the normal equations.
///
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, algorithm 8.4 and section 9.5.
template <class Operand, class V>
void cgnr(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
          const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Cgnr<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const normal = v[C::s], *const z = v[C::z],
           *const p = v[C::p], *const q = v[C::q];
  MethodScalars& s = *scalars;
  const auto form_gradient = [&] {
    transposed_product(A, r, normal);
    precondition(queue, n, M, normal, z);
    s[C::sz] = inner_product(n, normal, z);
  };

  if (run->starts) {
    s = {};
    s[C::rr] = inner_product(n, r, r);
    form_gradient();
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    const double beta = s.first ? 0.0 : s[C::sz] / s[C::sz_previous];
    renew_direction(n, s.first != 0, beta, z, p);
    product(queue, A, p, q);
    s[C::qq] = inner_product(n, q, q);
    s.breakdown = check_positive(s[C::sz], s[C::qq]);
    if (s.breakdown != Breakdown::none) break;
    s[C::alpha] = s[C::sz] / s[C::qq];
    add_scaled(n, s[C::alpha], p, x);
    add_scaled(n, -s[C::alpha], q, r);
    s[C::sz_previous] = s[C::sz];
    s[C::rr] = inner_product(n, r, r);
    form_gradient();
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
