#pragma once

#include <cnc/contract/types.hpp>

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace cnc::detail {

/// Numbers without a pattern, the same everywhere.
///
/// Method   Steele, Lea & Flood, Fast splittable pseudorandom number generators, 2014, the finaliser of SplitMix64.
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t k) {
  k += 0x9e3779b97f4a7c15u;
  k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
  k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
  return k ^ (k >> 31);
}

}  // namespace cnc::detail
