#pragma once

#include "convert/narrow.hpp"

#include <cnc/bcsr_matrix.hpp>

#include <Kokkos_Macros.hpp>

#include <string>

namespace cnc::detail {

/// Writes row `row` of a CSR matrix into the places that a row of another layout has for it, and zeros
/// into those that the row does not fill: every place is written once. column_at(j) is the column of the
/// j-th of `blocks` blocks, ascending; store(j, c, value) takes the entry in column c of that block. A
/// row beyond the last one, or -1, is empty. Returns the position of the first entry that has no place
/// or overflows T, or -1.
template <class T, class S, class ColumnAt, class Store>
KOKKOS_INLINE_FUNCTION index_t place_row(const BcsrOperand<S>& source, offset_t row, int block_size,
                                         offset_t blocks, const ColumnAt& column_at,
                                         const Store& store) {
  const bool inside = row >= 0 && row < source.rows;
  index_t k = inside ? source.row_offsets[row] : 0;
  const index_t end = inside ? source.row_offsets[row + 1] : 0;
  offset_t next = k < end ? source.columns[k] : -1;
  for (offset_t j = 0; j < blocks; ++j) {
    const offset_t first = static_cast<offset_t>(column_at(j)) * block_size;
    for (int c = 0; c < block_size; ++c) {
      T value = 0;
      if (next == first + c) {
        if (overflows<T>(source.values[k])) return k;
        value = static_cast<T>(source.values[k]);
        ++k;
        next = k < end ? source.columns[k] : -1;
      }
      store(j, c, value);
    }
  }
  return k < end ? k : -1;
}

/// The InvalidArgument that a refused entry deserves.
[[noreturn]] inline void throw_refused(index_t row, index_t column, bool too_large) {
  const std::string place = "(" + std::to_string(row) + ", " + std::to_string(column) + ")";
  if (too_large)
    throw_invalid("update_values: entry " + place + " is too large for the matrix's precision");
  throw_invalid("update_values: entry " + place + " has no place in the matrix's pattern");
}

/// The O(1) checks at the door of update_values.
template <class SparseMatrix, class Source>
void require_refreshable(const SparseMatrix& A, const Source& source) {
  require(source.block_size == 1, "update_values: the source must be CSR (block size 1)");
  require(A.rows == source.rows && A.cols == source.cols,
          "update_values: source and matrix differ in rows or cols");
  require(source.row_offsets.extent(0) == static_cast<std::size_t>(source.rows) + 1,
          "update_values: the source's row_offsets needs rows + 1 entries");
}

/// Whether both names mean one matrix, which then has its new values already.
template <class SparseMatrix, class Source>
bool shares_arrays(const SparseMatrix& A, const Source& source) {
  return static_cast<const void*>(A.values.data()) == source.values.data() &&
         A.columns.data() == source.columns.data();
}

}  // namespace cnc::detail
