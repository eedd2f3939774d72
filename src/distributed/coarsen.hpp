#pragma once

#include "distributed/node_halo.hpp"
#include "precondition/amg/hierarchy.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

// From a level of multigrid on several ranks to the next, on the hosts.
//
// The loops are those of one process over the own rows, whose columns are the own nodes and behind them those of other ranks: what
// loops read of these is fetched before. What a rank adds to coarse rows of another one it sends there.

namespace cnc::detail {

using HostExec = Kokkos::DefaultHostExecutionSpace;

/// The rows of a rank, in memory of their own.
template <class V>
struct StoredRows {
  offset_t first_row = 0;
  std::vector<offset_t> offsets = {0}, columns;
  std::vector<V> values;
  OwnRows<V> rows() const { return {first_row, offsets, columns, values}; }
};

/// A level as it is set up.
template <class V>
struct LevelOnRanks {
  PartitionedMatrix<V> A;
  int block_size = 1;
  NearNullSpace<V, HostSpace> near_null;  ///< of the own rows
};

/// Numbers for the columns of a part of a matrix: the own ones first, then those of others as they ascend.
class ColumnNumbers {
 public:
  ColumnNumbers(offset_t first, index_t own, std::vector<offset_t> others)
      : first_(first), own_(own), others_(std::move(others)) {
    std::sort(others_.begin(), others_.end());
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
  }
  bool is_own(offset_t column) const { return column >= first_ && column < first_ + own_; }
  index_t size() const { return own_ + static_cast<index_t>(others_.size()); }
  index_t here(offset_t column) const {
    if (is_own(column)) return static_cast<index_t>(column - first_);
    const auto at = std::lower_bound(others_.begin(), others_.end(), column);
    return own_ + static_cast<index_t>(at - others_.begin());
  }
  offset_t everywhere(index_t number) const {
    return number < own_ ? first_ + number : others_[static_cast<std::size_t>(number - own_)];
  }

 private:
  offset_t first_;
  index_t own_;
  std::vector<offset_t> others_;
};

template <class T>
Vector<T> vector_of(const char* label, const std::vector<T>& from) {
  const auto to = uninitialized<T>(label, from.size());
  std::copy(from.begin(), from.end(), to.data());
  return to;
}

/// An array with the same of other ranks' nodes behind it. Collective.
template <class U, class T>
Vector<U> with_halo(const NodeHalo<T>& halo, const U* own, index_t nodes, int width) {
  const std::vector<U> others = halo.exchange(own, width);
  const std::size_t n = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(width);
  const auto all = in_large_pages<U, HostSpace>("cnc::amg", n + others.size());
  std::copy_n(own, n, all.data());
  std::copy(others.begin(), others.end(), all.data() + n);
  return all;
}

/// The own rows in blocks, those of other ranks' columns behind the own block's.
template <class V>
SparseBlocks<V, HostSpace> with_halo_columns(const SparseBlocks<V, HostSpace>& own,
                                             const Halo<V>& halo, const NodeHalo<V>& nodes) {
  const int b = own.height;
  const auto block = static_cast<std::size_t>(b * b);
  const SparseRows<V>& rows = halo.rows;
  // The halo's rows of block row i are [next, end) of `rows`.
  const auto for_each_row = [&](const auto& body) {
    std::size_t next = 0;
    for (index_t i = 0; i < own.rows; ++i) {
      const std::size_t begin = next;
      while (next < rows.rows.size() && rows.rows[next] / b == i) ++next;
      body(i, begin, next);
    }
  };
  const auto entries_of = [&](std::size_t begin, std::size_t end, const auto& body) {
    for (std::size_t row = begin; row < end; ++row)
      for (index_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) body(row, k);
  };
  const auto offsets =
      uninitialized<index_t>("cnc::row_offsets", static_cast<std::size_t>(own.rows) + 1);
  offsets(0) = 0;
  std::vector<index_t> last_row(static_cast<std::size_t>(nodes.size()), -1);
  for_each_row([&](index_t i, std::size_t begin, std::size_t end) {
    index_t count = own.row_offsets(i + 1) - own.row_offsets(i);
    entries_of(begin, end, [&](std::size_t, index_t k) {
      index_t& seen = last_row[static_cast<std::size_t>(
          nodes.node_of(rows.columns[static_cast<std::size_t>(k)]))];
      count += seen != i;
      seen = i;
    });
    const offset_t sum = offset_t(offsets(i)) + count;
    require_offset<index_t>(sum, "blocks of a rank");
    offsets(i + 1) = static_cast<index_t>(sum);
  });
  const auto blocks = static_cast<std::size_t>(offsets(own.rows));
  const auto columns = in_large_pages<index_t, HostSpace>("cnc::columns", blocks);
  const auto values = in_large_pages<V, HostSpace>("cnc::values", blocks * block);
  std::vector<index_t> found;
  for_each_row([&](index_t i, std::size_t begin, std::size_t end) {
    const index_t length = own.row_offsets(i + 1) - own.row_offsets(i);
    std::copy_n(own.columns.data() + own.row_offsets(i), length, columns.data() + offsets(i));
    std::copy_n(own.values.data() + static_cast<std::size_t>(own.row_offsets(i)) * block,
                static_cast<std::size_t>(length) * block,
                values.data() + static_cast<std::size_t>(offsets(i)) * block);
    if (begin == end) return;
    found.clear();
    entries_of(begin, end, [&](std::size_t, index_t k) {
      found.push_back(nodes.node_of(rows.columns[static_cast<std::size_t>(k)]));
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    const index_t behind = offsets(i) + length;
    for (std::size_t k = 0; k < found.size(); ++k)
      columns(static_cast<std::size_t>(behind) + k) = own.cols + found[k];
    std::fill_n(values.data() + static_cast<std::size_t>(behind) * block, found.size() * block,
                V(0));
    entries_of(begin, end, [&](std::size_t row, index_t k) {
      const auto at = static_cast<std::size_t>(k);
      const index_t place = rows.columns[at];
      const auto to = static_cast<std::size_t>(
          std::lower_bound(found.begin(), found.end(), nodes.node_of(place)) - found.begin());
      values((static_cast<std::size_t>(behind) + to) * block +
             static_cast<std::size_t>(rows.rows[row] % b * b + nodes.unit_of(place))) =
          rows.values[at];
    });
  });
  return {own.rows, own.cols + nodes.size(), b, b, offsets, columns, values};
}

/// Adds the scalar rows of a block row to `rows`: its blocks by their places, with the numbers of their columns.
template <class V, class Number, class Block>
void add_scalar_rows(index_t length, int height, int width, const Number& number,
                     const Block& block, StoredRows<V>& rows) {
  for (int r = 0; r < height; ++r) {
    for (index_t k = 0; k < length; ++k)
      for (int c = 0; c < width; ++c) {
        rows.columns.push_back(number(k) * width + c);
        rows.values.push_back(block(k)[r * width + c]);
      }
    rows.offsets.push_back(static_cast<offset_t>(rows.columns.size()));
  }
}

/// A level and what there is to say of it, and the way to the next. Its functions are collective.
template <class V>
class CoarseningOnRanks {
 public:
  using Blocks = SparseBlocks<V, HostSpace>;

  explicit CoarseningOnRanks(const LevelOnRanks<V>& fine)
      : fine_(fine),
        channel_(*PartitionAccess::halo(fine.A)->channel),
        halo_(fine.A, fine.block_size),
        own_(finest_part(fine)),
        A_(with_halo_columns(own_, *PartitionAccess::halo(fine.A), halo_)) {}

  const Blocks& own() const { return own_; }  ///< the block of the own rows and columns
  const Blocks& with_columns_of_others() const { return A_; }

  /// P and P^T A P, the inverted diagonal and the largest eigenvalue of D^-1 A being given: false where the next level would be no
  /// smaller to speak of.
  bool coarsen(const AmgOptions& options, bool symmetric, const Vector<V>& inverse, double largest,
               LevelOnRanks<V>& coarse, PartitionedMatrix<V>& P, AmgHierarchy& facts) {
    constexpr double no_smaller = 0.8;
    Laps laps(exec_);
    const int b = fine_.block_size, k = fine_.near_null.vectors;
    const index_t n = own_.rows;
    const Graph<HostSpace> strong = strong_couplings(
        exec_, A_, options.strength, symmetric, [&](const Vector<double>& of_nodes) {
          const std::vector<double> others = halo_.exchange(of_nodes.data(), 1);
          std::copy(others.begin(), others.end(), of_nodes.data() + n);
        });
    const auto aggregates = aggregates_of(strong);
    laps.add_to(facts.aggregation_seconds);
    firsts_ = {0};
    const index_t* const counts = channel_.gather_all(&aggregates.count, 1);
    for (int r = 0; r < channel_.size(); ++r) firsts_.push_back(firsts_.back() + counts[r]);
    const offset_t first = firsts_[static_cast<std::size_t>(channel_.rank())];
    if (firsts_.back() == 0 || double(firsts_.back()) * k > no_smaller * double(fine_.A.all_rows()))
      return false;

    coarse.block_size = k;
    const Blocks own_tentative =
        tentative_prolongation(exec_, aggregates, b, fine_.near_null, coarse.near_null);
    Smoothed way{own_tentative, ColumnNumbers(first, aggregates.count, {})};
    if (options.smoothed)
      way = smoothed(strong, aggregates, own_tentative, coarse.near_null, first, inverse,
                     smoothing_factor(largest));
    const Blocks& prolongation = way.P;
    const ColumnNumbers& numbers = way.columns;
    StoredRows<V> rows;
    rows.first_row = fine_.A.first_row();
    const auto p = operand_of(prolongation);
    for (index_t i = 0; i < n; ++i) {
      const index_t begin = p.row_offsets[i];
      add_scalar_rows(
          p.row_offsets[i + 1] - begin, b, k,
          [&](index_t at) { return numbers.everywhere(p.columns[begin + at]); },
          [&](index_t at) { return p.block(begin + at); }, rows);
    }
    P = PartitionAccess::rectangular(fine_.A.ranks(), rows.rows(), first * k, aggregates.count * k);
    laps.add_to(facts.prolongation_seconds);
    const StoredRows<V> product = coarse_rows(prolongation, numbers, aggregates.count, first);
    coarse.A = PartitionedMatrix<V>(fine_.A.ranks(), product.rows());
    laps.add_to(facts.product_seconds);
    return true;
  }

 private:
  /// A prolongation of the own rows, and its columns.
  struct Smoothed {
    Blocks P;
    ColumnNumbers columns;
  };

  static Blocks finest_part(const LevelOnRanks<V>& level) {
    const CsrMatrix<V>& A = level.A.own_block();
    if (level.block_size == 1) return as_blocks(A);
    const BcsrMatrix<V> blocks = to_bcsr(A, level.block_size);
    return {blocks.block_rows(), blocks.block_cols(), level.block_size, level.block_size,
            blocks.row_offsets,  blocks.columns,      blocks.values};
  }

  /// A graph without the neighbours on other ranks, which are the last ones of their rows.
  Graph<HostSpace> own_part(const Graph<HostSpace>& graph) const {
    const auto ends = uninitialized<index_t>("cnc::graph", static_cast<std::size_t>(graph.nodes));
    for (index_t i = 0; i < graph.nodes; ++i) {
      index_t end = graph.ends(i);
      while (end > graph.offsets(i) && graph.neighbours(end - 1) >= graph.nodes) --end;
      ends(i) = end;
    }
    return {graph.nodes, graph.offsets, ends, graph.neighbours};
  }

  /// Of own nodes. One whose strong neighbours are all on other ranks is an aggregate by itself: without any it would have no part in
  /// the coarse correction.
  Aggregates<HostSpace> aggregates_of(const Graph<HostSpace>& strong) const {
    const Graph<HostSpace> own = own_part(strong);
    Aggregates<HostSpace> aggregates = aggregate(exec_, own);
    for (index_t i = 0; i < own.nodes; ++i)
      if (own.ends(i) == own.offsets(i) && strong.ends(i) > strong.offsets(i))
        aggregates.of(i) = aggregates.count++;
    return aggregates;
  }

  /// T - omega D^-1 F T with the numbers of its columns.
  Smoothed smoothed(const Graph<HostSpace>& strong, const Aggregates<HostSpace>& aggregates,
                    const Blocks& T, const NearNullSpace<V, HostSpace>& coarse, offset_t first,
                    const Vector<V>& inverse, double omega) {
    const index_t n = own_.rows, all = A_.cols;
    const int block = T.height * T.width;
    std::vector<offset_t> own_numbers(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i)
      own_numbers[static_cast<std::size_t>(i)] =
          aggregates.of(i) >= 0 ? first + aggregates.of(i) : -1;
    const Vector<offset_t> number = with_halo(halo_, own_numbers.data(), n, 1);
    std::vector<offset_t> others;
    for (index_t i = n; i < all; ++i)
      if (number(i) >= 0) others.push_back(number(i));
    const ColumnNumbers numbers(first, aggregates.count, std::move(others));

    std::vector<V> own_blocks(static_cast<std::size_t>(n) * static_cast<std::size_t>(block));
    const auto t = operand_of(T);
    for (index_t i = 0; i < n; ++i)
      for (index_t at = t.row_offsets[i]; at < t.row_offsets[i + 1]; ++at)
        std::copy_n(t.block(at), block, own_blocks.data() + offset_t(i) * block);
    const Vector<V> blocks = with_halo(halo_, own_blocks.data(), n, block);

    // T and the near-null space as rows of A_ see them.
    Aggregates<HostSpace> seen{
        uninitialized<index_t>("cnc::aggregates", static_cast<std::size_t>(all)), aggregates.count};
    Blocks tentative{all, numbers.size(), T.height, T.width, {}, {}, {}};
    const auto offsets =
        uninitialized<index_t>("cnc::tentative", static_cast<std::size_t>(all) + 1);
    const auto columns = uninitialized<index_t>("cnc::tentative", static_cast<std::size_t>(all));
    const auto values = uninitialized<V>(
        "cnc::tentative", static_cast<std::size_t>(all) * static_cast<std::size_t>(block));
    offsets(0) = 0;
    for (index_t i = 0; i < all; ++i) {
      const index_t at = offsets(i);
      seen.of(i) = number(i) >= 0 ? numbers.here(number(i)) : -1;
      offsets(i + 1) = at + (number(i) >= 0);
      if (number(i) < 0) continue;
      columns(at) = seen.of(i);
      std::copy_n(blocks.data() + offset_t(i) * block, block, values.data() + offset_t(at) * block);
    }
    tentative.row_offsets = offsets;
    tentative.columns = columns;
    tentative.values = values;
    NearNullSpace<V, HostSpace> fine = fine_.near_null;
    fine.rows = with_halo(halo_, fine_.near_null.rows.data(), n, block);

    const Blocks P = smoothed_pattern(exec_, strong, seen, tentative, "the prolongation");
    smooth(exec_, A_, strong, tentative, inverse, fine, coarse, omega, P);
    exec_.fence();
    return {P, numbers};
  }

  /// The own rows of P^T A P: what own rows of P give, and what those of other ranks do.
  StoredRows<V> coarse_rows(const Blocks& P, const ColumnNumbers& numbers, index_t own,
                            offset_t first) {
    const int k = P.width, block = P.height * k;
    const auto p = operand_of(P);
    const auto rows =
        halo_.exchange_rows(p, [&](index_t column) { return numbers.everywhere(column); });
    std::vector<offset_t> others;
    for (offset_t at = 0; at < P.blocks(); ++at) {
      const offset_t column = numbers.everywhere(p.columns[at]);
      if (!numbers.is_own(column)) others.push_back(column);
    }
    for (const offset_t column : rows.columns)
      if (!numbers.is_own(column)) others.push_back(column);
    const ColumnNumbers wider(first, own, std::move(others));

    // P as the rows of A_ see it.
    const index_t n = own_.rows, all = A_.cols;
    const std::size_t blocks = static_cast<std::size_t>(P.blocks()) + rows.columns.size();
    require_offset<index_t>(static_cast<offset_t>(blocks), "blocks of a prolongation");
    const auto offsets = uninitialized<index_t>("cnc::prolongation", std::size_t(all) + 1);
    const auto columns = uninitialized<index_t>("cnc::prolongation", blocks);
    const auto values =
        uninitialized<V>("cnc::prolongation", blocks * static_cast<std::size_t>(block));
    std::copy_n(p.row_offsets, n + 1, offsets.data());
    for (index_t i = n; i < all; ++i)
      offsets(i + 1) = offsets(i) + rows.lengths[static_cast<std::size_t>(i - n)];
    for (offset_t at = 0; at < P.blocks(); ++at)
      columns(at) = wider.here(numbers.everywhere(p.columns[at]));
    for (std::size_t at = 0; at < rows.columns.size(); ++at)
      columns(static_cast<std::size_t>(P.blocks()) + at) = wider.here(rows.columns[at]);
    std::copy_n(p.values, P.blocks() * block, values.data());
    std::copy(rows.values.begin(), rows.values.end(), values.data() + P.blocks() * block);
    const Blocks seen{all, wider.size(), P.height, k, offsets, columns, values};

    const auto transposed = transposed_blocks(P);
    const Blocks restriction{P.cols,
                             P.rows,
                             k,
                             P.height,
                             transposed.row_offsets,
                             transposed.columns,
                             in_large_pages<V, HostSpace>("cnc::restriction", P.values.extent(0))};
    take_transposed(exec_, P, transposed.origins, restriction);
    const Blocks AP = product(exec_, A_, seen, "the coarse matrix", RowsOf::any_order);
    const Blocks C = product(exec_, restriction, AP, "the coarse matrix", RowsOf::any_order);
    return assembled(C, numbers, wider, own, first);
  }

  /// Sends rows of C that are not own to their owners, and adds up what there is of own ones, in the order of the ranks.
  StoredRows<V> assembled(const Blocks& C, const ColumnNumbers& row_numbers,
                          const ColumnNumbers& numbers, index_t own, offset_t first) {
    const int k = C.width, block = k * k;
    const auto c = operand_of(C);
    const auto ranks = static_cast<std::size_t>(channel_.size());
    std::vector<std::vector<offset_t>> heads(ranks), columns(ranks);
    std::vector<std::vector<V>> values(ranks);
    for (index_t i = own; i < C.rows; ++i) {
      const offset_t row = row_numbers.everywhere(i);
      const auto owner = static_cast<std::size_t>(
          std::upper_bound(firsts_.begin(), firsts_.end(), row) - firsts_.begin() - 1);
      const index_t begin = c.row_offsets[i], end = c.row_offsets[i + 1];
      heads[owner].push_back(row);
      heads[owner].push_back(end - begin);
      for (index_t at = begin; at < end; ++at)
        columns[owner].push_back(numbers.everywhere(c.columns[at]));
      values[owner].insert(values[owner].end(), c.block(begin), c.block(end));
    }
    heads = channel_.exchange_lists(heads);
    columns = channel_.exchange_lists(columns);
    values = channel_.exchange_lists(values);

    struct Entry {
      offset_t column;
      const V* block;
    };
    std::vector<std::pair<index_t, Entry>> from_others;
    for (std::size_t r = 0; r < ranks; ++r) {
      std::size_t at = 0;
      for (std::size_t h = 0; h < heads[r].size(); h += 2)
        for (offset_t e = 0; e < heads[r][h + 1]; ++e, ++at)
          from_others.push_back({static_cast<index_t>(heads[r][h] - first),
                                 {columns[r][at], values[r].data() + at * std::size_t(block)}});
    }
    std::stable_sort(from_others.begin(), from_others.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });

    StoredRows<V> rows;
    rows.first_row = first * k;
    std::vector<Entry> row;
    std::vector<offset_t> found;
    std::vector<V> sums;
    auto next = from_others.begin();
    for (index_t i = 0; i < own; ++i) {
      row.clear();
      for (index_t at = c.row_offsets[i]; at < c.row_offsets[i + 1]; ++at)
        row.push_back({numbers.everywhere(c.columns[at]), c.block(at)});
      for (; next != from_others.end() && next->first == i; ++next) row.push_back(next->second);
      std::stable_sort(row.begin(), row.end(),
                       [](const Entry& a, const Entry& b) { return a.column < b.column; });
      found.clear();
      sums.clear();
      for (const Entry& entry : row) {
        if (found.empty() || found.back() != entry.column) {
          found.push_back(entry.column);
          sums.insert(sums.end(), static_cast<std::size_t>(block), V(0));
        }
        V* const sum = sums.data() + (found.size() - 1) * static_cast<std::size_t>(block);
        for (int e = 0; e < block; ++e) sum[e] += entry.block[e];
      }
      for (std::size_t at = 0; at < found.size(); ++at)
        if (found[at] == first + i)  // unknowns that no column of P stands for
          for (int r = 0; r < k; ++r) {
            V& diagonal = sums[at * static_cast<std::size_t>(block) + std::size_t(r * k + r)];
            if (diagonal == 0) diagonal = 1;
          }
      add_scalar_rows(
          static_cast<index_t>(found.size()), k, k,
          [&](index_t at) { return found[static_cast<std::size_t>(at)]; },
          [&](index_t at) { return sums.data() + offset_t(at) * block; }, rows);
    }
    return rows;
  }

  HostExec exec_;
  const LevelOnRanks<V>& fine_;
  Channel& channel_;
  NodeHalo<V> halo_;
  Blocks own_, A_;
  std::vector<offset_t> firsts_;  ///< the first aggregate of each rank, and how many there are
};

/// The whole of a level, as every rank then has it. Collective.
template <class V>
CsrMatrix<V> whole_of(const PartitionedMatrix<V>& A) {
  const Halo<V>& halo = *PartitionAccess::halo(A);
  Channel& channel = *halo.channel;
  const CsrMatrix<V>& own = A.own_block();
  const std::vector<offset_t> others = halo_columns(halo, A.first_row());
  std::vector<offset_t> numbers{A.first_row(), A.rows()};
  std::vector<V> mine;
  std::size_t next = 0;
  for (index_t i = 0; i < A.rows(); ++i) {
    const std::size_t length_at = numbers.size();
    numbers.push_back(0);
    for (index_t k = own.row_offsets(i); k < own.row_offsets(i + 1); ++k) {
      numbers.push_back(A.first_row() + own.columns(k));
      mine.push_back(own.values(k));
    }
    if (next < halo.rows.rows.size() && halo.rows.rows[next] == i) {
      for (index_t k = halo.rows.offsets[next]; k < halo.rows.offsets[next + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        numbers.push_back(others[static_cast<std::size_t>(halo.rows.columns[at])]);
        mine.push_back(halo.rows.values[at]);
      }
      ++next;
    }
    numbers[length_at] = static_cast<offset_t>(numbers.size() - length_at - 1);
  }
  const auto ranks = static_cast<std::size_t>(channel.size());
  const auto all_numbers = channel.share_lists(numbers);
  const auto all_values = channel.share_lists(mine);

  const auto n = static_cast<std::size_t>(A.all_rows());
  std::vector<std::size_t> in_order(ranks);  // of their rows
  std::iota(in_order.begin(), in_order.end(), std::size_t(0));
  std::stable_sort(in_order.begin(), in_order.end(), [&](std::size_t a, std::size_t b) {
    return all_numbers[a][0] < all_numbers[b][0];
  });
  std::size_t entries = 0;
  for (const auto& values : all_values) entries += values.size();
  require_offset<index_t>(static_cast<offset_t>(entries), "entries of a coarse level");
  const auto offsets = uninitialized<index_t>("cnc::row_offsets", n + 1);
  const auto columns = uninitialized<index_t>("cnc::columns", entries);
  const auto values = uninitialized<V>("cnc::values", entries);
  std::size_t row = 0, to = 0;
  offsets(0) = 0;
  for (const std::size_t r : in_order) {
    const auto& given = all_numbers[r];
    std::copy(all_values[r].begin(), all_values[r].end(), values.data() + to);
    for (std::size_t at = 2; at < given.size(); at += static_cast<std::size_t>(given[at]) + 1) {
      for (offset_t e = 1; e <= given[at]; ++e)
        columns(to++) = static_cast<index_t>(given[at + static_cast<std::size_t>(e)]);
      offsets(++row) = static_cast<index_t>(to);
    }
  }
  return CsrMatrix<V>(static_cast<index_t>(n), static_cast<index_t>(n), 1, offsets, columns,
                      values);
}

}  // namespace cnc::detail
