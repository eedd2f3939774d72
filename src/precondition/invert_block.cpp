#include <contract/types.hpp>
#include <precondition/invert_block.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cnc::detail {
namespace {

/// The power of two that brings the largest of n entries, `stride` apart, into [1/2, 1); false when that
/// entry is zero or any is not finite.
bool magnitude(int n, const double* entries, int stride, int& exponent) {
  double largest = 0;
  for (int k = 0; k < n; ++k) {
    const double entry = std::abs(entries[k * stride]);
    if (!std::isfinite(entry)) {
      return false;
    }
    largest = std::max(largest, entry);
  }
  std::frexp(largest, &exponent);
  return largest > 0;
}

/// a := R a C with powers of two in R and C; false when a row or column has no magnitude.
bool equilibrate(int b, double* a, int* row_exponents, int* col_exponents) {
  for (int r = 0; r < b; ++r) {
    if (!magnitude(b, a + r * b, 1, row_exponents[r])) {
      return false;
    }
    for (int c = 0; c < b; ++c) {
      a[r * b + c] = std::ldexp(a[r * b + c], -row_exponents[r]);
    }
  }
  for (int c = 0; c < b; ++c) {
    if (!magnitude(b, a + c, b, col_exponents[c])) {
      return false;
    }
    for (int r = 0; r < b; ++r) {
      a[r * b + c] = std::ldexp(a[r * b + c], -col_exponents[c]);
    }
  }
  return true;
}

int pivot_row(int b, const double* a, int column) {
  int best = column;
  for (int r = column + 1; r < b; ++r) {
    if (std::abs(a[r * b + column]) > std::abs(a[best * b + column])) {
      best = r;
    }
  }
  return best;
}

/// Reduces `a` to the identity, doing the same to `inverse`.
bool eliminate(int b, double* a, double* inverse) {
  const double threshold = 4 * b * std::numeric_limits<double>::epsilon();
  for (int k = 0; k < b; ++k) {
    const int pivot = pivot_row(b, a, k);
    if (std::abs(a[pivot * b + k]) <= threshold) {
      return false;
    }
    if (pivot != k) {
      std::swap_ranges(a + k * b, a + (k + 1) * b, a + pivot * b);
      std::swap_ranges(inverse + k * b, inverse + (k + 1) * b, inverse + pivot * b);
    }
    const double scale = 1 / a[k * b + k];
    for (int c = 0; c < b; ++c) {
      a[k * b + c] *= scale;
      inverse[k * b + c] *= scale;
    }
    for (int r = 0; r < b; ++r) {
      const double factor = a[r * b + k];
      if (r == k || factor == 0) {
        continue;
      }
      for (int c = 0; c < b; ++c) {
        a[r * b + c] -= factor * a[k * b + c];
        inverse[r * b + c] -= factor * inverse[k * b + c];
      }
    }
  }
  return true;
}

}  // namespace

bool invert_block(int b, double* a, double* inverse) {
  int row_exponents[max_block_size];
  int col_exponents[max_block_size];
  if (!equilibrate(b, a, row_exponents, col_exponents)) {
    return false;
  }
  std::fill(inverse, inverse + b * b, 0.0);
  for (int r = 0; r < b; ++r) {
    inverse[r * b + r] = 1;
  }
  if (!eliminate(b, a, inverse)) {
    return false;
  }
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
