#pragma once

#include <Kokkos_Macros.hpp>

namespace cnc::detail {

/// First element of an ascending range that is not less than `value`, or `last`. The standard library's is not
/// for kernels: nvcc takes it and finds the wrong place.
template <class T, class U>
KOKKOS_INLINE_FUNCTION const T* first_not_less(const T* first, const T* last, const U& value) {
  while (first < last) {
    const T* const middle = first + (last - first) / 2;
    if (*middle < value)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

}  // namespace cnc::detail
