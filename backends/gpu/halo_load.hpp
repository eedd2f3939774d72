#pragma once

#include <gpu/halo_part.hpp>

// What a run with one meeting per product begins with: the matrix in parts, as it was scaled, and vectors, brought on chip
// (gpu/halo_rows.hpp).

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int wave, int per_thread, class V, class Method, bool among>
struct HaloLoad : HaloPart<wave, per_thread, V, Method, among> {
  using OnChip = HaloPart<wave, per_thread, V, Method, among>;
  using OnChip::for_own, OnChip::for_share, OnChip::for_own_pairs, OnChip::row_of;
  using OnChip::is_beyond, OnChip::parts, OnChip::scaled;
  using OnChip::symmetric, OnChip::holds, OnChip::together;
  using typename OnChip::State;

  MethodVectors<V> v;

  /// The matrix, and, where D scales it from both sides, D in `gathered`. What it begins to copy is there after end_copies and a barrier. False: the values do not
  /// allow the run.
  CNC_GPU_DEVICE bool load_matrix(State& t) const {
    if constexpr (symmetric)
      for (index_t i = thread_index(); i < t.part.own + t.part.halo; i += block_threads())
        begin_copy(t.gathered + i, scaled.scale + t.part.first_row + i);
    offset_t first[per_thread];
    for (int k = 0; k < per_thread; ++k) t.groups[k] = 0;
    for_own_pairs(t, [&](int k, index_t, offset_t pair, index_t groups, index_t on_chip) {
      first[k] = pair;
      t.groups[k] = groups;
      t.first[k] = on_chip - holds * part_lanes;
    });
    const auto for_pair = [&](index_t g, const auto& take_pair) {
      for_own(t, [&](int k, index_t) {
        if (g < t.groups[k]) take_pair(k, first[k] + g * part_lanes);
      });
    };
    CNC_GPU_UNROLL
    for (int g = 0; g < holds; ++g) {
      CNC_GPU_UNROLL
      for (int k = 0; k < per_thread; ++k) {
        t.held[k][g] = {0, 0};
        t.held_columns[k][g] = 0;
      }
      for_pair(g, [&](int k, offset_t pair) {
        t.held[k][g] = scaled.entries[pair];
        t.held_columns[k][g] = parts.columns[pair];
      });
    }
    index_t most = 0;
    for (const index_t groups : t.groups) most = groups > most ? groups : most;
    for (index_t g = holds; g < most; ++g)
      for_pair(g, [&](int k, offset_t pair) {
        const index_t to = t.first[k] + g * part_lanes;
        begin_copy(t.matrix + to, scaled.entries + pair);
        begin_copy(t.columns + to, parts.columns + pair);
      });
    return *scaled.unfit == 0;
  }
  /// D, or D^2, of an own row once `gathered` holds something else.
  CNC_GPU_DEVICE V scale_of(const State& t, index_t local) const {
    return scaled.scale[t.part.first_row + local];
  }

  /// A vector of the halo as the run has it, but of rows of other devices; D, if it takes that, is in `gathered`.
  CNC_GPU_DEVICE void load_halo(const State& t, int vector, V* to) const {
    index_t row[together];
    V value[together];
    for_share(
        t.part.halo,
        [&](int j, index_t i) { row[j] = is_beyond(t, i) ? -1 : row_of(t, t.part.own + i); },
        [&](int j, index_t) {
          if (row[j] >= 0) value[j] = v[vector][row[j]];
        },
        [&](int j, index_t i) {
          if (row[j] >= 0) to[i] = symmetric ? t.gathered[t.part.own + i] * value[j] : value[j];
        });
  }
  /// Of own rows where the caller's vectors have them.
  using OwnRows = index_t[per_thread];
  CNC_GPU_DEVICE void load_rows(const State& t, OwnRows& row) const {
    for_own(t, [&](int k, index_t local) { row[k] = row_of(t, local); });
  }
  /// A vector of own rows, to take(k, local number, value).
  template <class Take>
  CNC_GPU_DEVICE void load_own(const State& t, const OwnRows& row, int vector,
                               const Take& take_value) const {
    V value[per_thread];
    for_own(
        t, [&](int k, index_t) { value[k] = v[vector][row[k]]; },
        [&](int k, index_t local) { take_value(k, local, value[k]); });
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
