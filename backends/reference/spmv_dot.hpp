#pragma once

#include <cnc/contract/ops.hpp>

#include <reference/bcsr_spmv.hpp>
#include <reference/blas1.hpp>
#include <reference/bsell_spmv.hpp>
#include <reference/dia_spmv.hpp>

namespace cnc::reference {

/// y := A x, and up to two dots with y, A square in any format
template <class Operand, class V>
void spmv_dot(const Queue& queue, const Operand& A, const V* x, V* y, const ProductDots<V>& dots) {
  spmv(queue, V(1), A, x, V(0), y);
  if (dots.with == nullptr) return;
  dot(queue, A.rows, dots.with, y, dots.with_result);
  if (dots.self_result != nullptr) dot(queue, A.rows, y, y, dots.self_result);
}

}  // namespace cnc::reference
