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

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
