#pragma once

#include <gpu/halo_part.hpp>

#include <cmath>
#include <limits>

// What a run with one meeting per product begins with: the matrix scaled by its diagonal, and vectors, brought on chip
// (gpu/halo_rows.hpp).

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// What a run begins with.
template <int wave, int per_thread, class M, class V, class Method, bool among>
struct HaloLoad : HaloPart<wave, per_thread, M, V, Method, among> {
  using OnChip = HaloPart<wave, per_thread, M, V, Method, among>;
  using OnChip::for_own, OnChip::for_share, OnChip::row_of, OnChip::square_of_root;
  using OnChip::is_beyond, OnChip::share_with_peers;
  using OnChip::symmetric, OnChip::holds, OnChip::together, OnChip::scale;
  using OnChip::values, OnChip::inverse, OnChip::v, OnChip::parts, OnChip::peers;
  using typename OnChip::State;

  /// The matrix of the run, whose D or D^2 is left in `gathered`. False on a thread that found what this form cannot do. Among devices
  /// it takes some epochs.
  CNC_GPU_DEVICE bool load(State& t, std::uint32_t& epoch) const {
    // Of the values as they are stored, which may be those of a matrix rounded to float.
    constexpr double tolerance = 8 * double(std::numeric_limits<M>::epsilon());
    bool fit = true;
    const auto take_scale = [&](index_t local, V of_row) {
      t.gathered[local] = of_row;
      fit &= (symmetric ? of_row > 0 : of_row != 0) &&
             std::abs(of_row) <= std::numeric_limits<V>::max();
    };
    index_t own_row[per_thread], row[together];
    V own_value[per_thread], halo_value[together];
    for_own(
        t, [&](int k, index_t local) { own_row[k] = row_of(t, local); },
        [&](int k, index_t) { own_value[k] = square_of_root(own_row[k]); },
        [&](int k, index_t local) { take_scale(local, scale(own_value[k])); });
    if constexpr (among) block_barrier();  // imports are there
    for_share(
        t.part.halo,
        [&](int j, index_t i) { row[j] = is_beyond(t, i) ? -1 : row_of(t, t.part.own + i); },
        [&](int j, index_t) { halo_value[j] = row[j] < 0 ? V(0) : square_of_root(row[j]); },
        [&](int j, index_t i) {
          if (row[j] >= 0) take_scale(t.part.own + i, scale(halo_value[j]));
        });
    M absent[together];
    for_share(
        t.part.absent,
        [&](int j, index_t i) { absent[j] = values[parts.absent[t.part.first_absent + i]]; },
        [&](int j, index_t) { fit &= absent[j] == M(0); });
    block_barrier();
    if constexpr (among)
      share_with_peers(
          t, epoch, [&](int, index_t local) { return t.gathered[local]; },
          [&](index_t i, V value) { take_scale(t.part.own + i, value); });
    V diagonal[per_thread];
    for_own(
        t,
        [&](int k, index_t local) {
          if (inverse != nullptr) diagonal[k] = value_at(parts.diagonal[t.part.first_row + local]);
        },
        [&](int k, index_t local) {
          if (inverse == nullptr) return;
          // The diagonal is not among the entries.
          const double d = double(t.gathered[local]);
          const double one = double(static_cast<V>(double(diagonal[k]) * (symmetric ? d * d : d)));
          fit &= one >= 1 - tolerance && one <= 1 + tolerance;
        });
    load_matrix(t);
    block_barrier();
    return fit;
  }

  /// A vector of the halo as the run has it, but of rows of other devices; D is in `gathered`.
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

  /// The entries of own rows, which become those of the run: D or D^2 is in `gathered`.
  CNC_GPU_DEVICE void load_matrix(State& t) const {
    const offset_t begin = offset_t(t.part.first_group) * part_lanes;
    const auto* const places = reinterpret_cast<const EntryPair<index_t>*>(parts.places) + begin;
    const std::uint32_t* const its_columns = parts.columns + begin;
    index_t pair[per_thread];  // the row's first
    index_t most = 0;
    for (index_t& groups : t.groups) groups = 0;
    for_own(t, [&](int k, index_t local) {
      const Slice slice = t.slices[local / part_lanes], next = t.slices[local / part_lanes + 1];
      const index_t lane = local % part_lanes;
      pair[k] = slice.first * part_lanes + lane;
      t.groups[k] = next.first - slice.first;
      t.first[k] = (slice.first_beyond - holds) * part_lanes + lane;
      most = t.groups[k] > most ? t.groups[k] : most;
    });
    // take_pair(k, entries, columns) for pair g of the rows that have so many
    const auto for_pairs = [&](index_t g, const auto& take_pair) {
      EntryPair<index_t> place[per_thread];
      std::uint32_t columns[per_thread];
      EntryPair<V> value[per_thread];
      for_own(
          t,
          [&](int k, index_t) {
            if (g >= t.groups[k]) return;
            place[k] = places[pair[k] + g * part_lanes];
            columns[k] = its_columns[pair[k] + g * part_lanes];
          },
          [&](int k, index_t) {
            if (g >= t.groups[k]) return;
            value[k] = {value_at(place[k].first), value_at(place[k].second)};
          },
          [&](int k, index_t local) {
            if (g >= t.groups[k]) return;
            const double d = symmetric ? double(t.gathered[local]) : 1.0;
            const auto entry = [&](V a, std::uint32_t column) {
              return static_cast<V>(double(a) * (d * double(t.gathered[column])));
            };
            take_pair(k,
                      EntryPair<V>{entry(value[k].first, columns[k] & 0xffff),
                                   entry(value[k].second, columns[k] >> 16)},
                      columns[k]);
          });
    };
    CNC_GPU_UNROLL
    for (int g = 0; g < holds; ++g) {
      for (int k = 0; k < per_thread; ++k) {
        t.held[k][g] = {0, 0};
        t.held_columns[k][g] = 0;
      }
      for_pairs(g, [&](int k, const EntryPair<V>& entries, std::uint32_t columns) {
        t.held[k][g] = entries;
        t.held_columns[k][g] = columns;
      });
    }
    for (index_t g = holds; g < most; ++g)
      for_pairs(g, [&](int k, const EntryPair<V>& entries, std::uint32_t columns) {
        const index_t to = t.first[k] + g * part_lanes;
        t.matrix[to] = entries;
        t.columns[to] = columns;
      });
  }
  /// The value of an entry at a place of the matrix; where there is none, zero.
  CNC_GPU_DEVICE V value_at(index_t place) const {
    if (place == -1) return V(0);
    if constexpr (among)
      if (place < 0) return peers.values[cnc::detail::place_beyond(place)];
    return values[place];
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
