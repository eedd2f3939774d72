#pragma once

#include "distributed/blocks_on_ranks.hpp"
#include "distributed/fewer_ranks.hpp"
#include "precondition/amg/hierarchy.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

// From a level of multigrid on several ranks to the next, in the memory of its matrix.
//
// The loops are those of one process over the own rows, whose columns are the own nodes and behind them those of other ranks: what
// loops read of these is fetched before. What a rank adds to coarse rows of another one it sends there. The hosts see only rows that
// are coupled with other ranks, or go there.

namespace cnc::detail {

/// A level as it is set up.
template <class V, class Space>
struct LevelOnRanks {
  BlocksOnRanks<V, Space> A;          ///< of square blocks
  NearNullSpace<V, Space> near_null;  ///< of the own rows
};

/// Where the rows of coarse levels are to be.
struct RowsOfLevels {
  offset_t whole = 0;  ///< a level with no more is one that every rank takes the whole of
  offset_t per_rank =
      1;  ///< those of others are on so few ranks that they have as many in the mean
};

/// A graph without the neighbours from `nodes` on, which are the last ones of their rows.
struct CutRow {
  GraphOperand graph;
  index_t nodes;
  index_t* ends;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    index_t end = graph.ends[i];
    while (end > graph.offsets[i] && graph.neighbours[end - 1] >= nodes) --end;
    ends[i] = end;
  }
};
/// Numbers nodes without a neighbour among the own ones, but with others.
struct NumberSeparate {
  GraphOperand own, all;
  index_t first;
  index_t* aggregate;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum, bool last) const {
    if (own.degree(i) > 0 || all.degree(i) == 0) return;
    if (last) aggregate[i] = first + static_cast<index_t>(sum);
    ++sum;
  }
};
/// numbers[i] := that of the aggregate of node i among those of all ranks; -1 of none
struct NumberAggregate {
  const index_t* aggregate;
  offset_t first;
  offset_t* numbers;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    numbers[i] = aggregate[i] >= 0 ? first + aggregate[i] : -1;
  }
};
/// blocks[i] := the one block of row i, or zeros
template <class T>
struct TakeBlock {
  BlocksOperand<T> tentative;
  T* blocks;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const int block = tentative.height * tentative.width;
    const offset_t i = unit / block;
    const index_t at = tentative.row_offsets[i];
    blocks[unit] = at < tentative.row_offsets[i + 1] ? tentative.block(at)[unit % block] : T(0);
  }
};
/// Columns from `own` on by other numbers.
struct Renumber {
  index_t own;
  const index_t* others;
  const index_t* from;
  index_t* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    to[k] = from[k] < own ? from[k] : others[from[k] - own];
  }
};

/// A level and what there is to say of it, and the way to the next. Its functions are collective.
template <class V, class Exec>
class CoarseningOnRanks {
 public:
  using Space = typename Exec::memory_space;
  using Blocks = SparseBlocks<V, Space>;
  using Level = LevelOnRanks<V, Space>;

  /// The level outlives it.
  CoarseningOnRanks(const Exec& exec, const Level& fine)
      : exec_(exec),
        fine_(fine),
        own_(fine.A.own),
        channel_(*fine.A.halo->channel),
        halo_(exec, *fine.A.halo, own_.height),
        A_(with_rows(exec, own_, own_.cols,
                     blocks_of_others(fine.A.halo->rows, halo_, own_.cols, own_.height),
                     PutRows::behind, own_.cols + halo_.size(), "blocks of a rank")) {}

  /// A prolongation and its transpose, each in the rows that a rank has of it.
  struct Transfers {
    BlocksOnRanks<V, Space> prolongation, restriction;
  };

  /// The own rows, whose columns are the own nodes and behind them those of others.
  const Blocks& with_columns_of_others() const { return A_; }

  /// P and P^T A P, the inverted diagonal and the largest eigenvalue of D^-1 A being given: false where the next level would be no
  /// smaller to speak of.
  bool coarsen(const AmgOptions& options, const RowsOfLevels& where, bool symmetric,
               const Vector<V, Space>& inverse, double largest, Level& coarse,
               AmgHierarchy& facts) {
    constexpr double no_smaller = 0.8;
    Laps laps(exec_);
    const int b = own_.height, k = fine_.near_null.vectors;
    const index_t n = own_.rows;
    const auto complete = [&](const Vector<double, Space>& of_nodes) {
      const std::vector<double> others = halo_.exchange(of_nodes.data(), 1);
      Kokkos::deep_copy(
          Kokkos::subview(of_nodes, std::make_pair(std::size_t(n), of_nodes.extent(0))),
          Kokkos::View<const double*, HostSpace, Kokkos::MemoryUnmanaged>(others.data(),
                                                                          others.size()));
    };
    set_up_.A = A_;
    set_up_.inverse = inverse;
    set_up_.near_null = fine_.near_null;
    set_up_.strong = strong_couplings(exec_, A_, options.strength, symmetric, complete);
    const auto aggregates = aggregates_of(set_up_.strong);
    laps.add_to(facts.aggregation_seconds);
    firsts_ = {0};
    const index_t* const counts = channel_.gather_all(&aggregates.count, 1);
    for (int r = 0; r < channel_.size(); ++r) firsts_.push_back(firsts_.back() + counts[r]);
    first_ = firsts_[static_cast<std::size_t>(channel_.rank())];
    const auto rows = static_cast<double>(fine_.A.halo->all_rows);
    if (firsts_.back() == 0 || double(firsts_.back()) * k > no_smaller * rows) return false;
    const bool is_whole_next = firsts_.back() * k <= where.whole;
    const offset_t least_nodes = (where.per_rank - 1) / k + 1;
    gathered_ = is_whole_next ? firsts_ : on_fewer_ranks(firsts_, least_nodes);
    mine_ = range_of_rank(gathered_, channel_.rank());

    set_up_.tentative = tentative_prolongation(exec_, aggregates, b, fine_.near_null,
                                               coarse.near_null, &set_up_.members);
    set_up_.smoothed = options.smoothed;
    prolongation_ = {set_up_.tentative, ColumnNumbers(first_, aggregates.count, {})};
    if (options.smoothed)
      prolongation_ = smoothed(set_up_.strong, aggregates, set_up_.tentative, coarse.near_null,
                               inverse, smoothing_factor(largest));
    laps.add_to(facts.prolongation_seconds);
    if (is_gathered()) gather(coarse.near_null);
    coarse.A = coarse_matrix(prolongation_.P, prolongation_.columns, aggregates.count);
    laps.add_to(facts.product_seconds);
    return true;
  }

  /// After that, what factor_prolongation asks for: the level with columns of others in A, the tentative prolongation of the own
  /// rows; products and the prolongation itself are empty.
  const SetUpLevel<V, Space>& set_up() const { return set_up_; }

  /// P with its columns apart: those of own aggregates, and of others, to whose owners these entries go for P^T.
  Transfers transfers() {
    const Blocks& P = prolongation_.P;
    const index_t own = set_up_.tentative.cols;
    const int b = P.height, k = P.width;
    const SomeRows<V> outside = rows_of(exec_, P, rows_beyond(exec_, P, own), own);
    const auto block = static_cast<std::size_t>(P.block_values());
    const offset_t first_node = fine_.A.halo->first_row / b;
    struct Beyond {
      ScalarRows<V> rows;
      Crossings<V> crossing;  // at their places in P^T
      void append(const Beyond& more) {
        rows.append(more.rows);
        crossing.append(more.crossing);
      }
    };
    const Beyond none{{}, {channel_.size(), P.block_values()}};
    Beyond others = made_in_parts(
        outside.rows.size(), none, [&](std::size_t first, std::size_t last, Beyond& made) {
          for (std::size_t at = first; at < last; ++at) {
            const auto begin = static_cast<std::size_t>(outside.offsets[at]);
            const auto number = [&](index_t e) {
              return prolongation_.columns.everywhere(
                  outside.columns[begin + static_cast<std::size_t>(e)]);
            };
            const auto values_of = [&](index_t e) {
              return outside.values.data() + (begin + static_cast<std::size_t>(e)) * block;
            };
            const index_t length = outside.offsets[at + 1] - outside.offsets[at];
            made.rows.add(outside.rows[at], length, b, k, number, values_of);
            for (index_t e = 0; e < length; ++e) {
              const offset_t aggregate = number(e);
              made.crossing.add(owner_in(firsts_, aggregate), aggregate,
                                first_node + outside.rows[at], values_of(e));
            }
          }
        });
    Transfers both;
    auto& prolongation = both.prolongation;
    prolongation.own =
        outside.rows.empty()
            ? Blocks{P.rows, own, b, k, P.row_offsets, P.columns, P.values}
            : with_rows(exec_, P, own, {}, PutRows::behind, own, "blocks of a prolongation");
    const OwnRange fine{fine_.A.halo->first_row, fine_.A.rows()}, coarse{first_ * k, own * k};
    const auto& channel = fine_.A.halo->channel;
    prolongation.halo = halo_of(channel, fine, coarse, prolongation.own.entries(),
                                std::move(others.rows.rows), others.rows.columns);
    both.restriction.own = transpose_of(exec_, prolongation.own).first;
    ScalarRows<V> transposed = transposed_for_me(others.crossing.exchanged(channel_), b, k);
    both.restriction.halo = halo_of(channel, coarse, fine, both.restriction.own.entries(),
                                    std::move(transposed.rows), transposed.columns);
    return both;
  }

  /// After that, whether the next level is on fewer ranks than have aggregates.
  bool is_gathered() const { return gathered_ != firsts_; }
  /// Where it is: from vectors of that level to those on the ranks that have the aggregates, and back.
  Transfers ways_to_aggregates() const {
    const int k = fine_.near_null.vectors;
    const OwnRange made = range_of_rank(firsts_, channel_.rank());
    const OwnRange there{made.first * k, made.count * k}, here{mine_.first * k, mine_.count * k};
    const auto& channel = fine_.A.halo->channel;
    Transfers ways;
    ways.prolongation = identity_on_ranks<V, Space>(channel, there, here);
    ways.restriction = identity_on_ranks<V, Space>(channel, here, there);
    return ways;
  }

 private:
  /// A prolongation of the own rows, and its columns.
  struct OwnProlongation {
    Blocks P;
    ColumnNumbers columns{0, 0, {}};
  };

  /// Of own nodes. One whose strong neighbours are all on other ranks is an aggregate by itself: without any it would have no part in
  /// the coarse correction.
  Aggregates<Space> aggregates_of(const StrengthGraph<Space>& strong) const {
    const auto ends =
        uninitialized<index_t, Space>("cnc::graph", static_cast<std::size_t>(strong.nodes));
    on_each(exec_, strong.nodes, CutRow{operand_of(strong), strong.nodes, ends.data()});
    const StrengthGraph<Space> own{strong.nodes, strong.offsets, ends, strong.neighbours};
    Aggregates<Space> aggregates = aggregate(exec_, own);
    aggregates.count +=
        static_cast<index_t>(scan(exec_, 0, own.nodes,
                                  NumberSeparate{operand_of(own), operand_of(strong),
                                                 aggregates.count, aggregates.of.data()}));
    return aggregates;
  }

  /// T - omega D^-1 F T with the numbers of its columns.
  OwnProlongation smoothed(const StrengthGraph<Space>& strong, const Aggregates<Space>& aggregates,
                           const Blocks& T, const NearNullSpace<V, Space>& coarse,
                           const Vector<V, Space>& inverse, double omega) {
    const auto n = static_cast<std::size_t>(own_.rows);
    const int width = T.block_values();
    const auto block = static_cast<std::size_t>(width);
    // Of the nodes of others: their aggregates, and their blocks of T.
    const auto own_numbers = uninitialized<offset_t, Space>("cnc::aggregates", n);
    on_each(exec_, own_.rows, NumberAggregate{aggregates.of.data(), first_, own_numbers.data()});
    const std::vector<offset_t> of_others = halo_.exchange(own_numbers.data(), 1);
    const auto own_blocks = uninitialized<V, Space>("cnc::tentative", n * block);
    on_each(exec_, offset_t(own_.rows) * width, TakeBlock<V>{operand_of(T), own_blocks.data()});
    const std::vector<V> blocks = halo_.exchange(own_blocks.data(), width);
    std::vector<offset_t> some;
    for (const offset_t number : of_others)
      if (number >= 0) some.push_back(number);
    const ColumnNumbers numbers(first_, aggregates.count, std::move(some));

    // T and the near-null space as rows of A_ see them.
    std::vector<index_t> seen_others, offsets, columns;
    std::vector<V> values;
    const auto own_count = static_cast<index_t>(T.blocks());
    for (std::size_t j = 0; j < of_others.size(); ++j) {
      const offset_t number = of_others[j];
      seen_others.push_back(number >= 0 ? numbers.here(number) : -1);
      if (number >= 0) {
        columns.push_back(seen_others.back());
        values.insert(values.end(), blocks.data() + j * block, blocks.data() + (j + 1) * block);
      }
      offsets.push_back(own_count + static_cast<index_t>(columns.size()));
    }
    const Aggregates<Space> seen{extended<Space>(aggregates.of, n, seen_others), aggregates.count};
    const auto own_size = static_cast<std::size_t>(own_count);
    const Blocks tentative{A_.cols,
                           numbers.size(),
                           T.height,
                           T.width,
                           extended<Space>(T.row_offsets, n + 1, offsets),
                           extended<Space>(T.columns, own_size, columns),
                           extended<Space>(T.values, own_size * block, values)};
    NearNullSpace<V, Space> fine = fine_.near_null;
    fine.rows = extended<Space>(fine.rows, n * block, halo_.exchange(fine.rows.data(), width));
    const Blocks P = smoothed_pattern(exec_, strong, seen, tentative, "the prolongation");
    smooth(exec_, A_, strong, tentative, inverse, fine, coarse, omega, P);
    exec_.fence();
    return {P, numbers};
  }

  using Crossing = typename Crossings<V>::Entry;
  /// Rows of P^T in columns of other ranks, from the blocks of P that these have there.
  ScalarRows<V> transposed_for_me(const std::vector<Crossing>& entries, int b, int k) const {
    ScalarRows<V> rows;
    std::vector<V> transposed;  // blocks of a row
    for (auto begin = entries.begin(), end = begin; begin != entries.end(); begin = end) {
      transposed.clear();
      for (; end != entries.end() && end->row == begin->row; ++end)
        for (int c = 0; c < k; ++c)
          for (int r = 0; r < b; ++r) transposed.push_back(end->block[r * k + c]);
      rows.add(
          static_cast<index_t>(begin->row - first_), static_cast<index_t>(end - begin), k, b,
          [&](index_t e) { return begin[e].column; },
          [&](index_t e) { return transposed.data() + offset_t(e) * b * k; });
    }
    return rows;
  }

  /// The rank that has an aggregate, by the first one of each.
  static std::size_t owner_in(const std::vector<offset_t>& firsts, offset_t aggregate) {
    return static_cast<std::size_t>(std::upper_bound(firsts.begin(), firsts.end(), aggregate) -
                                    firsts.begin() - 1);
  }

  /// Near-null vectors where the coarse rows are.
  void gather(NearNullSpace<V, Space>& coarse) {
    const auto own = copy_to<HostSpace>(coarse.rows);
    std::vector<std::vector<V>> lists(static_cast<std::size_t>(channel_.size()));
    if (own.extent(0) > 0)
      lists[owner_in(gathered_, first_)].assign(own.data(), own.data() + own.extent(0));
    std::vector<V> all;
    for (const auto& of_rank : channel_.exchange_lists(lists)) append(all, of_rank);
    coarse.rows = copied_there<Space>("cnc::near_null_space", all);
  }

  /// The own rows of P^T A P: what own rows of P give, and what those of other ranks do.
  BlocksOnRanks<V, Space> coarse_matrix(const Blocks& P, const ColumnNumbers& numbers,
                                        index_t own) {
    const auto rows =
        halo_.exchange_rows(P, [&](index_t column) { return numbers.everywhere(column); });
    std::vector<offset_t> others = numbers.others();
    for (const offset_t column : rows.columns)
      if (!numbers.is_own(column)) others.push_back(column);
    const ColumnNumbers wider(first_, own, std::move(others));

    // P as the rows of A_ see it.
    const auto n = static_cast<std::size_t>(own_.rows),
               blocks = static_cast<std::size_t>(P.blocks());
    require_offset<index_t>(static_cast<offset_t>(blocks + rows.columns.size()),
                            "blocks of a prolongation");
    std::vector<index_t> offsets(rows.lengths.size()), columns(rows.columns.size()), wider_number;
    std::vector<V> values(rows.values.size());
    std::inclusive_scan(rows.lengths.begin(), rows.lengths.end(), offsets.begin());
    const int parts = threads_for(static_cast<offset_t>(columns.size()));
    parallel_ranges(offsets.size(), parts, [&](std::size_t begin, std::size_t end, int) {
      const auto block = static_cast<std::size_t>(P.block_values());
      std::vector<std::pair<index_t, std::size_t>> row;  // columns ascend there, by other numbers
      for (std::size_t i = begin; i < end; ++i) {
        auto to = static_cast<std::size_t>(offsets[i] - rows.lengths[i]);
        row.clear();
        for (std::size_t from = to; from < static_cast<std::size_t>(offsets[i]); ++from)
          row.push_back({wider.here(rows.columns[from]), from});
        std::sort(row.begin(), row.end());
        for (const auto& [column, from] : row) {
          columns[to] = column;
          std::copy_n(rows.values.data() + from * block, block, values.data() + to++ * block);
        }
      }
    });
    for (index_t& offset : offsets) offset += static_cast<index_t>(blocks);
    for (const offset_t column : numbers.others()) wider_number.push_back(wider.here(column));
    const auto others_there = copied_there<Space>("cnc::ranks", wider_number);
    const auto renumbered = in_large_pages<index_t, Space>("cnc::prolongation", blocks);
    on_each(exec_, P.blocks(),
            Renumber{own, others_there.data(), P.columns.data(), renumbered.data()});
    exec_.fence();
    const Blocks seen{A_.cols,
                      wider.size(),
                      P.height,
                      P.width,
                      extended<Space>(P.row_offsets, n + 1, offsets),
                      extended<Space>(renumbered, blocks, columns),
                      extended<Space>(P.values, P.values.extent(0), values)};

    const Blocks restriction = transpose_of(exec_, P).first;
    const Blocks AP = product(exec_, A_, seen, "the coarse matrix", RowsOf::any_order);
    const Blocks C = product(exec_, restriction, AP, "the coarse matrix");
    return assembled(C, numbers, wider, own);
  }

  /// Sends rows of C to the ranks that have them from now on, and adds up what there is of own ones, in the order of the ranks.
  BlocksOnRanks<V, Space> assembled(const Blocks& C, const ColumnNumbers& row_numbers,
                                    const ColumnNumbers& numbers, index_t own) {
    const int k = C.width;
    const index_t count = mine_.count, kept = std::min(own, count);  // all of the own ones, or none
    Crossings<V> crossing = rows_of_others(C, row_numbers, numbers, kept);
    const std::vector<Crossing> from_others = crossing.exchanged(channel_);

    // Rows that have to do with others: coupled with them, or added to by them.
    Blocks own_rows = C;
    own_rows.rows = count;
    if (count > kept)
      own_rows.row_offsets = extended<Space>(
          C.row_offsets, static_cast<std::size_t>(kept) + 1,
          std::vector<index_t>(static_cast<std::size_t>(count - kept), fetch(C.row_offsets, kept)));
    std::vector<index_t> added, list;
    for (const Crossing& crossed : from_others) {
      const auto row = static_cast<index_t>(crossed.row - mine_.first);
      if (added.empty() || added.back() != row) added.push_back(row);
    }
    const std::vector<index_t> coupled = rows_beyond(exec_, own_rows, own);
    std::set_union(coupled.begin(), coupled.end(), added.begin(), added.end(),
                   std::back_inserter(list));
    const SomeRows<V> mine = rows_of(exec_, own_rows, std::move(list));
    SumsOfRows sums = made_in_parts(mine.rows.size(), SumsOfRows{},
                                    [&](std::size_t begin, std::size_t end, SumsOfRows& made) {
                                      add_up(mine, begin, end, from_others, numbers, k, made);
                                    });
    BlocksOnRanks<V, Space> coarse;
    coarse.own =
        with_rows(exec_, own_rows, own, sums.inside, PutRows::in_place, count, "the coarse matrix");
    on_each(exec_, count, KeepRegular<V>{operand_of(coarse.own)});
    exec_.fence();
    const OwnRange segment{mine_.first * k, count * k};
    coarse.halo = halo_of(fine_.A.halo->channel, segment, segment, coarse.own.entries(),
                          std::move(sums.others.rows), sums.others.columns);
    return coarse;
  }

  struct Entry {
    offset_t column;
    const V* block;
  };
  /// Rows of the coarse matrix with what others add to them: in own columns, and in those of others.
  struct SumsOfRows {
    SomeRows<V> inside;
    ScalarRows<V> others;
    void append(const SumsOfRows& more) {
      inside.append(more.inside);
      others.append(more.others);
    }
  };
  void add_up(const SomeRows<V>& mine, std::size_t begin, std::size_t end,
              const std::vector<Crossing>& from_others, const ColumnNumbers& numbers, int k,
              SumsOfRows& made) const {
    if (begin == end) return;
    const auto block = static_cast<std::size_t>(k * k);
    std::vector<Entry> row;
    std::vector<offset_t> found;
    std::vector<std::size_t> outside;
    std::vector<V> sums;
    auto next = std::lower_bound(
        from_others.begin(), from_others.end(), mine_.first + mine.rows[begin],
        [](const Crossing& crossed, offset_t wanted) { return crossed.row < wanted; });
    for (std::size_t at = begin; at < end; ++at) {
      const index_t i = mine.rows[at];
      row.clear();
      for (index_t e = mine.offsets[at]; e < mine.offsets[at + 1]; ++e) {
        const auto from = static_cast<std::size_t>(e);
        row.push_back({numbers.everywhere(mine.columns[from]), mine.values.data() + from * block});
      }
      for (; next != from_others.end() && next->row == mine_.first + i; ++next)
        row.push_back({next->column, next->block});
      std::stable_sort(row.begin(), row.end(),
                       [](const Entry& a, const Entry& b) { return a.column < b.column; });
      found.clear();
      sums.clear();
      for (const Entry& entry : row) {
        if (found.empty() || found.back() != entry.column) {
          found.push_back(entry.column);
          sums.insert(sums.end(), block, V(0));
        }
        V* const sum = sums.data() + (found.size() - 1) * block;
        for (std::size_t e = 0; e < block; ++e) sum[e] += entry.block[e];
      }
      outside.clear();
      for (std::size_t e = 0; e < found.size(); ++e) {
        const offset_t column = found[e] - mine_.first;
        if (column < 0 || column >= mine_.count) {
          outside.push_back(e);
          continue;
        }
        made.inside.columns.push_back(static_cast<index_t>(column));
        made.inside.values.insert(made.inside.values.end(), sums.data() + e * block,
                                  sums.data() + (e + 1) * block);
      }
      made.inside.rows.push_back(i);
      made.inside.offsets.push_back(static_cast<index_t>(made.inside.columns.size()));
      made.others.add(
          i, static_cast<index_t>(outside.size()), k, k,
          [&](index_t e) { return found[outside[static_cast<std::size_t>(e)]]; },
          [&](index_t e) { return sums.data() + outside[static_cast<std::size_t>(e)] * block; });
    }
  }
  /// What C has in coarse rows that other ranks have from now on: those behind the first `kept` ones.
  Crossings<V> rows_of_others(const Blocks& C, const ColumnNumbers& row_numbers,
                              const ColumnNumbers& numbers, index_t kept) const {
    std::vector<index_t> list(static_cast<std::size_t>(C.rows - kept));
    std::iota(list.begin(), list.end(), kept);
    const SomeRows<V> rows = rows_of(exec_, C, std::move(list));
    Crossings<V> crossing =
        made_in_parts(rows.rows.size(), Crossings<V>(channel_.size(), C.block_values()),
                      [&](std::size_t begin, std::size_t end, Crossings<V>& made) {
                        for (std::size_t at = begin; at < end; ++at) {
                          const offset_t row = row_numbers.everywhere(rows.rows[at]);
                          const std::size_t owner = owner_in(gathered_, row);
                          for (index_t e = rows.offsets[at]; e < rows.offsets[at + 1]; ++e) {
                            const auto from = static_cast<std::size_t>(e);
                            made.add(owner, row, numbers.everywhere(rows.columns[from]),
                                     rows.values.data() + offset_t(e) * C.block_values());
                          }
                        }
                      });
    return crossing;
  }

  Exec exec_;
  const Level& fine_;
  const Blocks& own_;
  Channel& channel_;
  NodeHalo<V, Exec> halo_;
  Blocks A_;
  SetUpLevel<V, Space> set_up_;
  OwnProlongation prolongation_;
  std::vector<offset_t> firsts_;    ///< the first aggregate of each rank, and how many there are
  offset_t first_ = 0;              ///< of this one
  std::vector<offset_t> gathered_;  ///< the same of the coarse rows, in their order
  OwnRange mine_;                   ///< of these the own ones
};

}  // namespace cnc::detail
