#pragma once

#include <reference/bcsr_spmv.hpp>
#include <reference/blas1.hpp>
#include <reference/bsell_spmv.hpp>
#include <reference/dia_spmv.hpp>

namespace cnc::reference {

/// y := A x and *result := x . y, A square in any format
template <class Operand, class V>
void spmv_dot(const Queue& queue, const Operand& A, const V* x, V* y, double* result) {
  spmv(queue, V(1), A, x, V(0), y);
  dot(queue, A.rows, x, y, result);
}

}  // namespace cnc::reference
