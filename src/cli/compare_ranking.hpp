#pragma once

#include "compare_measure.hpp"

namespace cnc::cli {

/// The fastest products of one precision. Null: there is none. Figures below noise do not take part.
struct Ranking {
  const MatrixRow* best = nullptr;
  const MatrixRow* second = nullptr;
  /// The fastest csr of another backend with as many threads as the best; where no other backend has
  /// that many, the best one's own csr. On a device all backends count.
  const MatrixRow* same_threads_csr = nullptr;
};

Ranking rank(const std::vector<MatrixRow>& rows, Precision precision);

/// What `same_threads_csr` of that row is: "csr with as many threads".
const char* same_threads_csr_text(const MatrixRow& best);

}  // namespace cnc::cli
