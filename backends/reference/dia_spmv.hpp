#pragma once

#include <cnc/contract/operands.hpp>
#include <cnc/contract/queue.hpp>

namespace cnc::reference {

/// Row i of A times x. The symmetric variant takes a(i, i - k) from where a(i - k, i) is stored.
template <class M, class V>
double row_product(const DiaOperand<M>& A, index_t i, const V* x) {
  double sum = 0;
  for (index_t d = 0; d < A.diagonals; ++d) {
    const M* diagonal = A.values + static_cast<offset_t>(d) * A.rows;
    const offset_t right = static_cast<offset_t>(i) + A.offsets[d];
    if (right >= 0 && right < A.cols) sum += double(diagonal[i]) * x[right];
    const offset_t left = static_cast<offset_t>(i) - A.offsets[d];
    if (A.symmetric && A.offsets[d] > 0 && left >= 0) sum += double(diagonal[left]) * x[left];
  }
  return sum;
}

/// y := alpha A x + beta y, A stored by diagonals
template <class M, class V>
void spmv(const Queue&, V alpha, const DiaOperand<M>& A, const V* x, V beta, V* y) {
  for (index_t i = 0; i < A.rows; ++i) {
    const double old = beta == 0 ? 0.0 : double(beta) * y[i];
    y[i] = static_cast<V>(double(alpha) * row_product(A, i, x) + old);
  }
}

}  // namespace cnc::reference
