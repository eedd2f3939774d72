#pragma once

#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/transposed_pattern.hpp"

#include <algorithm>
#include <vector>

namespace cnc::detail {

// On the host a counting sort by column. Each part counts and later places the entries of its own range of rows,
// so entries of one column arrive in row order whatever the number of threads.
template <class T>
TransposedPattern<HostSpace> pattern_by_counting(const CsrMatrix<T>& A) {
  const auto source = A.operand();
  // One counter per part and column: no more parts than keep that below one counter per entry.
  const int parts = static_cast<int>(
      std::clamp<offset_t>(A.blocks() / (static_cast<offset_t>(A.cols) + 1), 1, set_up_threads()));
  const auto cols = static_cast<std::size_t>(A.cols);
  std::vector<index_t> counters(cols * static_cast<std::size_t>(parts), 0);
  parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int part) {
    index_t* count = counters.data() + cols * static_cast<std::size_t>(part);
    for (index_t k = source.row_offsets[begin]; k < source.row_offsets[end]; ++k)
      ++count[source.columns[k]];
  });

  // Counts become positions: first within the column, then by adding the column's offset.
  const auto row_offsets = uninitialized<index_t>("cnc::csr row_offsets", cols + 1);
  parallel_for(A.cols, [&](index_t column) {
    index_t sum = 0;
    for (int part = 0; part < parts; ++part) {
      index_t& count = counters[cols * static_cast<std::size_t>(part) + column];
      const index_t before = sum;
      sum += count;
      count = before;
    }
    row_offsets(column + 1) = sum;
  });
  offsets_from_counts(Kokkos::DefaultHostExecutionSpace(), row_offsets.data(), A.cols, "nonzeros");

  const auto nonzeros = static_cast<std::size_t>(A.blocks());
  const auto columns = uninitialized<index_t>("cnc::csr columns", nonzeros);
  const auto origins = uninitialized<index_t>("cnc::origins", nonzeros);
  parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int part) {
    index_t* count = counters.data() + cols * static_cast<std::size_t>(part);
    for (index_t row = begin; row < end; ++row) {
      for (index_t k = source.row_offsets[row]; k < source.row_offsets[row + 1]; ++k) {
        const index_t column = source.columns[k];
        const index_t position = row_offsets(column) + count[column]++;
        columns(position) = row;
        origins(position) = k;
      }
    }
  });
  return {row_offsets, columns, origins};
}

struct CountColumns {
  const index_t* columns;
  index_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    Kokkos::atomic_fetch_add(counts + columns[k], index_t(1));
  }
};

template <class T>
struct PlaceRow {
  BcsrOperand<T> A;
  index_t* next;
  index_t* columns;
  index_t* origins;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t row) const {
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      const index_t position = Kokkos::atomic_fetch_add(next + A.columns[k], index_t(1));
      columns[position] = static_cast<index_t>(row);
      origins[position] = k;
    }
  }
};

// On a device entries take their places in any order, and the rows are sorted afterwards.
template <class Exec, class T, class Space>
TransposedPattern<Space> pattern_by_sorting(const CsrMatrix<T, Space>& A) {
  const auto exec = instance<Exec>();
  const auto cols = static_cast<std::size_t>(A.cols);
  const auto nonzeros = static_cast<std::size_t>(A.blocks());
  const auto row_offsets = zeroed<index_t, Space>("cnc::csr row_offsets", cols + 1);
  on_each(exec, A.blocks(), CountColumns{A.columns.data(), row_offsets.data() + 1});
  offsets_from_counts(exec, row_offsets.data(), A.cols, "nonzeros");
  const auto next = uninitialized<index_t, Space>("cnc::next", cols + 1);
  Kokkos::deep_copy(next, row_offsets);
  const auto columns = uninitialized<index_t, Space>("cnc::csr columns", nonzeros);
  const auto placed = uninitialized<index_t, Space>("cnc::placed", nonzeros);
  on_each(exec, A.rows, PlaceRow<T>{A.operand(), next.data(), columns.data(), placed.data()});
  const auto order =
      sorted_order(exec, CsrMatrix<T, Space>(A.cols, A.rows, 1, row_offsets, columns, A.values));
  on_each(exec, A.blocks(), Gather<index_t>{placed.data(), order.origins.data(), columns.data()});
  exec.fence();
  return {row_offsets, order.columns, columns};
}

namespace set_up {

template <class Exec, class T, class Space>
TransposedPattern<Space> transposed_pattern(const CsrMatrix<T, Space>& A) {
  require_memory("transpose", 2.0 * sizeof(index_t) * static_cast<double>(A.blocks()),
                 memory_kind<Space>);
  if constexpr (on_threads<Exec>)
    return pattern_by_counting(A);
  else
    return pattern_by_sorting<Exec>(A);
}

template <class Exec, class T, class Space>
CsrMatrix<T, Space> transpose(const CsrMatrix<T, Space>& A) {
  require_csr(A);  // any order will do
  const auto pattern = set_up::transposed_pattern<Exec>(A);
  return made_of_entries(instance<Exec>(), A, A.cols, A.rows, pattern.row_offsets, pattern.columns,
                         pattern.origins);
}

}  // namespace set_up
}  // namespace cnc::detail
