#pragma once

#include <assemble/build_csr.hpp>

#include <functional>
#include <string_view>
#include <utility>

namespace cnc::detail {

/// The rows of a built-in problem, any of which can be made without the others, to the same bits.
struct ProblemRows {
  index_t rows = 0;  ///< and columns
  /// Entries of rows first to end - 1.
  std::function<offset_t(index_t first, index_t end)> entries;
  /// These rows, with the columns of the whole matrix, in parallel.
  std::function<CsrMatrix<double>(index_t first, index_t end)> make;
};

/// From what build_csr takes for the whole matrix; count and fill own what they need.
template <class Count, class Fill>
ProblemRows rows_by(index_t rows, const char* what, Count count, Fill fill) {
  const auto entries = [count](index_t first, index_t end) {
    offset_t sum = 0;
    for (index_t row = first; row < end; ++row) sum += count(row);
    return sum;
  };
  auto make = [rows, what, count, fill = std::move(fill)](index_t first, index_t end) {
    return build_csr<double>(
        end - first, rows, what, [&](index_t i) { return count(first + i); },
        [&](index_t i, index_t* columns, double* values) { fill(first + i, columns, values); });
  };
  return {rows, entries, std::move(make)};
}

/// What generate_problem assembles.
/// Errors   those of generate_problem but for OutOfMemory.
ProblemRows problem_rows(std::string_view text);

}  // namespace cnc::detail
