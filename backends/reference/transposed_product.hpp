#pragma once

#include <cnc/contract/operands.hpp>

namespace cnc::reference {

/// Calls f(i, j, a) for every entry of a matrix, fill included; places outside the matrix excepted.
template <class M, class F>
void for_each_entry(const BcsrOperand<M>& A, const F& f) {
  const index_t b = A.block_size;
  for (index_t block_row = 0; block_row < A.block_rows(); ++block_row)
    for (index_t k = A.row_offsets[block_row]; k < A.row_offsets[block_row + 1]; ++k)
      for (index_t r = 0; r < b; ++r)
        for (index_t c = 0; c < b; ++c) {
          const index_t i = block_row * b + r, j = A.columns[k] * b + c;
          if (i < A.rows && j < A.cols) f(i, j, double(A.values[offset_t(k) * b * b + r * b + c]));
        }
}
template <class M, class F>
void for_each_entry(const BsellOperand<M>& A, const F& f) {
  const index_t b = A.block_size, C = A.slice_height;
  for (index_t slice = 0; slice < A.slices(); ++slice)
    for (offset_t slot = A.slice_offsets[slice]; slot < A.slice_offsets[slice + 1]; ++slot) {
      const index_t lane = static_cast<index_t>((slot - A.slice_offsets[slice]) % C);
      const index_t block_row = A.row_permutation[slice * C + lane];
      if (block_row < 0) continue;
      for (index_t r = 0; r < b; ++r)
        for (index_t c = 0; c < b; ++c) {
          const index_t i = block_row * b + r, j = A.columns[slot] * b + c;
          const double a = double(A.values[(slot - lane) * b * b + (r * b + c) * C + lane]);
          if (i < A.rows && j < A.cols) f(i, j, a);
        }
    }
}
template <class M, class F>
void for_each_entry(const DiaOperand<M>& A, const F& f) {
  for (index_t d = 0; d < A.diagonals; ++d)
    for (index_t i = 0; i < A.rows; ++i) {
      const offset_t j = static_cast<offset_t>(i) + A.offsets[d];
      if (j < 0 || j >= A.cols) continue;
      const double a = double(A.values[static_cast<offset_t>(d) * A.rows + i]);
      f(i, static_cast<index_t>(j), a);
      if (A.symmetric && A.offsets[d] > 0) f(static_cast<index_t>(j), i, a);
    }
}

/// y := A^T x, from A: entry by entry, sums in V.
template <class Operand, class V>
void transposed_product(const Operand& A, const V* x, V* y) {
  for (index_t j = 0; j < A.cols; ++j) y[j] = 0;
  for_each_entry(A,
                 [&](index_t i, index_t j, double a) { y[j] = static_cast<V>(y[j] + a * x[i]); });
}

}  // namespace cnc::reference
