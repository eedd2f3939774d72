#pragma once

#include <cnc/contract/ops.hpp>

#include <reference/bcsr_spmv.hpp>
#include <reference/bsell_spmv.hpp>
#include <reference/dia_spmv.hpp>

namespace cnc::reference {

/// take(row, row of A times x) for all rows, in any order
template <class Operand, class V, class Take>
void for_row_products(const Operand& A, const V* x, const Take& take) {
  for (index_t row = 0; row < A.rows; ++row) take(row, row_product(A, row, x));
}
/// The same by slices.
template <class M, class V, class Take>
void for_row_products(const BsellOperand<M>& A, const V* x, const Take& take) {
  for (index_t slice = 0; slice < A.slices(); ++slice)
    for (index_t lane = 0; lane < A.slice_height; ++lane) {
      const index_t block_row = A.row_permutation[slice * A.slice_height + lane];
      for (index_t r = 0; block_row >= 0 && r < A.block_size; ++r) {
        const index_t row = block_row * A.block_size + r;
        if (row < A.rows) take(row, row_product(A, slice, lane, r, x));
      }
    }
}

/// y := of_x x + of_y y + of_residual D^-1 (f - A x), A square in any format
template <class Operand, class V>
void relax(const Queue&, const Operand& A, const RelaxationStep<V>& step, const V* x, V* y) {
  for_row_products(A, x, [&](index_t i, double product) {
    const double inverse = step.inverse == nullptr ? 1.0 : double(step.inverse[i]);
    const double old = step.of_y == 0 ? 0.0 : double(step.of_y) * y[i];
    const double f = step.f == nullptr ? 0.0 : double(step.f[i]);
    const double relaxed = double(step.of_residual) * inverse * (f - product);
    y[i] = static_cast<V>(double(step.of_x) * x[i] + old + relaxed);
  });
}

}  // namespace cnc::reference
