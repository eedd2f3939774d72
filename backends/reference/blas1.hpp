#pragma once

#include <cnc/contract/queue.hpp>
#include <cnc/contract/types.hpp>

#include <cmath>

namespace cnc::reference {

// Vector operations. Every entry is computed in double and rounded to V once.

/// y := alpha x + y
template <class V>
void axpy(const Queue&, index_t n, V alpha, const V* x, V* y) {
  for (index_t i = 0; i < n; ++i) y[i] = static_cast<V>(double(alpha) * x[i] + y[i]);
}

/// y := alpha x + beta y. A test for beta == 0, not a product with it: 0 * NaN is NaN.
template <class V>
void axpby(const Queue&, index_t n, V alpha, const V* x, V beta, V* y) {
  for (index_t i = 0; i < n; ++i) {
    const double old = beta == 0 ? 0.0 : double(beta) * y[i];
    y[i] = static_cast<V>(double(alpha) * x[i] + old);
  }
}

/// x := alpha x; alpha == 0 overwrites NaN too
template <class V>
void scal(const Queue&, index_t n, V alpha, V* x) {
  for (index_t i = 0; i < n; ++i) x[i] = alpha == 0 ? V(0) : alpha * x[i];
}

/// z := x .* y; z may be x or y
template <class V>
void multiply(const Queue&, index_t n, const V* x, const V* y, V* z) {
  for (index_t i = 0; i < n; ++i) z[i] = x[i] * y[i];
}

/// The sum of x(i) y(i) from first to last. The product of two floats is exact in double.
template <class V>
double inner_product(index_t n, const V* x, const V* y) {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += double(x[i]) * y[i];
  return sum;
}

/// *result := x . y
template <class V>
void dot(const Queue&, index_t n, const V* x, const V* y, double* result) {
  *result = inner_product(n, x, y);
}

/// *result := sqrt(x . x)
template <class V>
void nrm2(const Queue&, index_t n, const V* x, double* result) {
  *result = std::sqrt(inner_product(n, x, x));
}

/// result[k] := y_k . x, y_k = y + k stride
template <class V>
void mdot(const Queue&, index_t n, int count, const V* y, offset_t stride, const V* x,
          double* result) {
  for (int k = 0; k < count; ++k) result[k] = inner_product(n, y + k * stride, x);
}

/// x := x + scale sum_k c[k] y_k; *xx := x . x unless xx is null
template <class V>
void maxpy(const Queue&, index_t n, int count, double scale, const double* c, const V* y,
           offset_t stride, V* x, double* xx) {
  for (index_t i = 0; i < n; ++i) {
    double sum = x[i];
    for (int k = 0; k < count; ++k) sum += scale * c[k] * y[k * stride + i];
    x[i] = static_cast<V>(sum);
  }
  if (xx != nullptr) *xx = inner_product(n, x, x);
}

/// y := x / sqrt(*xx)
template <class V>
void normalize(const Queue&, index_t n, const V* x, const double* xx, V* y) {
  for (index_t i = 0; i < n; ++i) y[i] = *xx > 0 ? static_cast<V>(x[i] / std::sqrt(*xx)) : V(0);
}

}  // namespace cnc::reference
