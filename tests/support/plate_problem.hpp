#pragma once

#include "support/solve_problem.hpp"

#include <cnc/triplets.hpp>

#include <string>
#include <vector>

namespace cnc::testing {

/// A problem of fourth order: the square of one of second. It is positive definite, with couplings of both signs, and incomplete factors of it are no
/// convergent splitting.
inline KnownProblem<double> plate_problem(const CsrMatrix<double>& A) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      for (index_t e = A.row_offsets(A.columns(k)); e < A.row_offsets(A.columns(k) + 1); ++e)
        entries.push_back({i, A.columns(e), A.values(k) * A.values(e)});
  return with_known_solution<double>("plate", csr_from_triplets<double>(A.rows, A.cols, entries));
}
inline KnownProblem<double> plate_problem(const std::string& text) {
  return plate_problem(generate_problem(text));
}

}  // namespace cnc::testing
