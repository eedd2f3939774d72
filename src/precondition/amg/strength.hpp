#pragma once

#include "convert/sparse_product.hpp"
#include "convert/transposed_pattern.hpp"
#include "on_each.hpp"
#include "precondition/invert_block.hpp"

#include <cmath>

// Which unknowns (nodes, where blocks are more than one) are strongly coupled.
//
// Couplings are measured by |a_ij|, the Frobenius norm of blocks, against the largest of the two rows: |a_ij|^2 >= theta^2 m_i m_j, m_i
// being the largest |a_ik|, k != i, of row i, but for rounding, so that multiples of A have the same couplings. A measure against the diagonal, as in the paper, finds none in stencils of many equal entries.

namespace cnc::detail {

/// A near-null space: k vectors, row by row.
template <class T, class Space>
struct NearNullSpace {
  int vectors = 1;
  Vector<T, Space> rows;  ///< [scalars][vectors]
};

/// A symmetric graph, without loops, columns ascending.
template <class Space>
struct Graph {
  index_t nodes = 0;
  Kokkos::View<const index_t*, Space> offsets, neighbours;
};

/// squares[k] := |block k|^2, 0 on the diagonal; largest[i] := the largest in row i.
template <class T>
struct MeasureCouplings {
  BlocksOperand<T> A;
  double* squares;
  double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    double most = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      double sum = 0;
      if (A.columns[k] != i)
        for (int e = 0; e < A.height * A.width; ++e) {
          const double value = static_cast<double>(A.block(k)[e]);
          sum += value * value;
        }
      squares[k] = sum;
      if (sum > most) most = sum;
    }
    largest[i] = most;
  }
};

/// Which entries of a matrix are strong.
template <class T>
struct StrongEntries {
  BlocksOperand<T> A;
  const double* squares;
  const double* largest;
  double threshold;  ///< theta^2
  KOKKOS_INLINE_FUNCTION bool operator()(index_t row, index_t k) const {
    constexpr double but_rounding = 1 - 1e-6;
    return squares[k] > 0 && squares[k] >= threshold * but_rounding * sqrt(largest[row]) *
                                               sqrt(largest[A.columns[k]]);
  }
};

/// Row i of the graph: strong entries of row i and, of a matrix that is not symmetric, of column i, merged. Counts, or
/// writes where `neighbours` is there.
template <class T>
struct StrongRow {
  StrongEntries<T> strong;
  const index_t* transposed_offsets;  ///< null: the matrix is symmetric
  const index_t* transposed_columns;
  const index_t* origins;  ///< of the entries of the transpose
  index_t* offsets;
  index_t* neighbours;

  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const auto row = static_cast<index_t>(i);
    const auto& A = strong.A;
    index_t to = neighbours != nullptr ? offsets[i] : 0;
    const index_t begin = to;
    const bool merges = transposed_offsets != nullptr;
    index_t k = A.row_offsets[i], t = merges ? transposed_offsets[i] : 0;
    const index_t end = A.row_offsets[i + 1],
                  transposed_end = merges ? transposed_offsets[i + 1] : 0;
    while (k < end || t < transposed_end) {
      const index_t a = k < end ? A.columns[k] : A.rows;
      const index_t b = t < transposed_end ? transposed_columns[t] : A.rows;
      const index_t column = a < b ? a : b;
      bool is_strong = false;
      if (a == column) is_strong = strong(row, k++);
      if (b == column) is_strong = strong(column, origins[t++]) || is_strong;
      if (!is_strong) continue;
      if (neighbours != nullptr) neighbours[to] = column;
      ++to;
    }
    if (neighbours == nullptr) offsets[i + 1] = to - begin;
  }
};

/// The strong couplings of A, which is of square blocks. Waits.
template <class Exec, class T, class Space>
Graph<Space> strong_couplings(const Exec& exec, const SparseBlocks<T, Space>& A, double theta,
                              bool symmetric) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto squares =
      uninitialized<double, Space>("cnc::couplings", static_cast<std::size_t>(A.blocks()));
  const auto largest = uninitialized<double, Space>("cnc::couplings", n);
  const auto a = operand_of(A);
  on_each(exec, A.rows, MeasureCouplings<T>{a, squares.data(), largest.data()});
  exec.fence();
  TransposedPattern<Space> transposed;
  if (!symmetric) transposed = transposed_blocks(A);
  const auto offsets = zeroed<index_t, Space>("cnc::graph", n + 1);
  StrongRow<T> row{{a, squares.data(), largest.data(), theta * theta},
                   transposed.row_offsets.data(),
                   transposed.columns.data(),
                   transposed.origins.data(),
                   offsets.data(),
                   nullptr};
  on_each(exec, A.rows, row);
  const std::size_t edges = offsets_from_counts(exec, offsets.data(), A.rows, "couplings");
  const auto neighbours = uninitialized<index_t, Space>("cnc::graph", edges);
  row.neighbours = neighbours.data();
  if (edges > 0) on_each(exec, A.rows, row);
  exec.fence();
  return {A.rows, offsets, neighbours};
}

/// Goes through row i of A and of the graph: kept(k, to) for what stays, lumped(k) for the rest.
template <class T, class Kept, class Lumped>
KOKKOS_INLINE_FUNCTION void walk_filtered(const BlocksOperand<T>& A, const index_t* offsets,
                                          const index_t* neighbours, offset_t i, const Kept& kept,
                                          const Lumped& lumped) {
  index_t g = offsets[i];
  for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    const index_t column = A.columns[k];
    while (g < offsets[i + 1] && neighbours[g] < column) ++g;
    if (column == i || (g < offsets[i + 1] && neighbours[g] == column))
      kept(k);
    else
      lumped(k);
  }
}

template <class T>
struct CountFiltered {
  BlocksOperand<T> A;
  const index_t* offsets;
  const index_t* neighbours;
  index_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    index_t count = 0;
    walk_filtered(
        A, offsets, neighbours, i, [&](index_t) { ++count; }, [](index_t) {});
    counts[i + 1] = count;
  }
};

/// Row i of the filtered matrix F. What is left out is added to the diagonal, so that F maps the near-null space to what A maps it to:
/// D + sum of A_ij B_j B_i^-1 over weak j, B_i being the rows of node i. Where B_i has no inverse, and nodes of more unknowns than
/// `capacity`, the sum is that of A_ij.
template <int capacity, class T>
struct FilterRow {
  BlocksOperand<T> A;
  const index_t* offsets;
  const index_t* neighbours;
  BlocksOperand<T> to;
  index_t* columns;    ///< null: they are there
  const T* near_null;  ///< [rows of A][vectors]
  int vectors;

  KOKKOS_INLINE_FUNCTION bool invert_near_null(offset_t i, double* inverse) const {
    const int b = A.height;
    if (vectors != b || b > capacity) return false;
    if constexpr (capacity == 1) {
      inverse[0] = 1 / static_cast<double>(near_null[i]);
      return std::isfinite(inverse[0]);
    } else {
      double own[capacity * capacity];
      for (int e = 0; e < b * b; ++e) own[e] = static_cast<double>(near_null[i * b * b + e]);
      return invert_block(b, own, inverse);
    }
  }
  /// diagonal += A_ij B_j B_i^-1
  KOKKOS_INLINE_FUNCTION void add_weighted(index_t k, const double* inverse, T* diagonal) const {
    const int b = capacity == 1 ? 1 : A.height;
    const T* const B = near_null + static_cast<offset_t>(A.columns[k]) * b * b;
    for (int r = 0; r < b; ++r) {
      double row[capacity] = {};
      for (int q = 0; q < b; ++q)
        for (int c = 0; c < b; ++c)
          row[c] += static_cast<double>(A.block(k)[r * b + q]) * static_cast<double>(B[q * b + c]);
      for (int c = 0; c < b; ++c) {
        double sum = 0;
        for (int q = 0; q < b; ++q) sum += row[q] * inverse[q * b + c];
        diagonal[r * b + c] += static_cast<T>(sum);
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const int block = A.height * A.width;
    index_t place = to.row_offsets[i], diagonal = -1;
    bool leaves_out = false;
    walk_filtered(
        A, offsets, neighbours, i,
        [&](index_t k) {
          if (A.columns[k] == i) diagonal = place;
          if (columns != nullptr) columns[place] = A.columns[k];
          for (int e = 0; e < block; ++e) to.block(place)[e] = A.block(k)[e];
          ++place;
        },
        [&](index_t) { leaves_out = true; });
    if (diagonal < 0 || !leaves_out) return;
    double inverse[capacity * capacity];
    const bool weighted = invert_near_null(i, inverse);
    walk_filtered(
        A, offsets, neighbours, i, [](index_t) {},
        [&](index_t k) {
          if (weighted)
            add_weighted(k, inverse, to.block(diagonal));
          else
            for (int e = 0; e < block; ++e) to.block(diagonal)[e] += A.block(k)[e];
        });
  }
};

/// Fills F, whose offsets are there. Enqueued on a device.
template <class Exec, class T, class Space>
void fill_filtered(const Exec& exec, const SparseBlocks<T, Space>& A, const Graph<Space>& strong,
                   const NearNullSpace<T, Space>& near_null, const SparseBlocks<T, Space>& F,
                   index_t* columns) {
  const auto run = [&]<int capacity>() {
    on_each(
        exec, A.rows,
        FilterRow<capacity, T>{operand_of(A), strong.offsets.data(), strong.neighbours.data(),
                               operand_of(F), columns, near_null.rows.data(), near_null.vectors});
  };
  if (A.height == 1)
    run.template operator()<1>();
  else
    run.template operator()<6>();
}

/// A without its weak couplings, which are added to the diagonal: A itself where there are none. Waits.
template <class Exec, class T, class Space>
SparseBlocks<T, Space> filtered(const Exec& exec, const SparseBlocks<T, Space>& A,
                                const Graph<Space>& strong,
                                const NearNullSpace<T, Space>& near_null) {
  const auto offsets =
      zeroed<index_t, Space>("cnc::filtered", static_cast<std::size_t>(A.rows) + 1);
  on_each(exec, A.rows,
          CountFiltered<T>{operand_of(A), strong.offsets.data(), strong.neighbours.data(),
                           offsets.data()});
  const std::size_t blocks = offsets_from_counts(exec, offsets.data(), A.rows, "entries");
  if (static_cast<offset_t>(blocks) == A.blocks()) return A;
  SparseBlocks<T, Space> F = A;
  const auto columns = uninitialized<index_t, Space>("cnc::filtered", blocks);
  F.row_offsets = offsets;
  F.columns = columns;
  F.values =
      uninitialized<T, Space>("cnc::filtered", blocks * static_cast<std::size_t>(A.block_values()));
  fill_filtered(exec, A, strong, near_null, F, columns.data());
  exec.fence();
  return F;
}

/// The values of what filtered() made for new ones of A. Enqueued on a device.
template <class Exec, class T, class Space>
void refilter(const Exec& exec, const SparseBlocks<T, Space>& A, const Graph<Space>& strong,
              const NearNullSpace<T, Space>& near_null, const SparseBlocks<T, Space>& F) {
  if (F.values.data() != A.values.data()) fill_filtered(exec, A, strong, near_null, F, nullptr);
}

}  // namespace cnc::detail
