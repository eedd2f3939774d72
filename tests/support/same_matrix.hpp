#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace cnc::testing {

/// Whether two views hold the same entries.
template <class X, class Y>
bool same_entries(const X& x, const Y& y) {
  return x.extent(0) == y.extent(0) &&
         (x.extent(0) == 0 || std::equal(x.data(), x.data() + x.extent(0), y.data()));
}

/// Whether two matrices have the same sizes, pattern and values.
template <class T>
bool same_matrix(const BcsrMatrix<T>& A, const BcsrMatrix<T>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         A.nonzeros == B.nonzeros && same_entries(A.row_offsets, B.row_offsets) &&
         same_entries(A.columns, B.columns) && same_entries(A.values, B.values);
}

/// A view's entries as a vector, which tests can compare with literals.
template <class View>
std::vector<typename View::non_const_value_type> entries(const View& view) {
  return {view.data(), view.data() + view.extent(0)};
}

/// A copy that shares nothing.
template <class T>
CsrMatrix<T> deep_copy_of(const CsrMatrix<T>& A) {
  Kokkos::View<index_t*, HostSpace> row_offsets("row_offsets", A.row_offsets.extent(0));
  Kokkos::View<index_t*, HostSpace> columns("columns", A.columns.extent(0));
  Vector<T> values("values", A.values.extent(0));
  Kokkos::deep_copy(row_offsets, A.row_offsets);
  Kokkos::deep_copy(columns, A.columns);
  Kokkos::deep_copy(values, A.values);
  return {A.rows, A.cols, 1, row_offsets, columns, values, A.nonzeros};
}

/// The same pattern with other values, in arrays of its own.
template <class T>
CsrMatrix<T> with_new_values(const CsrMatrix<T>& A) {
  auto B = deep_copy_of(A);
  for (std::size_t k = 0; k < B.values.extent(0); ++k)
    B.values(k) = static_cast<T>(1 + static_cast<double>(k % 1000) / 8);
  return B;
}

/// The same with diagonal(row, a_ii) in the place of each stored a_ii.
template <class T, class Diagonal>
CsrMatrix<T> with_diagonal(const CsrMatrix<T>& given, const Diagonal& diagonal) {
  const auto A = deep_copy_of(given);
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      if (A.columns(k) == row) A.values(k) = diagonal(row, A.values(k));
  return A;
}

/// CSR from literal arrays.
template <class T>
CsrMatrix<T> literal_csr(index_t rows, index_t cols, const std::vector<index_t>& row_offsets,
                         const std::vector<index_t>& columns, const std::vector<T>& values) {
  return deep_copy_of(wrap_csr(rows, cols, static_cast<index_t>(columns.size()), row_offsets.data(),
                               columns.data(), const_cast<T*>(values.data())));
}

/// Each row has its neighbour's entry, the last the first's: bicgstab breaks down with it, GMRES gains nothing before n steps, and
/// A^T A is diagonal.
inline CsrMatrix<double> cyclic_shift(index_t n, double value) {
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) {
    columns.push_back((i + 1) % n);
    offsets.push_back(i + 1);
  }
  return literal_csr<double>(n, n, offsets, columns,
                             std::vector<double>(static_cast<std::size_t>(n), value));
}

}  // namespace cnc::testing
