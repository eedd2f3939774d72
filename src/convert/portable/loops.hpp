#pragma once

#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"

#include <Kokkos_Core.hpp>

#include <limits>

// The few kinds of loops that set-up consists of, on any execution space of Kokkos. Labels have at most
// 15 characters: Kokkos takes them as std::string, and a longer one would allocate.

namespace cnc::portable {

/// Neighbouring threads that share a CSR row, so that they read neighbouring entries. 1 on a host.
template <class Exec>
inline constexpr int row_lanes = detail::is_host_space<typename Exec::memory_space> ? 1 : 8;

/// One thread for each i in [begin, end), on the instance on which this thread sets up.
template <class Exec>
auto range(offset_t begin, offset_t end) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>>(detail::instance<Exec>(), begin,
                                                                end);
}

/// What `least` returns when no i reported anything.
inline constexpr offset_t nothing = std::numeric_limits<offset_t>::max();

/// The least value that body(i, value) leaves in `value` for an i in [0, n), else `nothing`. Waits.
template <class Exec, class Body>
offset_t least(const char* label, offset_t n, const Body& body) {
  offset_t result = nothing;
  if (n > 0) Kokkos::parallel_reduce(label, range<Exec>(0, n), body, Kokkos::Min<offset_t>(result));
  return result;
}

/// Two numbers, below 2^32 and below 2^31, as one that `least` can compare: by the first, then by the
/// second.
KOKKOS_INLINE_FUNCTION offset_t ranked(offset_t first, offset_t second) {
  return (first << 31) | second;
}
/// The two numbers.
struct Ranked {
  offset_t first;
  index_t second;
};
inline Ranked unranked(offset_t key) { return {key >> 31, static_cast<index_t>(key & 0x7fffffff)}; }

/// value := min(value, candidate), the step of every body of `least`.
KOKKOS_INLINE_FUNCTION void lower(offset_t& value, offset_t candidate) {
  if (candidate < value) value = candidate;
}

/// Turns counts in offsets[1..n] into offsets and returns their sum. Refuses a sum that the offset type
/// cannot hold, naming `what` is counted. Waits.
template <class Exec, class Offset>
offset_t offsets_from_counts(Offset* offsets, offset_t n, const char* what) {
  offset_t total = 0;
  Kokkos::parallel_scan(
      "cnc::offsets", range<Exec>(0, n + 1),
      KOKKOS_LAMBDA(const offset_t i, offset_t& sum, const bool last) {
        if (i > 0) sum += offsets[i];
        if (last) offsets[i] = static_cast<Offset>(sum);
      },
      total);
  detail::require_offset<Offset>(total, what);
  return total;
}

/// One entry of a view, brought to the host. Waits.
template <class View>
auto fetch(const View& view, offset_t i) {
  typename View::non_const_value_type entry;
  Kokkos::deep_copy(entry, Kokkos::subview(view, static_cast<std::size_t>(i)));
  return entry;
}

}  // namespace cnc::portable
