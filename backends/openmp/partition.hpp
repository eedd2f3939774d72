#pragma once

#include <cnc/contract/queue.hpp>
#include <team.hpp>

namespace cnc::openmp {

using detail::run_team;
using detail::Shares;
using detail::Team;

/// Threads that `work` scalars keep busy.
inline int useful_threads(const Queue& queue, double work) {
  const double threads = work / queue.least_work;
  if (threads >= queue.threads) return queue.threads;
  return threads < 2 ? 1 : static_cast<int>(threads);
}

/// A range of consecutive rows, block rows, slices or groups.
struct Range {
  index_t begin = 0;
  index_t end = 0;
};

/// Rows per partial sum when blocks of `block_size` rows must stay together.
constexpr index_t group_rows(int block_size) { return reduction_block / block_size * block_size; }

/// Equal shares of [0, n) for `parts` threads.
constexpr Range equal_share(index_t n, int part, int parts) {
  return {static_cast<index_t>(static_cast<offset_t>(n) * part / parts),
          static_cast<index_t>(static_cast<offset_t>(n) * (part + 1) / parts)};
}

/// Smallest g in [0, groups] with work_before(g) >= target. work_before ascends from 0.
template <class WorkBefore>
index_t find_group(index_t groups, double target, const WorkBefore& work_before) {
  index_t low = 0, high = groups;
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (work_before(middle) < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Consecutive shares of `groups` groups with about equal work: one stored scalar costs as much as
/// any other, so the matrix's own offsets say where to cut.
template <class WorkBefore>
Range balanced_share(index_t groups, int part, int parts, const WorkBefore& work_before) {
  const double total = work_before(groups);
  const auto cut = [&](int k) {
    return k == parts ? groups : find_group(groups, total * k / parts, work_before);
  };
  return {cut(part), cut(part + 1)};
}

}  // namespace cnc::openmp
