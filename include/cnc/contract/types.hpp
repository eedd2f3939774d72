#pragma once

#include <cstdint>

namespace cnc {

/// Row, column and block indices. Row offsets of BCSR are of this type too, so one BCSR matrix holds
/// at most 2^31 - 1 blocks; anything larger is refused with InvalidArgument, never truncated.
using index_t = std::int32_t;

/// Counts and positions of stored scalars. 64 bits: blocks * block_size^2, diagonals * rows and the
/// slot counts of sliced formats exceed 32 bits long before the index arrays do.
using offset_t = std::int64_t;

/// Where a backend's operands live. Data moves between the two only when it is asked to.
enum class MemorySpace { host, device };

/// Largest block size that any format accepts. 1, 2, 3, 4, 5, 6 and 8 have kernels of their own; the
/// other sizes run through a general kernel.
inline constexpr int max_block_size = 16;

/// Block sizes with a compile-time kernel in every backend.
inline constexpr int compiled_block_sizes[] = {1, 2, 3, 4, 5, 6, 8};

/// Number of blocks of `block` rows that cover `n` rows.
constexpr index_t ceil_div(index_t n, index_t block) { return n / block + (n % block != 0); }

}  // namespace cnc
