#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// Richardson's iteration.
///
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, section 4.1.
template <class Operand, class V>
void richardson(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
                const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Richardson<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const z = v[C::z], *const q = v[C::q];
  MethodScalars& s = *scalars;

  if (run->starts) {
    s = {};
    precondition(queue, n, M, r, z);
    s[C::rr] = inner_product(n, r, r);
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    s.breakdown = check_divisor(1.0, s[C::rr]);
    if (s.breakdown != Breakdown::none) break;
    product(queue, A, z, q);
    add_scaled(n, 1.0, z, x);
    add_scaled(n, -1.0, q, r);
    precondition(queue, n, M, r, z);
    s[C::rr] = inner_product(n, r, r);
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
