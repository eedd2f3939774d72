#pragma once

#include <assemble/entry_map.hpp>
#include <assemble/entry_stream.hpp>
#include <assemble/locks.hpp>
#include <assemble/share_out.hpp>

namespace cnc::detail {

/// Where the entries of all streams are: those of segment s have the positions from s times segment_size on.
template <class T>
struct EntryPlaces {
  std::vector<const T*> values;         ///< of segments
  std::vector<const index_t*> columns;  ///< as the caller gave them

  static std::size_t segment(std::uint64_t position) { return position >> segment_bits; }
  static std::size_t place(std::uint64_t position) { return position & (segment_size - 1); }
};

/// Calls body(bucket) for the buckets of a map, on the library's threads where there is enough in them.
template <class Position, class Body>
void for_each_bucket(const SumMap<Position>& map, const Body& body) {
  const offset_t sources = map.buckets.back().source - map.buckets.front().source;
  share_out<NoScratch>(static_cast<int>(map.buckets.size()) - 1, threads_for(sources),
                       [&](int bucket, NoScratch&) { body(static_cast<std::size_t>(bucket)); });
}

/// How many entries before it is added one is fetched.
inline constexpr offset_t fetched_ahead = 48;

/// The values of one bucket. A function of its own: see on_range in on_each.hpp.
template <class T, class Position>
[[gnu::noinline]] void sum_bucket(const SumMap<Position>& map, std::size_t bucket,
                                  const T* const* segments, T* values) {
  using Places = EntryPlaces<T>;
  const Position* const sources = map.sources;
  const auto place_of = [segments](Position source) {
    const Position position = source & ~SumMap<Position>::first;
    return segments[Places::segment(position)] + Places::place(position);
  };
  offset_t value = map.buckets[bucket].value - 1;
  T sum = 0;
  // -0 + x has the bits of x. Without branches, which no processor would foresee.
  const auto add = [&](Position source) {
    const bool first = (source & SumMap<Position>::first) != 0;
    sum = (first ? T(-0.0) : sum) + *place_of(source);
    value += first;
    values[value] = sum;
  };
  const offset_t begin = map.buckets[bucket].source, end = map.buckets[bucket + 1].source;
  const offset_t last_to_fetch = std::max(begin, end - fetched_ahead);
  for (offset_t k = begin; k < last_to_fetch; ++k) {
    __builtin_prefetch(place_of(sources[k + fetched_ahead]));
    add(sources[k]);
  }
  for (offset_t k = last_to_fetch; k < end; ++k) add(sources[k]);
}

/// The values of the matrix, each the sum of its entries in the order of calls.
template <class T, class Position>
void sum_matrix(const SumMap<Position>& map, const EntryPlaces<T>& entries, T* values) {
  for_each_bucket(
      map, [&](std::size_t bucket) { sum_bucket(map, bucket, entries.values.data(), values); });
}

/// The right-hand sides: what was added to them, less the columns of locked variables, in the order of calls.
/// Rows without entries are zero from the beginning.
template <class T, class Position>
void sum_right_hand_sides(const SumMap<Position>& map, const EntryPlaces<T>& entries,
                          const Unknowns<T>& unknowns, const Vector<index_t>& rows,
                          const Kokkos::View<T**, Kokkos::LayoutLeft, HostSpace>& b) {
  const std::size_t count = b.extent(1);
  const auto clear = [&](std::size_t row) {
    for (std::size_t k = 0; k < count; ++k) b(row, k) = 0;
  };
  const auto add = [&](std::size_t row, index_t column, T entry) {
    if (column < 0) {
      b(row, static_cast<std::size_t>(-1 - column)) += entry;
      return;
    }
    const index_t locked = -1 - unknowns.column[static_cast<std::size_t>(column)];
    const T* const values = unknowns.values.data() + static_cast<std::size_t>(locked) * count;
    for (std::size_t k = 0; k < count; ++k) b(row, k) -= entry * values[k];
  };
  for_each_bucket(map, [&](std::size_t bucket) {
    offset_t value = map.buckets[bucket].value - 1;
    std::size_t row = 0;
    for (offset_t k = map.buckets[bucket].source; k < map.buckets[bucket + 1].source; ++k) {
      if ((map.sources[k] & map.first) != 0) {
        row = static_cast<std::size_t>(rows(static_cast<std::size_t>(++value)));
        clear(row);
      }
      const Position position = map.sources[k] & ~map.first;
      const std::size_t segment = entries.segment(position), place = entries.place(position);
      add(row, entries.columns[segment][place], entries.values[segment][place]);
    }
  });
}

}  // namespace cnc::detail
