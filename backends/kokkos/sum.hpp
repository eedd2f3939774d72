#pragma once

#include <Kokkos_Core.hpp>

namespace cnc::kokkos {

/// N sums that a Kokkos reduction carries at once: partial dot products, or the rows of a block.
template <class T, int N>
struct Sum {
  T value[N];

  KOKKOS_INLINE_FUNCTION Sum() {
    for (int k = 0; k < N; ++k) value[k] = T{};
  }
  KOKKOS_INLINE_FUNCTION Sum& operator+=(const Sum& other) {
    for (int k = 0; k < N; ++k) value[k] += other.value[k];
    return *this;
  }
};

}  // namespace cnc::kokkos

// Tells Kokkos::Sum, the reducer behind every plain parallel_reduce, where to start.
template <class T, int N>
struct Kokkos::reduction_identity<cnc::kokkos::Sum<T, N>> {
  KOKKOS_FORCEINLINE_FUNCTION static cnc::kokkos::Sum<T, N> sum() { return {}; }
};
