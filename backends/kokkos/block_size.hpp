#pragma once

#include <cnc/contract/types.hpp>

#include <type_traits>

namespace cnc::kokkos {

/// Calls run(std::integral_constant<int, B>) with B the block size where a kernel is compiled for
/// it, else with B = 0: the kernel then reads the size at run time. The list is
/// compiled_block_sizes.
template <class Run>
void with_block_size(int block_size, const Run& run) {
  switch (block_size) {
    case 1: return run(std::integral_constant<int, 1>());
    case 2: return run(std::integral_constant<int, 2>());
    case 3: return run(std::integral_constant<int, 3>());
    case 4: return run(std::integral_constant<int, 4>());
    case 5: return run(std::integral_constant<int, 5>());
    case 6: return run(std::integral_constant<int, 6>());
    case 8: return run(std::integral_constant<int, 8>());
    default: return run(std::integral_constant<int, 0>());
  }
}

/// Rows that a kernel compiled for B must have room for.
template <int B>
inline constexpr int block_capacity = B == 0 ? max_block_size : B;

}  // namespace cnc::kokkos
