#pragma once

#include <cnc/contract/types.hpp>

#include "parts/host_array.hpp"

#include <cstdint>
#include <vector>

namespace cnc::detail {

/// The entries of a square matrix on the host, whatever its format: where they are, and where their values are among those
/// of the operand. For set-ups that need to know who gathers what.
struct RowPattern {
  index_t rows = 0;
  HostArray<index_t> offsets;   ///< [rows + 1]
  HostArray<index_t> columns;   ///< beside the diagonal
  HostArray<index_t> places;    ///< of their values
  HostArray<index_t> diagonal;  ///< [rows] place of the value on the diagonal; -1: none
  /// Places of values that are no entries for as long as they are zero: padding, and what diagonals hold beyond the edges of
  /// a grid.
  std::vector<index_t> absent;
};

/// The entries of the same rows in columns of other devices, and what these need of the rows.
struct PatternBeyond {
  index_t columns = 0;                       ///< how many there are
  HostArray<index_t> rows, offsets, column;  ///< in CSR: of these rows alone, which ascend
  HostArray<index_t> sent_rows;              ///< of each value that others are sent; -1: of none
};

/// @{
/// What of an operand says where its entries are, on the host.
struct BcsrPattern {
  index_t rows = 0;
  int block_size = 1;
  HostArray<index_t> row_offsets, columns;
};
struct BsellPattern {
  index_t rows = 0;
  int block_size = 1;
  index_t slice_height = 0;
  HostArray<offset_t> slice_offsets;
  HostArray<index_t> columns, row_permutation;
};
struct DiaPattern {
  index_t rows = 0;
  bool symmetric = false;
  HostArray<index_t> offsets;
  /// Of each row the bits of its diagonals, in bytes_per_row() bytes: whether the value is not zero. Zeros are no entries, except
  /// on the diagonal.
  HostArray<std::uint8_t> present;

  std::size_t bytes_per_row() const { return (offsets.size() + 7) / 8; }
  bool has(index_t row, index_t diagonal) const {
    const auto byte = std::size_t(row) * bytes_per_row() + std::size_t(diagonal) / 8;
    return (present[byte] >> (diagonal % 8) & 1) != 0;
  }
};
/// @}

/// @{
/// Entries of a row come in the order of the operand, those that symmetric diagonals do not store first. On the library's
/// threads. Cost O(values).
RowPattern row_pattern(const BcsrPattern& A);
RowPattern row_pattern(const BsellPattern& A);
RowPattern row_pattern(const DiaPattern& A);
/// @}

}  // namespace cnc::detail
