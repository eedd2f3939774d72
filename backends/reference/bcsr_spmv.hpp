#pragma once

#include <cnc/contract/operands.hpp>
#include <cnc/contract/queue.hpp>

#include <algorithm>

namespace cnc::reference {

/// Row `row` of A times x: the row's entries in the order in which they are stored, across the
/// blocks of its block row. The columns of a partial last block column that A lacks are not read.
template <class M, class V>
double row_product(const BcsrOperand<M>& A, index_t row, const V* x) {
  const index_t b = A.block_size;
  const index_t block_row = row / b;
  const index_t row_in_block = row % b;
  double sum = 0;
  for (index_t k = A.row_offsets[block_row]; k < A.row_offsets[block_row + 1]; ++k) {
    const M* values = A.values + (static_cast<offset_t>(k) * b + row_in_block) * b;
    const index_t first_column = A.columns[k] * b;
    const index_t width = std::min(b, A.cols - first_column);
    for (index_t c = 0; c < width; ++c) sum += double(values[c]) * x[first_column + c];
  }
  return sum;
}

/// y := alpha A x + beta y, A in block compressed sparse row form
template <class M, class V>
void spmv(const Queue&, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y) {
  for (index_t row = 0; row < A.rows; ++row) {
    const double old = beta == 0 ? 0.0 : double(beta) * y[row];  // NaN in y must not survive beta 0
    y[row] = static_cast<V>(double(alpha) * row_product(A, row, x) + old);
  }
}

}  // namespace cnc::reference
