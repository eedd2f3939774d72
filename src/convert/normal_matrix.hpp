#pragma once

#include "convert/sparse_product.hpp"

#include <cnc/matrix.hpp>

namespace cnc::detail {

// A^T A of CSR. Sums are taken in the order of A's rows, so that a_ij and a_ji have the same bits. A's columns ascend.

struct SquareLength {
  const index_t* row_offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const {
    const offset_t length = row_offsets[i + 1] - row_offsets[i];
    sum += length * length;
  }
};

/// Sum over the rows of A of the square of their length: multiplications that A^T A takes. Waits.
template <class Exec, class T, class Space>
offset_t normal_work(const Exec& exec, const CsrMatrix<T, Space>& A) {
  return sum_over(exec, A.rows, SquareLength{A.row_offsets.data()});
}

/// A^T A. Waits.
/// Errors   InvalidArgument (more than 2^31 - 1 entries), OutOfMemory.
template <class Exec, class T, class Space>
CsrMatrix<T, Space> normal_product(const Exec& exec, const CsrMatrix<T, Space>& A,
                                   const CsrMatrix<T, Space>& transpose) {
  const auto formed = detail::product(exec, as_blocks(transpose), as_blocks(A), "A^T A");
  CsrMatrix<T, Space> normal(A.cols, A.cols, 1, formed.row_offsets, formed.columns, formed.values);
  normal.checked = Checked::ascending;
  return normal;
}

/// Its values for others of A. Waits.
template <class Exec, class T, class Space>
void multiply_normal(const Exec& exec, const CsrMatrix<T, Space>& A,
                     const CsrMatrix<T, Space>& transpose, const CsrMatrix<T, Space>& normal) {
  multiply_again(exec, as_blocks(transpose), as_blocks(A), as_blocks(normal));
  exec.fence();
}

}  // namespace cnc::detail
