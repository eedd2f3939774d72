#pragma once

#include <reference/run.hpp>

namespace cnc::reference {

/// Chebyshev's iteration, with the interval [smallest, largest] of the scalars.
///
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, algorithm 12.1.
template <class Operand, class V>
void chebyshev(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
               const MethodVectors<V>& v, MethodScalars* scalars, MethodRun* run) {
  using C = Chebyshev<V>;
  const index_t n = A.rows;
  V *const x = v[C::x], *const r = v[C::r], *const z = v[C::z], *const p = v[C::p],
           *const q = v[C::q];
  MethodScalars& s = *scalars;

  if (run->starts) {
    const double smallest = s[C::smallest], largest = s[C::largest];
    s = {};
    s[C::smallest] = smallest, s[C::largest] = largest;
    s[C::rr] = inner_product(n, r, r);
  }
  const double theta = (s[C::largest] + s[C::smallest]) / 2;
  const double delta = (s[C::largest] - s[C::smallest]) / 2;
  run->iterations = 0;
  while (goes_on(s, *run)) {
    s.breakdown = check_divisor(1.0, s[C::rr]);
    if (s.breakdown != Breakdown::none) break;
    precondition(queue, n, M, r, z);
    if (s.first) {
      s[C::rho] = delta / theta;
      for (index_t i = 0; i < n; ++i) p[i] = static_cast<V>(z[i] / theta);
    } else {
      // 2 sigma - rho, times delta: which may be zero
      const double divisor = 2 * theta - delta * s[C::rho];
      const double rho = delta / divisor, of_p = rho * s[C::rho], of_z = 2 / divisor;
      for (index_t i = 0; i < n; ++i) p[i] = static_cast<V>(of_p * p[i] + of_z * z[i]);
      s[C::rho] = rho;
    }
    product(queue, A, p, q);
    add_scaled(n, 1.0, p, x);
    add_scaled(n, -1.0, q, r);
    s[C::rr] = inner_product(n, r, r);
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
