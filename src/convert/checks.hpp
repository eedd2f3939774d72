#pragma once

#include "parallel.hpp"

#include <cnc/bcsr_matrix.hpp>

#include <atomic>
#include <limits>
#include <string>

namespace cnc::detail {

/// The smallest i in [0, n) for which faulty(i) holds, or -1. Runs in parallel and allocates nothing;
/// the answer does not depend on the number of threads.
template <class Faulty>
index_t first_fault(index_t n, const Faulty& faulty) {
  constexpr index_t none = std::numeric_limits<index_t>::max();
  std::atomic<index_t> first{none};
  parallel_for(n, [&](index_t i) {
    // Any i below the final answer is below every intermediate one, so it is looked at.
    index_t seen = first.load(std::memory_order_relaxed);
    if (i >= seen || !faulty(i)) return;
    while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
    }
  });
  const index_t answer = first.load();
  return answer == none ? -1 : answer;
}

/// Refuses a number of entries, blocks or slots that Offset cannot hold.
template <class Offset>
void require_offset(offset_t sum, const char* what) {
  constexpr Offset largest = std::numeric_limits<Offset>::max();
  require(sum <= static_cast<offset_t>(largest),
          [&] { return "more than " + std::to_string(largest) + " " + what; });
}

/// Turns counts in offsets[1..n] into offsets and returns their sum. Refuses a sum that the offset
/// type cannot hold, naming `what` is counted.
template <class Offset>
Offset offsets_from_counts(Offset* offsets, offset_t n, const char* what) {
  offset_t sum = 0;
  offsets[0] = 0;
  for (offset_t i = 1; i <= n; ++i) {
    sum += offsets[i];
    require_offset<Offset>(sum, what);
    offsets[i] = static_cast<Offset>(sum);
  }
  return static_cast<Offset>(sum);
}

/// Asks for the memory of the columns and values of so many blocks at once.
template <class T, class Space>
void require_blocks(const char* what, std::size_t blocks, std::size_t values_per_block) {
  require_memory(what,
                 static_cast<double>(blocks) *
                     static_cast<double>(sizeof(index_t) + values_per_block * sizeof(T)),
                 memory_kind<Space>);
}

/// block_row < 0: convert_values met no value that is too large.
inline void require_no_overflow(index_t block_row) {
  require(block_row < 0, [=] {
    return "convert_values: a value of block row " + std::to_string(block_row) +
           " is too large for the narrower type";
  });
}

inline void require_block_size(int block_size) {
  require(block_size >= 1 && block_size <= max_block_size,
          [=] { return "block size must be 1 to 16, not " + std::to_string(block_size); });
}

}  // namespace cnc::detail
