#pragma once

#include <cnc/contract/types.hpp>

#include <cstdint>
#include <vector>

namespace cnc::nl {

/// Room for the entries of a matrix whose row lengths are known, NL_MATRIX_PATTERN: entries are where they were put
/// first, and have an index. Different rows may be filled by different threads at once.
///
/// Errors   Failure (a row that is full, an index that is not that of the entry).
class Pattern {
 public:
  /// What has no place: entries above the diagonal of a symmetric matrix.
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  /// All rows are empty.
  Pattern(index_t n, bool symmetric);
  void set_row_length(index_t row, std::uint32_t length);
  /// Makes the room: lengths are fixed.
  void compile();

  /// a(row, column) += value. Returns its index.
  std::uint64_t add(index_t row, index_t column, double value);
  /// The same where the index is known.
  void add_at(index_t row, index_t column, double value, std::uint64_t index);
  /// Puts an entry at an offset of the row, which was free.
  void set_at(index_t row, index_t column, double value, std::uint32_t offset);

  /// visit(row, column, value) for each entry, and for the mirror images of a symmetric matrix.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (index_t row = 0; row < n_; ++row)
      for (std::size_t k = offsets_[row]; k < offsets_[row + 1]; ++k) {
        if (columns_[k] == free) continue;
        visit(row, columns_[k], values_[k]);
        if (symmetric_ && columns_[k] != row) visit(columns_[k], row, values_[k]);
      }
  }

 private:
  static constexpr index_t free = -1;

  index_t n_;
  bool symmetric_;
  std::vector<std::size_t>
      offsets_;  ///< before compile: offsets_[row + 1] is the length of the row
  std::vector<index_t> columns_;
  std::vector<double> values_;
};

}  // namespace cnc::nl
