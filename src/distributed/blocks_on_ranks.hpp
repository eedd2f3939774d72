#pragma once

#include "distributed/ascending_numbers.hpp"
#include "distributed/node_halo.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

// Matrices of blocks whose rows lie on several ranks, and the parts of them that ranks exchange.

namespace cnc::detail {

/// A matrix of blocks on several ranks: the block of the own rows and columns, and the entries in columns of others.
template <class V, class Space>
struct BlocksOnRanks {
  SparseBlocks<V, Space> own;
  std::shared_ptr<Halo<V>> halo;

  index_t rows() const { return own.rows * own.height; }
  offset_t entries() const {
    return own.entries() + static_cast<offset_t>(halo->rows.values.size());
  }
};

/// Numbers for the columns of a part of a matrix: the own ones first, then those of others as they ascend.
class ColumnNumbers {
 public:
  /// `others`: in any order, and repeated.
  ColumnNumbers(offset_t first, index_t own, std::vector<offset_t> others)
      : first_(first), own_(own), others_(std::move(others)) {}
  bool is_own(offset_t column) const { return column >= first_ && column < first_ + own_; }
  index_t size() const { return own_ + static_cast<index_t>(others_.size()); }
  const std::vector<offset_t>& others() const { return others_.list(); }
  index_t here(offset_t column) const {
    return is_own(column) ? static_cast<index_t>(column - first_) : own_ + others_.place_of(column);
  }
  offset_t everywhere(index_t number) const {
    return number < own_ ? first_ + number : others_[static_cast<std::size_t>(number - own_)];
  }

 private:
  offset_t first_;
  index_t own_;
  AscendingNumbers others_;
};

/// What rows have in columns of other ranks, as blocks behind those of the own block, `own_columns` wide.
template <class V, class Exec>
SomeRows<V> blocks_of_others(const SparseRows<V>& halo, const NodeHalo<V, Exec>& nodes,
                             index_t own_columns, int b) {
  SomeRows<V> blocks;
  const auto block = static_cast<std::size_t>(b * b);
  const auto entries_of = [&](std::size_t begin, std::size_t end, const auto& body) {
    for (std::size_t row = begin; row < end; ++row)
      for (index_t k = halo.offsets[row]; k < halo.offsets[row + 1]; ++k)
        body(row, static_cast<std::size_t>(k));
  };
  std::vector<index_t> found;
  std::size_t begin = 0, end = 0;
  for (; begin < halo.rows.size(); begin = end) {
    const index_t i = halo.rows[begin] / b;
    while (end < halo.rows.size() && halo.rows[end] / b == i) ++end;
    found.clear();
    entries_of(begin, end, [&](std::size_t, std::size_t k) {
      found.push_back(nodes.node_of(halo.columns[k]));
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    const std::size_t first = blocks.columns.size();
    for (const index_t node : found) blocks.columns.push_back(own_columns + node);
    require_offset<index_t>(static_cast<offset_t>(blocks.columns.size()), "blocks of a rank");
    blocks.rows.push_back(i);
    blocks.offsets.push_back(static_cast<index_t>(blocks.columns.size()));
    blocks.values.resize(blocks.columns.size() * block, V(0));
    entries_of(begin, end, [&](std::size_t row, std::size_t k) {
      const index_t place = halo.columns[k];
      const auto to = static_cast<std::size_t>(
          std::lower_bound(found.begin(), found.end(), nodes.node_of(place)) - found.begin());
      blocks.values[(first + to) * block +
                    static_cast<std::size_t>(halo.rows[row] % b * b + nodes.unit_of(place))] =
          halo.values[k];
    });
  }
  return blocks;
}

/// Scalar entries of rows of blocks, with the numbers of their columns.
template <class V>
struct ScalarRows {
  SparseRows<V> rows{{}, {0}, {}, {}};
  std::vector<offset_t> columns;

  /// The scalar rows of block row i: `blocks` of them, by their numbers and their places.
  template <class Number, class Block>
  void add(index_t i, index_t blocks, int height, int width, const Number& number,
           const Block& block) {
    for (int r = 0; r < height && blocks > 0; ++r) {
      for (index_t k = 0; k < blocks; ++k)
        for (int c = 0; c < width; ++c) {
          columns.push_back(number(k) * width + c);
          rows.values.push_back(block(k)[r * width + c]);
        }
      rows.rows.push_back(i * height + r);
      rows.offsets.push_back(static_cast<index_t>(columns.size()));
    }
  }
  void append(const ScalarRows& more) {
    detail::append(rows.rows, more.rows.rows);
    append_offsets(rows.offsets, more.rows.offsets);
    detail::append(rows.values, more.rows.values);
    detail::append(columns, more.columns);
  }
};

/// Blocks of matrices that ranks have for others.
template <class V>
class Crossings {
 public:
  Crossings(int ranks, int block)
      : block_(static_cast<std::size_t>(block)),
        places_(static_cast<std::size_t>(ranks)),
        values_(static_cast<std::size_t>(ranks)) {}

  /// One for a rank, by its place in the whole matrix.
  void add(std::size_t rank, offset_t row, offset_t column, const V* block) {
    places_[rank].push_back(row);
    places_[rank].push_back(column);
    values_[rank].insert(values_[rank].end(), block, block + block_);
  }

  void append(const Crossings& more) {
    for (std::size_t r = 0; r < places_.size(); ++r) {
      detail::append(places_[r], more.places_[r]);
      detail::append(values_[r], more.values_[r]);
    }
  }

  struct Entry {
    offset_t row, column;
    const V* block;
    bool operator<(const Entry& other) const {
      return std::make_pair(row, column) < std::make_pair(other.row, other.column);
    }
  };
  /// What others have for this rank, which this then holds: by places, and by ranks for each of them. Collective.
  std::vector<Entry> exchanged(Channel& channel) {
    places_ = channel.exchange_lists(places_);
    values_ = channel.exchange_lists(values_);
    std::vector<offset_t> all_rows;
    for (const auto& of_rank : places_)
      for (std::size_t e = 0; e < of_rank.size(); e += 2) all_rows.push_back(of_rank[e]);
    const AscendingNumbers rows(std::move(all_rows));
    std::vector<std::size_t> ends(rows.size() + 1, 0);  // of the entries of each row, then
    for (const auto& of_rank : places_)
      for (std::size_t e = 0; e < of_rank.size(); e += 2)
        ++ends[static_cast<std::size_t>(rows.place_of(of_rank[e])) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<Entry> entries(ends.back());
    for (std::size_t r = 0; r < places_.size(); ++r)
      for (std::size_t e = 0; 2 * e < places_[r].size(); ++e) {
        const offset_t row = places_[r][2 * e];
        entries[ends[static_cast<std::size_t>(rows.place_of(row))]++] = {
            row, places_[r][2 * e + 1], values_[r].data() + e * block_};
      }
    parallel_for(rows.size(), [&](std::size_t row) {
      const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(row > 0 ? ends[row - 1] : 0);
      const auto end = entries.begin() + static_cast<std::ptrdiff_t>(ends[row]);
      if (!std::is_sorted(begin, end)) std::stable_sort(begin, end);
    });
    return entries;
  }

 private:
  std::size_t block_;
  std::vector<std::vector<offset_t>> places_;  ///< by rank: row, column
  std::vector<std::vector<V>> values_;
};

}  // namespace cnc::detail
