#pragma once

#include "on_each.hpp"

#include <cnc/bcsr_matrix.hpp>

#include <limits>
#include <string>

namespace cnc::detail {

/// Refuses a number of entries, blocks or slots that Offset cannot hold.
template <class Offset>
void require_offset(offset_t sum, const char* what) {
  constexpr Offset largest = std::numeric_limits<Offset>::max();
  require(sum <= static_cast<offset_t>(largest),
          [&] { return "more than " + std::to_string(largest) + " " + what; });
}

/// Turns counts in offsets[1..] into offsets.
template <class Offset>
struct AddCounts {
  Offset* offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum, bool last) const {
    if (i > 0) sum += offsets[i];
    if (last) offsets[i] = static_cast<Offset>(sum);
  }
};

/// Turns counts in offsets[1..n] into offsets and returns their sum. Refuses a sum that the offset
/// type cannot hold, naming `what` is counted. Waits.
template <class Exec, class Offset>
std::size_t offsets_from_counts(const Exec& exec, Offset* offsets, offset_t n, const char* what) {
  const offset_t sum = scan(exec, 0, n + 1, AddCounts<Offset>{offsets});
  require_offset<Offset>(sum, what);
  return static_cast<std::size_t>(sum);
}

/// Asks for the memory of the columns and values of so many blocks at once.
template <class T, class Space>
void require_blocks(const char* what, std::size_t blocks, std::size_t values_per_block) {
  require_memory(what,
                 static_cast<double>(blocks) *
                     static_cast<double>(sizeof(index_t) + values_per_block * sizeof(T)),
                 memory_kind<Space>);
}

inline void require_block_size(int block_size) {
  require(block_size >= 1 && block_size <= max_block_size,
          [=] { return "block size must be 1 to 16, not " + std::to_string(block_size); });
}

}  // namespace cnc::detail
