#pragma once

#include "on_each.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

// The sort of set-up, on the host's threads and on a device.

namespace cnc::detail {

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
struct SortRun {
  const index_t* lengths;
  offset_t n, window, run_length;
  index_t* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const Run run = run_at(i, window, run_length, n);
    const index_t length = lengths[i];
    offset_t position = run.begin;
    for (offset_t j = run.begin; j < i; ++j) position += lengths[j] >= length;
    for (offset_t j = i + 1; j < run.end; ++j) position += lengths[j] > length;
    to[position] = static_cast<index_t>(i);
  }
};

/// Merges pairs of neighbouring sorted runs: every block row counts those of the other run that come
/// before it, the left run winning ties.
struct MergeRuns {
  const index_t* lengths;
  offset_t n, window, run_length;
  const index_t* from;
  index_t* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
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
  }
};

/// As many threads as block rows: sorted runs are merged until they are windows. Waits where that takes scratch.
template <class Exec>
void sort_by_merging(const Exec& exec, const index_t* lengths, offset_t n, offset_t window,
                     index_t* permutation) {
  const offset_t shortest = std::min<offset_t>(window, counted_run);
  int merges = 0;
  for (offset_t length = shortest; length < window; length *= 2) ++merges;
  const auto scratch = uninitialized<index_t, typename Exec::memory_space>(
      "cnc::sort scratch", static_cast<std::size_t>(merges > 0 ? n : 0));
  // Runs go to and fro between the two, so that the last merge ends in the permutation.
  index_t* to = merges % 2 == 0 ? permutation : scratch.data();
  index_t* other = merges % 2 == 0 ? scratch.data() : permutation;
  on_each(exec, n, SortRun{lengths, n, window, shortest, to});
  for (offset_t length = shortest; length < window; length *= 2) {
    on_each(exec, n, MergeRuns{lengths, n, window, length, to, other});
    std::swap(to, other);
  }
  if (merges > 0) exec.fence();  // before the scratch goes
}

/// One thread to a window.
inline void sort_by_windows(const index_t* lengths, offset_t n, offset_t window,
                            index_t* permutation) {
  const auto sort_window = [=](offset_t i) {
    index_t* const begin = permutation + i * window;
    index_t* const end = permutation + std::min((i + 1) * window, n);
    const auto longer = [=](index_t j, index_t k) { return lengths[j] > lengths[k]; };
    std::iota(begin, end, static_cast<index_t>(i * window));
    // Windows of equal rows are the rule on structured problems.
    if (!std::is_sorted(begin, end, longer)) std::stable_sort(begin, end, longer);
  };
  parallel_for((n + window - 1) / window, sort_window, threads_for(n));
}

struct SetPadding {
  index_t* permutation;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { permutation[i] = -1; }
};

/// Sorted position -> block row: descending length within windows, equal lengths in their old order.
/// Positions from n on, the padding lanes, get -1.
template <class Exec>
void sort_rows(const Exec& exec, const index_t* lengths, offset_t n, offset_t window,
               index_t* permutation, offset_t positions) {
  window = std::max<offset_t>(1, std::min(window, n));
  if constexpr (on_threads<Exec>)
    sort_by_windows(lengths, n, window, permutation);
  else
    sort_by_merging(exec, lengths, n, window, permutation);
  on_each(exec, positions - n, SetPadding{permutation + n});
}

}  // namespace cnc::detail
