#pragma once

#include "convert/bcsr_rows.hpp"

#include <cnc/copy.hpp>

#include <string>

// What checking BCSR has in common on the host and on a device.

namespace cnc::detail {

/// The O(1) part of BcsrMatrix::validate.
template <class T, class Space>
void check_counts(const BcsrMatrix<T, Space>& A) {
  A.check_extents();
  require(A.nonzeros >= 0 && A.nonzeros <= A.stored(),
          "BcsrMatrix: nonzeros must be 0 to stored()");
}

template <class T, class Space>
void check_offset_bounds(const BcsrMatrix<T, Space>& A, index_t first, index_t last) {
  require(first == 0, [=] {
    return "BcsrMatrix: row offsets must start at 0, not " + std::to_string(first) +
           (first == 1 ? " (wrap_csr takes arrays that count from 1: index_base)" : "");
  });
  require(last == A.blocks(), [&] {
    return "BcsrMatrix: row offsets must end at the number of blocks, " +
           std::to_string(A.blocks()) + ", not " + std::to_string(last);
  });
}

/// What is wrong with a row, in words. `columns`: those of the row, [blocks].
inline std::string row_fault_text(BlockRowFault fault, const index_t* columns, offset_t blocks,
                                  index_t block_cols) {
  for (offset_t k = 0; k < blocks; ++k) {
    const std::string column = "column " + std::to_string(columns[k]);
    if (fault == BlockRowFault::range && (columns[k] < 0 || columns[k] >= block_cols))
      return column + " is out of range (columns are 0 to " + std::to_string(block_cols - 1) + ")";
    if (fault == BlockRowFault::order && k > 0 && columns[k] <= columns[k - 1])
      return "columns do not ascend: " + column + " comes after " + std::to_string(columns[k - 1]);
  }
  return "an entry outside the matrix is not zero";
}

/// Throws what block_row_fault found in block row i.
template <class T, class Space>
[[noreturn]] void throw_row_fault(const BcsrMatrix<T, Space>& A, index_t i, BlockRowFault fault) {
  const auto row = static_cast<std::size_t>(i);
  const auto bounds = copy_to<HostSpace>(Kokkos::subview(A.row_offsets, std::pair(row, row + 2)));
  const index_t begin = bounds(0), end = bounds(1);
  std::string text = "BcsrMatrix: " + std::string(A.block_size == 1 ? "row " : "block row ") +
                     std::to_string(i) + ": ";
  if (fault == BlockRowFault::offsets)
    throw_invalid(text + "its offsets " + std::to_string(begin) + " to " + std::to_string(end) +
                  " do not lie in order in 0 to " + std::to_string(A.blocks()));
  const auto columns = copy_to<HostSpace>(Kokkos::subview(
      A.columns, std::pair(static_cast<std::size_t>(begin), static_cast<std::size_t>(end))));
  throw_invalid(text + row_fault_text(fault, columns.data(), end - begin, A.block_cols()));
}

}  // namespace cnc::detail
