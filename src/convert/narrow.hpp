#pragma once

#include <Kokkos_Macros.hpp>

#include <cmath>
#include <limits>

namespace cnc::detail {

/// Whether a finite value lies outside the finite range of To. Inf and NaN convert to themselves.
template <class To, class From>
KOKKOS_INLINE_FUNCTION bool overflows(From value) {
  if constexpr (sizeof(To) < sizeof(From))
    return std::isfinite(value) &&
           std::abs(value) > static_cast<From>(std::numeric_limits<To>::max());
  else
    return false;
}

}  // namespace cnc::detail
