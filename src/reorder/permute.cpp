#include "convert/sorted_rows.hpp"

#include <assemble/build_csr.hpp>
#include <cnc/reorder.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace cnc {
namespace {

/// q with q[p(i)] == i.
std::vector<index_t> inverse_permutation(const Vector<const index_t>& p, index_t rows) {
  require(p.extent(0) == static_cast<std::size_t>(rows),
          "permute: the permutation and the matrix differ in length");
  std::vector<index_t> inverse(static_cast<std::size_t>(rows), -1);
  for (index_t i = 0; i < rows; ++i) {
    const index_t row = p(static_cast<std::size_t>(i));
    require(row >= 0 && row < rows && inverse[static_cast<std::size_t>(row)] < 0, [&] {
      return "permute: entry " + std::to_string(i) + " of the permutation, " + std::to_string(row) +
             ", is out of range or comes twice";
    });
    inverse[static_cast<std::size_t>(row)] = i;
  }
  return inverse;
}

}  // namespace

template <class T>
CsrMatrix<T> permute(const CsrMatrix<T>& A, const Vector<const index_t>& p) {
  detail::require_csr(A);
  require(A.rows == A.cols, "permute: the matrix must be square");
  const std::vector<index_t> inverse = inverse_permutation(p, A.rows);
  const auto source_row = [&](index_t row) {
    const auto source = static_cast<std::size_t>(p(static_cast<std::size_t>(row)));
    return std::pair(A.row_offsets(source), A.row_offsets(source + 1));
  };
  const auto count = [&](index_t row) {
    const auto source = source_row(row);
    return source.second - source.first;
  };
  const auto fill = [&](index_t row, index_t* columns, T* values) {
    thread_local std::vector<std::pair<index_t, T>> entries;
    entries.clear();
    const auto source = source_row(row);
    for (index_t k = source.first; k < source.second; ++k) {
      const auto at = static_cast<std::size_t>(k);
      entries.emplace_back(inverse[static_cast<std::size_t>(A.columns(at))], A.values(at));
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& entry : entries) {
      *columns++ = entry.first;
      *values++ = entry.second;
    }
  };
  return detail::build_csr<T>(A.rows, A.cols, "permute", count, fill);
}

template CsrMatrix<float> permute(const CsrMatrix<float>&, const Vector<const index_t>&);
template CsrMatrix<double> permute(const CsrMatrix<double>&, const Vector<const index_t>&);

}  // namespace cnc
