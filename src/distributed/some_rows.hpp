#pragma once

#include "convert/search.hpp"
#include "convert/sparse_product.hpp"
#include "distributed/peers.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

// Some rows of a matrix of blocks, which the host takes from it, and puts into it: those by which ranks are coupled.

namespace cnc::detail {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
/// The offsets of rows behind others.
inline void append_offsets(std::vector<index_t>& to, const std::vector<index_t>& more) {
  const index_t before = to.back();
  for (std::size_t k = 1; k < more.size(); ++k) to.push_back(before + more[k]);
}

/// Some rows of a matrix of blocks, in the host's memory.
template <class V>
struct SomeRows {
  std::vector<index_t> rows, offsets = {0}, columns;
  std::vector<V> values;  ///< block after block

  void append(const SomeRows& more) {
    detail::append(rows, more.rows);
    append_offsets(offsets, more.offsets);
    detail::append(columns, more.columns);
    detail::append(values, more.values);
  }
};

/// What body(begin, end, made) puts into `made` for consecutive ranges of [0, n), by the threads of the host, one behind the other.
template <class Made, class Body>
Made made_in_parts(std::size_t n, const Made& empty, const Body& body) {
  constexpr offset_t work_of_row = 16;  // a row has as many entries and more
  const int parts = threads_for(static_cast<offset_t>(n) * work_of_row);
  std::vector<Made> made(static_cast<std::size_t>(parts), empty);
  parallel_ranges(n, parts, [&](std::size_t begin, std::size_t end, int part) {
    Made own = empty;
    body(begin, end, own);
    made[static_cast<std::size_t>(part)] = std::move(own);
  });
  for (int part = 1; part < parts; ++part)
    made[0].append(std::exchange(made[static_cast<std::size_t>(part)], empty));
  return std::move(made[0]);
}

/// Whether row i has a column from `limit` on. Writes which have one. Columns ascend.
struct ListRows {
  const index_t* row_offsets;
  const index_t* columns;
  index_t limit;
  index_t* list;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum, bool last) const {
    const index_t end = row_offsets[i + 1];
    if (end == row_offsets[i] || columns[end - 1] < limit) return;
    if (last) list[sum] = static_cast<index_t>(i);
    ++sum;
  }
};
/// The rows of A that have a column from `limit` on. Waits.
template <class Exec, class V, class Space>
std::vector<index_t> rows_beyond(const Exec& exec, const SparseBlocks<V, Space>& A, index_t limit) {
  const auto list = uninitialized<index_t, Space>("cnc::list", static_cast<std::size_t>(A.rows));
  const offset_t count =
      scan(exec, 0, A.rows, ListRows{A.row_offsets.data(), A.columns.data(), limit, list.data()});
  const auto found = copy_to<HostSpace>(
      Kokkos::subview(list, std::make_pair(std::size_t(0), static_cast<std::size_t>(count))));
  return {found.data(), found.data() + found.extent(0)};
}

/// Where columns from `limit` on begin in row i. Columns ascend.
template <class T>
KOKKOS_INLINE_FUNCTION index_t first_beyond(const BlocksOperand<T>& A, index_t i, index_t limit) {
  const index_t* const end = A.columns + A.row_offsets[i + 1];
  return static_cast<index_t>(first_not_less(A.columns + A.row_offsets[i], end, limit) - A.columns);
}

/// Blocks in columns from `limit` on, of row list[unit / lanes]. Counts, or copies.
template <int lanes, class T>
struct TakeRow {
  BlocksOperand<T> A;
  const index_t* list;
  index_t limit;
  index_t* offsets;
  index_t* columns;  ///< null: counts
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const offset_t at = unit / lanes;
    const index_t row = list[at], end = A.row_offsets[row + 1];
    const index_t begin = limit > 0 ? first_beyond(A, row, limit) : A.row_offsets[row];
    if (columns == nullptr) {
      offsets[at + 1] = end - begin;
      return;
    }
    const int block = A.height * A.width;
    const index_t to = offsets[at];
    for (auto k = static_cast<index_t>(unit % lanes); k < end - begin; k += lanes) {
      columns[to + k] = A.columns[begin + k];
      for (int e = 0; e < block; ++e) values[offset_t(to + k) * block + e] = A.block(begin + k)[e];
    }
  }
};
/// These rows of A, from column `limit` on. Columns ascend, where there is a limit. Waits.
template <class Exec, class V, class Space>
SomeRows<V> rows_of(const Exec& exec, const SparseBlocks<V, Space>& A, std::vector<index_t> rows,
                    index_t limit = 0) {
  SomeRows<V> found;
  const auto n = static_cast<offset_t>(rows.size());
  const auto list = copied_there<Space>("cnc::ranks", rows);
  const auto offsets = zeroed<index_t, Space>("cnc::list", rows.size() + 1);
  on_each(exec, n,
          TakeRow<1, V>{operand_of(A), list.data(), limit, offsets.data(), nullptr, nullptr});
  const std::size_t blocks = offsets_from_counts(exec, offsets.data(), n, "blocks of some rows");
  const auto columns = uninitialized<index_t, Space>("cnc::list", blocks);
  const auto values =
      uninitialized<V, Space>("cnc::list", blocks * static_cast<std::size_t>(A.block_values()));
  constexpr int lanes = row_lanes<Exec>;
  on_each(exec, n * lanes,
          TakeRow<lanes, V>{operand_of(A), list.data(), limit, offsets.data(), columns.data(),
                            values.data()});
  exec.fence();
  const auto to_host = [](const auto& from, auto& to) {
    to.resize(from.extent(0));
    Kokkos::deep_copy(Kokkos::View<typename std::decay_t<decltype(to)>::value_type*, HostSpace,
                                   Kokkos::MemoryUnmanaged>(to.data(), to.size()),
                      from);
  };
  found.rows = std::move(rows);
  to_host(offsets, found.offsets);
  to_host(columns, found.columns);
  to_host(values, found.values);
  return found;
}

/// place[rows[k]] := k
struct MarkRow {
  const index_t* rows;
  index_t* place;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    place[rows[k]] = static_cast<index_t>(k);
  }
};
/// Row unit / lanes of a matrix up to a column, and the blocks of `added` behind it or in its place. Counts, or copies.
template <int lanes, class T>
struct PutRow {
  BlocksOperand<T> A, added;
  const index_t* place;  ///< in `added`, of each row; negative: in none
  index_t limit;
  bool replaces;
  index_t* offsets;
  index_t* columns;  ///< null: counts
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const auto row = static_cast<index_t>(unit / lanes);
    const index_t at = place[row];
    const index_t begin = A.row_offsets[row];
    const index_t kept = at >= 0 && replaces ? 0
                         : limit < A.cols    ? first_beyond(A, row, limit) - begin
                                             : A.row_offsets[row + 1] - begin;
    const index_t more = at >= 0 ? added.row_offsets[at + 1] - added.row_offsets[at] : 0;
    if (columns == nullptr) {
      offsets[row + 1] = kept + more;
      return;
    }
    const index_t to = offsets[row];
    const auto lane = static_cast<index_t>(unit % lanes);
    copy(A, begin, kept, to, lane);
    if (more > 0) copy(added, added.row_offsets[at], more, to + kept, lane);
  }
  KOKKOS_INLINE_FUNCTION void copy(const BlocksOperand<T>& from, index_t begin, index_t length,
                                   index_t to, index_t lane) const {
    const int block = A.height * A.width;
    for (index_t k = lane; k < length; k += lanes) {
      columns[to + k] = from.columns[begin + k];
      for (int e = 0; e < block; ++e)
        values[offset_t(to + k) * block + e] = from.block(begin + k)[e];
    }
  }
};
enum class PutRows { behind, in_place };
/// A up to column `limit`, with these rows behind its own or in their place: a matrix of `cols` columns. Waits.
/// Errors   InvalidArgument (2^31 blocks or more).
template <class Exec, class V, class Space>
SparseBlocks<V, Space> with_rows(const Exec& exec, const SparseBlocks<V, Space>& A, index_t limit,
                                 const SomeRows<V>& rows, PutRows put, index_t cols,
                                 const char* what) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto place = uninitialized<index_t, Space>("cnc::place", n);
  Kokkos::deep_copy(exec, place, -1);
  const auto list = copied_there<Space>("cnc::ranks", rows.rows);
  on_each(exec, static_cast<offset_t>(rows.rows.size()), MarkRow{list.data(), place.data()});
  const auto there = copied_there<Space>("cnc::ranks", rows.offsets);
  const auto columns_there = copied_there<Space>("cnc::ranks", rows.columns);
  const auto values_there = copied_there<Space>("cnc::ranks", rows.values);
  const BlocksOperand<V> added{static_cast<index_t>(rows.rows.size()),
                               cols,
                               A.height,
                               A.width,
                               there.data(),
                               columns_there.data(),
                               values_there.data()};
  const bool replaces = put == PutRows::in_place;
  const auto offsets = zeroed<index_t, Space>("cnc::row_offsets", n + 1);
  on_each(exec, A.rows,
          PutRow<1, V>{operand_of(A), added, place.data(), limit, replaces, offsets.data(), nullptr,
                       nullptr});
  const std::size_t blocks = offsets_from_counts(exec, offsets.data(), A.rows, what);
  const auto columns = in_large_pages<index_t, Space>("cnc::columns", blocks);
  const auto values =
      in_large_pages<V, Space>("cnc::values", blocks * static_cast<std::size_t>(A.block_values()));
  constexpr int lanes = row_lanes<Exec>;
  on_each(exec, offset_t(A.rows) * lanes,
          PutRow<lanes, V>{operand_of(A), added, place.data(), limit, replaces, offsets.data(),
                           columns.data(), values.data()});
  exec.fence();
  return {A.rows, cols, A.height, A.width, offsets, columns, values};
}

/// The first `count` entries of an array, and others behind them.
template <class Space, class Array, class T>
Vector<T, Space> extended(const Array& own, std::size_t count, const std::vector<T>& others) {
  const auto all = in_large_pages<T, Space>("cnc::amg", count + others.size());
  Kokkos::deep_copy(Kokkos::subview(all, std::make_pair(std::size_t(0), count)),
                    Kokkos::subview(own, std::make_pair(std::size_t(0), count)));
  Kokkos::deep_copy(
      Kokkos::subview(all, std::make_pair(count, all.extent(0))),
      Kokkos::View<const T*, HostSpace, Kokkos::MemoryUnmanaged>(others.data(), others.size()));
  return all;
}

}  // namespace cnc::detail
