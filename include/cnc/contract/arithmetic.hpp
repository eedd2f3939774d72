#pragma once

#include <cmath>

// How sums of products are rounded where a caller cares. Everything here is exact only as it is written: sources that use it
// are compiled without contraction (-ffp-contract=off, -fmad=false), and say fma where they want one.

namespace cnc {

/// How the rows of a product are summed, and dots.
enum class Arithmetic {
  fast,                  ///< as the backend is fastest
  separate,              ///< rows in the order of storage, rounded after every operation
  fused,                 ///< the same with one rounding for a multiplication and its addition
  compensated_separate,  ///< compensated sums, in rows of rounded products; dots are compensated
  compensated_fused,     ///< compensated sums of exact products, as if in twice the precision
};

/// Whether dots, and the sums of passes, are compensated.
constexpr bool is_compensated(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::compensated_separate ||
         arithmetic == Arithmetic::compensated_fused;
}

/// A sum and what its roundings have lost, which is added at the end. CompensatedSum<T>{} is zero; it has no constructor,
/// because memory that threads of a device share takes none.
///
/// Method   Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974, with the error of an
///          addition by Knuth's TwoSum; exact products as in Ogita, Rump & Oishi, Accurate sum and dot product, 2005 (Dot2).
template <class T>
struct CompensatedSum {
  T sum;   ///< as rounded
  T rest;  ///< what the roundings have lost

  /// Adds one number.
  constexpr void add(T term) {
    const T before = sum;
    sum = before + term;
    const T added = sum - before;
    rest += (before - (sum - added)) + (term - added);
  }
  /// Adds a b without rounding it.
  template <class V>
  constexpr void add_exact(V a, V b) {
    const T product = static_cast<T>(a) * static_cast<T>(b);
    if constexpr (sizeof(V) == sizeof(T)) rest += std::fma(a, b, -product);
    add(product);
  }
  /// The same whichever of two is added to the other: lanes that exchange theirs agree.
  constexpr CompensatedSum& operator+=(const CompensatedSum& other) {
    CompensatedSum total{sum, T(0)};
    total.add(other.sum);
    *this = {total.sum, (rest + other.rest) + total.rest};
    return *this;
  }
  /// The sum as one number. Where it has overflowed, nothing is known of what was lost.
  constexpr T value() const {
    const T total = sum + rest;
    return total == total ? total : sum;
  }
};

/// The sums of a pass, as it calls them row by row: products of two vectors, exact.
template <int N>
struct CompensatedTerms {
  CompensatedSum<double> sums[N];  ///< in the pass's order
  /// Adds a b to the k-th.
  template <class V>
  constexpr void operator()(int k, V a, V b) {
    sums[k].add_exact(a, b);
  }
};

}  // namespace cnc
