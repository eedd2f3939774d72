#pragma once

#include "kokkos/launch.hpp"

#include <cnc/contract/ops.hpp>

// The dots that a product leaves behind, as sums of one reduction.

namespace cnc::kokkos {

/// What a row of y adds to with . y, and to y . y where N is 2.
template <class V, int N>
struct RowDots {
  static constexpr int count = N;
  const V* with;
  bool with_itself;  ///< y . y, whose entries may not be in memory yet
  KOKKOS_INLINE_FUNCTION void add(index_t row, V y, Sum<double, N>& sum) const {
    const double entry = static_cast<double>(y);
    sum.value[0] += (with_itself ? entry : static_cast<double>(with[row])) * entry;
    if constexpr (N == 2) sum.value[1] += entry * entry;
  }
};

struct StoreTwoSums {
  double* first;
  double* second;
  KOKKOS_INLINE_FUNCTION void operator()(const Sum<double, 2>& total) const {
    *first = total.value[0];
    *second = total.value[1];
  }
};

/// Calls run(row dots, store) for one dot of the product y or for two.
template <class V, class Run>
void with_dots(const ProductDots<V>& dots, const V* y, const Run& run) {
  const bool with_itself = dots.with == y;
  if (dots.self_result == nullptr)
    run(RowDots<V, 1>{dots.with, with_itself}, StoreSum{dots.with_result});
  else
    run(RowDots<V, 2>{dots.with, with_itself}, StoreTwoSums{dots.with_result, dots.self_result});
}

}  // namespace cnc::kokkos
