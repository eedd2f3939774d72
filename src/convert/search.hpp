#pragma once

#include <Kokkos_Macros.hpp>

namespace cnc::detail {

/// First element of an ascending range that is not less than `value`, or `last`. The standard library's is not
/// for kernels: nvcc takes it and finds the wrong place.
template <class T, class U>
KOKKOS_INLINE_FUNCTION const T* first_not_less(const T* first, const T* last, const U& value) {
  // In a form that compilers make free of branches, which nobody could predict.
  auto n = last - first;
  while (n > 0) {
    const auto half = n / 2;
    const bool less = first[half] < value;
    first = less ? first + half + 1 : first;
    n = less ? n - half - 1 : half;
  }
  return first;
}

}  // namespace cnc::detail
