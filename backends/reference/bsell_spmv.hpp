#pragma once

#include <cnc/contract/operands.hpp>
#include <cnc/contract/queue.hpp>

#include <algorithm>

namespace cnc::reference {

/// One row of A times x: row `row_in_block` of the block row that `lane` of slice `slice` holds.
/// Padding slots are not told apart: they add zero times an entry of x that the row reads anyway.
template <class M, class V>
double row_product(const BsellOperand<M>& A, index_t slice, index_t lane, index_t row_in_block,
                   const V* x) {
  const index_t b = A.block_size;
  const index_t height = A.slice_height;
  double sum = 0;
  for (offset_t slot = A.slice_offsets[slice]; slot < A.slice_offsets[slice + 1]; slot += height) {
    const M* values = A.values + slot * b * b + lane;
    const index_t first_column = A.columns[slot + lane] * b;
    const index_t width = std::min(b, A.cols - first_column);
    for (index_t c = 0; c < width; ++c)
      sum += double(values[(row_in_block * b + c) * height]) * x[first_column + c];
  }
  return sum;
}

/// y := alpha A x + beta y, A in sliced block compressed sparse row form
template <class M, class V>
void spmv(const Queue&, V alpha, const BsellOperand<M>& A, const V* x, V beta, V* y) {
  for (index_t slice = 0; slice < A.slices(); ++slice) {
    for (index_t lane = 0; lane < A.slice_height; ++lane) {
      const index_t block_row = A.row_permutation[slice * A.slice_height + lane];
      if (block_row < 0) continue;  // a padding lane of the last slice
      const index_t first_row = block_row * A.block_size;
      const index_t size = std::min<index_t>(A.block_size, A.rows - first_row);
      for (index_t r = 0; r < size; ++r) {
        V& result = y[first_row + r];
        const double old = beta == 0 ? 0.0 : double(beta) * result;
        result = static_cast<V>(double(alpha) * row_product(A, slice, lane, r, x) + old);
      }
    }
  }
}

}  // namespace cnc::reference
