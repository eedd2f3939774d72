#pragma once

#include <cnc/contract/operands.hpp>

// The rows of every format in one form, for kernels whose work per entry is more than finding it: products with several
// vectors. Rows come in the order in which they are stored, so that neighbouring threads read neighbouring values. A row
// is a sequence of runs of `width` neighbouring columns:
//
//   offset_t count() const            rows and places where one could be
//   offset_t per_unit() const         how many of them a unit has: a block row, a slice, a row
//   Row at(offset_t t) const          row t in the order of storage:
//     index_t row                     which of the matrix; -1: none
//     begin, end, step                its runs are begin, begin + step, ... before end
//     index_t column(k), T value(k, w)  the first column of run k, and its entry in column(k) + w. Columns outside of
//                                     the matrix are to be skipped
//
// width is a constant where it is 1, else static_width is 0 and width() the block size.

namespace cnc::detail {

/// The rows of a matrix of one format.
template <class Operand, int static_width>
struct StoredRows;

template <class T, int static_width>
struct StoredRows<BcsrOperand<T>, static_width> {
  BcsrOperand<T> A;

  constexpr int width() const { return static_width > 0 ? static_width : A.block_size; }
  constexpr offset_t count() const { return A.rows; }
  constexpr offset_t per_unit() const { return A.block_size; }

  struct Row {
    index_t row, begin, end;
    const index_t* columns;
    const T* values;  ///< of this row in the first block of the matrix
    int b;
    static constexpr index_t step = 1;
    constexpr index_t column(index_t k) const { return columns[k] * b; }
    constexpr T value(index_t k, int w) const {
      return values[static_cast<offset_t>(k) * (b * b) + w];
    }
  };
  constexpr Row at(offset_t t) const {
    const auto row = static_cast<index_t>(t);
    const int b = width();
    const index_t unit = row / b;
    return {row,
            A.row_offsets[unit],
            A.row_offsets[unit + 1],
            A.columns,
            A.values + static_cast<offset_t>(row - unit * b) * b,
            b};
  }
};

template <class T, int static_width>
struct StoredRows<BsellOperand<T>, static_width> {
  BsellOperand<T> A;

  constexpr int width() const { return static_width > 0 ? static_width : A.block_size; }
  constexpr offset_t per_unit() const { return static_cast<offset_t>(A.slice_height) * width(); }
  constexpr offset_t count() const { return A.slices() * per_unit(); }

  struct Row {
    index_t row;
    offset_t begin, end, step;
    const index_t* columns;
    const T* values;
    offset_t shift;  ///< from the first value of a slot's place to this row's first
    int b;
    constexpr index_t column(offset_t k) const { return columns[k] * b; }
    constexpr T value(offset_t k, int w) const { return values[k * b * b + shift + w * step]; }
  };
  /// Lanes run fastest, then the rows of a block.
  constexpr Row at(offset_t t) const {
    const int b = width(), C = A.slice_height;
    const auto slice = static_cast<index_t>(t / per_unit());
    const auto inside = static_cast<int>(t - slice * per_unit());
    const int r = inside / C, lane = inside - r * C;
    const index_t block_row = A.row_permutation[static_cast<offset_t>(slice) * C + lane];
    const offset_t row = static_cast<offset_t>(block_row) * b + r;
    return {block_row < 0 || row >= A.rows ? -1 : static_cast<index_t>(row),
            A.slice_offsets[slice] + lane,
            A.slice_offsets[slice + 1],
            C,
            A.columns,
            A.values,
            static_cast<offset_t>(r) * b * C + lane - static_cast<offset_t>(lane) * b * b,
            b};
  }
};

template <class T, int static_width>
struct StoredRows<DiaOperand<T>, static_width> {
  DiaOperand<T> A;

  static constexpr int width() { return 1; }
  constexpr offset_t count() const { return A.rows; }
  static constexpr offset_t per_unit() { return 1; }

  /// A diagonal is a run of one, and of symmetric matrices its mirror image another.
  struct Row {
    index_t row, begin, end;
    const index_t* offsets;
    const T* values;
    index_t rows, cols;
    bool symmetric;
    static constexpr index_t step = 1;
    constexpr index_t diagonal(index_t k) const { return symmetric ? k / 2 : k; }
    constexpr bool mirrored(index_t k) const { return symmetric && k % 2 != 0; }
    constexpr index_t column(index_t k) const {
      const index_t offset = offsets[diagonal(k)];
      if (mirrored(k)) return offset == 0 ? -1 : row - offset;
      return offset < cols - row ? row + offset : -1;
    }
    constexpr T value(index_t k, int) const {
      const index_t d = diagonal(k);
      return values[static_cast<offset_t>(d) * rows + (mirrored(k) ? row - offsets[d] : row)];
    }
  };
  constexpr Row at(offset_t t) const {
    const index_t runs = (A.symmetric ? 2 : 1) * A.diagonals;
    return {static_cast<index_t>(t), 0, runs, A.offsets, A.values, A.rows, A.cols, A.symmetric};
  }
};

}  // namespace cnc::detail
