#pragma once

#include "convert/place_row.hpp"

#include <cnc/contract/operands.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>

// What conversions do with one row of a BCSR matrix. Called by host loops and inside kernels alike.

namespace cnc::detail {

/// What can be wrong with a block row, in the order in which it is reported.
enum class BlockRowFault : int { none, offsets, order, range, fill };

inline const char* fault_text(BlockRowFault fault) {
  switch (fault) {
    case BlockRowFault::none: break;
    case BlockRowFault::offsets: return "row offsets do not ascend from 0 to the number of blocks";
    case BlockRowFault::order: return "columns do not ascend";
    case BlockRowFault::range: return "a column is out of range";
    case BlockRowFault::fill: return "an entry outside the matrix is not zero";
  }
  return "";
}

/// Whether block k, of block row i, is zero outside the matrix. True for a block all outside.
template <class T>
KOKKOS_INLINE_FUNCTION bool zero_out_of_range(const BcsrOperand<T>& A, index_t i, index_t k) {
  const int b = A.block_size;
  if (A.columns[k] < 0 || A.columns[k] >= A.block_cols()) return true;
  const int height = std::min<index_t>(b, A.rows - i * b);
  const int width = std::min<index_t>(b, A.cols - A.columns[k] * b);
  if (height == b && width == b) return true;
  const T* block = A.values + static_cast<offset_t>(k) * b * b;
  for (int r = 0; r < b; ++r)
    for (int c = r < height ? width : 0; c < b; ++c)
      if (block[r * b + c] != T(0)) return false;
  return true;
}

/// What is wrong with block row i. Reads nothing out of bounds whatever the arrays hold. Several lanes
/// may share the blocks; the least of their faults is then the one of the row.
template <class T>
KOKKOS_INLINE_FUNCTION BlockRowFault block_row_fault(const BcsrOperand<T>& A, offset_t blocks,
                                                     index_t i, int lane = 0, int lanes = 1) {
  const index_t begin = A.row_offsets[i];
  const index_t end = A.row_offsets[i + 1];
  if (begin < 0 || end < begin || end > blocks) return BlockRowFault::offsets;
  // Ascending columns that start at 0 or later and end before block_cols are all in range.
  for (offset_t k = static_cast<offset_t>(begin) + 1 + lane; k < end; k += lanes)
    if (A.columns[k] <= A.columns[k - 1]) return BlockRowFault::order;
  if (begin < end && (A.columns[begin] < 0 || A.columns[end - 1] >= A.block_cols()))
    return BlockRowFault::range;
  // Only blocks of the last block row and a block of the last block column can be partial.
  const bool last_row = i == A.block_rows() - 1;
  for (index_t k = last_row ? begin : std::max(begin, end - 1); k < end; ++k)
    if (!zero_out_of_range(A, i, k)) return BlockRowFault::fill;
  return BlockRowFault::none;
}

/// Calls use(column, value) for the entries of a scalar row that are not zero, columns ascending.
template <class T, class Use>
KOKKOS_INLINE_FUNCTION void walk_entries(const BcsrOperand<T>& A, index_t row, const Use& use) {
  const int b = A.block_size;
  const index_t i = row / b;
  for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    const T* block_row = A.values + (static_cast<offset_t>(k) * b + row % b) * b;
    for (int c = 0; c < b; ++c)
      if (block_row[c] != T(0)) use(A.columns[k] * b + c, block_row[c]);
  }
}

/// Overwrites row r of block row i with the source's values; place_row's result.
template <class T, class S>
KOKKOS_INLINE_FUNCTION index_t refresh_row(const BcsrOperand<T>& A, T* values,
                                           const BcsrOperand<S>& source, index_t i, int r) {
  const int b = A.block_size;
  const index_t begin = A.row_offsets[i];
  const index_t* columns = A.columns + begin;
  T* first = values + (static_cast<offset_t>(begin) * b + r) * b;
  return place_row<T>(
      source, static_cast<offset_t>(i) * b + r, b, A.row_offsets[i + 1] - begin,
      [=](offset_t j) { return columns[j]; },
      [=](offset_t j, int c, T value) { first[j * b * b + c] = value; });
}

}  // namespace cnc::detail
