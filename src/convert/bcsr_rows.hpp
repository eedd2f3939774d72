#pragma once

#include "convert/place_row.hpp"

#include <cnc/contract/operands.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>

// What conversions do with one row of a BCSR matrix. Called by host loops and inside kernels alike.

namespace cnc::detail {

/// What can be wrong with a block row, in the order in which it is reported.
enum class BlockRowFault : int { none, offsets, range, order, fill };

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

/// What is wrong with block row i. Reads nothing out of bounds whatever the arrays hold. Rows of CSR in
/// another order than ascending have no fault here but clear `ascending`. Several lanes may share the blocks; the
/// least of their faults is then the one of the row.
template <class T>
KOKKOS_INLINE_FUNCTION BlockRowFault block_row_fault(const BcsrOperand<T>& A, offset_t blocks,
                                                     index_t i, bool& ascending, int lane = 0,
                                                     int lanes = 1) {
  const index_t begin = A.row_offsets[i];
  const index_t end = A.row_offsets[i + 1];
  if (begin < 0 || end < begin || end > blocks) return BlockRowFault::offsets;
  if (begin == end) return BlockRowFault::none;
  // Without a way out, so that compilers make vectors of it.
  int descents = 0;
  for (offset_t k = static_cast<offset_t>(begin) + 1 + lane; k < end; k += lanes)
    descents += A.columns[k] <= A.columns[k - 1];
  if (descents > 0) {
    ascending = false;
    for (index_t k = begin; k < end; ++k)
      if (A.columns[k] < 0 || A.columns[k] >= A.block_cols()) return BlockRowFault::range;
    return A.block_size == 1 ? BlockRowFault::none : BlockRowFault::order;
  }
  // Ascending columns that start at 0 or later and end before block_cols are all in range. With more than one
  // lane this is known of all only together, and the least fault counts.
  if (A.columns[begin] < 0 || A.columns[end - 1] >= A.block_cols()) return BlockRowFault::range;
  if (A.block_size == 1) return BlockRowFault::none;
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
