#pragma once

#include <gpu/rows.hpp>

#include <cnc/contract/operands.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Rows that are parts of one: one per thread. The kernel has the entries of that row as arguments, which take no load; a row
/// reads which of them it has, and its diagonal. What is left to wait for is x: parts of it for `together` entries are under way
/// at once.
template <int points, int together, class M, class V>
struct StencilRows : RowPerThread {
  static_assert(points <= RowStencil<M>::most && points % together == 0);
  const std::uint8_t* codes;
  const RowPart<M>* parts;
  index_t size;
  index_t offset[points];
  M value[points];

  StencilRows(const RowDictionaryOperand<M>& A, index_t rows_)
      : RowPerThread{rows_}, codes(A.codes), parts(A.stencil->parts), size(A.stencil->size) {
    for (int k = 0; k < points; ++k) {
      offset[k] = A.stencil->offset[k];
      value[k] = A.stencil->value[k];
    }
  }

  static constexpr int spmv_threads = 2048;
  static constexpr int summing_threads = 2048;
  static constexpr int reducing_threads = 2048;

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t row = begin + thread_index();
    if (row >= end) return;
    const RowPart<M>* const part = parts + load_cached(codes + row);
    const std::uint32_t has = part->entries;
    V sum = 0;
    CNC_GPU_UNROLL
    for (int k = 0; k < points; k += together) {
      if (k > 0 && k >= size) break;
      V of_x[together];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        of_x[u] = (has >> (k + u) & 1u) != 0 ? x(row + offset[k + u]) : V(0);
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        sum += static_cast<V>(k + u == 0 ? part->diagonal : value[k + u]) * of_x[u];
    }
    sink(row, 0, row, sum);
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
