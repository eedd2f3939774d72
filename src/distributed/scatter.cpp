#include "distributed/among_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace cnc {
namespace detail {
namespace {

/// Where segments of rows begin and the last one ends, by rows and by entries.
struct Segments {
  std::vector<offset_t> rows, entries;
};

/// Cuts between groups of `block_size` rows, where the entries before come nearest to an equal share.
template <class T>
Segments segments_of(const CsrMatrix<T>& A, int parts, int block_size) {
  Segments segments;
  const index_t* const offsets = A.row_offsets.data();
  const index_t groups = ceil_div(A.rows, block_size);
  const auto row_of = [&](index_t group) {
    return std::min(offset_t(group) * block_size, offset_t(A.rows));
  };
  index_t group = 0;
  for (int p = 0; p <= parts; ++p) {
    const double wanted = double(offsets[A.rows]) * p / parts;
    const auto distance = [&](index_t g) { return std::abs(offsets[row_of(g)] - wanted); };
    if (p == parts) group = groups;
    while (group < groups && distance(group + 1) < distance(group)) ++group;
    segments.rows.push_back(row_of(group));
    segments.entries.push_back(offsets[row_of(group)]);
  }
  return segments;
}

/// Arrays on their way between the first rank and the others; whoever owns them must see to it that they live on where a failure interrupts them.
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
  void wait() { channel_.wait(requests_.data(), static_cast<int>(requests_.size())); }

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
  std::vector<index_t> offsets, columns;
  std::vector<T> values;
};

}  // namespace
}  // namespace detail

template <class T>
PartitionedMatrix<T> PartitionedMatrix<T>::scattered(const Communicator& ranks,
                                                     const CsrMatrix<T>& A, int block_size) {
  detail::Channel& channel = *ranks.channel();
  const int size = channel.size(), rank = channel.rank();
  PartitionedMatrix result;
  channel.together([&] {
    const auto parts = static_cast<std::size_t>(size);
    detail::Segments segments;
    channel.on_each([&] {
      require(block_size >= 1, "PartitionedMatrix: block_size must be at least 1");
      segments.rows.resize(parts + 1);
      segments.entries.resize(parts + 1);
      if (rank != 0) return;
      require(A.rows == A.cols && A.block_size == 1, [&] {
        return "PartitionedMatrix: the matrix must be square and CSR; it is " +
               std::to_string(A.rows) + " x " + std::to_string(A.cols);
      });
      if (A.checked == Checked::no) A.validate();
      segments = detail::segments_of(A, size, block_size);
    });
    for (auto* numbers : {&segments.rows, &segments.entries}) {
      const offset_t* const first = channel.broadcast(numbers->data(), size + 1);
      std::copy(first, first + size + 1, numbers->begin());
    }
    const auto here = static_cast<std::size_t>(rank);
    const auto of = [&](const std::vector<offset_t>& bounds, std::size_t r) {
      return bounds[r + 1] - bounds[r];
    };
    auto mine = std::make_unique<detail::Segment<T>>();
    channel.on_each([&] {
      mine->offsets.resize(static_cast<std::size_t>(of(segments.rows, here)) + 1);
      mine->columns.resize(static_cast<std::size_t>(of(segments.entries, here)));
      mine->values.resize(mine->columns.size());
    });
    detail::Parcels parcels(channel);
    const auto carry = [&](auto* whole, auto& part, const std::vector<offset_t>& bounds, int more) {
      const auto count = [&](std::size_t r) { return of(bounds, r) + more; };
      if (rank != 0) return parcels.receive(part.data(), count(here), 0);
      std::copy_n(whole, count(0), part.begin());
      for (std::size_t r = 1; r < parts; ++r)
        parcels.send(whole + bounds[r], count(r), static_cast<int>(r));
    };
    carry(A.row_offsets.data(), mine->offsets, segments.rows, 1);
    carry(A.columns.data(), mine->columns, segments.entries, 0);
    carry(A.values.data(), mine->values, segments.entries, 0);
    try {
      parcels.wait();
    } catch (...) {
      (void)mine.release();  // MPI may still write there
      throw;
    }
    std::vector<offset_t> offsets(mine->offsets.begin(), mine->offsets.end());
    for (offset_t& offset : offsets) offset -= segments.entries[here];
    const std::vector<offset_t> columns(mine->columns.begin(), mine->columns.end());
    result = PartitionedMatrix(ranks, {segments.rows[here], offsets, columns, mine->values});
  });
  return result;
}

template <class T>
Vector<T> PartitionedMatrix<T>::scatter(const Vector<const T>& whole) const {
  detail::Channel& channel = *halo().channel;
  Vector<T> own;
  channel.together([&] {
    channel.on_each([&] {
      require(channel.rank() != 0 || whole.extent(0) == static_cast<std::size_t>(all_rows()),
              "PartitionedMatrix: a vector to scatter must have an entry for each row");
      own = uninitialized<T>("cnc::own", static_cast<std::size_t>(rows()));
    });
    const detail::RowsOfRank mine{first_row(), rows()};
    const detail::RowsOfRank* const all = channel.gather_all(&mine, 1);
    detail::Parcels parcels(channel);
    if (channel.rank() != 0) parcels.receive(own.data(), rows(), 0);
    if (channel.rank() == 0) {
      std::copy_n(whole.data() + mine.first, mine.rows, own.data());
      for (int r = 1; r < channel.size(); ++r)
        parcels.send(whole.data() + all[r].first, all[r].rows, r);
    }
    parcels.wait();
  });
  return own;
}

template <class T>
Vector<T> PartitionedMatrix<T>::gather(const Vector<const T>& own) const {
  detail::Channel& channel = *halo().channel;
  Vector<T> whole;
  channel.together([&] {
    channel.on_each([&] {
      require(own.extent(0) == static_cast<std::size_t>(rows()),
              "PartitionedMatrix: a vector to gather must have an entry for each own row");
      if (channel.rank() == 0)
        whole = uninitialized<T>("cnc::whole", static_cast<std::size_t>(all_rows()));
    });
    const detail::RowsOfRank mine{first_row(), rows()};
    const detail::RowsOfRank* const all = channel.gather_all(&mine, 1);
    detail::Parcels parcels(channel);
    if (channel.rank() != 0) parcels.send(own.data(), rows(), 0);
    if (channel.rank() == 0) {
      std::copy_n(own.data(), mine.rows, whole.data() + mine.first);
      for (int r = 1; r < channel.size(); ++r)
        parcels.receive(whole.data() + all[r].first, all[r].rows, r);
    }
    parcels.wait();
  });
  return whole;
}

template PartitionedMatrix<float> PartitionedMatrix<float>::scattered(const Communicator&,
                                                                      const CsrMatrix<float>&, int);
template PartitionedMatrix<double> PartitionedMatrix<double>::scattered(const Communicator&,
                                                                        const CsrMatrix<double>&,
                                                                        int);
template Vector<float> PartitionedMatrix<float>::scatter(const Vector<const float>&) const;
template Vector<double> PartitionedMatrix<double>::scatter(const Vector<const double>&) const;
template Vector<float> PartitionedMatrix<float>::gather(const Vector<const float>&) const;
template Vector<double> PartitionedMatrix<double>::gather(const Vector<const double>&) const;

}  // namespace cnc
