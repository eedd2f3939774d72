#pragma once

#include <cnc/contract/types.hpp>

#include <algorithm>
#include <vector>

namespace cnc::detail {

/// Where each of so many parts of `groups` groups begins and the last one ends: where the entries before a group,
/// entries_before(group), come nearest to an equal share. They do not descend, and few are asked for.
template <class EntriesBefore>
std::vector<index_t> even_cuts(index_t groups, int parts, const EntriesBefore& entries_before) {
  std::vector<index_t> cuts{0};
  index_t group = 0;
  for (int p = 1; p <= parts; ++p) {
    const double wanted = double(entries_before(groups)) * p / parts;
    const auto before = [&](index_t g) { return double(entries_before(g)); };
    if (p == parts) group = groups;
    // The last group with no more before it.
    for (index_t end = groups; group < end;) {
      const index_t middle = group + (end - group) / 2;
      if (before(middle + 1) <= wanted)
        group = middle + 1;
      else
        end = middle;
    }
    if (group < groups && before(group + 1) - wanted < wanted - before(group)) ++group;
    cuts.push_back(group);
  }
  return cuts;
}

/// The first row of each of so many segments, and the end of the last: cuts between groups of `block_size` rows, as even as
/// entries_before(row) says.
template <class EntriesBefore>
std::vector<index_t> even_segments(index_t rows, int block_size, int parts,
                                   const EntriesBefore& entries_before) {
  const auto row_of = [&](index_t group) {
    return static_cast<index_t>(std::min(offset_t(group) * block_size, offset_t(rows)));
  };
  std::vector<index_t> bounds = even_cuts(ceil_div(rows, block_size), parts, [&](index_t group) {
    return entries_before(row_of(group));
  });
  for (index_t& bound : bounds) bound = row_of(bound);
  return bounds;
}

}  // namespace cnc::detail
