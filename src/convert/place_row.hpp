#pragma once

#include "convert/narrow.hpp"

#include <cnc/bcsr_matrix.hpp>

#include <string>

namespace cnc::detail {

/// An entry of the source that update_values cannot take over. position < 0: there is none.
struct RefusedEntry {
  index_t row = -1;
  index_t position = -1;  ///< in source.columns
};

/// Writes row `row` of a CSR matrix into the places that a block row of another format has for it.
/// column_at(j) is the column of its j-th of `blocks` blocks, ascending; entry_at(j, c) the place of
/// column c of that block. Returns the position of the first entry that has no place or overflows T.
template <class T, class S, class ColumnAt, class EntryAt>
inline index_t place_row(const BcsrOperand<S>& source, index_t row, int block_size, offset_t blocks,
                         const ColumnAt& column_at, const EntryAt& entry_at) {
  offset_t j = 0;
  for (index_t k = source.row_offsets[row]; k < source.row_offsets[row + 1]; ++k) {
    const index_t column = source.columns[k];
    while (j < blocks && column - column_at(j) * block_size >= block_size) ++j;
    if (j == blocks || column < column_at(j) * block_size) return k;
    if (overflows<T>(source.values[k])) return k;
    entry_at(j, column - column_at(j) * block_size) = static_cast<T>(source.values[k]);
  }
  return -1;
}

/// Throws the InvalidArgument that a refused entry deserves.
template <class T, class S>
[[noreturn]] void throw_refused(const BcsrOperand<S>& source, RefusedEntry entry) {
  const std::string place =
      "(" + std::to_string(entry.row) + ", " + std::to_string(source.columns[entry.position]) + ")";
  if (overflows<T>(source.values[entry.position]))
    throw_invalid("update_values: entry " + place + " is too large for the matrix's precision");
  throw_invalid("update_values: entry " + place + " has no place in the matrix's pattern");
}

/// The O(1) checks at the door of update_values.
template <class SparseMatrix, class S>
void require_refreshable(const SparseMatrix& A, const CsrMatrix<S>& source) {
  require(source.block_size == 1, "update_values: the source must be CSR (block size 1)");
  require(A.rows == source.rows && A.cols == source.cols,
          "update_values: source and matrix differ in rows or cols");
  require(source.row_offsets.extent(0) == static_cast<std::size_t>(source.rows) + 1,
          "update_values: the source's row_offsets needs rows + 1 entries");
}

}  // namespace cnc::detail
