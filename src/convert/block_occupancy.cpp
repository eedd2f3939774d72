#include "convert/block_row.hpp"
#include "convert/checks.hpp"

#include <cnc/convert.hpp>

#include <numeric>
#include <vector>

namespace cnc {

template <class T>
BlockOccupancy block_occupancy(const CsrMatrix<T>& A, int block_size) {
  detail::require_block_size(block_size);
  require(A.block_size == 1, "block_occupancy: a CSR matrix (block size 1) is needed");
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

  BlockOccupancy result;
  result.block_size = block_size;
  result.blocks = std::accumulate(counts.begin(), counts.end(), offset_t{0});
  if (result.blocks > 0)
    result.density = static_cast<double>(A.blocks()) /
                     (static_cast<double>(result.blocks) * block_size * block_size);
  return result;
}

template BlockOccupancy block_occupancy(const CsrMatrix<float>&, int);
template BlockOccupancy block_occupancy(const CsrMatrix<double>&, int);

}  // namespace cnc
