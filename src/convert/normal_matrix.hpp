#pragma once

#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"

#include <cnc/matrix.hpp>

namespace cnc::detail {

// A^T A of CSR, one row at a time: row i gathers the rows of A that hold column i. A's columns ascend.

/// What rows of A hold between them, at most: room for row i of A^T A, in room[i + 1].
template <class T>
struct MeasureRoom {
  BcsrOperand<T> A, transpose;
  offset_t* room;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    offset_t sum = 0;
    for (index_t k = transpose.row_offsets[i]; k < transpose.row_offsets[i + 1]; ++k) {
      const index_t row = transpose.columns[k];
      sum += A.row_offsets[row + 1] - A.row_offsets[row];
    }
    room[i + 1] = sum;
  }
};

/// An ascending list of columns, each once.
struct ColumnList {
  index_t* columns;
  index_t length = 0;

  /// The first place from `at` on whose column is not below c.
  KOKKOS_INLINE_FUNCTION index_t find(index_t at, index_t c) const {
    index_t end = at;  // the steps double, so that near places are found at once
    for (index_t step = 1; end < length && columns[end] < c; step *= 2) {
      at = end + 1;
      end = step < length - end ? end + step : length;
    }
    while (at < end) {
      const index_t middle = at + (end - at) / 2;
      if (columns[middle] < c)
        at = middle + 1;
      else
        end = middle;
    }
    return at;
  }
  KOKKOS_INLINE_FUNCTION void insert(index_t at, index_t c) {
    if (at < length && columns[at] == c) return;
    for (index_t j = length++; j > at; --j) columns[j] = columns[j - 1];
    columns[at] = c;
  }
};

/// A list that is sorted with its repeats.
struct ListToSort {
  index_t* columns;
  KOKKOS_INLINE_FUNCTION bool before(offset_t i, offset_t j) const {
    return columns[i] < columns[j];
  }
  KOKKOS_INLINE_FUNCTION void exchange(offset_t i, offset_t j) const {
    const index_t column = columns[i];
    columns[i] = columns[j];
    columns[j] = column;
  }
};

/// Gathers the columns of row i of A^T A at found[room[i]]; their number goes to lengths[i + 1].
template <class T>
struct GatherColumns {
  BcsrOperand<T> A, transpose;
  const offset_t* room;
  index_t* found;
  index_t* lengths;
  /// Rows whose room is larger are sorted as a whole: insertion takes the square of their length.
  static constexpr offset_t long_row = 2048;

  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    ColumnList row{found + room[i]};
    if (room[i + 1] - room[i] > long_row)
      append_and_sort(i, row);
    else
      insert_each(i, row);
    lengths[i + 1] = row.length;
  }
  KOKKOS_INLINE_FUNCTION void insert_each(offset_t i, ColumnList& to) const {
    for (index_t k = transpose.row_offsets[i]; k < transpose.row_offsets[i + 1]; ++k) {
      const index_t row = transpose.columns[k];
      index_t at = 0;
      for (index_t e = A.row_offsets[row]; e < A.row_offsets[row + 1]; ++e) {
        at = to.find(at, A.columns[e]);
        to.insert(at, A.columns[e]);
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void append_and_sort(offset_t i, ColumnList& to) const {
    offset_t n = 0;
    for (index_t k = transpose.row_offsets[i]; k < transpose.row_offsets[i + 1]; ++k) {
      const index_t row = transpose.columns[k];
      for (index_t e = A.row_offsets[row]; e < A.row_offsets[row + 1]; ++e)
        to.columns[n++] = A.columns[e];
    }
    heap_sort(ListToSort{to.columns}, n);
    for (offset_t j = 0; j < n; ++j)
      if (j == 0 || to.columns[j] != to.columns[to.length - 1])
        to.columns[to.length++] = to.columns[j];
  }
};

struct CopyColumns {
  const offset_t* room;
  const index_t* found;
  const index_t* row_offsets;
  index_t* columns;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const index_t* const from = found + room[i];
    for (index_t k = row_offsets[i], j = 0; k < row_offsets[i + 1]; ++k, ++j) columns[k] = from[j];
  }
};

/// Row i of A^T A: sums are taken in the order of A's rows, so that a_ij and a_ji have the same bits.
template <class T>
struct MultiplyRow {
  BcsrOperand<T> A, transpose;
  const index_t* row_offsets;
  const index_t* columns;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const index_t begin = row_offsets[i];
    const ColumnList list{const_cast<index_t*>(columns) + begin, row_offsets[i + 1] - begin};
    T* const row_of_values = values + begin;
    for (index_t j = 0; j < list.length; ++j) row_of_values[j] = 0;
    for (index_t k = transpose.row_offsets[i]; k < transpose.row_offsets[i + 1]; ++k) {
      const index_t row = transpose.columns[k];
      const T factor = transpose.values[k];
      index_t at = 0;
      for (index_t e = A.row_offsets[row]; e < A.row_offsets[row + 1]; ++e) {
        at = list.find(at, A.columns[e]);
        row_of_values[at] += factor * A.values[e];
      }
    }
  }
};

struct SquareLength {
  const index_t* row_offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const {
    const offset_t length = row_offsets[i + 1] - row_offsets[i];
    sum += length * length;
  }
};

/// Sum over the rows of A of the square of their length: multiplications that A^T A takes. Waits.
template <class Exec, class T, class Space>
offset_t normal_work(const Exec& exec, const CsrMatrix<T, Space>& A) {
  return sum_over(exec, A.rows, SquareLength{A.row_offsets.data()});
}

/// The pattern of A^T A, with values that are not set yet. Waits.
/// Errors   InvalidArgument (more than 2^31 - 1 entries), OutOfMemory.
template <class Exec, class T, class Space>
CsrMatrix<T, Space> normal_pattern(const Exec& exec, const CsrMatrix<T, Space>& A,
                                   const CsrMatrix<T, Space>& transpose) {
  const char* const what = "A^T A";
  const auto n = static_cast<std::size_t>(A.cols);
  const auto room = zeroed<offset_t, Space>("cnc::room", n + 1);
  on_each(exec, A.cols, MeasureRoom<T>{A.operand(), transpose.operand(), room.data()});
  const offset_t all = scan(exec, 0, offset_t(A.cols) + 1, AddCounts<offset_t>{room.data()});
  require_memory(what, static_cast<double>(all) * sizeof(index_t), memory_kind<Space>);
  const auto found = uninitialized<index_t, Space>("cnc::found", static_cast<std::size_t>(all));
  const auto row_offsets = zeroed<index_t, Space>("cnc::row_offsets", n + 1);
  on_each(exec, A.cols,
          GatherColumns<T>{A.operand(), transpose.operand(), room.data(), found.data(),
                           row_offsets.data()});
  const std::size_t entries =
      offsets_from_counts(exec, row_offsets.data(), A.cols, "entries in A^T A");
  require_blocks<T, Space>(what, entries, 1);
  const auto columns = uninitialized<index_t, Space>("cnc::columns", entries);
  on_each(exec, A.cols, CopyColumns{room.data(), found.data(), row_offsets.data(), columns.data()});
  exec.fence();
  CsrMatrix<T, Space> normal(A.cols, A.cols, 1, row_offsets, columns,
                             uninitialized<T, Space>("cnc::values", entries));
  normal.checked = Checked::ascending;
  return normal;
}

/// Its values. Waits.
template <class Exec, class T, class Space>
void multiply_normal(const Exec& exec, const CsrMatrix<T, Space>& A,
                     const CsrMatrix<T, Space>& transpose, const CsrMatrix<T, Space>& normal) {
  on_each(exec, A.cols,
          MultiplyRow<T>{A.operand(), transpose.operand(), normal.row_offsets.data(),
                         normal.columns.data(), normal.values.data()});
  exec.fence();
}

}  // namespace cnc::detail
