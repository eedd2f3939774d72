#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <vector>

namespace cnc {

// A counting sort by column. Each part counts and later places the entries of its own range of rows,
// so entries of one column arrive in row order whatever the number of threads.
template <class T>
CsrMatrix<T> transpose(const CsrMatrix<T>& A) {
  // Any order will do: entries of one column arrive in row order.
  detail::require_csr(A);
  detail::require_blocks<T, HostSpace>("transpose", A.columns.extent(0), 1);
  const auto source = A.operand();
  // One counter per part and column: no more parts than keep that below one counter per entry.
  const int parts = static_cast<int>(std::clamp<offset_t>(
      A.blocks() / (static_cast<offset_t>(A.cols) + 1), 1, detail::set_up_threads()));
  const auto cols = static_cast<std::size_t>(A.cols);
  std::vector<index_t> counters(cols * static_cast<std::size_t>(parts), 0);
  detail::parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int part) {
    index_t* count = counters.data() + cols * static_cast<std::size_t>(part);
    for (index_t k = source.row_offsets[begin]; k < source.row_offsets[end]; ++k)
      ++count[source.columns[k]];
  });

  // Counts become positions: first within the column, then by adding the column's offset.
  const auto row_offsets = uninitialized<index_t>("cnc::csr row_offsets", cols + 1);
  detail::parallel_for(A.cols, [&](index_t column) {
    index_t sum = 0;
    for (int part = 0; part < parts; ++part) {
      index_t& count = counters[cols * static_cast<std::size_t>(part) + column];
      const index_t before = sum;
      sum += count;
      count = before;
    }
    row_offsets(column + 1) = sum;
  });
  detail::offsets_from_counts(Kokkos::DefaultHostExecutionSpace(), row_offsets.data(), A.cols,
                              "nonzeros");

  const auto nonzeros = static_cast<std::size_t>(A.blocks());
  const auto columns = uninitialized<index_t>("cnc::csr columns", nonzeros);
  const auto values = uninitialized<T>("cnc::csr values", nonzeros);
  detail::parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int part) {
    index_t* count = counters.data() + cols * static_cast<std::size_t>(part);
    for (index_t row = begin; row < end; ++row) {
      for (index_t k = source.row_offsets[row]; k < source.row_offsets[row + 1]; ++k) {
        const index_t column = source.columns[k];
        const index_t position = row_offsets(column) + count[column]++;
        columns(position) = row;
        values(position) = source.values[k];
      }
    }
  });
  return {A.cols, A.rows, 1, row_offsets, columns, values, A.nonzeros};
}

template CsrMatrix<float> transpose(const CsrMatrix<float>&);
template CsrMatrix<double> transpose(const CsrMatrix<double>&);

}  // namespace cnc
