#pragma once

#include "convert/checks.hpp"

#include <cnc/bcsr_matrix.hpp>

namespace cnc::detail {

/// CSR from what a host loop walks: for_each_row(use) calls use(row, walk) for every row, in parallel,
/// and walk(take) calls take(column, value) for the entries that the row keeps, columns ascending.
template <class T, class ForEachRow>
CsrMatrix<T> unpack(index_t rows, index_t cols, const ForEachRow& for_each_row) {
  const auto row_offsets =
      uninitialized<index_t>("cnc::csr row_offsets", static_cast<std::size_t>(rows) + 1);
  index_t* offsets = row_offsets.data();
  for_each_row([=](index_t row, const auto& walk) {
    index_t count = 0;
    walk([&](index_t, T) { ++count; });
    offsets[row + 1] = count;
  });
  const auto nonzeros = static_cast<std::size_t>(offsets_from_counts(offsets, rows, "nonzeros"));
  require_blocks<T, HostSpace>("to_csr", nonzeros, 1);
  const auto columns = uninitialized<index_t>("cnc::csr columns", nonzeros);
  const auto values = uninitialized<T>("cnc::csr values", nonzeros);
  index_t* column_data = columns.data();
  T* value_data = values.data();
  for_each_row([=](index_t row, const auto& walk) {
    index_t k = offsets[row];
    walk([&](index_t column, T value) {
      column_data[k] = column;
      value_data[k++] = value;
    });
  });
  return {rows, cols, 1, row_offsets, columns, values};
}

/// CSR from a layout whose rows walk_entries knows by their number.
template <class SparseMatrix>
auto unpack_rows(const SparseMatrix& A) {
  const auto source = A.operand();
  return unpack<typename SparseMatrix::value_type>(A.rows, A.cols, [=](const auto& use) {
    parallel_for(source.rows, [=](index_t row) {
      use(row, [=](const auto& take) { walk_entries(source, row, take); });
    });
  });
}

}  // namespace cnc::detail
