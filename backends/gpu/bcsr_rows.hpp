#pragma once

#include <cnc/contract/operands.hpp>

#include <gpu/pack.hpp>
#include <gpu/reduce.hpp>
#include <gpu/rows.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Neighbouring entries of a block's row that one lane multiplies: lanes then cover whole blocks with as few
/// idle lanes as possible, and read in wide loads where the row's length allows it.
template <class M>
constexpr int entries_per_lane(int block) {
  switch (block) {
    case 2: return 2;
    case 4: return sizeof(M) == 4 ? 4 : 2;
    case 6: return 6;
    case 8: return sizeof(M) == 4 ? 4 : 2;
    default: return 1;  // 1; 3 and 5: 27 and 25 lanes of 32 read one contiguous run
  }
}

/// Block rows, each by `lanes` neighbouring threads (at most a wave), or by a whole block of threads.
/// The lanes of a block row form slots of lanes_per_block: lane -> (slot, row, columns) stays fixed, so no
/// index is divided in the loop, and consecutive lanes read consecutive values.
/// static_block 0 takes the size from the matrix, one lane per row of a block.
///
/// Source   Verschoor & Jalba 2012, section 4: "one warp per block row" (lanes = wave) and "one thread block
///          per block row" (row_per_block). Fewer lanes per row for short rows and blocks of 2, whose rows would leave
///          half a wave idle: Bell & Garland 2009.
template <int wave, int static_block, int lanes, bool row_per_block, class M, class V>
struct BcsrRows {
  static_assert(lanes <= wave && (lanes == wave || static_block == 1 || static_block == 2));
  BcsrOperand<M> A;

  static constexpr int static_width = static_block > 0 ? entries_per_lane<M>(static_block) : 0;
  static constexpr int largest_width = static_block > 0 ? static_width : max_block_size;

  static constexpr bool consecutive = true;
  /// Entries of a CSR row that a lane has under way together.
  static constexpr int together = 4;
  /// Rows that two lanes share have few entries, and threads hide more than registers.
  static constexpr int spmv_threads = static_block == 1 ? (lanes == 2 ? 1536 : 1280) : 0;
  // For blocks of 2 the compiler takes too few registers by itself; with waves of 64 that many threads make it spill.
  static constexpr int summing_threads = static_block == 1                 ? 1024
                                         : static_block == 2 && wave == 32 ? 1536
                                                                           : 0;

  constexpr int block() const { return static_block > 0 ? static_block : A.block_size; }
  constexpr int width() const { return static_block > 0 ? static_width : A.block_size; }
  constexpr int lanes_per_row() const { return block() / width(); }
  constexpr int lanes_per_block() const { return block() * lanes_per_row(); }
  constexpr int slots() const { return lanes / lanes_per_block(); }

  const BcsrRows& resident() const { return *this; }

  constexpr index_t units() const { return A.block_rows(); }
  constexpr int unit_rows() const { return block(); }
  constexpr index_t units_per_pass(int threads) const {
    return row_per_block ? 1 : threads / lanes;
  }
  CNC_GPU_DEVICE index_t first_row(index_t unit) const { return unit * block(); }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const int group = thread_index() / lanes;
    const index_t unit = row_per_block ? begin : begin + group;
    const int lane = thread_index() % lanes;
    const int slot = lane / lanes_per_block();
    const int r = lane % lanes_per_block() / lanes_per_row();
    const int c = lane % lanes_per_row() * width();
    V sum = 0;
    if (unit < end && slot < slots()) {
      const int groups = row_per_block ? block_threads() / lanes : 1;
      const int first = row_per_block ? group * slots() + slot : slot;
      if (A.short_columns != nullptr)
        sum = add_row(A.short_columns, unit, first, groups * slots(), r, c, x);
      else
        sum = add_row(A.columns, unit, first, groups * slots(), r, c, x);
    }
    sum = sum_over_slots(sum, lane);
    if constexpr (row_per_block) sum = sum_over_groups(sum, lane);
    const bool owner = (row_per_block ? group == 0 : unit < end) && slot == 0 && c == 0;
    const index_t row = unit * block() + r;
    if (owner && unit < end && row < A.rows) sink(unit, r, row, sum);
  }

 private:
  template <class Column, class X>
  CNC_GPU_DEVICE V add_row(const Column* columns, index_t unit, int first, int step, int r, int c,
                           const X& x) const {
    if constexpr (static_block == 1)
      return add_entries(columns, unit, first, step, x);
    else
      return add_blocks(columns, unit, first, step, r, c, x);
  }

  template <class Column, class X>
  CNC_GPU_DEVICE V add_blocks(const Column* columns, index_t unit, int first, int step, int r,
                              int c, const X& x) const {
    const int b = block();
    const index_t end = load_cached(A.row_offsets + unit + 1);
    const bool aligned = aligned_for<M, pack_width<M>(largest_width)>(A.values);
    const bool partial = A.cols % b != 0;
    V sum = 0;
    index_t k = load_cached(A.row_offsets + unit) + first;
    // Counted down: k + step may not be representable at the very end of the largest matrices.
    for (index_t left = end - k; left > 0; left -= step, k += step) {
      // The lanes of a block read the same column, and the next blocks' columns lie beside it.
      const index_t column = column_at(load_cached(columns + k), unit) * b + c;
      const M* from = A.values + offset_t(k) * (b * b) + r * b + c;
      if constexpr (static_block > 0) {
        V value[largest_width];
        load_row<largest_width>(from, aligned, value);
        for (int w = 0; w < static_width; ++w)
          if (!partial || column + w < A.cols) sum += value[w] * x(column + w);
      } else {
        for (int w = 0; w < b; ++w)
          if (column + w < A.cols) sum += static_cast<V>(load_once(from + w)) * x(column + w);
      }
    }
    return sum;
  }

  /// The lane's entries of a CSR row.
  template <class Column, class X>
  CNC_GPU_DEVICE V add_entries(const Column* columns, index_t unit, int first, int step,
                               const X& x) const {
    const std::uint8_t* const codes = A.value_table.codes;  // null for all threads or for none
    index_t k = load_cached(A.row_offsets + unit) + first;
    V sum = 0;
    for (index_t left = load_cached(A.row_offsets + unit + 1) - k; left > 0;
         left -= together * step, k += together * step) {
      Column column[together];
      ValueOrCode<M> held[together];
      V of_x[together];
      // Neighbouring lanes share lines over several steps, so these loads live from the first-level cache.
      if (codes == nullptr) {
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          if (left > u * step) held[u].value = load_cached(A.values + k + u * step);
      } else {
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          held[u].code = left > u * step ? load_cached(codes + k + u * step) : 0u;
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (left > u * step) column[u] = load_cached(columns + k + u * step);
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (left > u * step) of_x[u] = x(column_at(column[u], unit));
      if (codes != nullptr) {
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          if (left > u * step) held[u].value = load_cached(A.value_table.values + held[u].code);
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (left > u * step) sum += static_cast<V>(held[u].value) * of_x[u];
    }
    return sum;
  }

  /// Lanes of slot 0 and column part 0 get the sum over all slots and column parts of their row.
  CNC_GPU_DEVICE V sum_over_slots(V sum, int lane) const {
    if constexpr (static_block == 1) {
      return lane_sum<wave>(sum, lanes);
    } else if constexpr (static_block == 2) {
      // Many slots, a power of two, of whole rows: by halves.
      for (int s = lanes / 4; s > 0; s /= 2) sum += shuffle_down<wave>(sum, 2 * s);
      return sum;
    } else {
      V total = sum;
      for (int s = 1; s < slots(); ++s) {
        const V other = shuffle_down<wave>(sum, s * lanes_per_block());
        if (lane < lanes_per_block()) total += other;
      }
      sum = total;
      for (int part = 1; part < lanes_per_row(); ++part) total += shuffle_down<wave>(sum, part);
      return total;
    }
  }

  /// Threads of the first group get the sum over the groups of the block, in their order.
  CNC_GPU_DEVICE V sum_over_groups(V sum, int lane) const {
    CNC_GPU_SHARED V of_lane[max_block];
    block_barrier();
    of_lane[thread_index()] = sum;
    block_barrier();
    for (int group = 1; group < block_threads() / lanes; ++group)
      if (thread_index() < lanes) sum += of_lane[group * lanes + lane];
    return sum;
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
