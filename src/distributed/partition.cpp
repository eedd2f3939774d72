#include "distributed/among_ranks.hpp"
#include "distributed/ascending_numbers.hpp"
#include "distributed/number_directory.hpp"
#include "parallel.hpp"

#include <cnc/spmv.hpp>

#include <algorithm>
#include <numeric>

namespace cnc {
namespace detail {
namespace {

/// Which rows a rank has.
struct Range {
  offset_t first = 0, rows = 0;
  std::int32_t scalar_bytes = 0, rank = 0;
  offset_t end() const { return first + rows; }
};

/// The ranges of all ranks that have rows, ascending, and how many rows there are.
struct Ranges {
  std::vector<Range> ascending;
  offset_t all_rows = 0;

  const Range& owner(offset_t row) const {
    return *std::prev(
        std::upper_bound(ascending.begin(), ascending.end(), row,
                         [](offset_t wanted, const Range& r) { return wanted < r.first; }));
  }
};

std::string text_of(const Range& r) { return "rank " + std::to_string(r.rank); }

/// The same on all ranks, and so are its errors.
Ranges ranges_of_all(Channel& channel, const Range& mine) {
  const Range* const all = channel.gather_all(&mine, 1);
  Ranges result;
  for (int r = 0; r < channel.size(); ++r) {
    require(all[r].scalar_bytes == all[0].scalar_bytes, [&] {
      return "PartitionedMatrix: rank " + std::to_string(r) + " has values of " +
             std::to_string(all[r].scalar_bytes) + " bytes, rank 0 of " +
             std::to_string(all[0].scalar_bytes);
    });
    require(all[r].first >= 0, [&] {
      return "PartitionedMatrix: the first row of " + text_of(all[r]) + " is negative";
    });
    if (all[r].rows > 0) result.ascending.push_back(all[r]);
  }
  std::sort(result.ascending.begin(), result.ascending.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  const Range* before = nullptr;
  for (const Range& r : result.ascending) {
    require(r.first <= result.all_rows, [&] {
      return "PartitionedMatrix: no rank has row " + std::to_string(result.all_rows);
    });
    require(r.first == result.all_rows, [&] {
      return "PartitionedMatrix: row " + std::to_string(r.first) + " is one of " +
             text_of(*before) + " and of " + text_of(r);
    });
    result.all_rows = r.end();
    before = &r;
  }
  return result;
}

/// OwnRows of a segment, with the indices of a matrix that one process holds.
template <class T>
struct SegmentRows {
  offset_t first_row;
  std::span<const index_t> row_offsets, columns;
  std::span<const T> values;
  std::span<const offset_t> numbers = {};
};

template <class Rows>
index_t rows_of(const Rows& given) {
  return static_cast<index_t>(given.row_offsets.empty() ? 0 : given.row_offsets.size() - 1);
}

/// Errors   InvalidArgument (arrays that do not fit together, too many rows or entries for one rank).
template <class T>
void check_arrays(const OwnRows<T>& rows) {
  const auto offsets = rows.row_offsets;
  require(offsets.size() <= 2147483647u && rows.columns.size() <= 2147483647u,
          "PartitionedMatrix: a rank takes 2^31 - 2 rows and 2^31 - 1 entries at most");
  require(rows.columns.size() == rows.values.size(),
          "PartitionedMatrix: as many values as columns are needed");
  require(rows.numbers.empty() || rows.numbers.size() + 1 == offsets.size(),
          "PartitionedMatrix: as many numbers as rows are needed");
  if (offsets.empty())
    return require(rows.columns.empty(), "PartitionedMatrix: entries without row_offsets");
  require(offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
              offsets.back() == static_cast<offset_t>(rows.columns.size()),
          "PartitionedMatrix: row_offsets must ascend from 0 to the number of columns");
}

/// An entry of an own row on its way to the block or the halo.
template <class T>
struct Entry {
  offset_t column;
  T value;
};

/// The own rows taken apart: the block, and what is in columns of others, with the numbers of all columns.
template <class T>
struct Parts {
  Vector<index_t> offsets, columns;
  Vector<T> values;
  SparseRows<T> halo;
  std::vector<offset_t> halo_columns;  ///< of its entries
};

/// Errors   InvalidArgument (a column outside, or twice in a row).
template <class T, class Rows>
Parts<T> take_apart(const Rows& given, index_t rows, const Range& columns, offset_t all_columns) {
  const offset_t first = columns.first, end = columns.end();
  const auto is_own = [&](offset_t column) { return column >= first && column < end; };
  Parts<T> parts;
  const auto own =
      static_cast<std::size_t>(std::count_if(given.columns.begin(), given.columns.end(), is_own));
  parts.offsets = uninitialized<index_t>("cnc::row_offsets", static_cast<std::size_t>(rows) + 1);
  parts.columns = uninitialized<index_t>("cnc::columns", own);
  parts.values = uninitialized<T>("cnc::values", own);
  const std::size_t others = given.columns.size() - own;
  parts.halo_columns.reserve(others);
  parts.halo.values.reserve(others);
  parts.halo.offsets.push_back(0);

  std::vector<Entry<T>> row;
  std::size_t at = 0;
  parts.offsets(0) = 0;
  for (index_t i = 0; i < rows; ++i) {
    row.clear();
    for (offset_t k = given.row_offsets[static_cast<std::size_t>(i)];
         k < given.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
      row.push_back(
          {given.columns[static_cast<std::size_t>(k)], given.values[static_cast<std::size_t>(k)]});
    std::sort(row.begin(), row.end(),
              [](const Entry<T>& a, const Entry<T>& b) { return a.column < b.column; });
    const auto complain = [&](offset_t column, const char* what) {
      if (!given.numbers.empty())  // columns have other numbers than the caller's
        return "PartitionedMatrix: a column of row " +
               std::to_string(given.numbers[static_cast<std::size_t>(i)]) + " " + what;
      return "PartitionedMatrix: row " + std::to_string(given.first_row + i) + ", column " +
             std::to_string(column) + " " + what;
    };
    for (std::size_t k = 0; k < row.size(); ++k) {
      const offset_t column = row[k].column;
      require(column >= 0 && column < all_columns, [&] {
        return complain(column,
                        ("is outside the " + std::to_string(all_columns) + " rows").c_str());
      });
      require(k == 0 || row[k - 1].column != column,
              [&] { return complain(column, "comes twice"); });
      if (is_own(column)) {
        parts.columns(at) = static_cast<index_t>(column - first);
        parts.values(at++) = row[k].value;
      } else {
        parts.halo_columns.push_back(column);
        parts.halo.values.push_back(row[k].value);
      }
    }
    parts.offsets(static_cast<std::size_t>(i) + 1) = static_cast<index_t>(at);
    const auto so_far = static_cast<index_t>(parts.halo.values.size());
    if (so_far == parts.halo.offsets.back()) continue;
    parts.halo.rows.push_back(i);
    parts.halo.offsets.push_back(so_far);
  }
  return parts;
}

/// Numbers the columns of others by owner and number, tells the owners which they are, and learns who wants own rows.
PartitionPlan plan_halo(Channel& channel, const Ranges& ranges, const Range& mine,
                        const std::vector<offset_t>& columns, std::vector<index_t>& places) {
  const AscendingNumbers wanted{std::vector<offset_t>(columns)};
  std::vector<std::vector<offset_t>> of_ranks(static_cast<std::size_t>(channel.size()));
  std::vector<std::size_t> owners;
  for (const offset_t column : wanted.list()) {
    owners.push_back(static_cast<std::size_t>(ranges.owner(column).rank));
    of_ranks[owners.back()].push_back(column);
  }
  // Ranks need not be in the order of their rows.
  std::vector<index_t> next(of_ranks.size(), 0), place_of;
  for (std::size_t r = 1; r < of_ranks.size(); ++r)
    next[r] = next[r - 1] + static_cast<index_t>(of_ranks[r - 1].size());
  for (const std::size_t owner : owners) place_of.push_back(next[owner]++);
  places.resize(columns.size());
  parallel_for(columns.size(), [&](std::size_t k) {
    places[k] = place_of[static_cast<std::size_t>(wanted.place_of(columns[k]))];
  });

  PartitionPlan plan;
  plan.halo = static_cast<index_t>(wanted.size());
  const auto given = channel.exchange_lists(of_ranks);
  for (int r = 0; r < channel.size(); ++r) {
    const auto& to = given[static_cast<std::size_t>(r)];
    const auto& from = of_ranks[static_cast<std::size_t>(r)];
    if (to.empty() && from.empty()) continue;
    plan.neighbours.push_back(
        {r, static_cast<index_t>(to.size()), static_cast<index_t>(from.size())});
    for (const offset_t row : to) plan.sent_rows.push_back(static_cast<index_t>(row - mine.first));
  }
  return plan;
}

template <class T>
Range range_of(const Channel& channel, OwnRange segment) {
  return {segment.first, segment.count, int(sizeof(T)), channel.rank()};
}

/// The halo of own rows of all_rows, `columns` being this rank's among those of all.
template <class T>
std::shared_ptr<Halo<T>> planned_halo(const std::shared_ptr<Channel>& channel, const Range& rows,
                                      offset_t all_rows, const Range& columns,
                                      const Ranges& all_columns, offset_t entries_of_block,
                                      SparseRows<T> others, const std::vector<offset_t>& numbers) {
  PartitionPlan plan = plan_halo(*channel, all_columns, columns, numbers, others.columns);
  const auto entries = static_cast<offset_t>(numbers.size());
  const PartitionFacts facts{static_cast<index_t>(rows.rows),
                             entries_of_block + entries,
                             entries,
                             static_cast<index_t>(others.rows.size()),
                             plan.halo,
                             static_cast<int>(plan.neighbours.size())};
  return std::make_shared<Halo<T>>(Halo<T>{channel,
                                           rows.first,
                                           all_rows,
                                           static_cast<index_t>(columns.rows),
                                           std::move(others),
                                           std::move(plan),
                                           facts,
                                           Partition::given,
                                           {},
                                           {}});
}

}  // namespace

template <class T>
std::shared_ptr<Halo<T>> halo_of(const std::shared_ptr<Channel>& channel, OwnRange rows,
                                 OwnRange columns, offset_t entries_of_block, SparseRows<T> others,
                                 const std::vector<offset_t>& numbers) {
  const Range own_rows = range_of<T>(*channel, rows), own_columns = range_of<T>(*channel, columns);
  const offset_t all_rows = ranges_of_all(*channel, own_rows).all_rows;
  const Ranges all_columns = ranges_of_all(*channel, own_columns);
  return planned_halo(channel, own_rows, all_rows, own_columns, all_columns, entries_of_block,
                      std::move(others), numbers);
}
template std::shared_ptr<Halo<float>> halo_of(const std::shared_ptr<Channel>&, OwnRange, OwnRange,
                                              offset_t, SparseRows<float>,
                                              const std::vector<offset_t>&);
template std::shared_ptr<Halo<double>> halo_of(const std::shared_ptr<Channel>&, OwnRange, OwnRange,
                                               offset_t, SparseRows<double>,
                                               const std::vector<offset_t>&);

template <class T>
struct Products {
  std::optional<AmongRanks<T, Kokkos::DefaultHostExecutionSpace>> ranks;
};

template <class T, class S>
PartitionedMatrix<T> PartitionAccess::with_values(const PartitionedMatrix<S>& A,
                                                  const Communicator& ranks,
                                                  const Vector<T>& of_block,
                                                  std::vector<T> of_halo) {
  PartitionedMatrix<T> result;
  result.ranks_ = std::make_shared<Communicator>(ranks);
  result.halo_ = std::make_shared<Halo<T>>(detail::with_values<T>(*A.halo_, std::move(of_halo)));
  result.halo_->channel = ranks.channel();
  result.products_ = std::make_shared<Products<T>>();
  result.block_ = CsrMatrix<T>(A.block_.rows, A.block_.cols, 1, A.block_.row_offsets,
                               A.block_.columns, of_block);
  result.block_.checked = Checked::ascending;
  return result;
}
template PartitionedMatrix<float> PartitionAccess::with_values(const PartitionedMatrix<float>&,
                                                               const Communicator&,
                                                               const Vector<float>&,
                                                               std::vector<float>);
template PartitionedMatrix<double> PartitionAccess::with_values(const PartitionedMatrix<double>&,
                                                                const Communicator&,
                                                                const Vector<double>&,
                                                                std::vector<double>);
template PartitionedMatrix<float> PartitionAccess::with_values(const PartitionedMatrix<double>&,
                                                               const Communicator&,
                                                               const Vector<float>&,
                                                               std::vector<float>);

}  // namespace detail

template <class T>
PartitionedMatrix<T>::PartitionedMatrix(const Communicator& ranks, const OwnRows<T>& given)
    : ranks_(std::make_shared<Communicator>(ranks)) {
  detail::Channel& channel = *ranks.channel();
  channel.together([&] {
    channel.on_each([&] { detail::check_arrays(given); });
    const char mine[] = {detail::rows_of(given) > 0, !given.numbers.empty()};
    const char* const all = channel.gather_all(mine, 2);
    bool some = false, others = false;
    for (int r = 0; r < channel.size(); ++r) {
      some |= all[2 * r + 1] != 0;
      others |= all[2 * r] != 0 && all[2 * r + 1] == 0;
    }
    require(!(some && others),
            "PartitionedMatrix: some ranks give numbers of their rows, others a first row");
    some ? take_numbered_rows(given) : take_rows(given);
  });
}

template <class T>
void PartitionedMatrix<T>::take_numbered_rows(const OwnRows<T>& given) {
  detail::NumberDirectory directory(*ranks_->channel(), given.numbers);
  OwnRows<T> in_order = given;
  in_order.first_row = directory.first();
  const std::vector<offset_t> columns = directory.new_numbers(given.columns);
  in_order.columns = columns;
  take_rows(in_order);
  halo_->numbers.assign(given.numbers.begin(), given.numbers.end());
  halo_->order = directory.order();
}

template <class T>
PartitionedMatrix<T> PartitionedMatrix<T>::of_segment(const Communicator& ranks, offset_t first_row,
                                                      const CsrMatrix<T>& rows) {
  PartitionedMatrix result;
  result.ranks_ = std::make_shared<Communicator>(ranks);
  const auto span = [](const auto& array) { return std::span(array.data(), array.extent(0)); };
  ranks.channel()->together([&] {
    result.take_rows(detail::SegmentRows<T>{first_row, span(rows.row_offsets), span(rows.columns),
                                            span(rows.values)});
  });
  result.halo_->partition = Partition::segments;
  return result;
}

template <class T>
template <class Rows>
void PartitionedMatrix<T>::take_rows(const Rows& given) {
  detail::Channel& channel = *ranks_->channel();
  const index_t rows = detail::rows_of(given);
  const detail::Range mine = detail::range_of<T>(channel, {given.first_row, rows});
  const detail::Ranges ranges = detail::ranges_of_all(channel, mine);
  detail::Parts<T> parts;
  channel.on_each([&] { parts = detail::take_apart<T>(given, rows, mine, ranges.all_rows); });
  block_ = CsrMatrix<T>(rows, rows, 1, parts.offsets, parts.columns, parts.values);
  block_.checked = Checked::ascending;
  halo_ = detail::planned_halo(ranks_->channel(), mine, ranges.all_rows, mine, ranges,
                               static_cast<offset_t>(parts.columns.extent(0)),
                               std::move(parts.halo), parts.halo_columns);
  products_ = std::make_shared<detail::Products<T>>();
}

template <class T>
detail::Halo<T>& PartitionedMatrix<T>::halo() const {
  require(halo_ != nullptr, "PartitionedMatrix: it is empty; construct it from rows");
  return *halo_;
}
template <class T>
const Communicator& PartitionedMatrix<T>::ranks() const {
  (void)halo();
  return *ranks_;
}
template <class T>
offset_t PartitionedMatrix<T>::all_rows() const {
  return halo().all_rows;
}
template <class T>
offset_t PartitionedMatrix<T>::first_row() const {
  return halo().first_row;
}
template <class T>
std::vector<offset_t> PartitionedMatrix<T>::original_rows() const {
  std::vector<offset_t> numbers(static_cast<std::size_t>(rows()));
  for (index_t i = 0; i < rows(); ++i) numbers[static_cast<std::size_t>(i)] = halo().number_of(i);
  return numbers;
}
template <class T>
Partition PartitionedMatrix<T>::partition() const {
  return halo().partition;
}
template <class T>
const PartitionFacts& PartitionedMatrix<T>::facts() const {
  return halo().facts;
}

template <class T>
void PartitionedMatrix<T>::multiply(Context<>& ctx, const Vector<const T>& x,
                                    const Vector<T>& y) const {
  detail::Channel& channel = *halo().channel;
  channel.together([&] {
    channel.on_each([&] {
      detail::check_vector<Kokkos::DefaultHostExecutionSpace>(
          x, rows(), "PartitionedMatrix: x must have an entry for each own row");
      detail::check_vector<Kokkos::DefaultHostExecutionSpace>(
          y, rows(), "PartitionedMatrix: y must have an entry for each own row");
    });
    auto& others = products_->ranks;
    others ? others->use(ctx) : (void)others.emplace(ctx, halo_);
    others->begin(x.data(), false);
    spmv(ctx, T(1), block_, x, T(0), y);
    others->end(y.data(), false, nullptr);
  });
}

template class PartitionedMatrix<float>;
template class PartitionedMatrix<double>;

}  // namespace cnc
