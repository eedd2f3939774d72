#include "parts/row_pattern.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace cnc::detail {
namespace {

/// visit(i, entry, absent) calls entry(column, place) and absent(place) for row i.
template <class Visit>
RowPattern pattern_by_rows(index_t rows, const Visit& visit) {
  RowPattern pattern;
  pattern.rows = rows;
  const auto n = static_cast<std::size_t>(rows);
  pattern.offsets.allocate(n + 1);
  pattern.offsets[0] = 0;
  pattern.diagonal.allocate(n);
  const int threads = threads_for(rows);
  std::vector<index_t> entries(static_cast<std::size_t>(threads));  // of the rows of a thread
  std::vector<std::vector<index_t>> absent(entries.size());
  parallel_ranges(rows, threads, [&](index_t begin, index_t end, int thread) {
    index_t count = 0;
    const auto at = static_cast<std::size_t>(thread);
    for (index_t i = begin; i < end; ++i) {
      index_t diagonal = -1;
      visit(
          i,
          [&](index_t j, index_t place) {
            diagonal = j == i ? place : diagonal;
            count += j != i;
          },
          [&](index_t place) { absent[at].push_back(place); });
      pattern.diagonal[std::size_t(i)] = diagonal;
      pattern.offsets[std::size_t(i) + 1] = count;
    }
    entries[at] = count;
  });
  index_t before = 0;
  for (index_t& count : entries) before += std::exchange(count, before);
  pattern.columns.allocate(static_cast<std::size_t>(before));
  pattern.places.allocate(pattern.columns.size());
  parallel_ranges(rows, threads, [&](index_t begin, index_t end, int thread) {
    auto k = static_cast<std::size_t>(entries[static_cast<std::size_t>(thread)]);
    const auto first = static_cast<index_t>(k);
    for (index_t i = begin; i < end; ++i) {
      pattern.offsets[std::size_t(i) + 1] += first;
      visit(
          i,
          [&](index_t j, index_t place) {
            if (j == i) return;
            pattern.columns[k] = j;
            pattern.places[k++] = place;
          },
          [](index_t) {});
    }
  });
  for (auto& of_thread : absent)
    pattern.absent.insert(pattern.absent.end(), of_thread.begin(), of_thread.end());
  return pattern;
}

}  // namespace

RowPattern row_pattern(const BcsrPattern& A) {
  const auto by_rows = [&](auto block_size) {
    return pattern_by_rows(A.rows, [&A, block_size](index_t i, const auto& entry, const auto&) {
      const index_t b = block_size;
      const auto block_row = static_cast<std::size_t>(i / b);
      const index_t r = i % b, end = A.row_offsets[block_row + 1];
      for (index_t k = A.row_offsets[block_row]; k < end; ++k)
        for (index_t c = 0; c < b; ++c) {
          const index_t j = A.columns[std::size_t(k)] * b + c;
          if (j < A.rows) entry(j, (k * b + r) * b + c);
        }
    });
  };
  return A.block_size == 1 ? by_rows(std::integral_constant<index_t, 1>()) : by_rows(A.block_size);
}

RowPattern row_pattern(const BsellPattern& A) {
  const index_t C = A.slice_height;
  std::vector<index_t> sorted_of(static_cast<std::size_t>(ceil_div(A.rows, A.block_size)));
  std::vector<index_t> beyond;  // lanes of no row
  for (std::size_t sorted = 0; sorted < A.row_permutation.size(); ++sorted) {
    const index_t block_row = A.row_permutation[sorted];
    if (block_row >= 0)
      sorted_of[std::size_t(block_row)] = static_cast<index_t>(sorted);
    else
      beyond.push_back(static_cast<index_t>(sorted));
  }
  const auto for_slots = [&](index_t sorted, const auto& f) {
    const auto slice = static_cast<std::size_t>(sorted / C);
    for (offset_t slot = A.slice_offsets[slice]; slot < A.slice_offsets[slice + 1]; slot += C)
      f(slot);
  };
  const auto by_rows = [&](auto block_size) {
    return pattern_by_rows(
        A.rows, [&, block_size](index_t i, const auto& entry, const auto& absent) {
          const index_t b = block_size;
          const index_t sorted = sorted_of[std::size_t(i / b)], lane = sorted % C, r = i % b;
          index_t last = -1;  // columns ascend; padding repeats one of them
          for_slots(sorted, [&](offset_t slot) {
            const index_t column = A.columns[std::size_t(slot + lane)];
            const auto first = static_cast<index_t>(slot * b * b + r * b * C + lane);
            for (index_t c = 0; c < b; ++c) {
              if (column <= last)
                absent(first + c * C);
              else if (column * b + c < A.rows)
                entry(column * b + c, first + c * C);
            }
            last = std::max(last, column);
          });
        });
  };
  RowPattern pattern =
      A.block_size == 1 ? by_rows(std::integral_constant<index_t, 1>()) : by_rows(A.block_size);
  const index_t values = A.block_size * A.block_size;
  for (const index_t sorted : beyond)
    for_slots(sorted, [&](offset_t slot) {
      for (index_t k = 0; k < values; ++k)
        pattern.absent.push_back(static_cast<index_t>(slot * values + k * C + sorted % C));
    });
  return pattern;
}

RowPattern row_pattern(const DiaPattern& A) {
  const auto diagonals = static_cast<index_t>(A.offsets.size());
  return pattern_by_rows(A.rows, [&](index_t i, const auto& entry, const auto& absent) {
    for (index_t d = A.symmetric ? diagonals - 1 : -1; d >= 0; --d) {
      const index_t j = i - A.offsets[std::size_t(d)], place = d * A.rows + j;
      if (j < i && j >= 0 && A.has(j, d)) entry(j, place);
    }
    for (index_t d = 0; d < diagonals; ++d) {
      const index_t j = i + A.offsets[std::size_t(d)], place = d * A.rows + i;
      if (j < 0 || j >= A.rows) continue;
      if (A.has(i, d) || j == i)
        entry(j, place);
      else
        absent(place);
    }
  });
}

}  // namespace cnc::detail
