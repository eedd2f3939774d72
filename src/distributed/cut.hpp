#pragma once

#include <cnc/contract/types.hpp>

#include <vector>

namespace cnc::detail {

/// Where each of so many parts of `groups` groups begins and the last one ends: where the entries before a group,
/// entries_before(group), come nearest to an equal share.
template <class EntriesBefore>
std::vector<index_t> even_cuts(index_t groups, int parts, const EntriesBefore& entries_before) {
  std::vector<index_t> cuts{0};
  index_t group = 0;
  for (int p = 1; p <= parts; ++p) {
    const double wanted = double(entries_before(groups)) * p / parts;
    const auto before = [&](index_t g) { return double(entries_before(g)); };
    if (p == parts) group = groups;
    while (group < groups && before(group + 1) <= wanted) ++group;
    if (group < groups && before(group + 1) - wanted < wanted - before(group)) ++group;
    cuts.push_back(group);
  }
  return cuts;
}

}  // namespace cnc::detail
