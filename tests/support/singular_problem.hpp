#pragma once

#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/triplets.hpp>

#include <vector>

// Singular matrices whose null space is known.

namespace cnc::testing {

/// The Laplacian of a grid whose boundary lets nothing through: rows add up to zero.
inline CsrMatrix<double> neumann_laplacian(const char* problem) {
  const auto A = generate_problem(problem);
  std::vector<double> rest(static_cast<std::size_t>(A.rows), 0.0);
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      if (A.columns(k) != row) rest[static_cast<std::size_t>(row)] -= A.values(k);
  return with_diagonal(A, [&](index_t row, double) { return rest[static_cast<std::size_t>(row)]; });
}

/// Two of them that do not touch.
inline CsrMatrix<double> twice(const CsrMatrix<double>& A) {
  std::vector<Triplet<double>> entries;
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      for (const index_t shift : {0, A.rows})
        entries.push_back({row + shift, A.columns(k) + shift, A.values(k)});
  return csr_from_triplets<double>(2 * A.rows, 2 * A.rows, entries);
}

inline double sum_of(const Vector<double>& x, index_t begin, index_t end) {
  double sum = 0;
  for (index_t i = begin; i < end; ++i) sum += x(i);
  return sum;
}

/// The problem and the solution without a constant.
inline KnownProblem<double> neumann_problem(const CsrMatrix<double>& A) {
  auto P = with_known_solution("neumann", A);
  const double mean = sum_of(P.solution, 0, A.rows) / A.rows;
  for (index_t i = 0; i < A.rows; ++i) P.solution(i) -= mean;
  return P;
}

}  // namespace cnc::testing
