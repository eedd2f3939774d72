#pragma once

#include <cnc/contract/operands.hpp>

#include <gpu/rows.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Rows that repeat, whatever the format beside them: one per thread. Entries come from the first-level cache, mostly the
/// same for a whole wave, and bring no index or value from memory. (Several rows per thread that look up an entry together
/// gain where lines of a grid are as long as a block, and lose up to half elsewhere.)
template <class M, class V>
struct DictionaryRows {
  RowDictionaryOperand<M> A;
  index_t rows;

  /// Entries of a row whose parts of x are under way together.
  static constexpr int together = 4;
  static constexpr int spmv_threads = 1536;
  static constexpr int summing_threads = 1536;
  static constexpr int reducing_threads = 1536;

  constexpr index_t units() const { return rows; }
  constexpr index_t units_per_pass(int threads) const { return threads; }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t row = begin + thread_index();
    if (row >= end) return;
    const int code = load_cached(A.codes + row);
    const index_t stop = load_cached(A.starts + code + 1);
    V sum = 0;
    for (index_t k = load_cached(A.starts + code); k < stop; k += together) {
      M value[together];
      V of_x[together];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) {
        value[u] = 0;
        of_x[u] = 0;
        if (k + u >= stop) continue;
        const RowEntry<M> entry = A.entries[k + u];
        value[u] = entry.value;
        of_x[u] = x(row + entry.offset);
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) sum += static_cast<V>(value[u]) * of_x[u];
    }
    sink(row, 0, row, sum);
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
