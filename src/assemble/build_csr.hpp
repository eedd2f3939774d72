#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <parallel.hpp>

#include <limits>

namespace cnc::detail {

/// Turns row lengths into row offsets in place: length i is in offsets[i + 1] on entry.
/// Errors   InvalidArgument when the sum does not fit index_t.
inline offset_t scan_row_lengths(index_t* offsets, index_t rows, const char* what) {
  offsets[0] = 0;
  offset_t sum = 0;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(rows); ++i) {
    sum += offsets[i];
    require(sum <= std::numeric_limits<index_t>::max(),
            [&] { return std::string(what) + ": more than 2^31 - 1 entries"; });
    offsets[i] = static_cast<index_t>(sum);
  }
  return sum;
}

/// CSR built row by row in parallel, each row visited twice: count(row) gives its length, then
/// fill(row, columns, values) writes that many entries with ascending columns. Nothing but the result
/// is allocated, and every page of it is touched first by the thread that fills it.
template <class T, class Count, class Fill>
CsrMatrix<T> build_csr(index_t rows, index_t cols, const char* what, const Count& count,
                       const Fill& fill) {
  auto offsets = uninitialized<index_t>("cnc::row_offsets", static_cast<std::size_t>(rows) + 1);
  parallel_for(rows, [&](index_t row) { offsets(static_cast<std::size_t>(row) + 1) = count(row); });
  const auto entries = static_cast<std::size_t>(scan_row_lengths(offsets.data(), rows, what));
  require_memory(what, static_cast<double>(entries) * (sizeof(index_t) + sizeof(T)),
                 MemorySpace::host);
  auto columns = uninitialized<index_t>("cnc::columns", entries);
  auto values = uninitialized<T>("cnc::values", entries);
  parallel_for(rows, [&](index_t row) {
    const auto begin = static_cast<std::size_t>(offsets(row));
    fill(row, columns.data() + begin, values.data() + begin);
  });
  return {rows, cols, 1, offsets, columns, values};
}

}  // namespace cnc::detail
