#pragma once

#include "convert/checks.hpp"

#include <cnc/bcsr_matrix.hpp>

namespace cnc::detail {

/// The rows of a layout: every thread of threads() calls use(row, walk) for some of them, and walk(take) calls
/// take(column, value) for the entries that the row keeps, columns ascending.
template <class Exec, class Operand>
struct Rows {
  Operand A;
  offset_t threads() const { return A.rows; }
  template <class Use>
  KOKKOS_INLINE_FUNCTION void for_each(offset_t thread, const Use& use) const {
    const auto row = static_cast<index_t>(thread);
    use(row, [&](const auto& take) { walk_entries(A, row, take); });
  }
};

template <class Rows>
struct CountEntries {
  Rows rows;
  index_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t thread) const {
    rows.for_each(thread, [&](index_t row, const auto& walk) {
      index_t count = 0;
      walk([&](index_t, auto) { ++count; });
      counts[row] = count;
    });
  }
};

template <class Rows, class T>
struct CopyEntries {
  Rows rows;
  const index_t* row_offsets;
  index_t* columns;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t thread) const {
    rows.for_each(thread, [&](index_t row, const auto& walk) {
      index_t k = row_offsets[row];
      walk([&](index_t column, T value) {
        columns[k] = column;
        values[k++] = value;
      });
    });
  }
};

/// CSR from the rows of A. Two passes over them: one counts entries, one copies them.
template <class Exec, class T, class SparseMatrix, class Rows>
auto unpack(const SparseMatrix& A, const Rows& rows) {
  using Space = typename SparseMatrix::memory_space;
  const Exec exec = instance<Exec>();
  const auto row_offsets =
      uninitialized<index_t, Space>("cnc::csr row_offsets", static_cast<std::size_t>(A.rows) + 1);
  index_t* offsets = row_offsets.data();
  on_each(exec, rows.threads(), CountEntries<Rows>{rows, offsets + 1});
  const std::size_t nonzeros = offsets_from_counts(exec, offsets, A.rows, "nonzeros");
  require_blocks<T, Space>("to_csr", nonzeros, 1);
  const auto columns = uninitialized<index_t, Space>("cnc::csr columns", nonzeros);
  const auto values = uninitialized<T, Space>("cnc::csr values", nonzeros);
  on_each(exec, rows.threads(), CopyEntries<Rows, T>{rows, offsets, columns.data(), values.data()});
  return CsrMatrix<T, Space>(A.rows, A.cols, 1, row_offsets, columns, values);
}

}  // namespace cnc::detail
