#pragma once

#include <gpu/halo_part.hpp>

#include <cmath>
#include <limits>

// The values of a matrix in parts, scaled by its diagonal as runs with one meeting per product have it (gpu/halo_rows.hpp): made once,
// until there are others.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Stands in for a method, and has no vectors of its own.
template <bool from_both_sides>
struct Scaling {
  static constexpr bool symmetric = from_both_sides;
  static constexpr int vectors = 1;
  static constexpr VectorSet halo = set_of(0);
};

template <int wave, class M, class V, bool from_both_sides, bool among>
struct HaloScale : HaloPart<wave, most_halo_rows, V, Scaling<from_both_sides>, among> {
  using OnChip = HaloPart<wave, most_halo_rows, V, Scaling<from_both_sides>, among>;
  using OnChip::for_own, OnChip::for_share, OnChip::for_own_pairs, OnChip::row_of;
  using OnChip::is_beyond, OnChip::share_with_peers, OnChip::take_part_in_peers;
  using OnChip::symmetric, OnChip::together, OnChip::parts, OnChip::scaled, OnChip::peers;
  using typename OnChip::State;

  const M* values;
  /// D^2, one over the diagonal, which then becomes ones and is none of the entries; null: D is the identity.
  const V* inverse;

  /// Among devices it takes an epoch.
  CNC_GPU_DEVICE void scale(std::uint32_t epoch) const {
    const std::uint32_t first_epoch = epoch;
    State t;
    take_part_in_peers(t, epoch);
    this->lay_out(t);
    end_copies();
    block_barrier();
    bool fit = find_scale(t, epoch);
    fit &= has_no_other_entries(t);
    fit &= has_unit_diagonal(t);
    for (index_t i = thread_index(); i < t.part.own + t.part.halo; i += block_threads())
      scaled.scale[t.part.first_row + i] = t.gathered[i];
    scale_entries(t);
    if (!fit) *scaled.unfit = 1;
    this->count_epochs(epoch - first_epoch);
  }

 private:
  CNC_GPU_DEVICE V square_of_root(index_t row) const {
    return inverse == nullptr ? V(1) : inverse[row];
  }
  /// D or D^2 of own rows and the halo, to `gathered`. False: some is zero, no number, or has no real root where one is needed.
  CNC_GPU_DEVICE bool find_scale(State& t, std::uint32_t& epoch) const {
    bool fit = true;
    const auto take_scale = [&](index_t local, V of_row) {
      t.gathered[local] = of_row;
      fit &= (symmetric ? of_row > 0 : of_row != 0) &&
             std::abs(of_row) <= std::numeric_limits<V>::max();
    };
    const auto scale_of_row = [&](index_t row) {
      const V square = square_of_root(row);
      return symmetric ? static_cast<V>(std::sqrt(double(square))) : square;
    };
    for_share(t.part.own + t.part.halo, [&](int, index_t local) {
      if (local < t.part.own || !is_beyond(t, local - t.part.own))
        take_scale(local, scale_of_row(row_of(t, local)));
    });
    block_barrier();
    if constexpr (among)
      share_with_peers(
          t, epoch, [&](int, index_t local) { return t.gathered[local]; },
          [&](index_t i, V value) { take_scale(t.part.own + i, value); });
    return fit;
  }
  /// Whether all entries that the parts leave out are zero.
  CNC_GPU_DEVICE bool has_no_other_entries(const State& t) const {
    bool fit = true;
    M absent[together];
    for_share(
        t.part.absent,
        [&](int j, index_t i) { absent[j] = values[parts.absent[t.part.first_absent + i]]; },
        [&](int j, index_t) { fit &= absent[j] == M(0); });
    return fit;
  }
  /// Whether the diagonal becomes ones, if it is not among the entries.
  CNC_GPU_DEVICE bool has_unit_diagonal(const State& t) const {
    // Of the values as they are stored, which may be those of a matrix rounded to float.
    constexpr double tolerance = 8 * double(std::numeric_limits<M>::epsilon());
    if (inverse == nullptr) return true;
    bool fit = true;
    for_own(t, [&](int, index_t local) {
      const V diagonal = value_at(parts.diagonal[t.part.first_row + local]);
      const double d = double(t.gathered[local]);
      const double one = double(static_cast<V>(double(diagonal) * (symmetric ? d * d : d)));
      fit &= one >= 1 - tolerance && one <= 1 + tolerance;
    });
    return fit;
  }
  CNC_GPU_DEVICE void scale_entries(const State& t) const {
    const auto* const places = reinterpret_cast<const EntryPair<index_t>*>(parts.places);
    for_own_pairs(t, [&](int, index_t local, offset_t first, index_t groups, index_t) {
      const double d = symmetric ? double(t.gathered[local]) : 1.0;
      const auto entry = [&](index_t place, std::uint32_t column) {
        return static_cast<V>(double(value_at(place)) * (d * double(t.gathered[column])));
      };
      CNC_GPU_UNROLL_BY(4)
      for (index_t g = 0; g < groups; ++g) {
        const offset_t pair = first + g * part_lanes;
        const std::uint32_t columns = parts.columns[pair];
        scaled.entries[pair] = {entry(places[pair].first, columns & 0xffff),
                                entry(places[pair].second, columns >> 16)};
      }
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
