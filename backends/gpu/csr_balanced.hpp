#pragma once

#include <cnc/contract/error.hpp>

#include <cnc/contract/operands.hpp>

#include <gpu/runtime.hpp>
#include <gpu/spmv_kernel.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// CSR with equal shares of the nonzeros, which are its units: a block of threads owns the rows that begin in its share, so
/// blocks read about the same number of contiguous entries, but for rows longer than a share. Products go to
/// shared memory, then groups of lanes add up the rows from there; a row longer than shared memory is carried
/// from one chunk to the next. No atomics, and no set-up: each block finds its rows by searching the offsets.
/// Those that begin at the end of all entries, which are empty, belong to the last share.
///
/// Source   Dehnavi, Fernandez & Giannacopoulos 2010, "Finite-element sparse matrix vector multiplication on
///          graphic processing units", section III. The search is ours; they partition in advance.
template <int wave, class M, class V>
struct BalancedCsr {
  BcsrOperand<M> A;

  static constexpr int entries_per_thread = 8;
  static constexpr int most_threads = 256;
  static constexpr int capacity = entries_per_thread * most_threads;

  static constexpr int spmv_threads = 0, summing_threads = 1024;

  static constexpr index_t share(int threads) { return entries_per_thread * threads; }
  constexpr index_t units() const { return A.rows == 0 || A.blocks > 0 ? A.blocks : 1; }
  constexpr index_t units_per_pass(int threads) const { return share(threads); }

  struct Rows {
    index_t begin, end;
  };

  /// First row in [0, rows] that begins at entry `target` or later. Collective over a wave, which looks at
  /// as many places as it has lanes in each step.
  CNC_GPU_DEVICE index_t first_row_from(index_t target) const {
    const int lane = thread_index() % wave;
    index_t low = 0, high = A.rows;
    while (low < high) {
      const index_t step = ceil_div(high - low, wave);
      const offset_t place = low + offset_t(lane) * step;
      const bool before = place < high && load_cached(A.row_offsets + place) < target;
      const int count = lane_sum<wave>(before ? 1 : 0, wave);
      if (count == 0) return low;
      const offset_t above = low + offset_t(count) * step;
      low += (count - 1) * step + 1;
      if (above < high) high = static_cast<index_t>(above);
    }
    return low;
  }

  /// The rows of a share. Collective.
  CNC_GPU_DEVICE Rows rows_of(index_t share_begin, index_t share_end) const {
    CNC_GPU_SHARED index_t bounds[2];
    block_barrier();  // those of the last share may still be read
    for (int side = thread_index() / wave; side < 2; side += block_threads() / wave) {
      const index_t target = side == 0 ? share_begin : share_end;
      const index_t bound = target >= A.blocks && side == 1 ? A.rows
                            : target == 0                   ? 0
                                                            : first_row_from(target);
      if (thread_index() % wave == 0) bounds[side] = bound;
    }
    block_barrier();
    return {bounds[0], bounds[1]};
  }

  template <class X>
  CNC_GPU_DEVICE void multiply(index_t begin, index_t end, const X& x, V* products) const {
    index_t column[entries_per_thread];
    V value[entries_per_thread];
    CNC_GPU_UNROLL
    for (int k = 0; k < entries_per_thread; ++k) {
      const index_t i = thread_index() + k * block_threads();
      if (i >= end - begin) continue;
      column[k] = load_once(A.columns + begin + i);
      value[k] = static_cast<V>(load_once(A.values + begin + i));
    }
    CNC_GPU_UNROLL
    for (int k = 0; k < entries_per_thread; ++k) {
      const index_t i = thread_index() + k * block_threads();
      if (i < end - begin) products[i] = value[k] * x(column[k]);
    }
  }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t share_begin, index_t share_end, const X& x, Sink& sink) const {
    CNC_GPU_SHARED V products[capacity];
    CNC_GPU_SHARED V next_carry;
    CNC_GPU_SHARED index_t next_row;
    const Rows rows = rows_of(share_begin, share_end);
    if (rows.begin == rows.end) return;
    const index_t end = A.row_offsets[rows.end];
    int lanes = 1;
    while (lanes < wave && (rows.end - rows.begin) * 2 * lanes <= block_threads()) lanes *= 2;
    const int group = thread_index() / lanes;
    const int lane = thread_index() % lanes;
    const int groups = block_threads() / lanes;

    index_t first = rows.begin;
    index_t chunk = A.row_offsets[first];
    V carry = 0;
    for (;;) {
      const index_t chunk_end =
          end - chunk < share(block_threads()) ? end : chunk + share(block_threads());
      multiply(chunk, chunk_end, x, products);
      block_barrier();
      for (index_t base = first; base < rows.end && A.row_offsets[base] <= chunk_end;
           base += groups) {
        const index_t row = base + group;
        const bool mine = row < rows.end;
        const index_t from = mine ? A.row_offsets[row] : chunk_end;
        const index_t to = mine ? A.row_offsets[row + 1] : chunk_end;
        V sum = 0;
        const index_t stop = to < chunk_end ? to : chunk_end;
        for (index_t i = (from > chunk ? from : chunk) + lane; i < stop; i += lanes)
          sum += products[i - chunk];
        sum = lane_sum<wave>(sum, lanes);
        if (!mine || lane != 0) continue;
        if (row == first) sum += carry;
        if (to <= chunk_end) {
          sink(row, 0, row, sum);
        } else if (from <= chunk_end) {
          next_row = row;  // the one row that ends later: it goes on in the next chunk
          next_carry = sum;
        }
      }
      block_barrier();
      if (chunk_end == end) return;
      first = next_row;
      carry = next_carry;
      chunk = chunk_end;
    }
  }
};

/// Set-up that a product of CSR keeps: that rows are dealt out in equal shares.
struct BalancedPlan final : MatrixPlan {};

/// Whether products of a matrix deal out its entries, not its rows.
template <class Operand>
bool is_balanced(const Operand& A) {
  return dynamic_cast<const BalancedPlan*>(A.plan) != nullptr;
}

inline constexpr int longest_threads = 256;

/// Whether a row has more entries than `most`.
template <int wave>
CNC_GPU_KERNEL(longest_threads)
longest_kernel(index_t rows, const index_t* row_offsets, index_t most, std::int32_t* found) {
  const offset_t row = offset_t(block_index()) * block_threads() + thread_index();
  if (row < rows && row_offsets[row + 1] - row_offsets[row] > most) *found = 1;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
