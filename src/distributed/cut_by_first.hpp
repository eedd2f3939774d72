#pragma once

#include "distributed/cut.hpp"
#include "distributed/graph_partition.hpp"
#include "distributed/node_halo.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Who gets which rows of a matrix that lies on ranks already: the first one gets the pattern, and cuts.

namespace cnc::detail {

/// For each rank a list.
template <class U>
using RankLists = std::vector<std::vector<U>>;

template <class U>
RankLists<U> lists_for(const Channel& channel) {
  return RankLists<U>(static_cast<std::size_t>(channel.size()));
}

/// The own rows of a matrix, with the columns of the whole one.
template <class T>
class WholeRows {
 public:
  /// Collective.
  explicit WholeRows(const PartitionedMatrix<T>& A)
      : halo_(*PartitionAccess::halo(A)),
        block_(A.own_block()),
        others_(halo_columns(halo_, halo_.first_row)),
        with_others_(static_cast<std::size_t>(A.rows()), -1) {
    for (std::size_t k = 0; k < halo_.rows.rows.size(); ++k)
      with_others_[static_cast<std::size_t>(halo_.rows.rows[k])] = static_cast<index_t>(k);
  }
  const Halo<T>& halo() const { return halo_; }
  index_t rows() const { return block_.rows; }

  /// visit(column, value), columns ascending
  template <class Visit>
  void for_each_entry(index_t row, const Visit& visit) const {
    std::pair<index_t, index_t> others = of_others(row);
    const auto visit_others_below = [&](offset_t limit) {
      for (; others.first < others.second; ++others.first) {
        const auto at = static_cast<std::size_t>(others.first);
        const offset_t column = others_[static_cast<std::size_t>(halo_.rows.columns[at])];
        if (column >= limit) return;
        visit(column, halo_.rows.values[at]);
      }
    };
    visit_others_below(halo_.first_row);
    for (index_t k = block_.row_offsets(row); k < block_.row_offsets(row + 1); ++k)
      visit(halo_.first_row + block_.columns(k), block_.values(k));
    visit_others_below(halo_.all_rows);
  }
  index_t length(index_t row) const {
    const auto [begin, end] = of_others(row);
    return block_.row_offsets(row + 1) - block_.row_offsets(row) + end - begin;
  }

 private:
  std::pair<index_t, index_t> of_others(index_t row) const {
    const index_t at = with_others_[static_cast<std::size_t>(row)];
    if (at < 0) return {0, 0};
    return {halo_.rows.offsets[static_cast<std::size_t>(at)],
            halo_.rows.offsets[static_cast<std::size_t>(at) + 1]};
  }
  const Halo<T>& halo_;
  const CsrMatrix<T> block_;
  std::vector<offset_t> others_;      ///< numbers of the columns in the halo
  std::vector<index_t> with_others_;  ///< by own row its place in halo_.rows, or -1
};

/// The rows of a rank, and their entries.
struct RowsOfOneRank {
  offset_t first, rows, entries;
};

/// Rows of all ranks in the order of their numbers, as the first one gets them.
struct WholePattern {
  std::vector<offset_t> offsets = {0};  ///< of rows
  std::vector<index_t> columns;         ///< where these are needed

  WholePattern(const std::vector<RowsOfOneRank>& shares, RankLists<index_t> lengths,
               RankLists<index_t> columns_of)
      : owners_(shares.size()) {
    std::iota(owners_.begin(), owners_.end(), std::size_t(0));
    std::stable_sort(owners_.begin(), owners_.end(), [&](std::size_t a, std::size_t b) {
      return shares[a].first < shares[b].first;
    });
    for (const std::size_t r : owners_) {
      for (const index_t length : lengths[r]) offsets.push_back(offsets.back() + length);
      append(columns, std::exchange(columns_of[r], {}));
    }
  }
  index_t rows() const { return static_cast<index_t>(offsets.size() - 1); }
  /// What there is of each row, to the ranks that have the rows.
  RankLists<index_t> dealt(const std::vector<index_t>& of_rows,
                           const std::vector<RowsOfOneRank>& shares) const {
    RankLists<index_t> lists(owners_.size());
    for (const std::size_t r : owners_)
      if (shares[r].rows > 0)  // others may have any first row
        lists[r].assign(of_rows.begin() + shares[r].first,
                        of_rows.begin() + shares[r].first + shares[r].rows);
    return lists;
  }

 private:
  std::vector<std::size_t> owners_;  ///< ranks in the order of their rows
};

/// A rank for each row.
struct NewRanks {
  Partition kind = Partition::segments;
  std::vector<index_t> rank_of_row;
};

/// Of a whole matrix.
/// Errors   those of partition_graph.
inline NewRanks cut_whole(const WholePattern& whole, const PartitionOptions& options, int ranks) {
  if (options.kind == Partition::graph) {
    const std::vector<index_t> offsets(whole.offsets.begin(), whole.offsets.end());
    std::vector<int> parts = partition_graph(offsets.data(), whole.columns.data(), whole.rows(),
                                             options.block_size, ranks);
    if (!parts.empty()) return {Partition::graph, std::move(parts)};
  }
  NewRanks cut;
  const auto bounds = even_segments(whole.rows(), options.block_size, ranks, [&](index_t row) {
    return whole.offsets[static_cast<std::size_t>(row)];
  });
  for (std::size_t r = 0; r + 1 < bounds.size(); ++r)
    cut.rank_of_row.resize(static_cast<std::size_t>(bounds[r + 1]), static_cast<index_t>(r));
  return cut;
}

/// Of the own rows, which the first rank cuts with those of the others. Collective.
template <class T>
NewRanks cut_by_first(const WholeRows<T>& rows, const PartitionOptions& options) {
  Channel& channel = *rows.halo().channel;
  const bool by_graph = options.kind == Partition::graph;
  const RowsOfOneRank mine{rows.halo().first_row, rows.rows(), rows.halo().facts.entries};
  const RowsOfOneRank* const all = channel.gather_all(&mine, 1);
  const std::vector<RowsOfOneRank> shares(all, all + channel.size());
  offset_t all_rows = 0, all_entries = 0;
  for (const RowsOfOneRank& share : shares) {
    all_rows += share.rows;
    all_entries += share.entries;
  }
  constexpr offset_t most = 2147483647;
  require(all_rows <= most && (!by_graph || all_entries <= most), [&] {
    return "PartitionedMatrix: rows are cut anew up to 2^31 - 1 of them, and by the graph up to "
           "as many entries; the matrix has " +
           std::to_string(all_rows) + " rows and " + std::to_string(all_entries) + " entries";
  });
  auto lengths = lists_for<index_t>(channel), columns = lists_for<index_t>(channel);
  channel.on_each([&] {
    if (by_graph) require_metis();
    for (index_t i = 0; i < rows.rows(); ++i) {
      lengths[0].push_back(rows.length(i));
      if (by_graph)
        rows.for_each_entry(
            i, [&](offset_t column, T) { columns[0].push_back(static_cast<index_t>(column)); });
    }
  });
  lengths = channel.exchange_lists(lengths);
  if (by_graph) columns = channel.exchange_lists(columns);
  auto parts = lists_for<index_t>(channel);
  NewRanks cut;
  channel.on_each([&] {
    if (channel.rank() != 0) return;
    const WholePattern whole(shares, std::move(lengths), std::move(columns));
    cut = cut_whole(whole, options, channel.size());
    parts = whole.dealt(cut.rank_of_row, shares);
  });
  parts = channel.exchange_lists(parts);
  cut.rank_of_row = std::move(parts[0]);
  cut.kind = *channel.broadcast(&cut.kind, 1);
  return cut;
}

/// As the caller says.
/// Errors   InvalidArgument (not a rank for each row).
template <class T>
NewRanks given_ranks(const Halo<T>& halo, std::span<const int> rank_of_row) {
  const int ranks = halo.channel->size();
  require(rank_of_row.size() == static_cast<std::size_t>(halo.facts.rows), [&] {
    return "PartitionedMatrix: rank_of_row has " + std::to_string(rank_of_row.size()) +
           " entries, the rank " + std::to_string(halo.facts.rows) + " rows";
  });
  for (index_t i = 0; i < halo.facts.rows; ++i) {
    const int rank = rank_of_row[static_cast<std::size_t>(i)];
    require(rank >= 0 && rank < ranks, [&] {
      return "PartitionedMatrix: row " + std::to_string(halo.number_of(i)) + " is for rank " +
             std::to_string(rank) + "; there are " + std::to_string(ranks) + " ranks";
    });
  }
  return {Partition::given, {rank_of_row.begin(), rank_of_row.end()}};
}

}  // namespace cnc::detail
