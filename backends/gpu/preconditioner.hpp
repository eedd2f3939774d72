#pragma once

#include <cnc/contract/preconditioner_operand.hpp>

#include <gpu/reduce.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Row i of M^-1 r from r in memory; for kinds none and jacobi `own` is r(i).
template <class V, class Residual>
CNC_GPU_DEVICE V preconditioned(const PreconditionerOperand<V>& M, index_t n, index_t i,
                                const Residual& r) {
  if (M.kind == PreconditionerKind::none) return r(i);
  if (M.kind == PreconditionerKind::jacobi) return M.inverse[M.uniform ? 0 : i] * r(i);
  const int b = M.block_size;
  const index_t first = i / b * b;
  const V* inverse = M.inverse + offset_t(i) * b;
  V z = 0;
  for (int c = 0; c < b; ++c)
    if (first + c < n) z += inverse[c] * r(first + c);
  return z;
}

/// Rows of which a block of threads holds one each, blocks of the preconditioner whole.
CNC_GPU_DEVICE index_t staged_rows(int block_size) {
  return block_threads() / block_size * block_size;
}

/// Row i of M^-1 r, block Jacobi, where each thread holds one row of r in a register: thread t has row
/// begin + t. Blocks begin at multiples of their size from `begin`. Collective.
template <class V>
CNC_GPU_DEVICE V preconditioned_in_block(const PreconditionerOperand<V>& M, index_t n,
                                         index_t begin, V own) {
  CNC_GPU_SHARED V staged[max_block];
  block_barrier();  // the last tile may still be read
  staged[thread_index()] = own;
  block_barrier();
  const index_t i = begin + thread_index();
  if (i >= n || thread_index() >= staged_rows(M.block_size)) return 0;
  return preconditioned(M, n, i, [&](index_t j) { return staged[j - begin]; });
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
