#pragma once

#include "convert/portable/bcsr.hpp"
#include "convert/portable/bsell.hpp"
#include "convert/portable/dia.hpp"
#include "convert/portable/loops.hpp"

#include <cnc/convert.hpp>

namespace cnc::portable {

/// The rows of a layout, one per thread: row(thread), -1 for none, and walk(thread, use) for its
/// entries.
template <class Operand>
struct Rows {
  Operand A;
  offset_t threads() const { return A.rows; }
  KOKKOS_INLINE_FUNCTION index_t row(offset_t thread) const { return static_cast<index_t>(thread); }
  template <class Use>
  KOKKOS_INLINE_FUNCTION void walk(offset_t thread, const Use& use) const {
    detail::walk_entries(A, static_cast<index_t>(thread), use);
  }
};

template <class T>
struct Rows<BsellOperand<T>> {
  BsellOperand<T> A;
  offset_t threads() const {
    return static_cast<offset_t>(A.slices()) * A.slice_height * A.block_size;
  }
  KOKKOS_INLINE_FUNCTION detail::Lane<T> lane(offset_t thread) const {
    return detail::lane_of(A, static_cast<index_t>(thread / A.slice_height / A.block_size),
                           static_cast<int>(thread % A.slice_height));
  }
  KOKKOS_INLINE_FUNCTION int row_of_lane(offset_t thread) const {
    return static_cast<int>(thread / A.slice_height % A.block_size);
  }
  KOKKOS_INLINE_FUNCTION index_t row(offset_t thread) const {
    return detail::row_of(lane(thread), row_of_lane(thread));
  }
  template <class Use>
  KOKKOS_INLINE_FUNCTION void walk(offset_t thread, const Use& use) const {
    detail::walk_entries(A, lane(thread), row_of_lane(thread), use);
  }
};

/// Two passes over the rows: one counts their entries, one writes them.
template <class Exec, class T, class Space, class Source>
CsrMatrix<T, Space> unpack_rows(index_t rows, index_t cols, const Source& source) {
  const auto offset_view =
      uninitialized<index_t, Space>("cnc::csr row_offsets", static_cast<std::size_t>(rows) + 1);
  index_t* offsets = offset_view.data();
  Kokkos::parallel_for(
      "cnc::count", range<Exec>(0, source.threads()), KOKKOS_LAMBDA(const offset_t thread) {
        const index_t row = source.row(thread);
        if (row < 0) return;
        index_t count = 0;
        source.walk(thread, [&](index_t, T) { ++count; });
        offsets[row + 1] = count;
      });
  const auto nonzeros =
      static_cast<std::size_t>(offsets_from_counts<Exec>(offsets, rows, "nonzeros"));
  detail::require_blocks<T, Space>("to_csr", nonzeros, 1);
  const auto column_view = uninitialized<index_t, Space>("cnc::csr columns", nonzeros);
  const auto value_view = uninitialized<T, Space>("cnc::csr values", nonzeros);
  index_t* columns = column_view.data();
  T* values = value_view.data();
  Kokkos::parallel_for(
      "cnc::fill", range<Exec>(0, source.threads()), KOKKOS_LAMBDA(const offset_t thread) {
        const index_t row = source.row(thread);
        if (row < 0) return;
        index_t k = offsets[row];
        source.walk(thread, [&](index_t column, T value) {
          columns[k] = column;
          values[k++] = value;
        });
      });
  return {rows, cols, 1, offset_view, column_view, value_view};
}

template <class Exec, class T, class Space>
CsrMatrix<T, Space> to_csr(const BcsrMatrix<T, Space>& A) {
  detail::require_valid(A);
  if (A.block_size == 1) return A;
  return unpack_rows<Exec, T, Space>(A.rows, A.cols, Rows<BcsrOperand<T>>{A.operand()});
}
template <class Exec, class T, class Space>
CsrMatrix<T, Space> to_csr(const BsellMatrix<T, Space>& A) {
  validate<Exec>(A);
  return unpack_rows<Exec, T, Space>(A.rows, A.cols, Rows<BsellOperand<T>>{A.operand()});
}
template <class Exec, class T, class Space>
CsrMatrix<T, Space> to_csr(const DiaMatrix<T, Space>& A) {
  validate<Exec>(A);
  return unpack_rows<Exec, T, Space>(A.rows, A.cols, Rows<DiaOperand<T>>{A.operand()});
}

}  // namespace cnc::portable
