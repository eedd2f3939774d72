#include "distributed/agreement.hpp"
#include "distributed/ascending_numbers.hpp"
#include "distributed/cut_by_first.hpp"
#include "distributed/move.hpp"
#include "parallel.hpp"

#include <cnc/reorder.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cnc {
namespace detail {
namespace {

/// What ranks give with their rows to those who get them, as add(to, row) says: from rank 0, from rank 1, ... Collective.
template <class U, class Add>
std::vector<U> sent_with_rows(Channel& channel, const std::vector<int>& rank_of_row,
                              const Add& add) {
  auto lists = lists_for<U>(channel);
  channel.on_each([&] {
    for (std::size_t i = 0; i < rank_of_row.size(); ++i)
      add(lists[static_cast<std::size_t>(rank_of_row[i])], static_cast<index_t>(i));
  });
  lists = channel.exchange_lists(lists);
  std::vector<U> all;
  channel.on_each([&] {
    for (auto& of_rank : lists) append(all, std::exchange(of_rank, {}));
  });
  return all;
}

/// The values of rows where they come, rank after rank and row after row. Collective.
template <class T>
std::vector<T> sent_values(const WholeRows<T>& rows, const std::vector<int>& rank_of_row) {
  return sent_with_rows<T>(*rows.halo().channel, rank_of_row, [&](auto& to, index_t i) {
    rows.for_each_entry(i, [&](offset_t, T value) { to.push_back(value); });
  });
}

/// The rows that a rank gets, without their values: from rank 0, from rank 1, ..., those of one in the order that he had.
struct ArrivedRows {
  std::vector<offset_t> numbers;    ///< of the matrix that they come from
  std::vector<offset_t> originals;  ///< that a caller knows them by
  std::vector<offset_t> offsets = {0}, columns;

  /// Collective.
  /// Errors   InvalidArgument (more entries for a rank than it can have).
  template <class T>
  ArrivedRows(const WholeRows<T>& rows, const std::vector<int>& rank_of_row) {
    const Halo<T>& halo = rows.halo();
    Channel& channel = *halo.channel;
    const auto sent = [&]<class U>(std::vector<U>& here, const auto& add) {
      here = sent_with_rows<U>(channel, rank_of_row, add);
    };
    sent(numbers, [&](auto& to, index_t i) { to.push_back(halo.first_row + i); });
    if (channel.anywhere(!halo.numbers.empty()))
      sent(originals, [&](auto& to, index_t i) { to.push_back(halo.number_of(i)); });
    else
      originals = numbers;
    std::vector<index_t> lengths;
    sent(lengths, [&](auto& to, index_t i) { to.push_back(rows.length(i)); });
    channel.on_each([&] {
      for (const index_t length : lengths) offsets.push_back(offsets.back() + length);
      require(offsets.back() <= 2147483647,
              "PartitionedMatrix: a rank takes 2^31 - 1 entries at most");
    });
    sent(columns, [&](auto& to, index_t i) {
      rows.for_each_entry(i, [&](offset_t column, T) { to.push_back(column); });
    });
  }

  /// The places of rows in the order of their numbers.
  std::vector<index_t> by_numbers() const {
    std::vector<index_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
      return numbers[static_cast<std::size_t>(a)] < numbers[static_cast<std::size_t>(b)];
    });
    return order;
  }

  /// The pattern of these rows in the columns of the same numbers, all values ones; in the order of by_numbers.
  CsrMatrix<float> own_pattern(const std::vector<index_t>& order) const {
    const AscendingNumbers own{std::vector<offset_t>(numbers)};
    const auto row_offsets = uninitialized<index_t>("cnc::row_offsets", order.size() + 1);
    std::vector<index_t> own_columns;
    row_offsets(0) = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto row = static_cast<std::size_t>(order[i]);
      for (auto k = static_cast<std::size_t>(offsets[row]);
           k < static_cast<std::size_t>(offsets[row + 1]); ++k)
        if (own.has(columns[k])) own_columns.push_back(own.place_of(columns[k]));
      row_offsets(i + 1) = static_cast<index_t>(own_columns.size());
    }
    const auto ones = uninitialized<float>("cnc::values", own_columns.size());
    Kokkos::deep_copy(ones, 1.0f);
    const auto n = static_cast<index_t>(order.size());
    return {n, n, 1, row_offsets, copied_there<HostSpace>("cnc::columns", own_columns), ones};
  }
};

/// The matrix that rows make where they have come to, in an order of their places; its values are the places of the entries, which
/// double holds. Collective.
template <class T>
PartitionedMatrix<double> places_of(const PartitionedMatrix<T>& from, const ArrivedRows& rows,
                                    const std::vector<index_t>& order, Partition kind) {
  const Halo<T>& before = *PartitionAccess::halo(from);
  std::vector<offset_t> numbers, originals, offsets = {0}, columns;
  std::vector<double> places;
  before.channel->on_each([&] {
    columns.reserve(rows.columns.size());
    places.reserve(rows.columns.size());
    for (const index_t place : order) {
      const auto row = static_cast<std::size_t>(place);
      numbers.push_back(rows.numbers[row]);
      originals.push_back(rows.originals[row]);
      for (offset_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
        columns.push_back(rows.columns[static_cast<std::size_t>(k)]);
        places.push_back(static_cast<double>(k));
      }
      offsets.push_back(static_cast<offset_t>(columns.size()));
    }
  });
  PartitionedMatrix<double> A(
      from.ranks(),
      {.row_offsets = offsets, .columns = columns, .values = places, .numbers = numbers});
  Halo<double>& halo = *PartitionAccess::halo(A);
  halo.partition = kind;
  halo.numbers = std::move(originals);
  if (before.order.extent(0) > 0)
    for (std::size_t i = 0; i < halo.order.extent(0); ++i)
      halo.order(i) = before.order(static_cast<std::size_t>(halo.order(i)));
  return A;
}

/// The ways of vectors, once it is known who gets which rows, and in which order of their places. Collective.
void plan_ways(Channel& channel, const std::vector<index_t>& order, Move& move) {
  const auto ranks = static_cast<std::size_t>(channel.size());
  const auto here = static_cast<std::size_t>(channel.rank());
  auto leaving = lists_for<index_t>(channel);  // own rows, by who gets them
  for (std::size_t i = 0; i < move.rank_of_row.size(); ++i)
    leaving[static_cast<std::size_t>(move.rank_of_row[i])].push_back(static_cast<index_t>(i));
  std::vector<index_t> counts;
  for (const auto& rows : leaving) counts.push_back(static_cast<index_t>(rows.size()));
  const index_t* const all = channel.gather_all(counts.data(), channel.size());
  auto arrived = lists_for<index_t>(channel);  // where rows are now, by who had them
  std::vector<index_t> row_at(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    row_at[static_cast<std::size_t>(order[i])] = static_cast<index_t>(i);
  auto next = row_at.begin();
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto end = next + all[r * ranks + here];
    arrived[r].assign(next, end);
    next = end;
  }
  // from[r]: rows that go to rank r; to[r]: rows that come from there.
  const auto way = [&](const RankLists<index_t>& from, const RankLists<index_t>& to,
                       std::size_t rows) {
    MoveWay made;
    made.places.resize(rows);
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t k = 0; k < to[r].size(); ++k)
        made.places[static_cast<std::size_t>(to[r][k])] =
            r == here ? from[r][k] : -1 - made.plan.halo - static_cast<index_t>(k);
      if (r == here || (from[r].empty() && to[r].empty())) continue;
      made.plan.neighbours.push_back({static_cast<int>(r), static_cast<index_t>(from[r].size()),
                                      static_cast<index_t>(to[r].size())});
      append(made.plan.sent_rows, from[r]);
      made.plan.halo += static_cast<index_t>(to[r].size());
    }
    return made;
  };
  move.there = way(leaving, arrived, order.size());
  move.back = way(arrived, leaving, move.rank_of_row.size());
}

/// The values that came, in the pattern of `to`.
template <class T, class S>
PartitionedMatrix<T> filled(const PartitionedMatrix<S>& to, const Move& move,
                            const Communicator& ranks, const std::vector<T>& came) {
  Channel& channel = *ranks.channel();
  Vector<T> of_block;
  std::vector<T> of_halo(move.places_in_halo.size());
  channel.on_each([&] {
    const std::size_t entries = move.places_in_block.extent(0);
    of_block = uninitialized<T>("cnc::values", entries);
    parallel_for(entries, [&](std::size_t k) {
      of_block(k) = came[static_cast<std::size_t>(move.places_in_block(k))];
    });
    for (std::size_t k = 0; k < of_halo.size(); ++k)
      of_halo[k] = came[static_cast<std::size_t>(move.places_in_halo[k])];
  });
  return PartitionAccess::with_values<T>(to, ranks, of_block, std::move(of_halo));
}

}  // namespace

template <class T>
PartitionedMatrix<T> moved(const PartitionedMatrix<T>& A, const PartitionOptions& options,
                           Reordering within, const RowsTogether& rows_together) {
  Channel& channel = *PartitionAccess::halo(A)->channel;
  Agreement agreement("PartitionedMatrix");
  agreement.add("the kind of partition", options.kind);
  agreement.add("block_size", double(options.block_size));
  agreement.add("reordering", within);
  agreement.require_of_all(channel);
  require(options.block_size >= 1, "PartitionedMatrix: block_size must be at least 1");
  const WholeRows<T> rows(A);
  NewRanks cut;
  if (options.kind == Partition::given)
    channel.on_each([&] { cut = given_ranks(rows.halo(), options.rank_of_row); });
  else
    cut = cut_by_first(rows, options);
  const auto move = std::make_shared<Move>();
  move->rank_of_row = std::move(cut.rank_of_row);
  PartitionedMatrix<double> places;
  {
    const ArrivedRows arrived(rows, move->rank_of_row);
    std::vector<index_t> order;
    channel.on_each([&] {
      order = arrived.by_numbers();
      if (within == Reordering::none) return;
      const CsrMatrix<float> pattern = arrived.own_pattern(order);
      const Vector<index_t> p = rcm_ordering(pattern, rows_together(pattern));
      std::vector<index_t> reordered;
      for (std::size_t i = 0; i < p.extent(0); ++i)
        reordered.push_back(order[static_cast<std::size_t>(p(i))]);
      order = std::move(reordered);
    });
    plan_ways(channel, order, *move);
    places = places_of(A, arrived, order, cut.kind);
  }
  channel.on_each([&] {
    const Vector<double>& in_block = places.own_block().values;
    move->places_in_block = uninitialized<index_t>("cnc::places", in_block.extent(0));
    parallel_for(in_block.extent(0), [&](std::size_t k) {
      move->places_in_block(k) = static_cast<index_t>(in_block(k));
    });
    for (const double place : PartitionAccess::halo(places)->rows.values)
      move->places_in_halo.push_back(static_cast<index_t>(place));
  });
  auto result = filled<T>(places, *move, A.ranks(), sent_values(rows, move->rank_of_row));
  PartitionAccess::set_move(result, move);
  return result;
}

template <class T>
PartitionedMatrix<T> moved_values(const PartitionedMatrix<T>& A, const PartitionedMatrix<T>& to,
                                  const Move& move) {
  auto result = filled<T>(to, move, A.ranks(), sent_values(WholeRows<T>(A), move.rank_of_row));
  PartitionAccess::set_move(result, PartitionAccess::move(to));
  return result;
}

template PartitionedMatrix<float> moved(const PartitionedMatrix<float>&, const PartitionOptions&,
                                        Reordering, const RowsTogether&);
template PartitionedMatrix<double> moved(const PartitionedMatrix<double>&, const PartitionOptions&,
                                         Reordering, const RowsTogether&);
template PartitionedMatrix<float> moved_values(const PartitionedMatrix<float>&,
                                               const PartitionedMatrix<float>&, const Move&);
template PartitionedMatrix<double> moved_values(const PartitionedMatrix<double>&,
                                                const PartitionedMatrix<double>&, const Move&);

}  // namespace detail

template <class T>
PartitionedMatrix<T> PartitionedMatrix<T>::repartitioned(const PartitionOptions& options,
                                                         Reordering within) const {
  PartitionedMatrix result;
  halo().channel->together([&] {
    result = detail::moved(*this, options, within,
                           [&](const CsrMatrix<float>&) { return options.block_size; });
  });
  result.move_ = nullptr;  // its vectors are those of the rows as they are now
  return result;
}
template PartitionedMatrix<float> PartitionedMatrix<float>::repartitioned(const PartitionOptions&,
                                                                          Reordering) const;
template PartitionedMatrix<double> PartitionedMatrix<double>::repartitioned(const PartitionOptions&,
                                                                            Reordering) const;

}  // namespace cnc
