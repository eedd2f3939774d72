#pragma once

#include <assemble/entry_map.hpp>
#include <assemble/entry_stream.hpp>
#include <assemble/locks.hpp>
#include <assemble/share_out.hpp>

namespace cnc::detail {

/// Where the entries of all streams are: those of segment s have the positions from s times segment_size on.
template <class T>
struct EntryValues {
  std::vector<const T*> values;         ///< of segments
  std::vector<const index_t*> columns;  ///< as the caller gave them

  static std::size_t segment(std::uint64_t position) { return position >> segment_bits; }
  static std::size_t place(std::uint64_t position) { return position & (segment_size - 1); }
};

/// Threads for buckets: one where there is little in them.
template <class Position>
int threads_for_map(const SumMap<Position>& map) {
  return threads_for(map.buckets.back().source - map.buckets.front().source);
}

/// The values of the matrix, each the sum of its entries in the order of calls.
template <class T, class Position>
void sum_matrix(const SumMap<Position>& map, const EntryValues<T>& entries, T* values) {
  share_out<NoScratch>(
      static_cast<int>(map.buckets.size()) - 1, threads_for_map(map), [&](int bucket, NoScratch&) {
        const auto b = static_cast<std::size_t>(bucket);
        const T* const* const segments = entries.values.data();
        const Position* const end = map.sources + map.buckets[b + 1].source;
        offset_t value = map.buckets[b].value - 1;
        T sum = 0;
        for (const Position* source = map.sources + map.buckets[b].source; source != end;
             ++source) {
          const bool first = (*source & map.first) != 0;
          const Position position = *source & ~map.first;
          const T entry = segments[entries.segment(position)][entries.place(position)];
          // -0 + x has the bits of x. Without branches, which no processor would foresee.
          sum = (first ? T(-0.0) : sum) + entry;
          value += first;
          values[value] = sum;
        }
      });
}

/// The right-hand sides: what was added to them, less the columns of locked variables, in the order of calls.
/// Rows without entries are zero from the beginning.
template <class T, class Position>
void sum_right_hand_sides(const SumMap<Position>& map, const EntryValues<T>& entries,
                          const Unknowns<T>& unknowns, const Vector<index_t>& rows,
                          const Kokkos::View<T**, Kokkos::LayoutLeft, HostSpace>& b) {
  const std::size_t count = b.extent(1);
  share_out<NoScratch>(
      static_cast<int>(map.buckets.size()) - 1, threads_for_map(map), [&](int bucket, NoScratch&) {
        const auto at = static_cast<std::size_t>(bucket);
        const Position* const end = map.sources + map.buckets[at + 1].source;
        offset_t value = map.buckets[at].value - 1;
        std::size_t row = 0;
        for (const Position* source = map.sources + map.buckets[at].source; source != end;
             ++source) {
          if ((*source & map.first) != 0) {
            row = static_cast<std::size_t>(rows(static_cast<std::size_t>(++value)));
            for (std::size_t k = 0; k < count; ++k) b(row, k) = 0;
          }
          const Position position = *source & ~map.first;
          const std::size_t segment = entries.segment(position), place = entries.place(position);
          const T entry = entries.values[segment][place];
          const index_t column = entries.columns[segment][place];
          if (column < 0) {
            b(row, static_cast<std::size_t>(-1 - column)) += entry;
            continue;
          }
          const auto locked =
              static_cast<std::size_t>(-1 - unknowns.column[static_cast<std::size_t>(column)]);
          for (std::size_t k = 0; k < count; ++k)
            b(row, k) -= entry * unknowns.values[locked * count + k];
        }
      });
}

}  // namespace cnc::detail
