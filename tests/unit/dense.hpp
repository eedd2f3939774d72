#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <cmath>
#include <vector>

namespace cnc::testing {

/// A small dense matrix, row-major, for oracles.
struct Dense {
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;

  Dense(std::size_t rows_, std::size_t cols_)
      : rows(rows_), cols(cols_), values(rows_ * cols_, 0) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * cols + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

/// Entries at the same place are summed.
template <class T>
Dense dense(const CsrMatrix<T>& A) {
  Dense D(static_cast<std::size_t>(A.rows), static_cast<std::size_t>(A.cols));
  for (std::size_t i = 0; i < D.rows; ++i) {
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      D(i, static_cast<std::size_t>(A.columns(at))) += static_cast<double>(A.values(at));
    }
  }
  return D;
}

inline bool is_symmetric(const Dense& A) {
  for (std::size_t i = 0; i < A.rows; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (A(i, j) != A(j, i)) return false;
    }
  }
  return A.rows == A.cols;
}

/// Cholesky factorisation of the lower half: whether every pivot is above `margin` times its diagonal.
inline bool is_positive_definite(Dense A, double margin = 1e-12) {
  for (std::size_t j = 0; j < A.rows; ++j) {
    double pivot = A(j, j);
    for (std::size_t k = 0; k < j; ++k) pivot -= A(j, k) * A(j, k);
    if (!(pivot > margin * std::abs(A(j, j)))) return false;
    A(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < A.rows; ++i) {
      double sum = A(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= A(i, k) * A(j, k);
      A(i, j) = sum / A(j, j);
    }
  }
  return true;
}

/// alpha A + beta D, D the diagonal of A.
inline Dense with_diagonal(const Dense& A, double alpha, double beta) {
  Dense B = A;
  for (double& value : B.values) value *= alpha;
  for (std::size_t i = 0; i < A.rows; ++i) B(i, i) += beta * A(i, i);
  return B;
}

}  // namespace cnc::testing
