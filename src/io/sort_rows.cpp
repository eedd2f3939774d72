#include "io/csr_from_pieces.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace cnc::detail {

namespace {

template <class T>
using Entry = std::pair<index_t, T>;

template <class T>
void sort_row(index_t n, index_t* columns, T* values, std::vector<Entry<T>>& scratch) {
  scratch.resize(static_cast<std::size_t>(n));
  for (index_t k = 0; k < n; ++k) {
    scratch[static_cast<std::size_t>(k)] = {columns[k], values[k]};
  }
  std::stable_sort(scratch.begin(), scratch.end(),
                   [](const Entry<T>& a, const Entry<T>& b) { return a.first < b.first; });
  for (index_t k = 0; k < n; ++k) {
    columns[k] = scratch[static_cast<std::size_t>(k)].first;
    values[k] = scratch[static_cast<std::size_t>(k)].second;
  }
}

}  // namespace

template <class T>
bool sort_rows(index_t rows, const index_t* row_offsets, index_t* columns, T* values, int threads) {
  // Parts are more than threads, so that one long row does not leave the others waiting.
  const int parts = rows > 2048 ? 8 * threads : 1;
  std::atomic<bool> duplicates{false};
  parallel_for(
      parts,
      [&](int part) {
        std::vector<Entry<T>> scratch;
        const auto bound = [&](int k) {
          return static_cast<index_t>(static_cast<offset_t>(rows) * k / parts);
        };
        for (index_t i = bound(part); i < bound(part + 1); ++i) {
          index_t* const first = columns + row_offsets[i];
          index_t* const last = columns + row_offsets[i + 1];
          if (!std::is_sorted(first, last)) {
            sort_row(row_offsets[i + 1] - row_offsets[i], first, values + row_offsets[i], scratch);
          }
          if (std::adjacent_find(first, last) != last) {
            duplicates = true;
          }
        }
      },
      threads);
  return duplicates;
}

template <class T>
index_t sum_duplicates(index_t rows, index_t* row_offsets, index_t* columns, T* values) {
  index_t write = 0;
  index_t begin = 0;
  for (index_t i = 0; i < rows; ++i) {
    const index_t end = row_offsets[i + 1];
    const index_t row_start = write;
    for (index_t k = begin; k < end; ++k) {
      if (write > row_start && columns[write - 1] == columns[k]) {
        values[write - 1] += values[k];
      } else {
        columns[write] = columns[k];
        values[write++] = values[k];
      }
    }
    begin = end;
    row_offsets[i + 1] = write;
  }
  return write;
}

template bool sort_rows(index_t, const index_t*, index_t*, float*, int);
template bool sort_rows(index_t, const index_t*, index_t*, double*, int);
template index_t sum_duplicates(index_t, index_t*, index_t*, float*);
template index_t sum_duplicates(index_t, index_t*, index_t*, double*);

}  // namespace cnc::detail
