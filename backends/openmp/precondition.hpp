#pragma once

#include <openmp/vector_ops.hpp>

namespace cnc::openmp::CNC_ISA {

/// z := M^-1 r on rows [begin, end), which start at a multiple of the block size.
template <class V>
[[gnu::noinline]] void precondition_range(const PreconditionerOperand<V>& M, const V* r, V* z,
                                          index_t begin, index_t end) {
  switch (M.kind) {
    case PreconditionerKind::none:
      for (index_t i = begin; i < end; ++i) z[i] = r[i];
      return;
    case PreconditionerKind::jacobi: {
      const V* inverse = M.inverse;
#pragma omp simd
      for (index_t i = begin; i < end; ++i) z[i] = inverse[i] * r[i];
      return;
    }
    case PreconditionerKind::block_jacobi: break;
  }
  const int b = M.block_size;
  const V* inverse = M.inverse + static_cast<offset_t>(begin) * b;
  for (index_t i = begin; i < end; i += b, inverse += b * b) {
    const int size = end - i < b ? end - i : b;
    for (int row = 0; row < size; ++row) {
      V sum = 0;
      for (int col = 0; col < size; ++col) sum += inverse[row * b + col] * r[i + col];
      z[i + row] = sum;
    }
  }
}

/// Rows per partial sum, blocks of the preconditioner whole.
template <class V>
CNC_INLINE index_t group_of(const PreconditionerOperand<V>& M) {
  return group_rows(M.kind == PreconditionerKind::block_jacobi ? M.block_size : 1);
}

template <class V>
void precondition(const Queue& queue, index_t n, const PreconditionerOperand<V>& M, const V* r,
                  V* z) {
  for_shares(queue, n, group_of(M),
             [=](index_t begin, index_t end) { precondition_range(M, r, z, begin, end); });
}

}  // namespace cnc::openmp::CNC_ISA
