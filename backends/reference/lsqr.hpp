#pragma once

#include <reference/run.hpp>
#include <reference/transposed_product.hpp>

namespace cnc::reference {

/// Least squares by bidiagonalisation; u and v times their lengths.
///
/// Method   Paige & Saunders, LSQR: an algorithm for sparse linear equations and sparse least squares, 1982, section 4;
///          with M^-1 alone: Arridge, Betcke & Harhanen 2014, section 4.
template <class Operand, class V>
void lsqr(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
          const MethodVectors<V>& vectors, MethodScalars* scalars, MethodRun* run) {
  using L = Lsqr<V>;
  const index_t n = A.rows;
  V *const x = vectors[L::x], *const r = vectors[L::r], *const u = vectors[L::u],
           *const v = vectors[L::v], *const z = vectors[L::z], *const w = vectors[L::w],
           *const t = vectors[L::t];
  MethodScalars& s = *scalars;
  const auto or_zero = [](double inverse_of) { return inverse_of > 0 ? 1 / inverse_of : 0.0; };
  /// to := a t - b to; without b, to is not read.
  const auto combine = [&](double a, double b, const V* from, V* to) {
    for (index_t i = 0; i < n; ++i)
      to[i] = static_cast<V>(b != 0 ? a * from[i] - b * to[i] : a * from[i]);
  };
  const auto measure_right = [&] {
    precondition(queue, n, M, v, z);
    s[L::vz] = inner_product(n, v, z);
    s[L::vv] = inner_product(n, v, v);
    return s[L::vz] > 0 ? std::sqrt(s[L::vz]) : 0.0;
  };

  if (run->starts) {
    s = {};
    std::copy(r, r + n, u);
    s[L::uu] = inner_product(n, u, u);
    s[L::phibar] = std::sqrt(s[L::uu]);
    transposed_product(A, u, t);
    combine(or_zero(s[L::phibar]), 0, t, v);
    s[L::rhobar] = measure_right();
    s[L::rr] = s[L::uu] * s[L::vv];
  }
  run->iterations = 0;
  while (goes_on(s, *run)) {
    product(queue, A, z, t);
    s.breakdown = check_positive(s[L::vz], s[L::uu]);
    if (s.breakdown != Breakdown::none) break;
    const double alpha = std::sqrt(s[L::vz]);
    combine(1 / alpha, alpha / std::sqrt(s[L::uu]), t, u);
    combine(1 / alpha, s.first ? 0.0 : s[L::ratio], z, w);
    s[L::uu] = inner_product(n, u, u);
    transposed_product(A, u, t);
    if (!is_finite(s[L::uu])) {
      s.breakdown = Breakdown::not_finite;
      break;
    }
    const double beta = std::sqrt(s[L::uu]), rho = std::hypot(s[L::rhobar], beta);
    const double cosine = s[L::rhobar] / rho, sine = beta / rho;
    s[L::phi] = cosine * s[L::phibar];
    s[L::phibar] *= sine;
    combine(or_zero(beta), beta / alpha, t, v);
    add_scaled(n, s[L::phi] / rho, w, x);
    for (index_t i = 0; i < n; ++i)
      r[i] = static_cast<V>(sine * sine * r[i] - cosine * s[L::phibar] * or_zero(beta) * u[i]);
    const double next_alpha = measure_right();
    s[L::ratio] = sine * next_alpha / rho;
    s[L::rhobar] = -cosine * next_alpha;
    s[L::rr] = std::pow(s[L::phibar] * cosine, 2) * s[L::vv];
    iteration_done(s, *run);
  }
  run->scalars = s;
}

}  // namespace cnc::reference
