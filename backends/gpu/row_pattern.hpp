#pragma once

#include <cnc/contract/operands.hpp>

#include <gpu/runtime.hpp>

#include <cstddef>
#include <limits>
#include <vector>

// The entries of a square matrix on the host, whatever its format: where they are, and where their values are among those
// of the operand. For set-ups that need to know who gathers what.

namespace cnc::gpu::inline CNC_GPU_TARGET {

struct RowPattern {
  index_t rows = 0;
  std::vector<index_t> offsets;   ///< [rows + 1]
  std::vector<index_t> columns;   ///< beside the diagonal
  std::vector<index_t> places;    ///< of their values
  std::vector<index_t> diagonal;  ///< [rows] place of the value on the diagonal; -1: none
  /// Places of values that are no entries for as long as they are zero: padding, and what diagonals hold beyond the edges of
  /// a grid.
  std::vector<index_t> absent;
};

template <class T>
std::vector<T> on_host(const Queue& queue, const T* from, std::size_t n) {
  std::vector<T> copy(n);
  if (n > 0) copy_to_host(queue, copy.data(), from, n * sizeof(T));
  return copy;
}

/// The arrays of an operand that say where its entries are; visit(entry, absent) calls entry(row, column, place) for each of
/// them, in a row always in the same order, and absent(place).
template <class Operand>
struct HostPattern;

template <class M>
struct HostPattern<BcsrOperand<M>> {
  BcsrOperand<M> A;
  std::vector<index_t> row_offsets, columns;
  static offset_t values(const BcsrOperand<M>& A) {
    return offset_t(A.blocks) * A.block_size * A.block_size;
  }
  HostPattern(const Queue& queue, const BcsrOperand<M>& operand)
      : A(operand),
        row_offsets(on_host(queue, A.row_offsets, std::size_t(A.block_rows()) + 1)),
        columns(on_host(queue, A.columns, std::size_t(A.blocks))) {}

  template <class Entry, class Absent>
  void visit(const Entry& entry, const Absent&) const {
    const index_t b = A.block_size;
    for (index_t i = 0; i < A.rows; ++i) {
      const std::size_t block_row = std::size_t(i / b);
      for (index_t k = row_offsets[block_row]; k < row_offsets[block_row + 1]; ++k)
        for (index_t c = 0; c < b; ++c) {
          const index_t j = columns[std::size_t(k)] * b + c;
          if (j < A.cols) entry(i, j, (k * b + i % b) * b + c);
        }
    }
  }
};

template <class M>
struct HostPattern<BsellOperand<M>> {
  BsellOperand<M> A;
  std::vector<offset_t> slice_offsets;
  std::vector<index_t> columns, row_permutation;
  static offset_t values(const BsellOperand<M>& A) { return A.slots * A.block_size * A.block_size; }
  HostPattern(const Queue& queue, const BsellOperand<M>& operand)
      : A(operand),
        slice_offsets(on_host(queue, A.slice_offsets, std::size_t(A.slices()) + 1)),
        columns(on_host(queue, A.columns, std::size_t(A.slots))),
        row_permutation(on_host(queue, A.row_permutation,
                                std::size_t(A.slices()) * std::size_t(A.slice_height))) {}

  template <class Entry, class Absent>
  void visit(const Entry& entry, const Absent& absent) const {
    const index_t b = A.block_size, C = A.slice_height;
    // Padding repeats a column.
    std::vector<index_t> seen_in(std::size_t(A.block_rows()), -1);
    for (index_t sorted = 0; sorted < A.slices() * C; ++sorted) {
      const index_t block_row = row_permutation[std::size_t(sorted)], lane = sorted % C;
      const std::size_t s = std::size_t(sorted / C);
      for (offset_t slot = slice_offsets[s]; slot < slice_offsets[s + 1]; slot += C) {
        const index_t column = columns[std::size_t(slot + lane)];
        const bool padding = block_row < 0 || seen_in[std::size_t(column)] == block_row;
        if (!padding) seen_in[std::size_t(column)] = block_row;
        for (index_t r = 0; r < b; ++r)
          for (index_t c = 0; c < b; ++c) {
            const index_t i = block_row * b + r, j = column * b + c;
            const auto place = static_cast<index_t>(slot * b * b + (r * b + c) * C + lane);
            if (padding)
              absent(place);
            else if (i < A.rows && j < A.cols)
              entry(i, j, place);
          }
      }
    }
  }
};

template <class M>
struct HostPattern<DiaOperand<M>> {
  DiaOperand<M> A;
  std::vector<index_t> offsets;
  std::vector<M> stored;
  static offset_t values(const DiaOperand<M>& A) { return offset_t(A.diagonals) * A.rows; }
  HostPattern(const Queue& queue, const DiaOperand<M>& operand)
      : A(operand),
        offsets(on_host(queue, A.offsets, std::size_t(A.diagonals))),
        stored(on_host(queue, A.values, std::size_t(values(A)))) {}

  template <class Entry, class Absent>
  void visit(const Entry& entry, const Absent& absent) const {
    for (index_t d = A.symmetric ? A.diagonals - 1 : -1; d >= 0; --d) {
      const index_t offset = offsets[std::size_t(d)];
      for (index_t i = offset; offset > 0 && i < A.rows; ++i) {
        const index_t place = d * A.rows + i - offset;
        if (stored[std::size_t(place)] != M(0)) entry(i, i - offset, place);
      }
    }
    for (index_t d = 0; d < A.diagonals; ++d) {
      const index_t offset = offsets[std::size_t(d)];
      for (index_t i = 0; i < A.rows; ++i) {
        const index_t place = d * A.rows + i;
        if (i + offset < 0 || i + offset >= A.cols) continue;
        if (stored[std::size_t(place)] != M(0) || offset == 0)
          entry(i, i + offset, place);
        else
          absent(place);
      }
    }
  }
};

/// Whether the places of values can be counted.
template <class Operand>
bool has_row_pattern(const Operand& A) {
  return A.rows == A.cols && HostPattern<Operand>::values(A) <= std::numeric_limits<index_t>::max();
}

/// Waits for what is under way on the queue.
template <class Operand>
RowPattern row_pattern(const Queue& queue, const Operand& A) {
  const HostPattern<Operand> host(queue, A);
  RowPattern pattern;
  pattern.rows = A.rows;
  const auto rows = static_cast<std::size_t>(A.rows);
  pattern.offsets.assign(rows + 1, 0);
  pattern.diagonal.assign(rows, -1);
  const auto ignore = [](index_t) {};
  host.visit([&](index_t i, index_t j, index_t) { pattern.offsets[std::size_t(i) + 1] += i != j; },
             [&](index_t place) { pattern.absent.push_back(place); });
  for (std::size_t i = 0; i < rows; ++i) pattern.offsets[i + 1] += pattern.offsets[i];
  std::vector<index_t> next(pattern.offsets.begin(), pattern.offsets.end() - 1);
  pattern.columns.resize(std::size_t(pattern.offsets[rows]));
  pattern.places.resize(pattern.columns.size());
  host.visit(
      [&](index_t i, index_t j, index_t place) {
        if (i == j) {
          pattern.diagonal[std::size_t(i)] = place;
        } else {
          const auto k = static_cast<std::size_t>(next[std::size_t(i)]++);
          pattern.columns[k] = j;
          pattern.places[k] = place;
        }
      },
      ignore);
  return pattern;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
