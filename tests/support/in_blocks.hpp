#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <cnc/vector.hpp>

namespace cnc::testing {

/// Every entry of A times a symmetric block of b x b: points of a grid with b unknowns each.
inline CsrMatrix<double> in_blocks(const CsrMatrix<double>& A, int b) {
  const auto entry = [](int r, int c) { return r == c ? 2.0 + r : 0.5 / (1 + r + c); };
  const index_t n = A.rows * b, entries = A.blocks() * b * b;
  Vector<index_t> offsets("offsets", static_cast<std::size_t>(n) + 1),
      columns("columns", static_cast<std::size_t>(entries));
  Vector<double> values("values", static_cast<std::size_t>(entries));
  std::size_t at = 0;
  for (index_t row = 0; row < n; ++row) {
    const auto i = static_cast<std::size_t>(row / b);
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      for (int c = 0; c < b; ++c) {
        columns(at) = A.columns(static_cast<std::size_t>(k)) * b + c;
        values(at++) = A.values(static_cast<std::size_t>(k)) * entry(static_cast<int>(row) % b, c);
      }
    offsets(static_cast<std::size_t>(row) + 1) = static_cast<index_t>(at);
  }
  return {n, n, 1, offsets, columns, values};
}

}  // namespace cnc::testing
