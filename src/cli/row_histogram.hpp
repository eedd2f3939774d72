#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <vector>

namespace cnc::cli {

/// Rows whose length lies in [shortest, longest].
struct RowBin {
  index_t shortest = 0;
  index_t longest = 0;
  index_t rows = 0;
};

/// Row lengths in at most `limit` bins: one per length when there are few, else widening by powers
/// of two when lengths spread far, of equal width when they do not. Empty bins in between are kept.
std::vector<RowBin> row_histogram(const CsrMatrix<double>& A, int limit = 12);

}  // namespace cnc::cli
