#pragma once

#include <cnc/contract/ops.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>

// The loops of a cycle besides those of the backends.

namespace cnc::detail {

/// to[i] := from[i]
template <class From, class To>
struct ConvertTo {
  const From* from;
  To* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { to[i] = static_cast<To>(from[i]); }
};

/// A power of two near 1 / norm; 1 for a norm that has none.
KOKKOS_INLINE_FUNCTION double inverse_power(double norm) {
  int exponent = 0;
  if (norm > 0 && std::isfinite(norm)) std::frexp(norm, &exponent);
  return std::ldexp(1.0, -exponent);
}
/// What brings residuals into the range of a narrower type: a number or, where the norm is not known to the host, that of
/// its memory.
struct RangeFactor {
  double known = 1;
  const double* norm = nullptr;
  KOKKOS_INLINE_FUNCTION double operator()() const {
    return norm == nullptr ? known : inverse_power(*norm);
  }
};
/// f := factor r; then, unless that is null, x := first inverse f: the first step from zero
/// where D is diagonal.
template <class V, class M>
struct LoadResidual {
  const V* r;
  RangeFactor factor;
  M* f;
  M first = 0;
  const M* inverse = nullptr;  ///< null: ones
  M* x = nullptr;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const M value = static_cast<M>(factor() * static_cast<double>(r[i]));
    f[i] = value;
    if (x != nullptr) x[i] = first * (inverse == nullptr ? M(1) : inverse[i]) * value;
  }
};
/// z := x / factor
template <class M, class V>
struct UnloadSolution {
  const M* x;
  RangeFactor factor;
  V* z;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    z[i] = static_cast<V>(static_cast<double>(x[i]) / factor());
  }
};

/// y := of_x x + of_y y + of_residual D^-1 r in block row i; a factor of zero leaves its vector unread.
template <class M>
struct RelaxBlock {
  int b;
  index_t rows;
  const M* inverse;
  M of_x, of_y, of_residual;
  const M* r;
  const M* x;
  M* y;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (b == 1) return store(i, inverse[i] * r[i]);
    const offset_t begin = i * b;
    const int height = rows - begin < b ? static_cast<int>(rows - begin) : b;
    const M* const D = inverse + begin * b;
    for (int q = 0; q < height; ++q) {
      M sum = 0;
      for (int k = 0; k < height; ++k) sum += D[q * b + k] * r[begin + k];
      store(begin + q, sum);
    }
  }
  KOKKOS_INLINE_FUNCTION void store(offset_t at, M relaxed) const {
    M value = of_residual * relaxed;
    if (of_x != M(0)) value += of_x * x[at];
    if (of_y != M(0)) value += of_y * y[at];
    y[at] = value;
  }
};

/// A step of a relaxation in row i, whose product with x is there.
template <class M>
struct RelaxRow {
  RelaxationStep<M> step;
  const M* product;
  const M* x;
  M* y;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    y[i] = step(static_cast<index_t>(i), product[i], x, y);
  }
};

/// Row i of a dense product x := A f.
template <class M>
struct DenseRow {
  index_t n;
  const M* A;
  const M* f;
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    constexpr int ways = 8;  // sums side by side: one alone would wait for itself
    const M* const row = A + i * n;
    M sums[ways] = {};
    index_t j = 0;
    for (; j + ways <= n; j += ways)
      for (int w = 0; w < ways; ++w) sums[w] += row[j + w] * f[j + w];
    M sum = 0;
    for (; j < n; ++j) sum += row[j] * f[j];
    for (int w = 0; w < ways; ++w) sum += sums[w];
    x[i] = sum;
  }
};

/// fine := T coarse, T having the weight of an aggregate in the rows of its members
template <class M>
struct FromAggregate {
  const index_t* of;
  const M* weights;
  const M* coarse;
  M* fine;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    fine[i] = weights[of[i]] * coarse[of[i]];
  }
};
/// coarse := T^T fine
template <class M>
struct SumAggregate {
  const index_t* offsets;
  const index_t* members;
  const M* weights;
  const M* fine;
  M* coarse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t a) const {
    constexpr int together = 4;  // entries that are under way
    const index_t end = offsets[a + 1];
    M sum = 0;
    for (index_t k = offsets[a]; k < end; k += together) {
      M entries[together];
      for (int u = 0; u < together; ++u) entries[u] = k + u < end ? fine[members[k + u]] : M(0);
      for (int u = 0; u < together; ++u) sum += entries[u];
    }
    coarse[a] = weights[a] * sum;
  }
};

/// The combination of two directions c and d with the least residual, or the least error in the energy norm, from products
/// of test vectors t and u with v = A c, w = A d and residuals: s = t.v, t.f, t.w, u.v, u.w, u.r. Then s[0], s[1] are the coefficients.
struct SolveForTwo {
  double* s;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    const double first = s[1] / s[0];
    const double determinant = s[0] * s[4] - s[2] * s[3];
    const double second = s[0] * s[5] / determinant;
    const bool one = std::isfinite(first), two = one && std::isfinite(second);
    const double corrected = first - second * s[2] / s[0];
    s[0] = two ? corrected : one ? first : 1;
    s[1] = two ? second : 0;
  }
};

/// f := f - (*dividend / *divisor) v, unless that is no number
template <class M>
struct TakeOff {
  const double* dividend;
  const double* divisor;
  const M* v;
  M* f;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const double factor = *dividend / *divisor;
    if (std::isfinite(factor)) f[i] -= static_cast<M>(factor) * v[i];
  }
};

/// x := s[0] c + s[1] d
template <class M>
struct CombineTwo {
  const double* s;
  const M* c;
  const M* d;
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    x[i] = static_cast<M>(s[0]) * c[i] + static_cast<M>(s[1]) * d[i];
  }
};

}  // namespace cnc::detail
