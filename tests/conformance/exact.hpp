#pragma once

#include "conformance/guarded_vector.hpp"

#include <cmath>
#include <cstdint>

// Sums of products whose value is known exactly, and which plain sums get wrong: entries are whole numbers, the large ones
// cancel, and what is left is small.

namespace cnc::testing {

/// Holds sums of products of entries below 2^48 without rounding.
__extension__ typedef __int128 Whole;

/// As a double, rounded once.
inline double rounded(Whole value) { return static_cast<double>(value); }

/// Exact sum of products of whole numbers.
struct WholeSum {
  Whole sum = 0;
  template <class V>
  void add(V a, V b) {
    sum += static_cast<Whole>(a) * static_cast<Whole>(b);
  }
};

/// A whole number below 2^bits, most of them not far below, with as many digits as V has.
template <class V>
V whole_number(Random& random, int bits) {
  const auto mantissa = static_cast<double>(random.next() >> 11) * 0x1p-52 - 1;
  const int exponent = bits - static_cast<int>(random.next() % 3);
  return std::trunc(static_cast<V>(std::ldexp(mantissa, exponent)));
}

/// Entry i of n: large in the first third, small in the second; the last third is the first in another order, times `sign`, so
/// that products of two vectors with different signs cancel, in no sum of neighbours by itself.
template <class V>
V cancelling_entry(index_t i, index_t n, int sign, std::uint64_t seed, int bits) {
  const index_t third = n / 3;
  const bool mirrored = i >= n - third;
  const index_t from = mirrored ? static_cast<index_t>((offset_t(i) * 7919 + 13) % third) : i;
  Random random(seed + 1000003u * static_cast<std::uint64_t>(from));
  const V value = whole_number<V>(random, from < third ? bits : 3);
  return mirrored && sign < 0 ? -value : value;
}

template <class V>
void make_cancelling(GuardedVector<V>& x, int sign, std::uint64_t seed, int bits = 40) {
  for (index_t i = 0; i < x.size(); ++i) x[i] = cancelling_entry<V>(i, x.size(), sign, seed, bits);
}

}  // namespace cnc::testing
