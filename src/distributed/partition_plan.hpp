#pragma once

#include "distributed/channel.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Who gets what of a vector that lies on several ranks. What goes to a neighbour, and what comes from him, are neighbouring
/// places in buffers that hold it for all neighbours, in the order of ranks.
struct PartitionPlan {
  struct Neighbour {
    int rank = 0;
    index_t sent = 0, received = 0;  ///< entries
  };
  std::vector<Neighbour> neighbours;
  std::vector<index_t> sent_rows;  ///< own rows, for one neighbour after the other
  index_t halo = 0;                ///< entries received
};

/// Sums that are added to some rows of a vector: in CSR.
template <class T>
struct SparseRows {
  std::vector<index_t> rows;     ///< to which they are added, ascending
  std::vector<index_t> offsets;  ///< [sums + 1]
  std::vector<index_t> columns;  ///< places in the vector that is summed over
  std::vector<T> values;
};

/// What a rank has of a matrix besides the block of its own rows and columns.
template <class T>
struct Halo {
  std::shared_ptr<Channel> channel;
  offset_t first_row = 0, all_rows = 0;
  index_t columns = 0;  ///< own ones: the rows, where the matrix is square
  SparseRows<T> rows;   ///< the entries in columns of other ranks, in those own rows that have some
  PartitionPlan plan;
  PartitionFacts facts;
  Partition partition = Partition::given;  ///< by what the rows were dealt out
  // Of a matrix that was renumbered when it was scattered or redistributed, else empty:
  std::vector<offset_t> numbers;  ///< of the own rows in the whole matrix
  Vector<index_t> order;  ///< on the first rank, of all rows: those of rank 0, of rank 1, ...

  /// The number that the caller knows an own row by.
  offset_t number_of(index_t row) const {
    return numbers.empty() ? first_row + row : numbers[static_cast<std::size_t>(row)];
  }
  bool has_pattern_of(const Halo& other) const {
    return rows.rows == other.rows.rows && rows.offsets == other.rows.offsets &&
           rows.columns == other.rows.columns && plan.sent_rows == other.plan.sent_rows &&
           numbers == other.numbers;
  }
};

/// With other values, which may be of another type.
template <class T, class S>
Halo<T> with_values(const Halo<S>& halo, std::vector<T> values) {
  return {halo.channel,
          halo.first_row,
          halo.all_rows,
          halo.columns,
          {halo.rows.rows, halo.rows.offsets, halo.rows.columns, std::move(values)},
          halo.plan,
          halo.facts,
          halo.partition,
          halo.numbers,
          halo.order};
}

/// Consecutive rows, or columns, of a rank.
struct OwnRange {
  offset_t first = 0;
  index_t count = 0;
};
/// What a rank has of a matrix besides a block of own rows and columns that has so many entries: its rows in CSR, their places yet to
/// be given to the columns, whose numbers are those of the whole matrix. Collective.
template <class T>
std::shared_ptr<Halo<T>> halo_of(const std::shared_ptr<Channel>& channel, OwnRange rows,
                                 OwnRange columns, offset_t entries_of_block, SparseRows<T> others,
                                 const std::vector<offset_t>& numbers);

/// How every rank gets the whole of vectors of which each has a part: the entries of others are added to it.
template <class T>
std::shared_ptr<Halo<T>> halo_of_whole(const std::shared_ptr<Channel>& channel,
                                       const std::vector<OwnRange>& parts) {
  auto halo = std::make_shared<Halo<T>>();
  const auto here = static_cast<std::size_t>(channel->rank());
  halo->channel = channel;
  halo->first_row = parts[here].first;
  halo->columns = parts[here].count;
  halo->rows.offsets = {0};
  struct Arriving {
    OwnRange part;
    index_t place;
  };
  std::vector<Arriving> arriving;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const OwnRange& part = parts[r];
    halo->all_rows += part.count;
    if (r == here || (part.count == 0 && parts[here].count == 0)) continue;
    halo->plan.neighbours.push_back({static_cast<int>(r), parts[here].count, part.count});
    for (index_t i = 0; i < parts[here].count; ++i) halo->plan.sent_rows.push_back(i);
    arriving.push_back({part, halo->plan.halo});
    halo->plan.halo += part.count;
  }
  std::sort(arriving.begin(), arriving.end(),
            [](const Arriving& a, const Arriving& b) { return a.part.first < b.part.first; });
  for (const auto& [part, place] : arriving)
    for (index_t i = 0; i < part.count; ++i) {
      halo->rows.rows.push_back(static_cast<index_t>(part.first) + i);
      halo->rows.columns.push_back(place + i);
      halo->rows.values.push_back(T(1));
      halo->rows.offsets.push_back(static_cast<index_t>(halo->rows.rows.size()));
    }
  halo->facts.entries = halo->plan.halo;
  return halo;
}

struct Move;

/// What a PartitionedMatrix keeps to itself.
struct PartitionAccess {
  template <class T>
  static const std::shared_ptr<Halo<T>>& halo(const PartitionedMatrix<T>& A) {
    return A.halo_;
  }
  /// How vectors get to the rows of A that have them where the rows of another matrix are; null: they have been there.
  template <class T>
  static const std::shared_ptr<const Move>& move(const PartitionedMatrix<T>& A) {
    return A.move_;
  }
  template <class T>
  static void set_move(PartitionedMatrix<T>& A, std::shared_ptr<const Move> move) {
    A.move_ = std::move(move);
  }
  /// The rows and pattern of A with other values, of the block and of the entries beside it, on the same ranks of another communicator.
  template <class T, class S>
  static PartitionedMatrix<T> with_values(const PartitionedMatrix<S>& A, const Communicator& ranks,
                                          const Vector<T>& of_block, std::vector<T> of_halo);
};

}  // namespace cnc::detail
