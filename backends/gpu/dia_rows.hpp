#pragma once

#include <contract/operands.hpp>

#include <gpu/rows.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Diagonals, one row per thread: every load of the matrix and of x is contiguous across a wave.
///
/// The symmetric variant takes the entry below the diagonal from the one above, a shifted load of the same
/// array: the second use of each value comes from cache. It is another type, because registers are rationed
/// per kernel.
template <bool symmetric, class M, class V>
struct DiaRows {
  DiaOperand<M> A;

  /// Diagonals whose loads are under way together.
  static constexpr int together = symmetric ? 4 : 8;
  static constexpr bool wide = sizeof(V) == 8;
  static constexpr int spmv_threads = symmetric ? (wide ? 1024 : 0) : (wide ? 1280 : 1024);
  static constexpr int summing_threads = symmetric ? 1280 : 1024;

  constexpr index_t units() const { return A.rows; }
  constexpr int unit_rows() const { return 1; }
  constexpr index_t units_per_pass(int threads) const { return threads; }
  CNC_GPU_DEVICE index_t first_row(index_t unit) const { return unit; }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t row = begin + thread_index();
    if (row >= end) return;
    if constexpr (symmetric)
      sink(row, 0, row, symmetric_sum(row, x));
    else
      sink(row, 0, row, sum(row, x));
  }

 private:
  CNC_GPU_DEVICE bool inside(index_t column) const { return column >= 0 && column < A.cols; }

  template <class X>
  CNC_GPU_DEVICE V sum(index_t row, const X& x) const {
    V total = 0;
    for (index_t d = 0; d < A.diagonals; d += together) {
      // Converted to V at the end only: a conversion among the loads would wait for each of them.
      M value[together];
      V of_x[together];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) {
        value[u] = 0;
        of_x[u] = 0;
        if (d + u >= A.diagonals) continue;
        const index_t column = row + load_cached(A.offsets + d + u);
        if (!inside(column)) continue;
        value[u] = load_once(A.values + offset_t(d + u) * A.rows + row);
        of_x[u] = x(column);
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) total += static_cast<V>(value[u]) * of_x[u];
    }
    return total;
  }

  /// Here the compiler finds a better order of loads than one written out.
  template <class X>
  CNC_GPU_DEVICE V symmetric_sum(index_t row, const X& x) const {
    V total = 0;
    CNC_GPU_UNROLL_BY(together)
    for (index_t d = 0; d < A.diagonals; ++d) {
      const index_t k = load_cached(A.offsets + d);
      const M* diagonal = A.values + offset_t(d) * A.rows + row;
      if (row + k < A.cols) total += static_cast<V>(load_cached(diagonal)) * x(row + k);
      if (k > 0 && row - k >= 0) total += static_cast<V>(load_cached(diagonal - k)) * x(row - k);
    }
    return total;
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
