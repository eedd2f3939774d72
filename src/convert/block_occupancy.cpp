#include "convert/block_row.hpp"
#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/structure_facts.hpp"

#include <cnc/convert.hpp>

#include <numeric>
#include <vector>

namespace cnc {

template <class T, class Space>
BlockOccupancy block_occupancy(const CsrMatrix<T, Space>& given, int block_size) {
  detail::require_block_size(block_size);
  const CsrMatrix<T> A = detail::ascending_csr(given);
  const auto source = A.operand();
  const int parts = detail::set_up_threads();
  std::vector<offset_t> counts(static_cast<std::size_t>(parts), 0);
  detail::parallel_ranges(ceil_div(A.rows, block_size), parts,
                          [&](index_t begin, index_t end, int part) {
                            offset_t count = 0;
                            for (index_t i = begin; i < end; ++i)
                              count += detail::blocks_in_row(source, block_size, i);
                            counts[static_cast<std::size_t>(part)] = count;
                          });

  return detail::occupancy_of(
      A.blocks(), std::accumulate(counts.begin(), counts.end(), offset_t{0}), block_size);
}

template BlockOccupancy block_occupancy(const CsrMatrix<float>&, int);
template BlockOccupancy block_occupancy(const CsrMatrix<double>&, int);

}  // namespace cnc
