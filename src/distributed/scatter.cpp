#include "distributed/among_ranks.hpp"
#include "distributed/cut.hpp"
#include "distributed/graph_partition.hpp"

#include <cnc/reorder.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>

namespace cnc {
namespace detail {
namespace {

/// Where segments of rows begin and the last one ends, by rows and by entries.
struct Segments {
  std::vector<offset_t> rows, entries;
  /// Whether they are of a matrix with rows in another order.
  offset_t is_renumbered = 0;
  offset_t kind = 0;  ///< by what they were cut: a Partition
};

/// Cuts between groups of `block_size` rows, where the entries before come nearest to an equal share.
template <class T>
Segments segments_of(const CsrMatrix<T>& A, int parts, int block_size) {
  Segments segments;
  const index_t* const offsets = A.row_offsets.data();
  for (const index_t row :
       even_segments(A.rows, block_size, parts, [&](index_t i) { return offsets[i]; })) {
    segments.rows.push_back(row);
    segments.entries.push_back(offsets[row]);
  }
  return segments;
}

/// A matrix as it is sent: segments of it, and the order of its rows where that is not the caller's.
template <class T>
struct InOrder {
  CsrMatrix<T> A;
  Vector<index_t> order;  ///< row i is the caller's order(i)
  Segments segments;
};

/// Part r becomes segment r, its rows in the order that they have.
template <class T>
InOrder<T> in_order_of_parts(const CsrMatrix<T>& A, std::span<const int> part_of_row, int parts) {
  InOrder<T> result;
  Segments& segments = result.segments;
  segments.rows.assign(static_cast<std::size_t>(parts) + 1, 0);
  for (const int part : part_of_row) ++segments.rows[static_cast<std::size_t>(part) + 1];
  for (std::size_t p = 1; p < segments.rows.size(); ++p) segments.rows[p] += segments.rows[p - 1];
  std::vector<offset_t> next(segments.rows.begin(), segments.rows.end() - 1);
  result.order = uninitialized<index_t>("cnc::order", part_of_row.size());
  for (index_t i = 0; i < A.rows; ++i) {
    const auto part = static_cast<std::size_t>(part_of_row[static_cast<std::size_t>(i)]);
    result.order(static_cast<std::size_t>(next[part]++)) = i;
  }
  segments.is_renumbered = !std::is_sorted(part_of_row.begin(), part_of_row.end());
  result.A = segments.is_renumbered ? permute(A, Vector<const index_t>(result.order)) : A;
  for (const offset_t row : segments.rows)
    segments.entries.push_back(result.A.row_offsets(static_cast<std::size_t>(row)));
  return result;
}

/// Errors   InvalidArgument (not a rank for each row).
void check_ranks(std::span<const int> rank_of_row, index_t rows, int ranks) {
  require(rank_of_row.size() == static_cast<std::size_t>(rows), [&] {
    return "PartitionedMatrix: rank_of_row has " + std::to_string(rank_of_row.size()) +
           " entries, the matrix " + std::to_string(rows) + " rows";
  });
  for (std::size_t i = 0; i < rank_of_row.size(); ++i)
    require(rank_of_row[i] >= 0 && rank_of_row[i] < ranks, [&] {
      return "PartitionedMatrix: row " + std::to_string(i) + " is for rank " +
             std::to_string(rank_of_row[i]) + "; there are " + std::to_string(ranks) + " ranks";
    });
}

/// On the first rank.
/// Errors   InvalidArgument (the matrix, or a list of ranks that does not fit it), and those of partition_graph.
template <class T>
InOrder<T> cut(const CsrMatrix<T>& A, const PartitionOptions& options, int parts) {
  require(A.rows == A.cols && A.block_size == 1, [&] {
    return "PartitionedMatrix: the matrix must be square and CSR; it is " + std::to_string(A.rows) +
           " x " + std::to_string(A.cols);
  });
  if (A.checked == Checked::no) A.validate();
  if (options.kind == Partition::given) {
    check_ranks(options.rank_of_row, A.rows, parts);
    auto result = in_order_of_parts(A, options.rank_of_row, parts);
    result.segments.kind = offset_t(Partition::given);
    return result;
  }
  if (options.kind == Partition::graph) {
    const std::vector<int> part_of_row =
        partition_graph(A.row_offsets.data(), A.columns.data(), A.rows, options.block_size, parts);
    if (!part_of_row.empty()) {
      auto result = in_order_of_parts(A, std::span(part_of_row), parts);
      result.segments.kind = offset_t(Partition::graph);
      return result;
    }
  }
  return {A, {}, segments_of(A, parts, options.block_size)};
}

/// Arrays on their way between the first rank and the others.
class Parcels {
 public:
  explicit Parcels(Channel& channel) : channel_(channel) {}

  template <class T>
  void send(const T* values, offset_t count, int to) {
    check_mpi(
        MPI_Isend(values, static_cast<int>(count), mpi_type<T>(), to, 3, channel_.comm(), &next()),
        "MPI_Isend");
  }
  template <class T>
  void receive(T* values, offset_t count, int from) {
    check_mpi(MPI_Irecv(values, static_cast<int>(count), mpi_type<T>(), from, 3, channel_.comm(),
                        &next()),
              "MPI_Irecv");
  }
  /// Where a failure interrupts it the handles of what the arrays are in are kept for good: MPI may still read and write there.
  template <class... Handles>
  void wait(const Handles&... handles) {
    try {
      channel_.wait(requests_.data(), static_cast<int>(requests_.size()));
    } catch (...) {
      (void)new std::tuple<Handles...>(handles...);
      throw;
    }
  }

 private:
  MPI_Request& next() { return requests_.emplace_back(MPI_REQUEST_NULL); }
  Channel& channel_;
  std::vector<MPI_Request> requests_;
};

/// The rows of all ranks, the same on all.
struct RowsOfRank {
  offset_t first = 0, rows = 0;
};

/// A segment as it arrives.
template <class T>
struct Segment {
  Vector<index_t> offsets, columns;
  Vector<T> values;
  Vector<index_t> numbers;  ///< of its rows in the caller's order, where they are renumbered
};

}  // namespace
}  // namespace detail

const char* to_string(Partition partition) {
  switch (partition) {
    case Partition::segments: return "segments";
    case Partition::graph: return "graph";
    default: return "given";
  }
}

template <class T>
PartitionedMatrix<T> PartitionedMatrix<T>::scattered(const Communicator& ranks,
                                                     const CsrMatrix<T>& A,
                                                     const PartitionOptions& options) {
  detail::Channel& channel = *ranks.channel();
  const int size = channel.size(), rank = channel.rank();
  PartitionedMatrix result;
  channel.together([&] {
    const auto parts = static_cast<std::size_t>(size);
    detail::InOrder<T> whole;
    detail::Segments& segments = whole.segments;
    channel.on_each([&] {
      require(options.block_size >= 1, "PartitionedMatrix: block_size must be at least 1");
      if (options.kind == Partition::graph) detail::require_metis();
      segments.rows.resize(parts + 1);
      segments.entries.resize(parts + 1);
      if (rank == 0) whole = detail::cut(A, options, size);
    });
    for (auto* numbers : {&segments.rows, &segments.entries}) {
      const offset_t* const first = channel.broadcast(numbers->data(), size + 1);
      std::copy(first, first + size + 1, numbers->begin());
    }
    segments.is_renumbered = *channel.broadcast(&segments.is_renumbered, 1);
    segments.kind = *channel.broadcast(&segments.kind, 1);
    const auto here = static_cast<std::size_t>(rank);
    const auto of = [&](const std::vector<offset_t>& bounds, std::size_t r) {
      return bounds[r + 1] - bounds[r];
    };
    detail::Segment<T> mine;
    channel.on_each([&] {
      const auto rows = static_cast<std::size_t>(of(segments.rows, here));
      const auto entries = static_cast<std::size_t>(of(segments.entries, here));
      mine.offsets = uninitialized<index_t>("cnc::row_offsets", rows + 1);
      mine.columns = uninitialized<index_t>("cnc::columns", entries);
      mine.values = uninitialized<T>("cnc::values", entries);
      if (segments.is_renumbered) mine.numbers = uninitialized<index_t>("cnc::numbers", rows);
    });
    detail::Parcels parcels(channel);
    const auto carry = [&](auto* from, auto& part, const std::vector<offset_t>& bounds, int more) {
      const auto count = [&](std::size_t r) { return of(bounds, r) + more; };
      if (rank != 0) return parcels.receive(part.data(), count(here), 0);
      std::copy_n(from, count(0), part.data());
      for (std::size_t r = 1; r < parts; ++r)
        parcels.send(from + bounds[r], count(r), static_cast<int>(r));
    };
    carry(whole.A.row_offsets.data(), mine.offsets, segments.rows, 1);
    carry(whole.A.columns.data(), mine.columns, segments.entries, 0);
    carry(whole.A.values.data(), mine.values, segments.entries, 0);
    if (segments.is_renumbered) carry(whole.order.data(), mine.numbers, segments.rows, 0);
    parcels.wait(mine, whole);
    for (offset_t i = 0; i <= of(segments.rows, here); ++i)
      mine.offsets(i) -= static_cast<index_t>(segments.entries[here]);
    result = of_segment(
        ranks, segments.rows[here],
        {static_cast<index_t>(of(segments.rows, here)), static_cast<index_t>(segments.rows.back()),
         1, mine.offsets, mine.columns, mine.values});
    result.halo_->numbers.assign(mine.numbers.data(), mine.numbers.data() + mine.numbers.extent(0));
    if (segments.is_renumbered) result.halo_->order = whole.order;
    result.halo_->partition = Partition(segments.kind);
  });
  return result;
}

template <class T>
Vector<T> PartitionedMatrix<T>::scatter(const Vector<const T>& whole) const {
  detail::Channel& channel = *halo().channel;
  const Vector<index_t>& order = halo().order;
  Vector<T> own;
  channel.together([&] {
    Vector<const T> in_order = whole;
    channel.on_each([&] {
      require(channel.rank() != 0 || whole.extent(0) == static_cast<std::size_t>(all_rows()),
              "PartitionedMatrix: a vector to scatter must have an entry for each row");
      own = uninitialized<T>("cnc::own", static_cast<std::size_t>(rows()));
      if (order.extent(0) == 0) return;
      const auto gathered = uninitialized<T>("cnc::in_order", whole.extent(0));
      for (std::size_t i = 0; i < order.extent(0); ++i)
        gathered(i) = whole(static_cast<std::size_t>(order(i)));
      in_order = gathered;
    });
    const detail::RowsOfRank mine{first_row(), rows()};
    const detail::RowsOfRank* const all = channel.gather_all(&mine, 1);
    detail::Parcels parcels(channel);
    if (channel.rank() != 0) parcels.receive(own.data(), rows(), 0);
    if (channel.rank() == 0) {
      std::copy_n(in_order.data() + mine.first, mine.rows, own.data());
      for (int r = 1; r < channel.size(); ++r)
        parcels.send(in_order.data() + all[r].first, all[r].rows, r);
    }
    parcels.wait(own, in_order);
  });
  return own;
}

template <class T>
Vector<T> PartitionedMatrix<T>::gather(const Vector<const T>& own) const {
  detail::Channel& channel = *halo().channel;
  const Vector<index_t>& order = halo().order;
  Vector<T> whole;
  channel.together([&] {
    Vector<T> in_order;
    channel.on_each([&] {
      require(own.extent(0) == static_cast<std::size_t>(rows()),
              "PartitionedMatrix: a vector to gather must have an entry for each own row");
      if (channel.rank() != 0) return;
      whole = in_order = uninitialized<T>("cnc::whole", static_cast<std::size_t>(all_rows()));
      if (order.extent(0) > 0) in_order = uninitialized<T>("cnc::in_order", whole.extent(0));
    });
    const detail::RowsOfRank mine{first_row(), rows()};
    const detail::RowsOfRank* const all = channel.gather_all(&mine, 1);
    detail::Parcels parcels(channel);
    if (channel.rank() != 0) parcels.send(own.data(), rows(), 0);
    if (channel.rank() == 0) {
      std::copy_n(own.data(), mine.rows, in_order.data() + mine.first);
      for (int r = 1; r < channel.size(); ++r)
        parcels.receive(in_order.data() + all[r].first, all[r].rows, r);
    }
    parcels.wait(own, in_order);
    for (std::size_t i = 0; i < order.extent(0); ++i)
      whole(static_cast<std::size_t>(order(i))) = in_order(i);
  });
  return whole;
}

template PartitionedMatrix<float> PartitionedMatrix<float>::scattered(const Communicator&,
                                                                      const CsrMatrix<float>&,
                                                                      const PartitionOptions&);
template PartitionedMatrix<double> PartitionedMatrix<double>::scattered(const Communicator&,
                                                                        const CsrMatrix<double>&,
                                                                        const PartitionOptions&);
template Vector<float> PartitionedMatrix<float>::scatter(const Vector<const float>&) const;
template Vector<double> PartitionedMatrix<double>::scatter(const Vector<const double>&) const;
template Vector<float> PartitionedMatrix<float>::gather(const Vector<const float>&) const;
template Vector<double> PartitionedMatrix<double>::gather(const Vector<const double>&) const;

}  // namespace cnc
