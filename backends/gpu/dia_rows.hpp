#pragma once

#include <cnc/contract/operands.hpp>

#include <gpu/rows.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// How the diagonals of a row are worked through.
enum class DiaWalk {
  general,    ///< all diagonals are stored; loads are in batches
  symmetric,  ///< the upper half is
  symmetric_in_batches,
};

/// Diagonals, one row per thread: every load of the matrix and of x is contiguous across a wave.
///
/// The symmetric variants take the entry below the diagonal from the one above, a shifted load of the same
/// array: the second use of each value comes from cache. They are types of their own, because registers are
/// rationed per kernel: the threads that a processor has without batches hide more than batches do in fewer.
template <DiaWalk way, class M, class V>
struct DiaRows {
  DiaOperand<M> A;

  static constexpr bool consecutive = true;
  /// Loads of the matrix that are under way together.
  static constexpr int together = 8;
  static constexpr bool wide = sizeof(V) == 8;
  static constexpr bool batched = way != DiaWalk::symmetric;
  static constexpr int spmv_threads = batched ? (wide ? 1280 : 1024) : 2048;
  static constexpr int summing_threads = batched ? 1024 : 2048;
  static constexpr bool fills_processors = !batched;

  /// A resident kernel has few threads, and batches are better.
  DiaRows<way == DiaWalk::general ? way : DiaWalk::symmetric_in_batches, M, V> resident() const {
    return {A};
  }

  constexpr index_t units() const { return A.rows; }
  constexpr int unit_rows() const { return 1; }
  constexpr index_t units_per_pass(int threads) const { return threads; }
  CNC_GPU_DEVICE index_t first_row(index_t unit) const { return unit; }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t row = begin + thread_index();
    if (row >= end) return;
    if constexpr (way == DiaWalk::general)
      sink(row, 0, row, sum(row, x));
    else if constexpr (way == DiaWalk::symmetric)
      sink(row, 0, row, symmetric_sum(row, x));
    else
      sink(row, 0, row, batched_symmetric_sum(row, x));
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

  template <class X>
  CNC_GPU_DEVICE V symmetric_sum(index_t row, const X& x) const {
    V total = 0;
    CNC_GPU_UNROLL_BY(4)
    for (index_t d = 0; d < A.diagonals; ++d) {
      const index_t k = load_cached(A.offsets + d);
      const M* diagonal = A.values + offset_t(d) * A.rows + row;
      if (row < A.cols - k) total += static_cast<V>(load_cached(diagonal)) * x(row + k);
      if (k > 0 && row - k >= 0) total += static_cast<V>(load_cached(diagonal - k)) * x(row - k);
    }
    return total;
  }

  template <class X>
  CNC_GPU_DEVICE V batched_symmetric_sum(index_t row, const X& x) const {
    constexpr int pairs = together / 2;
    V total = 0;
    index_t d = 0;
    if (A.diagonals > 0 && load_cached(A.offsets) == 0) {
      total = static_cast<V>(load_cached(A.values + row)) * x(row);
      d = 1;
    }
    for (; d < A.diagonals; d += pairs) {
      Pair pair[pairs];
      CNC_GPU_UNROLL
      for (int u = 0; u < pairs; ++u)
        if (d + u < A.diagonals) load_pair(d + u, row, x, pair[u]);
      CNC_GPU_UNROLL
      for (int u = 0; u < pairs; ++u)
        total += static_cast<V>(pair[u].upper) * pair[u].right +
                 static_cast<V>(pair[u].lower) * pair[u].left;
    }
    return total;
  }

  /// The entries of a stored diagonal and of its mirror image in a row, with their parts of x.
  struct Pair {
    M upper = 0, lower = 0;
    V right = 0, left = 0;
  };

  template <class X>
  CNC_GPU_DEVICE void load_pair(index_t d, index_t row, const X& x, Pair& pair) const {
    const index_t k = load_cached(A.offsets + d);
    const M* diagonal = A.values + offset_t(d) * A.rows + row;
    if (row < A.cols - k) {
      pair.upper = load_cached(diagonal);
      pair.right = x(row + k);
    }
    if (row - k >= 0) {
      pair.lower = load_cached(diagonal - k);
      pair.left = x(row - k);
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
