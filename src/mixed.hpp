#pragma once

#include <cnc/contract/types.hpp>

#include <Kokkos_Macros.hpp>

#include <cstdint>

// Numbers without a pattern, the same on every machine and any number of threads: the splitmix64 generator.
//
// Method   Steele, Lea & Flood, Fast splittable pseudorandom number generators, 2014.

namespace cnc::detail {

/// What the state of the generator grows by from one number to the next.
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

/// The number that follows the state k.
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t k) {
  k += golden;
  k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
  k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
  return k ^ (k >> 31);
}

/// 32 bits of 32, each of another number: less work for a device.
///
/// Method   Appleby, the last step of MurmurHash3, 2011.
KOKKOS_INLINE_FUNCTION std::uint32_t mixed_word(std::uint32_t k) {
  k = (k ^ (k >> 16)) * 0x85ebca6bu;
  k = (k ^ (k >> 13)) * 0xc2b2ae35u;
  return k ^ (k >> 16);
}

/// The number that follows a state in [-1, 1).
KOKKOS_INLINE_FUNCTION double unit_entry(std::uint64_t k) {
  return static_cast<double>(mixed(k) >> 11) * 0x1p-52 - 1;
}

}  // namespace cnc::detail
