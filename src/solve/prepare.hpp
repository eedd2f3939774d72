#pragma once

#include <cnc/reorder.hpp>
#include <cnc/solver.hpp>

#include "parallel.hpp"
#include "solve/system.hpp"

#include <algorithm>
#include <atomic>

namespace cnc::detail {

/// The order of the rows that iterations use, and how to bring new values into it.
template <class V>
struct Ordering {
  Vector<index_t> permutation;  ///< empty: rows as given
  CsrMatrix<V> matrix;          ///< P A P^T
  Vector<index_t> origin;       ///< entry k of `matrix` is entry origin(k) of the matrix given

  bool active() const { return permutation.extent(0) != 0; }

  void set_up(const CsrMatrix<V>& A, int block_size) {
    permutation = rcm_ordering(A, block_size);
    // Permuting the positions as if they were values tells where each entry comes from. double holds
    // every position below 2^53.
    CsrMatrix<double> positions(A.rows, A.cols, 1, A.row_offsets, A.columns,
                                uninitialized<double>("cnc::positions", A.values.extent(0)));
    parallel_for(A.blocks(), [&](offset_t k) {
      positions.values(static_cast<std::size_t>(k)) = static_cast<double>(k);
    });
    positions = permute(positions, permutation);
    origin = uninitialized<index_t>("cnc::origin", A.values.extent(0));
    matrix = CsrMatrix<V>(A.rows, A.cols, 1, positions.row_offsets, positions.columns,
                          uninitialized<V>("cnc::values", A.values.extent(0)));
    parallel_for(A.blocks(), [&](offset_t k) {
      const auto i = static_cast<std::size_t>(k);
      origin(i) = static_cast<index_t>(positions.values(i));
    });
    refill(A);
  }

  void refill(const CsrMatrix<V>& A) const {
    const Vector<V> to = matrix.values;
    parallel_for(A.blocks(), [&](offset_t k) {
      const auto i = static_cast<std::size_t>(k);
      to(i) = A.values(static_cast<std::size_t>(origin(i)));
    });
  }

  /// to(i) := from(p(i)): into the order of the iterations.
  void gather(const Vector<const V>& from, const Vector<V>& to) const {
    parallel_for(to.extent(0),
                 [&](std::size_t i) { to(i) = from(static_cast<std::size_t>(permutation(i))); });
  }
  /// to(p(i)) := from(i): back into the caller's order.
  void scatter(const Vector<const V>& from, const Vector<V>& to) const {
    parallel_for(from.extent(0),
                 [&](std::size_t i) { to(static_cast<std::size_t>(permutation(i))) = from(i); });
  }
};

/// Whether two views hold the same indices. Views of the same memory are not read.
template <class View>
bool same_indices(const View& a, const View& b) {
  const std::size_t n = a.extent(0);
  if (n != b.extent(0)) return false;
  if (a.data() == b.data()) return true;
  std::atomic<bool> same{true};
  parallel_ranges(n, n > 2048 ? set_up_threads() : 1, [&](std::size_t begin, std::size_t end, int) {
    if (!std::equal(a.data() + begin, a.data() + end, b.data() + begin)) same = false;
  });
  return same;
}

/// Whether two CSR matrices have the same pattern. O(nonzeros), unless they share index arrays.
template <class V>
bool same_pattern(const CsrMatrix<V>& A, const CsrMatrix<V>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         same_indices(A.row_offsets, B.row_offsets) && same_indices(A.columns, B.columns);
}

}  // namespace cnc::detail
