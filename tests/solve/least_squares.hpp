#pragma once

#include "solve/solver_test.hpp"
#include "support/random_matrix.hpp"
#include "support/same_matrix.hpp"

#include <cnc/triplets.hpp>

// Least squares problems and their solutions by dense normal equations.

namespace cnc::testing {

/// Well conditioned, with columns of different lengths: a band and a part elsewhere.
inline CsrMatrix<double> tall(index_t rows, index_t cols) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < rows; ++i) {
    const index_t j = i % cols;
    entries.push_back({i, j, (2.0 + i % 3) * (1 + j % 4)});
    entries.push_back({i, (j + 1) % cols, -0.7});
    if (i % 2 == 0) entries.push_back({i, (j * 5 + 3) % cols, 0.4});
  }
  return csr_from_triplets<double>(rows, cols, entries);
}

using Dense = std::vector<std::vector<long double>>;

/// Gaussian elimination with pivots by rows.
inline std::vector<long double> solve_dense(Dense A, std::vector<long double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    std::swap(A[k], A[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const long double factor = A[i][k] / A[k][k];
      for (std::size_t j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

inline Dense in_full(const CsrMatrix<double>& A) {
  Dense full(static_cast<std::size_t>(A.rows),
             std::vector<long double>(static_cast<std::size_t>(A.cols), 0));
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      full[static_cast<std::size_t>(i)][static_cast<std::size_t>(A.columns(k))] += A.values(k);
  return full;
}

/// B B^T
inline Dense gram(const Dense& B) {
  Dense G(B.size(), std::vector<long double>(B.size(), 0));
  for (std::size_t i = 0; i < B.size(); ++i)
    for (std::size_t j = 0; j < B.size(); ++j)
      for (std::size_t k = 0; k < B[i].size(); ++k) G[i][j] += B[i][k] * B[j][k];
  return G;
}

/// The x of least ||b - A x||, and where there are several, of least ||x||. A has full rank.
inline Vector<double> least_squares(const CsrMatrix<double>& A, const Vector<double>& b) {
  const auto At = transpose(A);
  if (A.rows >= A.cols) {
    const auto right = product(At, b);
    std::vector<long double> rhs(right.data(), right.data() + right.extent(0));
    const auto x = solve_dense(gram(in_full(At)), rhs);
    Vector<double> result("x", x.size());
    std::copy(x.begin(), x.end(), result.data());
    return result;
  }
  const auto y = solve_dense(gram(in_full(A)), {b.data(), b.data() + b.extent(0)});
  Vector<double> multipliers("y", y.size());
  std::copy(y.begin(), y.end(), multipliers.data());
  return product(At, multipliers);
}

inline double normal_residual(const CsrMatrix<double>& A, const Vector<double>& b,
                              const Vector<double>& x) {
  const auto Ax = product(A, x);
  Vector<double> r("r", b.extent(0));
  for (std::size_t i = 0; i < r.extent(0); ++i) r(i) = b(i) - Ax(i);
  return norm2(product(transpose(A), r));
}

inline double data_residual(const CsrMatrix<double>& A, const Vector<double>& b,
                            const Vector<double>& x) {
  const auto Ax = product(A, x);
  double sum = 0;
  for (std::size_t i = 0; i < b.extent(0); ++i) sum += (b(i) - Ax(i)) * (b(i) - Ax(i));
  return std::sqrt(sum);
}

inline void check_least_squares(const SolveReport& report, const CsrMatrix<double>& A,
                                const Vector<double>& b, const Vector<double>& x) {
  INFO(report.detail);
  CHECK(std::string(cnc::to_string(report.status)) == "converged");
  const double scale = norm2(product(transpose(A), b));
  CHECK(report.rhs_norm == Approx(scale));
  CHECK(normal_residual(A, b, x) <= 1.01 * report.tolerance + 1e-14 * scale);
  CHECK(report.least_squares_residual == Approx(data_residual(A, b, x)).margin(1e-12 * norm2(b)));
}

}  // namespace cnc::testing
