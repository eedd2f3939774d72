#pragma once

#include <cnc/contract/operands.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>

namespace cnc::detail {

/// One lane of one slice: the blocks of one sorted block row, C slots apart.
template <class T>
struct Lane {
  const index_t* columns = nullptr;  ///< of block 0
  offset_t first_value = 0;          ///< position of entry (0, 0) of block 0
  offset_t width = 0;                ///< blocks, padding included
  index_t block_row = -1;            ///< -1: a padding lane
  int height = 0;                    ///< rows of the block row inside the matrix
  int block_size = 1;
  int slice_height = 1;

  KOKKOS_INLINE_FUNCTION index_t column(offset_t j) const { return columns[j * slice_height]; }
  /// Position in values of entry (r, c) of the lane's j-th block.
  KOKKOS_INLINE_FUNCTION offset_t position(offset_t j, int r, int c) const {
    const offset_t b = block_size;
    return first_value + (j * b * b + r * b + c) * slice_height;
  }
};

template <class T>
KOKKOS_INLINE_FUNCTION Lane<T> lane_of(const BsellOperand<T>& A, index_t slice, int lane) {
  const offset_t begin = A.slice_offsets[slice];
  const offset_t b = A.block_size;
  Lane<T> result;
  result.columns = A.columns + begin + lane;
  result.first_value = begin * b * b + lane;
  result.width = (A.slice_offsets[slice + 1] - begin) / A.slice_height;
  result.block_row = A.row_permutation[static_cast<offset_t>(slice) * A.slice_height + lane];
  result.block_size = A.block_size;
  result.slice_height = A.slice_height;
  if (result.block_row >= 0)
    result.height = std::min<index_t>(A.block_size, A.rows - result.block_row * A.block_size);
  return result;
}

}  // namespace cnc::detail
