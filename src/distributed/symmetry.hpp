#pragma once

#include "distributed/blocks_on_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cnc::detail {

/// Whether the entries in columns of others are the mirror images of theirs, to what rounding leaves. Collective; the ranks may differ.
template <class V>
bool is_symmetric_between_ranks(const Halo<V>& halo) {
  using Entry = typename Crossings<V>::Entry;
  constexpr double tolerance = sizeof(V) < sizeof(double) ? 1e-5 : 1e-10;
  const std::vector<offset_t> numbers = halo_columns(halo, halo.first_row);
  std::vector<int> owners;  // of places
  for (const PartitionPlan::Neighbour& n : halo.plan.neighbours)
    owners.insert(owners.end(), static_cast<std::size_t>(n.received), n.rank);
  Crossings<V> mirrored(halo.channel->size(), 1);
  std::vector<Entry> mine;
  double largest = 0;
  for (std::size_t i = 0; i < halo.rows.rows.size(); ++i)
    for (index_t k = halo.rows.offsets[i]; k < halo.rows.offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const auto place = static_cast<std::size_t>(halo.rows.columns[at]);
      const offset_t row = halo.first_row + halo.rows.rows[i], column = numbers[place];
      const V* const value = halo.rows.values.data() + at;
      mine.push_back({row, column, value});
      mirrored.add(static_cast<std::size_t>(owners[place]), column, row, value);
      largest = std::max(largest, std::abs(static_cast<double>(*value)));
    }
  const std::vector<Entry> theirs = mirrored.exchanged(*halo.channel);
  if (!std::is_sorted(mine.begin(), mine.end())) std::sort(mine.begin(), mine.end());
  const auto value_of = [](const Entry& entry) { return static_cast<double>(*entry.block); };
  const double most = tolerance * largest;
  auto other = theirs.begin();
  for (const Entry& entry : mine) {
    for (; other != theirs.end() && *other < entry; ++other)
      if (std::abs(value_of(*other)) > most) return false;
    const bool is_there = other != theirs.end() && !(entry < *other);
    if (std::abs(value_of(entry) - (is_there ? value_of(*other) : 0)) > most) return false;
    if (is_there) ++other;
  }
  return std::all_of(other, theirs.end(),
                     [&](const Entry& entry) { return std::abs(value_of(entry)) <= most; });
}

}  // namespace cnc::detail
