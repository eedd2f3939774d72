#pragma once

#include <cnc/contract/types.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// Called by host loops and inside kernels alike.

namespace cnc::detail {

/// The power of two that brings the largest of n entries, `stride` apart, into [1/2, 1); false when that
/// entry is zero or any is not finite.
KOKKOS_INLINE_FUNCTION bool magnitude(int n, const double* entries, int stride, int& exponent) {
  double largest = 0;
  for (int k = 0; k < n; ++k) {
    const double entry = std::abs(entries[k * stride]);
    if (!std::isfinite(entry)) return false;
    largest = std::max(largest, entry);
  }
  std::frexp(largest, &exponent);
  return largest > 0;
}

/// a := R a C with powers of two in R and C; false when a row or column has no magnitude.
KOKKOS_INLINE_FUNCTION bool equilibrate(int b, double* a, int* row_exponents, int* col_exponents) {
  for (int r = 0; r < b; ++r) {
    if (!magnitude(b, a + r * b, 1, row_exponents[r])) return false;
    for (int c = 0; c < b; ++c) a[r * b + c] = std::ldexp(a[r * b + c], -row_exponents[r]);
  }
  for (int c = 0; c < b; ++c) {
    if (!magnitude(b, a + c, b, col_exponents[c])) return false;
    for (int r = 0; r < b; ++r) a[r * b + c] = std::ldexp(a[r * b + c], -col_exponents[c]);
  }
  return true;
}

KOKKOS_INLINE_FUNCTION int pivot_row(int b, const double* a, int column) {
  int best = column;
  for (int r = column + 1; r < b; ++r)
    if (std::abs(a[r * b + column]) > std::abs(a[best * b + column])) best = r;
  return best;
}

KOKKOS_INLINE_FUNCTION void swap_rows(int b, double* a, int r, int s) {
  for (int c = 0; c < b; ++c) {
    const double kept = a[r * b + c];
    a[r * b + c] = a[s * b + c];
    a[s * b + c] = kept;
  }
}

/// Reduces `a` to the identity, doing the same to `inverse`.
KOKKOS_INLINE_FUNCTION bool eliminate(int b, double* a, double* inverse) {
  const double threshold = 4 * b * std::numeric_limits<double>::epsilon();
  for (int k = 0; k < b; ++k) {
    const int pivot = pivot_row(b, a, k);
    if (std::abs(a[pivot * b + k]) <= threshold) return false;
    if (pivot != k) {
      swap_rows(b, a, k, pivot);
      swap_rows(b, inverse, k, pivot);
    }
    const double scale = 1 / a[k * b + k];
    for (int c = 0; c < b; ++c) {
      a[k * b + c] *= scale;
      inverse[k * b + c] *= scale;
    }
    for (int r = 0; r < b; ++r) {
      const double factor = a[r * b + k];
      if (r == k || factor == 0) continue;
      for (int c = 0; c < b; ++c) {
        a[r * b + c] -= factor * a[k * b + c];
        inverse[r * b + c] -= factor * inverse[k * b + c];
      }
    }
  }
  return true;
}

/// Inverts the b x b row-major block `a`, b in 1..32, into `inverse` (no overlap) by Gauss-Jordan
/// elimination with partial pivoting. Rows and columns are first scaled to magnitude one (by powers of
/// two, so without rounding), which makes "singular" mean singular and not merely badly scaled: unknowns
/// of different units in one block are common. `a` is overwritten.
///
/// Returns  false when the block is singular to working precision, or holds an entry that is not finite;
///          `inverse` is then undefined.
/// Source   Golub & Van Loan, "Matrix Computations", 4th ed., sections 3.4 and 3.5.2.
KOKKOS_INLINE_FUNCTION bool invert_block(int b, double* a, double* inverse) {
  constexpr int most = 32;
  int row_exponents[most];
  int col_exponents[most];
  if (!equilibrate(b, a, row_exponents, col_exponents)) return false;
  for (int k = 0; k < b * b; ++k) inverse[k] = k % (b + 1) == 0 ? 1 : 0;
  if (!eliminate(b, a, inverse)) return false;
  // inverse(A) = C inverse(R A C) R
  for (int r = 0; r < b; ++r) {
    for (int c = 0; c < b; ++c) {
      double& entry = inverse[r * b + c];
      entry = std::ldexp(entry, -(col_exponents[r] + row_exponents[c]));
    }
  }
  return true;
}

}  // namespace cnc::detail
