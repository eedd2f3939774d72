#pragma once

#include "convert/sparse_product.hpp"
#include "distributed/channel.hpp"
#include "distributed/partition_plan.hpp"

#include <algorithm>
#include <vector>

namespace cnc::detail {

/// The number in the whole matrix of each place of the halo. Collective.
template <class T>
std::vector<offset_t> halo_columns(const Halo<T>& halo, offset_t first_column) {
  std::vector<std::vector<offset_t>> sent(static_cast<std::size_t>(halo.channel->size()));
  const index_t* row = halo.plan.sent_rows.data();
  for (const PartitionPlan::Neighbour& n : halo.plan.neighbours)
    for (index_t k = 0; k < n.sent; ++k)
      sent[static_cast<std::size_t>(n.rank)].push_back(first_column + *row++);
  std::vector<offset_t> columns;
  for (const auto& of_rank : halo.channel->exchange_lists(sent))
    columns.insert(columns.end(), of_rank.begin(), of_rank.end());
  return columns;
}

/// Nodes of other ranks that own rows have couplings with, by rank and number, and who has such couplings with own nodes. A node is b
/// consecutive rows. For set-ups: its exchanges are made anew each time. Collective.
template <class T>
class NodeHalo {
 public:
  NodeHalo(const PartitionedMatrix<T>& A, int b) : channel_(*PartitionAccess::halo(A)->channel) {
    const Halo<T>& halo = *PartitionAccess::halo(A);
    const std::vector<offset_t> columns = halo_columns(halo, A.first_row());
    std::vector<std::vector<offset_t>> wanted(static_cast<std::size_t>(channel_.size()));
    std::size_t place = 0;
    for (const PartitionPlan::Neighbour& n : halo.plan.neighbours)
      for (index_t k = 0; k < n.received; ++k, ++place) {
        auto& of_rank = wanted[static_cast<std::size_t>(n.rank)];
        const offset_t node = columns[place] / b;  // a rank's places ascend
        if (of_rank.empty() || of_rank.back() != node) {
          of_rank.push_back(node);
          numbers_.push_back(node);
        }
        nodes_.push_back(static_cast<index_t>(numbers_.size()) - 1);
        units_.push_back(static_cast<int>(columns[place] % b));
      }
    sent_.resize(wanted.size());
    const auto given = channel_.exchange_lists(wanted);
    for (std::size_t r = 0; r < given.size(); ++r)
      for (const offset_t node : given[r])
        sent_[r].push_back(static_cast<index_t>(node - A.first_row() / b));
  }

  index_t size() const { return static_cast<index_t>(numbers_.size()); }  ///< nodes of others
  offset_t number(index_t node) const { return numbers_[static_cast<std::size_t>(node)]; }
  /// @{
  /// Which node a place of the scalar halo belongs to, and which of its unknowns it is.
  index_t node_of(index_t place) const { return nodes_[static_cast<std::size_t>(place)]; }
  int unit_of(index_t place) const { return units_[static_cast<std::size_t>(place)]; }
  /// @}

  /// What the owners have for these nodes: `width` values each. Collective.
  template <class U>
  std::vector<U> exchange(const U* own, int width) const {
    std::vector<std::vector<U>> lists(sent_.size());
    for (std::size_t r = 0; r < sent_.size(); ++r)
      for (const index_t node : sent_[r])
        lists[r].insert(lists[r].end(), own + offset_t(node) * width,
                        own + (offset_t(node) + 1) * width);
    return joined(channel_.exchange_lists(lists));
  }

  /// Rows of a matrix of blocks.
  struct Rows {
    std::vector<index_t> lengths;
    std::vector<offset_t> columns;
    std::vector<T> values;
  };
  /// The rows that the owners have for these nodes, whose columns are numbered by `number_of`. Collective.
  template <class Number>
  Rows exchange_rows(const BlocksOperand<T>& own, const Number& number_of) const {
    std::vector<std::vector<index_t>> lengths(sent_.size());
    std::vector<std::vector<offset_t>> columns(sent_.size());
    std::vector<std::vector<T>> values(sent_.size());
    const int block = own.height * own.width;
    for (std::size_t r = 0; r < sent_.size(); ++r)
      for (const index_t node : sent_[r]) {
        const index_t begin = own.row_offsets[node], end = own.row_offsets[node + 1];
        lengths[r].push_back(end - begin);
        for (index_t k = begin; k < end; ++k) columns[r].push_back(number_of(own.columns[k]));
        values[r].insert(values[r].end(), own.values + offset_t(begin) * block,
                         own.values + offset_t(end) * block);
      }
    return {joined(channel_.exchange_lists(lengths)), joined(channel_.exchange_lists(columns)),
            joined(channel_.exchange_lists(values))};
  }

 private:
  template <class U>
  static std::vector<U> joined(const std::vector<std::vector<U>>& lists) {
    std::vector<U> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  Channel& channel_;
  std::vector<offset_t> numbers_;
  std::vector<index_t> nodes_;
  std::vector<int> units_;
  std::vector<std::vector<index_t>> sent_;  ///< own nodes, by rank
};

}  // namespace cnc::detail
