#pragma once

#include "distributed/partition_plan.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace cnc::detail {

/// What a rank has of the transpose besides the block: the entries that neighbours have in its columns, which they send here. Of
/// the facts only the number of entries is there. Collective.
template <class T>
std::shared_ptr<Halo<T>> transposed(const Halo<T>& A) {
  Channel& channel = *A.channel;
  const auto& neighbours = A.plan.neighbours;
  // Each entry goes to the owner of its column as a pair: the column's place among the entries of x that he sends here, and the
  // row's among those that he will be sent.
  struct Place {
    std::size_t neighbour;
    index_t at;
  };
  std::vector<Place> places;
  for (std::size_t n = 0; n < neighbours.size(); ++n)
    for (index_t at = 0; at < neighbours[n].received; ++at) places.push_back({n, at});
  const auto ranks = static_cast<std::size_t>(channel.size());
  std::vector<std::vector<index_t>> sent(neighbours.size()), entries(ranks);
  std::vector<std::vector<T>> values(ranks);
  for (std::size_t i = 0; i < A.rows.rows.size(); ++i)
    for (index_t k = A.rows.offsets[i]; k < A.rows.offsets[i + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      const Place column = places[static_cast<std::size_t>(A.rows.columns[entry])];
      std::vector<index_t>& rows = sent[column.neighbour];
      if (rows.empty() || rows.back() != A.rows.rows[i]) rows.push_back(A.rows.rows[i]);
      const auto rank = static_cast<std::size_t>(neighbours[column.neighbour].rank);
      entries[rank].insert(entries[rank].end(), {column.at, static_cast<index_t>(rows.size()) - 1});
      values[rank].push_back(A.rows.values[entry]);
    }
  entries = channel.exchange_lists(entries);
  values = channel.exchange_lists(values);

  auto result = std::make_shared<Halo<T>>();
  result->channel = A.channel;
  PartitionPlan& plan = result->plan;
  struct Entry {
    index_t row, column;
    T value;
  };
  std::vector<Entry> all;
  const index_t* own = A.plan.sent_rows.data();
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    const auto rank = static_cast<std::size_t>(neighbours[n].rank);
    const std::vector<index_t>& his = entries[rank];
    index_t received = 0;
    for (std::size_t k = 0; k < his.size(); k += 2) {
      all.push_back({own[his[k]], plan.halo + his[k + 1], values[rank][k / 2]});
      received = std::max(received, his[k + 1] + 1);
    }
    plan.neighbours.push_back({neighbours[n].rank, static_cast<index_t>(sent[n].size()), received});
    plan.sent_rows.insert(plan.sent_rows.end(), sent[n].begin(), sent[n].end());
    plan.halo += received;
    own += neighbours[n].sent;
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  SparseRows<T>& rows = result->rows;
  for (const Entry& entry : all) {
    if (rows.rows.empty() || rows.rows.back() != entry.row) {
      rows.rows.push_back(entry.row);
      rows.offsets.push_back(static_cast<index_t>(rows.columns.size()));
    }
    rows.columns.push_back(entry.column);
    rows.values.push_back(entry.value);
  }
  rows.offsets.push_back(static_cast<index_t>(rows.columns.size()));
  result->facts.entries =
      A.facts.entries - A.facts.halo_entries + static_cast<offset_t>(all.size());
  return result;
}

}  // namespace cnc::detail
