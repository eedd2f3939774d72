#pragma once

#include "convert/bsell_rows.hpp"
#include "convert/checks.hpp"

#include <cnc/convert.hpp>

#include <string>

// What building and checking BSELL have in common on the host and on a device.

namespace cnc::detail {

/// A BSELL matrix without arrays: sizes and options of to_bsell, checked, defaults filled in.
template <class T, class Space>
BsellMatrix<T, Space> sized_bsell(const CsrMatrix<T, Space>& A, int block_size, int slice_height,
                                  index_t sort_window) {
  require_block_size(block_size);
  require(slice_height >= 0 && slice_height <= max_slice_height,
          "to_bsell: slice height must be 1 to 1024 (0: the default)");
  require(sort_window >= 0, "to_bsell: sort window must not be negative");
  BsellMatrix<T, Space> B;
  B.rows = A.rows;
  B.cols = A.cols;
  B.block_size = block_size;
  B.slice_height = slice_height == 0 ? default_slice_height<T, Space> : slice_height;
  B.sort_window = sort_window == 0 ? default_window_slices<Space> * B.slice_height : sort_window;
  B.nonzeros = A.nonzeros;
  return B;
}

template <class T, class Space>
void check_bsell_extents(const BsellMatrix<T, Space>& A) {
  require(A.rows >= 0 && A.cols >= 0, "BsellMatrix: rows and cols must not be negative");
  require(A.block_size >= 1 && A.block_size <= max_block_size,
          "BsellMatrix: block size must be 1 to 16");
  require(A.slice_height >= 1 && A.slice_height <= max_slice_height,
          "BsellMatrix: slice height must be 1 to 1024");
  require(A.sort_window >= 1, "BsellMatrix: sort window must be at least 1");
  const auto slices = static_cast<std::size_t>(A.slices());
  require(A.slice_offsets.extent(0) == slices + 1,
          "BsellMatrix: slice_offsets needs slices + 1 entries");
  require(A.row_permutation.extent(0) == slices * static_cast<std::size_t>(A.slice_height),
          "BsellMatrix: row_permutation needs slices * slice_height entries");
  require(A.values.extent(0) ==
              A.columns.extent(0) * static_cast<std::size_t>(A.block_size * A.block_size),
          "BsellMatrix: values needs slots * block_size^2 entries");
  require(A.nonzeros >= 0 && A.nonzeros <= A.stored(),
          "BsellMatrix: nonzeros must be 0 to stored()");
}

inline void require_slice_bounds(offset_t first, offset_t last, offset_t slots) {
  require(first == 0, "BsellMatrix: slice offsets must start at 0");
  require(last == slots, "BsellMatrix: slice offsets must end at the number of slots");
}

/// What can be wrong with one entry of the permutation.
enum class PermutationFault : int { none, padding, range, repeats };

/// All but `repeats`, which one entry alone does not show.
template <class T>
KOKKOS_INLINE_FUNCTION PermutationFault permutation_fault(const BsellOperand<T>& A, offset_t i) {
  const index_t block_row = A.row_permutation[i];
  if (i >= A.block_rows())
    return block_row == -1 ? PermutationFault::none : PermutationFault::padding;
  return block_row >= 0 && block_row < A.block_rows() ? PermutationFault::none
                                                      : PermutationFault::range;
}

[[noreturn]] inline void throw_permutation_fault(PermutationFault fault, offset_t i) {
  const std::string where = " at sorted position " + std::to_string(i);
  if (fault == PermutationFault::padding)
    throw_invalid("BsellMatrix: row_permutation is not -1" + where + ", a padding lane");
  if (fault == PermutationFault::range)
    throw_invalid("BsellMatrix: row_permutation is out of range" + where);
  throw_invalid("BsellMatrix: row_permutation repeats a block row" + where);
}

[[noreturn]] inline void throw_slice_fault(SliceFault fault, index_t slice) {
  throw_invalid("BsellMatrix: slice " + std::to_string(slice) + ": " + fault_text(fault));
}

}  // namespace cnc::detail
