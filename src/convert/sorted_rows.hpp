#pragma once

#include "on_each.hpp"

#include <cnc/copy.hpp>

#include <string>
#include <utility>

// CSR rows in another order than ascending: sorted copies of them, on the host and on a device.

namespace cnc::detail {

// Williams, "Algorithm 232: heapsort", 1964: in place, n log n whatever the order. A sequence has before(i, j), whether
// element i is less than element j, and exchange(i, j).

template <class Sequence, class Index>
KOKKOS_INLINE_FUNCTION void sift_down(const Sequence& sequence, Index root, Index n) {
  for (Index child = 2 * root + 1; child < n; child = 2 * root + 1) {
    if (child + 1 < n && sequence.before(child, child + 1)) ++child;
    if (!sequence.before(root, child)) return;
    sequence.exchange(root, child);
    root = child;
  }
}
template <class Sequence, class Index>
KOKKOS_INLINE_FUNCTION void heap_sort(const Sequence& sequence, Index n) {
  for (Index i = n / 2 - 1; i >= 0; --i) sift_down(sequence, i, n);
  for (Index last = n - 1; last > 0; --last) {
    sequence.exchange(Index(0), last);
    sift_down(sequence, Index(0), last);
  }
}

/// Two index arrays that are sorted together by the first.
struct SortedPair {
  index_t* columns;
  index_t* origins;

  KOKKOS_INLINE_FUNCTION bool before(index_t i, index_t j) const { return columns[i] < columns[j]; }
  KOKKOS_INLINE_FUNCTION void exchange(index_t i, index_t j) const {
    const index_t column = columns[i], origin = origins[i];
    columns[i] = columns[j];
    origins[i] = origins[j];
    columns[j] = column;
    origins[j] = origin;
  }

  /// Short rows, and rows where little is out of place, as where the diagonal comes first.
  KOKKOS_INLINE_FUNCTION void insertion_sort(index_t n) const {
    for (index_t i = 1; i < n; ++i)
      for (index_t j = i; j > 0 && columns[j] < columns[j - 1]; --j) exchange(j, j - 1);
  }
};

/// Sorts row i of a copy of the columns; origins(k): where entry k was.
struct SortRow {
  const index_t* row_offsets;
  const index_t* given;
  SortedPair to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    constexpr index_t short_row = 48;
    const index_t begin = row_offsets[i], n = row_offsets[i + 1] - begin;
    for (index_t k = begin; k < begin + n; ++k) {
      to.columns[k] = given[k];
      to.origins[k] = k;
    }
    const SortedPair row{to.columns + begin, to.origins + begin};
    if (n <= short_row)
      row.insertion_sort(n);
    else
      heap_sort(row, n);
  }
};
/// The same by a group of a device: each entry counts those that come before it.
struct SortRowOfGroup {
  static constexpr index_t on_chip = 96, counted = 1024;
  static constexpr int lanes = 8, bytes = on_chip * sizeof(index_t);
  SortRow row;

  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    const index_t begin = row.row_offsets[i], n = row.row_offsets[i + 1] - begin;
    const index_t* const given = row.given + begin;
    if (n <= on_chip) {
      auto* const columns = static_cast<index_t*>(group.scratch);
      group.each(n, [&](index_t k) { columns[k] = given[k]; });
      group.each(n, [&](index_t k) { place(columns, begin, n, k); });
    } else if (n <= counted) {
      group.each(n, [&](index_t k) { place(given, begin, n, k); });
    } else {
      group.each(1, [&](index_t) { row(i); });
    }
  }
  KOKKOS_INLINE_FUNCTION void place(const index_t* columns, index_t begin, index_t n,
                                    index_t k) const {
    const index_t column = columns[k];
    index_t at = begin;
    for (index_t j = 0; j < k; ++j) at += columns[j] <= column;
    for (index_t j = k + 1; j < n; ++j) at += columns[j] < column;
    row.to.columns[at] = column;
    row.to.origins[at] = begin + k;
  }
};

/// Adds the columns that come twice in row i, whose columns are sorted.
struct CountRepeats {
  const index_t* row_offsets;
  const index_t* columns;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& repeats) const {
    for (index_t k = row_offsets[i] + 1; k < row_offsets[i + 1]; ++k)
      repeats += columns[k] == columns[k - 1];
  }
};

/// The columns of CSR in ascending order within each row, and where each entry was.
template <class Space>
struct RowOrder {
  Vector<index_t, Space> columns;
  Vector<index_t, Space> origins;
};

/// Sorts the rows of a matrix whose offsets and columns are in range. Enqueued on a device.
/// Errors   OutOfMemory.
template <class Exec, class T, class Space>
RowOrder<Space> sorted_order(const Exec& exec, const CsrMatrix<T, Space>& A) {
  const std::size_t n = A.columns.extent(0);
  require_memory("sorting the rows of a CSR matrix", 2.0 * sizeof(index_t) * n, memory_kind<Space>);
  RowOrder<Space> order{uninitialized<index_t, Space>("cnc::columns", n),
                        uninitialized<index_t, Space>("cnc::origins", n)};
  const SortRow sort{
      A.row_offsets.data(), A.columns.data(), {order.columns.data(), order.origins.data()}};
  if constexpr (on_threads<Exec>)
    on_each(exec, A.rows, sort);
  else
    on_each_group(exec, A.rows, SortRowOfGroup::lanes, SortRowOfGroup::bytes, SortRowOfGroup{sort});
  return order;
}

/// The same, which refuses what comes twice. Waits.
/// Errors   InvalidArgument (a column that comes twice in a row), OutOfMemory.
template <class Exec, class T, class Space>
RowOrder<Space> ascending_order(const CsrMatrix<T, Space>& A) {
  const Exec exec = instance<Exec>();
  const RowOrder<Space> order = sorted_order(exec, A);
  const index_t* offsets = A.row_offsets.data();
  if (sum_over(exec, A.rows, CountRepeats{offsets, order.columns.data()}) > 0) {
    const auto host_offsets = copy_to<HostSpace>(A.row_offsets);
    const auto columns = copy_to<HostSpace>(order.columns);
    for (index_t row = 0; row < A.rows; ++row)
      for (index_t k = host_offsets(row) + 1; k < host_offsets(row + 1); ++k)
        require(columns(k) != columns(k - 1), [&] {
          return "CSR: row " + std::to_string(row) + " has column " + std::to_string(columns(k)) +
                 " more than once; sum such entries first (csr_from_triplets does)";
        });
  }
  return order;
}

/// to[i] := from[at[i]]
template <class T>
struct Gather {
  const T* from;
  const index_t* at;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { to[i] = from[at[i]]; }
};

/// values(k) := entry origins(k) of A. Waits: what uses them next may run on another instance.
template <class Exec, class T, class Space>
void take_entries(const Exec& exec, const CsrMatrix<T, Space>& A,
                  const Vector<index_t, Space>& origins, const Vector<T, Space>& values) {
  on_each(exec, static_cast<offset_t>(origins.extent(0)),
          Gather<T>{A.values.data(), origins.data(), values.data()});
  exec.fence();
}

/// CSR with ascending rows whose entry k is entry origins(k) of A. Waits.
template <class Exec, class T, class Space, class Offsets, class Columns>
CsrMatrix<T, Space> made_of_entries(const Exec& exec, const CsrMatrix<T, Space>& A, index_t rows,
                                    index_t cols, const Offsets& row_offsets,
                                    const Columns& columns, const Vector<index_t, Space>& origins) {
  const auto values = uninitialized<T, Space>("cnc::values", A.values.extent(0));
  take_entries(exec, A, origins, values);
  CsrMatrix<T, Space> made(rows, cols, 1, row_offsets, columns, values, A.nonzeros);
  made.checked = Checked::ascending;
  return made;
}

/// A matrix with sorted rows made of `order`, with A's values. Waits.
template <class Exec, class T, class Space>
CsrMatrix<T, Space> in_order(const CsrMatrix<T, Space>& A, const RowOrder<Space>& order) {
  return made_of_entries(instance<Exec>(), A, A.rows, A.cols, A.row_offsets, order.columns,
                         order.origins);
}

/// The door where a matrix comes in: checks it, unless it says that it was checked.
template <class T, class Space>
Checked require_valid(const BcsrMatrix<T, Space>& A) {
  A.check_extents();
  return A.checked == Checked::no ? A.validate() : A.checked;
}
template <class T, class Space>
Checked require_csr(const CsrMatrix<T, Space>& A) {
  require(A.block_size == 1, "a CSR matrix (block size 1) is needed here");
  return require_valid(A);
}

/// The door of conversions that rely on the order of CSR rows: A itself where they ascend, else a sorted copy;
/// marked as checked either way.
template <class Exec, class T, class Space>
CsrMatrix<T, Space> ascending_csr(CsrMatrix<T, Space> A) {
  A.checked = require_csr(A);
  return A.checked == Checked::ascending ? A : in_order<Exec>(A, ascending_order<Exec>(A));
}

}  // namespace cnc::detail
