#pragma once

#include "copied_there.hpp"
#include "distributed/blocks_on_ranks.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

// Levels of multigrid whose rows lie on fewer ranks than those of the finer one.

namespace cnc::detail {

/// The nodes of a rank, by the first one of each rank and how many there are.
inline OwnRange range_of_rank(const std::vector<offset_t>& firsts, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  return {firsts[r], static_cast<index_t>(firsts[r + 1] - firsts[r])};
}

/// The same where ranks with nodes have fewer than `least` of them in the mean: consecutive ones give theirs to the first of their
/// group. Groups are about as large as each other as ranks allow, and so many that the mean is no longer less, but half as many as
/// ranks at most: there and back are exchanges, too.
inline std::vector<offset_t> on_fewer_ranks(const std::vector<offset_t>& firsts, offset_t least) {
  const std::size_t ranks = firsts.size() - 1;
  const offset_t all = firsts.back();
  const auto has_nodes = [&](std::size_t r) { return firsts[r] < firsts[r + 1]; };
  offset_t with_nodes = 0;
  for (std::size_t r = 0; r < ranks; ++r) with_nodes += has_nodes(r);
  if (with_nodes < 2 || all / least >= with_nodes) return firsts;
  const offset_t groups = std::clamp<offset_t>(all / least, 1, (with_nodes + 1) / 2);
  std::vector<std::size_t> takers;
  offset_t last_group = -1;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (!has_nodes(r)) continue;
    const offset_t group = (firsts[r] + firsts[r + 1]) * groups / (2 * all);  // of the middle one
    if (group > last_group) takers.push_back(r);
    last_group = group;
  }
  std::vector<offset_t> fewer(ranks + 1, all);
  offset_t end = all;
  for (std::size_t r = ranks; r-- > 0; fewer[r] = end)
    if (!takers.empty() && takers.back() == r) {
      end = firsts[r];
      takers.pop_back();
    }
  return fewer;
}

/// The identity, from a vector of which a rank has the entries `columns` to the same of which it has the entries `rows`. Collective.
template <class V, class Space>
BlocksOnRanks<V, Space> identity_on_ranks(const std::shared_ptr<Channel>& channel,
                                          const OwnRange& rows, const OwnRange& columns) {
  std::vector<index_t> offsets = {0}, own;
  ScalarRows<V> others;
  const V one = 1;
  for (index_t i = 0; i < rows.count; ++i) {
    const offset_t entry = rows.first + i, place = entry - columns.first;
    if (place >= 0 && place < columns.count)
      own.push_back(static_cast<index_t>(place));
    else
      others.add(
          i, 1, 1, 1, [&](index_t) { return entry; }, [&](index_t) { return &one; });
    offsets.push_back(static_cast<index_t>(own.size()));
  }
  BlocksOnRanks<V, Space> identity;
  identity.own = {rows.count,
                  columns.count,
                  1,
                  1,
                  copied_there<Space>("cnc::ranks", offsets),
                  copied_there<Space>("cnc::ranks", own),
                  copied_there<Space>("cnc::ranks", std::vector<V>(own.size(), one))};
  identity.halo = halo_of(channel, rows, columns, identity.own.entries(), std::move(others.rows),
                          others.columns);
  return identity;
}

}  // namespace cnc::detail
