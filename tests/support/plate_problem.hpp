#pragma once

#include "support/solve_problem.hpp"

#include <cnc/triplets.hpp>

#include <string>
#include <vector>

namespace cnc::testing {

/// A problem of fourth order: the square of a built-in one. It is positive definite, with couplings of both signs, and incomplete factors of it are no
/// convergent splitting.
inline KnownProblem<double> plate_problem(const std::string& text) {
  const CsrMatrix<double> A = generate_problem(text);
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      for (index_t e = A.row_offsets(A.columns(k)); e < A.row_offsets(A.columns(k) + 1); ++e)
        entries.push_back({i, A.columns(e), A.values(k) * A.values(e)});
  return with_known_solution<double>("plate", csr_from_triplets<double>(A.rows, A.cols, entries));
}

}  // namespace cnc::testing
