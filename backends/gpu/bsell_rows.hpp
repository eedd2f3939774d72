#pragma once

#include <cnc/contract/operands.hpp>

#include <gpu/reduce.hpp>
#include <gpu/rows.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Sliced rows: neighbouring threads hold neighbouring block rows of a slice, so their loads of the matrix
/// are contiguous. When the matrix has few rows, `split` threads share one: thread group g takes every
/// split-th slot of it, starting with slot g.
///
/// Source   "multiple block rows" mapping with block reordering and row sorting of Verschoor & Jalba 2012,
///          section 4; slices of Kreutzer et al. 2014. The split is ours.
template <int static_block, class M, class V, int values_together = 32>
struct BsellRows {
  BsellOperand<M> A;
  int split = 1;
  int shift = -1;  ///< slice height = 2^shift, or negative: then rows are found by a division

  static constexpr int largest_block = static_block > 0 ? static_block : max_block_size;
  static constexpr int area = static_block * static_block;
  /// Whether a thread has whole blocks under way: those that are small enough.
  static constexpr bool whole_blocks = area > 0 && area <= 16 && area <= values_together;
  /// Slots whose loads are under way together: enough to cover the latency of memory, few enough to leave
  /// registers for many threads.
  static constexpr int together = static_block == 1 ? 4 : whole_blocks ? values_together / area : 1;
  static constexpr bool consecutive = false;
  /// The same rows in the resident kernel, whose threads have few registers.
  using Resident = BsellRows<static_block, M, V, sizeof(M) == 8 ? 12 : 24>;
  Resident resident() const { return {A, split, shift}; }
  static constexpr int spmv_threads = static_block == 1 ? 1280 : 0;
  static constexpr int relaxing_threads = 0;
  static constexpr int summing_threads = static_block == 1 ? 1280 : static_block == 5 ? 1024 : 0;

  constexpr int block() const { return static_block > 0 ? static_block : A.block_size; }
  constexpr index_t units() const { return A.block_rows(); }
  constexpr int unit_rows() const { return block(); }
  constexpr index_t units_per_pass(int threads) const { return threads / split; }
  CNC_GPU_DEVICE index_t first_row(index_t unit) const { return A.row_permutation[unit] * block(); }

  template <class X, class Sink>
  CNC_GPU_DEVICE void walk(index_t begin, index_t end, const X& x, Sink& sink) const {
    const index_t per_pass = units_per_pass(block_threads());
    const index_t part = split == 1 ? 0 : thread_index() / per_pass;
    const index_t unit = begin + thread_index() - part * per_pass;
    const bool mine = unit < end && part < split;
    const index_t row = mine ? first_row(unit) : 0;
    V sums[largest_block];
    for (int r = 0; r < block(); ++r) sums[r] = 0;
    if (mine) add_slots(unit, part, x, sums);
    if (split > 1) gather_parts(per_pass, sums);
    if (mine && part == 0)
      for (int r = 0; r < block(); ++r)
        if (row + r < A.rows) sink(unit, r, row + r, sums[r]);
  }

 private:
  template <class X>
  CNC_GPU_DEVICE void add_slots(index_t unit, index_t part, const X& x,
                                V (&sums)[largest_block]) const {
    const index_t C = A.slice_height;
    const index_t slice = shift >= 0 ? unit >> shift : unit / C;
    const offset_t first = load_cached(A.slice_offsets + slice);
    const index_t slots = static_cast<index_t>(load_cached(A.slice_offsets + slice + 1) - first);
    const index_t lane = unit - slice * C;
    const M* values = A.values + first * (block() * block()) + lane;
    // A slice is taken to have less than 2^31 slots: no row of 32 reaches 67 million entries.
    if (A.short_columns != nullptr)
      add_lane(A.short_columns + first + lane, values, slice * C, part * C, slots, split * C, x,
               sums);
    else
      add_lane(A.columns + first + lane, values, slice * C, part * C, slots, split * C, x, sums);
  }

  template <class Column, class X>
  CNC_GPU_DEVICE void add_lane(const Column* columns, const M* values, index_t place, index_t slot,
                               index_t slots, index_t step, const X& x,
                               V (&sums)[largest_block]) const {
    if constexpr (static_block == 1)
      add_entries(columns, values, place, slot, slots, step, x, sums[0]);
    else if (A.cols % block() == 0)
      add_blocks<true>(columns, values, place, slot, slots, step, x, sums);
    else
      add_blocks<false>(columns, values, place, slot, slots, step, x, sums);
  }

  template <class Column, class X>
  CNC_GPU_DEVICE void add_entries(const Column* columns, const M* values, index_t place,
                                  index_t slot, index_t slots, index_t step, const X& x,
                                  V& sum) const {
    const bool by_table = A.value_table.codes != nullptr;  // for all threads or for none
    for (; slot < slots; slot += together * step) {
      Column column[together];
      // Converted to V at the end only: a conversion among the loads would wait for each of them.
      ValueOrCode<M> held[together];
      V of_x[together];
      if (!by_table) {
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          if (slot + u * step < slots) held[u].value = load_once(values + slot + u * step);
      } else {
        // Scalars: a value's code is where the value is.
        const std::uint8_t* const codes = A.value_table.codes + (values - A.values);
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          held[u].code = slot + u * step < slots ? load_cached(codes + slot + u * step) : 0u;
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (slot + u * step < slots) column[u] = load_once(columns + slot + u * step);
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (slot + u * step < slots) of_x[u] = x(column_at(column[u], place));
      if (by_table) {
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          if (slot + u * step < slots)
            held[u].value = load_cached(A.value_table.values + held[u].code);
      }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (slot + u * step < slots) sum += static_cast<V>(held[u].value) * of_x[u];
    }
  }

  /// `whole`: no block column sticks out of the matrix.
  template <bool whole, class Column, class X>
  CNC_GPU_DEVICE void add_blocks(const Column* columns, const M* values, index_t place,
                                 index_t slot, index_t slots, index_t step, const X& x,
                                 V (&sums)[largest_block]) const {
    const int b = block();
    const index_t C = A.slice_height;
    if constexpr (whole_blocks) {
      for (; slot < slots; slot += together * step) {
        Column column[together];
        M value[together][area];
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          if (slot + u * step < slots) column[u] = load_once(columns + slot + u * step);
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u) {
          if (slot + u * step >= slots) continue;
          const M* entry = values + offset_t(slot + u * step) * area;
          CNC_GPU_UNROLL
          for (int k = 0; k < area; ++k) value[u][k] = load_once(entry + k * C);
        }
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u) {
          if (slot + u * step >= slots) continue;
          V of_x[static_block];
          CNC_GPU_UNROLL
          for (int c = 0; c < static_block; ++c) {
            const index_t j = column_at(column[u], place) * static_block + c;
            of_x[c] = whole || j < A.cols ? x(j) : V(0);
          }
          CNC_GPU_UNROLL
          for (int k = 0; k < area; ++k)
            sums[k / static_block] += static_cast<V>(value[u][k]) * of_x[k % static_block];
        }
      }
    } else {
      for (; slot < slots; slot += step) {
        const index_t column = column_at(load_once(columns + slot), place) * b;
        const M* entry = values + offset_t(slot) * (b * b);
        V of_x[largest_block];
        for (int c = 0; c < b; ++c) of_x[c] = whole || column + c < A.cols ? x(column + c) : V(0);
        for (int r = 0; r < b; ++r)
          for (int c = 0; c < b; ++c)
            sums[r] += static_cast<V>(load_once(entry + (r * b + c) * C)) * of_x[c];
      }
    }
  }

  /// Adds up the parts of each row, in the order of the parts, on the threads of part 0.
  CNC_GPU_DEVICE void gather_parts(index_t per_pass, V (&sums)[largest_block]) const {
    CNC_GPU_SHARED V of_thread[max_block];
    for (int r = 0; r < block(); ++r) {
      block_barrier();
      of_thread[thread_index()] = sums[r];
      block_barrier();
      if (thread_index() < per_pass)
        for (int part = 1; part < split; ++part)
          sums[r] += of_thread[thread_index() + part * per_pass];
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
