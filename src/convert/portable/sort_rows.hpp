#pragma once

#include "convert/portable/loops.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace cnc::portable {

/// Block rows that are sorted by comparing each with all others of its run: one pass, no scratch.
inline constexpr index_t counted_run = 256;

/// A place in a sequence of windows that are cut into runs.
struct Run {
  offset_t begin, end;
};
KOKKOS_INLINE_FUNCTION Run run_at(offset_t i, offset_t window, offset_t length, offset_t n) {
  const offset_t window_begin = i / window * window;
  const offset_t window_end = window_begin + window < n ? window_begin + window : n;
  const offset_t begin = window_begin + (i - window_begin) / length * length;
  return {begin, begin + length < window_end ? begin + length : window_end};
}

/// Sorts every run by itself: to[position] := block row.
template <class Exec>
void sort_runs(const index_t* lengths, offset_t n, offset_t window, offset_t run_length,
               index_t* to) {
  Kokkos::parallel_for(
      "cnc::sort_runs", range<Exec>(0, n), KOKKOS_LAMBDA(const offset_t i) {
        const Run run = run_at(i, window, run_length, n);
        const index_t length = lengths[i];
        offset_t position = run.begin;
        for (offset_t j = run.begin; j < i; ++j) position += lengths[j] >= length;
        for (offset_t j = i + 1; j < run.end; ++j) position += lengths[j] > length;
        to[position] = static_cast<index_t>(i);
      });
}

/// Merges pairs of neighbouring sorted runs: every block row counts those of the other run that come
/// before it, the left run winning ties.
template <class Exec>
void merge_runs(const index_t* lengths, offset_t n, offset_t window, offset_t run_length,
                const index_t* from, index_t* to) {
  Kokkos::parallel_for(
      "cnc::merge_runs", range<Exec>(0, n), KOKKOS_LAMBDA(const offset_t i) {
        const Run own = run_at(i, window, run_length, n);
        const Run pair = run_at(i, window, 2 * run_length, n);
        const bool is_left = own.begin == pair.begin;
        const index_t length = lengths[from[i]];
        // The first place of the other run whose block row does not come before this one.
        offset_t low = is_left ? own.end : pair.begin;
        offset_t high = is_left ? pair.end : own.begin;
        const offset_t other = low;
        while (low < high) {
          const offset_t middle = (low + high) / 2;
          const index_t its = lengths[from[middle]];
          if (its > length || (its == length && !is_left))
            low = middle + 1;
          else
            high = middle;
        }
        to[pair.begin + (i - own.begin) + (low - other)] = from[i];
      });
}

/// Sorted position -> block row: descending length within windows, equal lengths in their old order.
/// Positions from n on, the padding lanes, get -1.
template <class Exec>
void sort_rows(const index_t* lengths, offset_t n, offset_t window, index_t* permutation,
               offset_t positions) {
  using Space = typename Exec::memory_space;
  window = std::max<offset_t>(1, std::min(window, n));
  offset_t run_length = std::min<offset_t>(window, counted_run);
  sort_runs<Exec>(lengths, n, window, run_length, permutation);
  if (run_length < window) {
    const auto scratch =
        uninitialized<index_t, Space>("cnc::sort scratch", static_cast<std::size_t>(n));
    index_t* from = permutation;
    index_t* to = scratch.data();
    for (; run_length < window; run_length *= 2) {
      merge_runs<Exec>(lengths, n, window, run_length, from, to);
      std::swap(from, to);
    }
    if (from != permutation) {
      Kokkos::parallel_for(
          "cnc::copy", range<Exec>(0, n),
          KOKKOS_LAMBDA(const offset_t i) { permutation[i] = from[i]; });
    }
    Exec().fence();  // before the scratch goes
  }
  Kokkos::parallel_for(
      "cnc::padding", range<Exec>(n, positions),
      KOKKOS_LAMBDA(const offset_t i) { permutation[i] = -1; });
}

}  // namespace cnc::portable
