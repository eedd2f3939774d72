#pragma once

#include <cnc/contract/operands.hpp>

#include <gpu/rows.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Rows that repeat and are not parts of one, whatever the format beside them: one per thread. Entries come from the first-level cache, mostly the
/// same for a whole wave, and bring no index or value from memory. (Several rows per thread that look up an entry together
/// gain where lines of a grid are as long as a block, and lose up to half elsewhere.)
///
/// What takes time is waiting: for the code, for the entries, for x. So parts of x for `together` entries are under way at
/// once, and as many threads as a processor has room for; values are fetched when they are used, to hold no registers meanwhile. Long
/// rows have 27 under way, for which half of the threads have registers.
template <int together, class M, class V>
struct DictionaryRows : RowPerThread {
  RowDictionaryOperand<M> A;

  static constexpr int spmv_threads = together > 9 ? 1024 : 2048;
  static constexpr int summing_threads = spmv_threads;
  static constexpr int reducing_threads = spmv_threads;

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t row = begin + thread_index();
    if (row >= end) return;
    const int code = load_cached(A.codes + row);
    const index_t stop = load_cached(A.starts + code + 1);
    V sum = 0;
    for (index_t k = load_cached(A.starts + code); k < stop; k += together) {
      V of_x[together];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        of_x[u] = k + u < stop ? x(row + A.entries[k + u].offset) : V(0);
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) {
        const M value = k + u < stop ? A.entries[k + u].value : M(0);
        sum += static_cast<V>(value) * of_x[u];
      }
    }
    sink(row, 0, row, sum);
  }
};

/// The same where rows come in blocks of b that have the same columns, as with b unknowns of a point: a block per thread, so that a
/// part of x that has arrived is used b times, and a column is looked up once for b b values. Nine (of b = 2, eight) parts of x are under way at once.
template <int b, class M, class V>
struct DictionaryBlocks {
  RowDictionaryOperand<M> A;
  index_t rows;

  static constexpr int together = b == 2 ? 4 : 3;  ///< blocks of columns
  static constexpr bool consecutive = true;
  static constexpr int spmv_threads = 1024;
  static constexpr int summing_threads = spmv_threads;

  constexpr index_t units() const { return rows / b; }
  static constexpr int unit_rows() { return b; }
  constexpr index_t units_per_pass(int threads) const { return threads; }
  CNC_GPU_DEVICE index_t first_row(index_t unit) const { return unit * b; }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t unit = begin + thread_index();
    if (unit >= end) return;
    const index_t row = first_row(unit);
    const RowEntry<M>* kind[b];
    index_t length = 0;
    CNC_GPU_UNROLL
    for (int r = 0; r < b; ++r) {
      const int code = load_cached(A.codes + row + r);
      const index_t start = load_cached(A.starts + code);
      kind[r] = A.entries + start;
      if (r == 0) length = load_cached(A.starts + code + 1) - start;
    }
    V sums[b];
    CNC_GPU_UNROLL
    for (int r = 0; r < b; ++r) sums[r] = 0;
    for (index_t k = 0; k < length; k += together * b) {
      V of_x[together][b];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) {
        const bool there = k + u * b < length;
        const index_t column = row + (there ? kind[0][k + u * b].offset : 0);
        CNC_GPU_UNROLL
        for (int c = 0; c < b; ++c) of_x[u][c] = there ? x(column + c) : V(0);
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) {
        const bool there = k + u * b < length;
        CNC_GPU_UNROLL
        for (int c = 0; c < b; ++c) CNC_GPU_UNROLL
        for (int r = 0; r < b; ++r)
          sums[r] += static_cast<V>(there ? kind[r][k + u * b + c].value : M(0)) * of_x[u][c];
      }
    }
    CNC_GPU_UNROLL
    for (int r = 0; r < b; ++r) sink(unit, r, row + r, sums[r]);
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
