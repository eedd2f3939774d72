#pragma once

#include "convert/sparse_product.hpp"
#include "convert/transposed_pattern.hpp"
#include "on_each.hpp"

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
  bool is_one = false;    ///< one vector of ones
};

/// A symmetric graph, without loops, columns ascending: row i is [offsets[i], ends[i]), in room that may be longer.
template <class Space>
struct StrengthGraph {
  index_t nodes = 0;
  Kokkos::View<const index_t*, Space> offsets;  ///< [nodes + 1]
  Kokkos::View<const index_t*, Space> ends;     ///< [nodes]
  Kokkos::View<const index_t*, Space> neighbours;
};

/// What loops see of one.
struct GraphOperand {
  const index_t* offsets;
  const index_t* ends;
  const index_t* neighbours;
  KOKKOS_INLINE_FUNCTION index_t degree(offset_t i) const { return ends[i] - offsets[i]; }
};
template <class Space>
GraphOperand operand_of(const StrengthGraph<Space>& graph) {
  return {graph.offsets.data(), graph.ends.data(), graph.neighbours.data()};
}

/// |block k|^2
template <class T>
KOKKOS_INLINE_FUNCTION double square_of(const BlocksOperand<T>& A, index_t k) {
  const int block = A.height * A.width;
  if (block == 1) return static_cast<double>(A.values[k]) * static_cast<double>(A.values[k]);
  double sum = 0;
  for (int e = 0; e < block; ++e) {
    const double value = static_cast<double>(A.values[offset_t(k) * block + e]);
    sum += value * value;
  }
  return sum;
}

/// largest[i] := the largest |a_ik| of row i, k != i
template <class T>
struct MeasureCouplings {
  BlocksOperand<T> A;
  double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    double most = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      const double square = A.columns[k] != i ? square_of(A, k) : 0;
      if (square > most) most = square;
    }
    largest[i] = sqrt(most);
  }
};

/// Which entries of a matrix are strong.
template <class T>
struct StrongEntries {
  BlocksOperand<T> A;
  const double* largest;
  double threshold;  ///< theta^2
  KOKKOS_INLINE_FUNCTION bool operator()(index_t row, index_t k) const {
    constexpr double but_rounding = 1 - 1e-6;
    const index_t column = A.columns[k];
    if (column == row) return false;
    const double square = square_of(A, k);
    return square > 0 && square >= threshold * but_rounding * largest[row] * largest[column];
  }
};

/// offsets[i] := room for the entries of row i of two patterns
struct AddOffsets {
  const index_t* a;
  const index_t* b;
  index_t* offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { offsets[i] = a[i] + b[i]; }
};

/// Row i of the graph: strong entries of row i and, of a matrix that is not symmetric, of column i, merged.
template <class T>
struct StrongRow {
  StrongEntries<T> strong;
  const index_t* transposed_offsets;  ///< null: the matrix is symmetric
  const index_t* transposed_columns;
  const index_t* origins;  ///< of the entries of the transpose
  const index_t* offsets;
  index_t* ends;
  index_t* neighbours;

  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const auto row = static_cast<index_t>(i);
    const auto& A = strong.A;
    index_t to = offsets[i];
    const bool merges = transposed_offsets != nullptr;
    const index_t none = A.cols;
    index_t k = A.row_offsets[i], t = merges ? transposed_offsets[i] : 0;
    const index_t end = A.row_offsets[i + 1],
                  transposed_end = merges ? transposed_offsets[i + 1] : 0;
    while (k < end || t < transposed_end) {
      const index_t a = k < end ? A.columns[k] : none;
      const index_t b = t < transposed_end ? transposed_columns[t] : none;
      const index_t column = a < b ? a : b;
      bool is_strong = false;
      if (a == column) is_strong = strong(row, k++);
      if (b == column) is_strong = strong(column, origins[t++]) || is_strong;
      if (is_strong) neighbours[to++] = column;
    }
    ends[i] = to;
  }
};

/// From this mean length on rows are shared by lanes of a device.
inline constexpr double long_row_of_device = 16;

/// Row i of the graph of a symmetric matrix by a group of a device, whose lanes look at entries beside each other.
template <class T>
struct StrongRowOfGroup {
  StrongEntries<T> strong;
  const index_t* offsets;
  index_t* ends;
  index_t* neighbours;

  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    const auto& A = strong.A;
    auto* const found = static_cast<index_t*>(group.scratch);  // [lanes]
    const auto row = static_cast<index_t>(i);
    const index_t end = A.row_offsets[i + 1];
    index_t to = offsets[i];
    for (index_t begin = A.row_offsets[i]; begin < end; begin += group.lanes) {
      const index_t n = end - begin < group.lanes ? end - begin : group.lanes;
      group.each(n, [&](index_t j) { found[j] = strong(row, begin + j); });
      index_t before = 0, all = 0;
      for (index_t j = 0; j < n; ++j) {
        before += j < group.lane ? found[j] : 0;
        all += found[j];
      }
      if (group.lane < n && found[group.lane] != 0)
        neighbours[to + before] = A.columns[begin + group.lane];
      to += all;
      group.meet();
    }
    group.each(1, [&](index_t) { ends[i] = to; });
  }
};

/// The strong couplings of A, which is of square blocks. With more columns than rows these come last, `complete` gives
/// their largest |a_jk|, and of asymmetric couplings with them those count that are in A. Waits.
/// Errors   InvalidArgument (room for more than 2^31 - 1 couplings).
template <class Exec, class T, class Space, class Complete = void (*)(const Vector<double, Space>&)>
StrengthGraph<Space> strong_couplings(
    const Exec& exec, const SparseBlocks<T, Space>& A, double theta, bool symmetric,
    const Complete& complete = [](const Vector<double, Space>&) {}) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto largest =
      in_large_pages<double, Space>("cnc::couplings", static_cast<std::size_t>(A.cols));
  const auto a = operand_of(A);
  on_each(exec, A.rows, MeasureCouplings<T>{a, largest.data()});
  complete(largest);
  StrengthGraph<Space> graph;
  graph.nodes = A.rows;
  graph.offsets = A.row_offsets;
  auto room = static_cast<std::size_t>(A.blocks());
  TransposedPattern<Space> transposed;
  if (!symmetric) {
    transposed = transposed_blocks(A);
    require_offset<index_t>(2 * A.blocks(), "couplings");
    room *= 2;
    const auto offsets = in_large_pages<index_t, Space>("cnc::graph", n + 1);
    on_each(exec, offset_t(A.rows) + 1,
            AddOffsets{A.row_offsets.data(), transposed.row_offsets.data(), offsets.data()});
    graph.offsets = offsets;
  }
  const auto ends = in_large_pages<index_t, Space>("cnc::graph", n);
  const auto neighbours = in_large_pages<index_t, Space>("cnc::graph", room);
  const StrongEntries<T> strong{a, largest.data(), theta * theta};
  const double length = A.row_length();
  const bool in_groups = !on_threads<Exec> && symmetric && length >= long_row_of_device;
  if constexpr (!on_threads<Exec>) {
    const int lanes = lanes_for(length / 3);
    if (in_groups)
      on_each_group(
          exec, A.rows, lanes, lanes * static_cast<int>(sizeof(index_t)),
          StrongRowOfGroup<T>{strong, graph.offsets.data(), ends.data(), neighbours.data()});
  }
  if (!in_groups)
    on_each(exec, A.rows,
            StrongRow<T>{strong, transposed.row_offsets.data(), transposed.columns.data(),
                         transposed.origins.data(), graph.offsets.data(), ends.data(),
                         neighbours.data()});
  graph.ends = ends;
  graph.neighbours = neighbours;
  exec.fence();
  return graph;
}

}  // namespace cnc::detail
