#include "row_histogram.hpp"

#include <algorithm>
#include <map>

namespace cnc::cli {
namespace {

std::map<index_t, index_t> lengths_of(const CsrMatrix<double>& A) {
  std::map<index_t, index_t> lengths;
  const index_t* offsets = A.row_offsets.data();
  for (index_t i = 0; i < A.rows; ++i) ++lengths[offsets[i + 1] - offsets[i]];
  return lengths;
}

/// Edges of the bins: bin k holds lengths from edges[k] to edges[k + 1] - 1.
std::vector<offset_t> bin_edges(offset_t shortest, offset_t longest, int limit) {
  std::vector<offset_t> edges{shortest};
  if (longest > 16 * std::max<offset_t>(shortest, 1)) {
    offset_t edge = 1;
    while (edge <= shortest) edge *= 2;
    const auto bins_with = [=](offset_t factor) {
      int bins = 1;
      for (offset_t e = edge; e <= longest; e *= factor) ++bins;
      return bins;
    };
    offset_t factor = 2;
    while (bins_with(factor) > limit) factor *= 2;
    for (; edge <= longest; edge *= factor) edges.push_back(edge);
  } else {
    const offset_t width = (longest - shortest) / limit + 1;
    for (offset_t edge = shortest + width; edge <= longest; edge += width) edges.push_back(edge);
  }
  edges.push_back(longest + 1);
  return edges;
}

}  // namespace

std::vector<RowBin> row_histogram(const CsrMatrix<double>& A, int limit) {
  std::vector<RowBin> bins;
  const std::map<index_t, index_t> lengths = lengths_of(A);
  if (lengths.empty()) return bins;
  if (static_cast<int>(lengths.size()) <= limit) {
    for (const auto& [length, rows] : lengths) bins.push_back({length, length, rows});
    return bins;
  }
  const std::vector<offset_t> edges =
      bin_edges(lengths.begin()->first, lengths.rbegin()->first, limit);
  for (std::size_t k = 0; k + 1 < edges.size(); ++k)
    bins.push_back({static_cast<index_t>(edges[k]), static_cast<index_t>(edges[k + 1] - 1), 0});
  for (const auto& [length, rows] : lengths) {
    const auto bin = std::upper_bound(edges.begin(), edges.end(), length) - edges.begin() - 1;
    bins[static_cast<std::size_t>(bin)].rows += rows;
  }
  return bins;
}

}  // namespace cnc::cli
