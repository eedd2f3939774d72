#pragma once

#include <cnc/io.hpp>

namespace cnc::detail {

/// Place of the next value of an array file: column by column, in a symmetric file from the
/// diagonal down, in a skew-symmetric one from below it.
class ArrayCursor {
 public:
  explicit ArrayCursor(const MatrixMarketHeader& header)
      : rows_(header.rows), symmetry_(header.symmetry), row_(first_row(0)) {}

  index_t row() const { return row_; }
  index_t col() const { return col_; }

  /// Skips n values, of which the array must have that many left.
  void advance(offset_t n) {
    while (n > 0) {
      const offset_t left = rows_ - row_;
      if (n < left) {
        row_ += static_cast<index_t>(n);
        return;
      }
      n -= left;
      ++col_;
      row_ = first_row(col_);
    }
  }

 private:
  index_t first_row(index_t col) const {
    switch (symmetry_) {
      case MatrixMarketHeader::Symmetry::symmetric: return col;
      case MatrixMarketHeader::Symmetry::skew_symmetric: return col + 1;
      default: return 0;
    }
  }

  index_t rows_;
  MatrixMarketHeader::Symmetry symmetry_;
  index_t row_;
  index_t col_ = 0;
};

}  // namespace cnc::detail
