#pragma once

#include "distributed/channel.hpp"
#include "distributed/partition_plan.hpp"
#include "distributed/some_rows.hpp"

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

/// to[k] := width values of node nodes[k]
template <class U>
struct PackNodes {
  const index_t* nodes;
  const U* from;
  U* to;
  int width;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    to[unit] = from[offset_t(nodes[unit / width]) * width + unit % width];
  }
};

/// Nodes of other ranks that own rows have couplings with, by rank and number, and who has such couplings with own nodes. A node is b
/// consecutive rows. For set-ups: its exchanges are made anew each time, and go through the host. Collective.
template <class T, class Exec>
class NodeHalo {
 public:
  using Space = typename Exec::memory_space;

  NodeHalo(const Exec& exec, const Halo<T>& halo, int b) : exec_(exec), channel_(*halo.channel) {
    const std::vector<offset_t> columns = halo_columns(halo, halo.first_row);
    std::vector<std::vector<offset_t>> wanted(static_cast<std::size_t>(channel_.size()));
    std::size_t place = 0;
    for (const PartitionPlan::Neighbour& n : halo.plan.neighbours)
      for (index_t k = 0; k < n.received; ++k, ++place) {
        auto& of_rank = wanted[static_cast<std::size_t>(n.rank)];
        const offset_t node = columns[place] / b;  // a rank's places ascend
        if (of_rank.empty() || of_rank.back() != node) {
          of_rank.push_back(node);
          ++size_;
        }
        nodes_.push_back(size_ - 1);
        units_.push_back(static_cast<int>(columns[place] % b));
      }
    for (const auto& of_rank : channel_.exchange_lists(wanted)) {
      for (const offset_t node : of_rank)
        sent_.push_back(static_cast<index_t>(node - halo.first_row / b));
      ends_.push_back(sent_.size());
    }
    sent_there_ = copied_there<Space>("cnc::ranks", sent_);
  }

  index_t size() const { return size_; }  ///< nodes of others
  /// @{
  /// Which node a place of the scalar halo belongs to, and which of its unknowns it is.
  index_t node_of(index_t place) const { return nodes_[static_cast<std::size_t>(place)]; }
  int unit_of(index_t place) const { return units_[static_cast<std::size_t>(place)]; }
  /// @}

  /// What the owners have for these nodes: `width` values each. Collective.
  template <class U>
  std::vector<U> exchange(const U* own, int width) const {
    const std::size_t n = sent_.size() * static_cast<std::size_t>(width);
    const auto packed = uninitialized<U, Space>("cnc::packed", n);
    on_each(exec_, static_cast<offset_t>(n),
            PackNodes<U>{sent_there_.data(), own, packed.data(), width});
    exec_.fence();
    const auto here = copy_to<HostSpace>(packed);
    return of_owners(here.data(),
                     [&](std::size_t k) { return k * static_cast<std::size_t>(width); });
  }

  /// The rows that the owners have for these nodes, of a matrix of blocks whose columns are numbered by `number_of`.
  struct Rows {
    std::vector<index_t> lengths;
    std::vector<offset_t> columns;
    std::vector<T> values;
  };
  /// Collective.
  template <class Number>
  Rows exchange_rows(const SparseBlocks<T, Space>& own, const Number& number_of) const {
    const SomeRows<T> rows = rows_of(exec_, own, sent_);
    const auto block = static_cast<std::size_t>(own.block_values());
    std::vector<index_t> lengths(sent_.size());
    for (std::size_t k = 0; k < sent_.size(); ++k)
      lengths[k] = rows.offsets[k + 1] - rows.offsets[k];
    std::vector<offset_t> columns(rows.columns.size());
    std::transform(rows.columns.begin(), rows.columns.end(), columns.begin(), number_of);
    const auto begin = [&](std::size_t k) { return static_cast<std::size_t>(rows.offsets[k]); };
    return {of_owners(lengths.data(), [](std::size_t k) { return k; }),
            of_owners(columns.data(), begin),
            of_owners(rows.values.data(), [&](std::size_t k) { return begin(k) * block; })};
  }

 private:
  /// values[begin(k)], ...: what there is of sent node k. What the owners have, of all nodes in turn.
  template <class U, class Begin>
  std::vector<U> of_owners(const U* values, const Begin& begin) const {
    std::vector<std::vector<U>> lists(ends_.size());
    std::size_t k = 0;
    for (std::size_t r = 0; r < ends_.size(); k = ends_[r++])
      lists[r].assign(values + begin(k), values + begin(ends_[r]));
    std::vector<U> all;
    for (const auto& list : channel_.exchange_lists(lists)) append(all, list);
    return all;
  }

  Exec exec_;
  Channel& channel_;
  index_t size_ = 0;
  std::vector<index_t> nodes_;
  std::vector<int> units_;
  std::vector<index_t> sent_;      ///< own nodes, rank after rank
  std::vector<std::size_t> ends_;  ///< of each rank's
  Vector<index_t, Space> sent_there_;
};

}  // namespace cnc::detail
