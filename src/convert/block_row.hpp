#pragma once

#include <cnc/contract/operands.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <limits>

// Block rows of a CSR matrix: counted and copied into other layouts. Called by host loops and inside
// kernels alike.

namespace cnc::detail {

/// Walks block row i of a CSR matrix: calls on_block(block_column) once per block that holds an entry,
/// columns ascending, and after it on_entry(r, c, k) for each of its entries: row and column inside
/// the block, and position k in A.columns. A merge of the block row's at most 16 scalar rows:
/// O(entries + blocks b) without scratch.
template <class T, class OnBlock, class OnEntry>
KOKKOS_INLINE_FUNCTION void walk_block_row(const BcsrOperand<T>& A, int block_size, index_t i,
                                           const OnBlock& on_block, const OnEntry& on_entry) {
  // No column is this large: columns end at cols - 1 <= 2^31 - 2.
  constexpr index_t none = std::numeric_limits<index_t>::max();
  const index_t first_row = i * block_size;
  const int height = std::min<index_t>(block_size, A.rows - first_row);
  index_t next[max_block_size];
  index_t end[max_block_size];
  index_t head[max_block_size];  // column at next, or none
  index_t column = none;         // the least head
  for (int r = 0; r < height; ++r) {
    next[r] = A.row_offsets[first_row + r];
    end[r] = A.row_offsets[first_row + r + 1];
    head[r] = next[r] < end[r] ? A.columns[next[r]] : none;
    column = std::min(column, head[r]);
  }
  while (column != none) {
    const index_t block_column = column / block_size;
    const index_t first_column = block_column * block_size;
    on_block(block_column);
    column = none;
    for (int r = 0; r < height; ++r) {
      while (head[r] - first_column < block_size && next[r] < end[r]) {
        on_entry(r, static_cast<int>(head[r] - first_column), next[r]);
        ++next[r];
        head[r] = next[r] < end[r] ? A.columns[next[r]] : none;
      }
      column = std::min(column, head[r]);
    }
  }
}

/// The same for block size 1, where every entry is a block.
template <class T, class OnBlock, class OnEntry>
KOKKOS_INLINE_FUNCTION void walk_row(const BcsrOperand<T>& A, index_t i, const OnBlock& on_block,
                                     const OnEntry& on_entry) {
  for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    on_block(A.columns[k]);
    on_entry(0, 0, k);
  }
}

/// Number of blocks in block row i.
template <class T>
KOKKOS_INLINE_FUNCTION index_t blocks_in_row(const BcsrOperand<T>& A, int block_size, index_t i) {
  if (block_size == 1) return A.row_offsets[i + 1] - A.row_offsets[i];
  index_t count = 0;
  walk_block_row(
      A, block_size, i, [&](index_t) { ++count; }, [](int, int, index_t) {});
  return count;
}

/// Writes the columns and the whole blocks of block row i, the first of which is columns[0].
template <class T>
KOKKOS_INLINE_FUNCTION void fill_block_row(const BcsrOperand<T>& A, int block_size, index_t i,
                                           index_t* columns, T* values) {
  const int b2 = block_size * block_size;
  T* block = nullptr;
  walk_block_row(
      A, block_size, i,
      [&](index_t block_column) {
        *columns++ = block_column;
        block = values;
        values += b2;
        for (int k = 0; k < b2; ++k) block[k] = T(0);
      },
      [&](int r, int c, index_t k) { block[r * block_size + c] = A.values[k]; });
}

}  // namespace cnc::detail
