#pragma once

#include <cnc/contract/methods.hpp>

#include <cmath>
#include <limits>

// How far two backends may differ, in one place. Every bound is derived, none is tuned to pass.

namespace cnc::testing {

/// Two sums of the same `terms` products in any order, with or without fused multiply-add, rounded to V
/// at every step, differ by at most 2 gamma(terms + 1) times the sum of the absolute products, and
/// gamma(k) is about k eps / 2 (Higham, "Accuracy and Stability of Numerical Algorithms", 2002,
/// section 3.1). The 3 more stand for the operations around the sum: alpha, beta, the last rounding.
template <class V>
double sum_tolerance(offset_t terms, double absolute_sum) {
  return (static_cast<double>(terms) + 4) * std::numeric_limits<V>::epsilon() * absolute_sum;
}

/// Reductions accumulate in double whatever the vectors are, so their bound knows nothing of V.
inline double reduction_tolerance(index_t n, double absolute_sum) {
  return sum_tolerance<double>(n, absolute_sum);
}

/// `iterations` steps of CG on a well-conditioned matrix with rows of `row_length`, relative to the
/// initial norms. An iteration makes a row sum and a handful of vector operations, and its error is
/// carried on by later ones; the matrices of these tests have condition numbers below 16, which is the
/// factor for that (Greenbaum, "Iterative Methods for Solving Linear Systems", 1997, section 4.1).
template <class V>
double iteration_tolerance(index_t iterations, index_t row_length) {
  return 16.0 * iterations * sum_tolerance<V>(row_length, 1);
}

/// The same for a method: its products count, and recurrences that call for new starts carry errors on further.
template <class V>
double method_tolerance(const MethodFacts& method, index_t iterations, index_t row_length) {
  const double carried = method.restarts ? 64 : 1;
  return carried * iteration_tolerance<V>(method.products * iterations, row_length);
}
/// Whether a residual norm is so small that such a method is left to rounding.
template <class V>
bool left_to_rounding(const MethodFacts& method, double residual, double initial) {
  return method.restarts && residual < 1e3 * std::numeric_limits<V>::epsilon() * initial;
}

/// |actual - expected| <= tolerance, false for NaN. A result that is not finite matches any other that
/// is not: which of Inf and NaN comes out depends on the order of the sum.
inline bool agrees(double actual, double expected, double tolerance) {
  if (!std::isfinite(expected)) return !std::isfinite(actual);
  return std::abs(actual - expected) <= tolerance;
}

}  // namespace cnc::testing
