#pragma once

#include <cnc/copy.hpp>
#include <cnc/reorder.hpp>
#include <cnc/solver.hpp>

#include "convert/sorted_rows.hpp"
#include "convert/transposed_pattern.hpp"

namespace cnc::detail {

/// to[at[i]] := from[i]
template <class T>
struct Scatter {
  const T* from;
  const index_t* at;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { to[at[i]] = from[i]; }
};

/// The order of the rows and of the entries in them that iterations use, and how to bring new values into it.
/// Rows that do not ascend are sorted where a layout needs it; reverse Cuthill-McKee
/// is a host algorithm: set_up copies the pattern of a device matrix to the host and the ordering back;
/// everything after that happens where the matrix is.
template <class V, class Exec>
struct Ordering {
  using Space = typename Exec::memory_space;

  Vector<index_t, Space> permutation;  ///< empty: rows as given
  CsrMatrix<V, Space> matrix;          ///< P A P^T
  Vector<index_t, Space> origin;  ///< entry k of `matrix` is entry origin(k) of the matrix given

  /// Whether b and x need the new order.
  bool active() const { return permutation.extent(0) != 0; }
  /// Whether iterations use `matrix`.
  bool rearranged() const { return active() || origin.extent(0) != 0; }

  /// The same rows with ascending columns.
  void sort_rows(const CsrMatrix<V, Space>& A) {
    const RowOrder<Space> order = ascending_order<Exec>(A);
    origin = order.origins;
    matrix = in_order<Exec>(A, order);
  }

  void set_up(const Exec& exec, const CsrMatrix<V, Space>& A, int block_size) {
    // Permuting the positions as if they were values tells where each entry comes from. double holds
    // every position below 2^53.
    const std::size_t entries = A.values.extent(0);
    CsrMatrix<double> positions(A.rows, A.cols, 1, copy_to<HostSpace>(A.row_offsets),
                                copy_to<HostSpace>(A.columns),
                                uninitialized<double>("cnc::positions", entries));
    positions.checked = A.checked;
    for (std::size_t k = 0; k < entries; ++k) positions.values(k) = static_cast<double>(k);
    const Vector<index_t> order = rcm_ordering(positions, block_size);
    positions = permute(positions, order);
    const auto host_origin = uninitialized<index_t>("cnc::origin", entries);
    for (std::size_t k = 0; k < entries; ++k)
      host_origin(k) = static_cast<index_t>(positions.values(k));

    permutation = copy_to<Space>(order);
    origin = copy_to<Space>(host_origin);
    matrix = CsrMatrix<V, Space>(A.rows, A.cols, 1, copy_to<Space>(positions.row_offsets),
                                 copy_to<Space>(positions.columns),
                                 uninitialized<V, Space>("cnc::values", entries));
    matrix.checked = Checked::ascending;
    refill(exec, A);
  }

  void refill(const Exec& exec, const CsrMatrix<V, Space>& A) const {
    take_entries(exec, A, origin, matrix.values);
  }

  /// to(i) := from(p(i)): into the order of the iterations.
  void gather(const Exec& exec, const Vector<const V, Space>& from,
              const Vector<V, Space>& to) const {
    on_each(exec, matrix.rows, Gather<V>{from.data(), permutation.data(), to.data()});
  }
  /// to(p(i)) := from(i): back into the caller's order.
  void scatter(const Exec& exec, const Vector<const V, Space>& from,
               const Vector<V, Space>& to) const {
    on_each(exec, matrix.rows, Scatter<V>{from.data(), permutation.data(), to.data()});
  }
  /// The row that the caller knows row i by.
  index_t original_row(index_t i) const {
    return copy_to<HostSpace>(permutation)(static_cast<std::size_t>(i));
  }
};

/// A^T in CSR, and how to bring new values into it.
template <class V, class Exec>
struct Transposition {
  using Space = typename Exec::memory_space;

  CsrMatrix<V, Space> matrix;
  Vector<index_t, Space> origin;  ///< entry k of `matrix` is entry origin(k) of A

  void set_up(const Exec& exec, const CsrMatrix<V, Space>& A) {
    const auto pattern = transposed_pattern(A);
    origin = pattern.origins;
    matrix = made_of_entries(exec, A, A.cols, A.rows, pattern.row_offsets, pattern.columns, origin);
  }

  void refill(const Exec& exec, const CsrMatrix<V, Space>& A) const {
    take_entries(exec, A, origin, matrix.values);
  }
};

/// offsets[i] := given[i], past its end the last of them
struct ExtendOffsets {
  const index_t* given;
  index_t rows;
  index_t* offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    offsets[i] = given[i < rows ? i : rows];
  }
};

/// A matrix with rows or columns of zeros added, so that it is square: only offsets of added rows are copied.
template <class Exec, class V, class Space>
CsrMatrix<V, Space> made_square(const Exec& exec, CsrMatrix<V, Space> A) {
  const index_t n = std::max(A.rows, A.cols);
  if (A.rows < n) {
    const auto offsets = uninitialized<index_t, Space>("cnc::row_offsets", std::size_t(n) + 1);
    on_each(exec, offset_t(n) + 1, ExtendOffsets{A.row_offsets.data(), A.rows, offsets.data()});
    exec.fence();
    A.row_offsets = offsets;
  }
  A.rows = A.cols = n;
  return A;
}

/// A view of the same entries in memory of its own.
template <class T, class... Properties>
Kokkos::View<T*, Properties...> cloned(const Kokkos::View<T*, Properties...>& view) {
  using View = Kokkos::View<T*, Properties...>;
  const auto copy = uninitialized<typename View::non_const_value_type, typename View::memory_space>(
      view.label(), view.extent(0));
  Kokkos::deep_copy(copy, view);
  return copy;
}

/// A matrix that shares nothing with A. It has no dictionary of rows, no table of values and no short columns.
template <class V, class Space>
BcsrMatrix<V, Space> cloned(BcsrMatrix<V, Space> A) {
  A.row_offsets = cloned(A.row_offsets);
  A.columns = cloned(A.columns);
  A.short_columns = {};
  A.values = cloned(A.values);
  A.value_table = {};
  A.dictionary = {};
  return A;
}
template <class V, class Space>
BsellMatrix<V, Space> cloned(BsellMatrix<V, Space> A) {
  A.slice_offsets = cloned(A.slice_offsets);
  A.columns = cloned(A.columns);
  A.short_columns = {};
  A.row_permutation = cloned(A.row_permutation);
  A.values = cloned(A.values);
  A.value_table = {};
  A.dictionary = {};
  return A;
}
template <class V, class Space>
DiaMatrix<V, Space> cloned(DiaMatrix<V, Space> A) {
  A.offsets = cloned(A.offsets);
  A.values = cloned(A.values);
  A.dictionary = {};
  return A;
}
template <class V, class Space>
Matrix<V, Space> cloned(const Matrix<V, Space>& A) {
  return std::visit([](const auto& a) { return Matrix<V, Space>(cloned(a)); }, A);
}

/// Adds 1 to `different` where two arrays of indices differ.
struct CountDifferent {
  const index_t* a;
  const index_t* b;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& different) const {
    different += a[i] != b[i];
  }
};

/// Whether two views hold the same indices. Views of the same memory are not read.
template <class Exec, class View>
bool same_indices(const Exec& exec, const View& a, const View& b) {
  if (a.extent(0) != b.extent(0)) return false;
  if (a.data() == b.data()) return true;
  return sum_over(exec, static_cast<offset_t>(a.extent(0)), CountDifferent{a.data(), b.data()}) ==
         0;
}

/// Whether two CSR matrices have the same pattern. O(nonzeros), unless they share index arrays.
template <class Exec, class V, class Space>
bool same_pattern(const Exec& exec, const CsrMatrix<V, Space>& A, const CsrMatrix<V, Space>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         same_indices(exec, A.row_offsets, B.row_offsets) &&
         same_indices(exec, A.columns, B.columns);
}

}  // namespace cnc::detail
