#include "cuda/cuda.hpp"

#include <gpu/table.hpp>

namespace cnc {
namespace {

using gpu::RowMapping;
using Tables = gpu::Tables<32>;

}  // namespace

constexpr Backend cuda_backend = Tables::backend({"cuda", "hand-written CUDA kernels"});

constexpr Backend cuda_row_per_block_backend = Tables::backend<RowMapping::row_per_block>(
    {"cuda-row-per-block", "one thread block per block row (Verschoor & Jalba 2012)"});

constexpr Backend cuda_row_per_warp_backend = Tables::backend<RowMapping::row_per_wave>(
    {"cuda-row-per-warp", "one warp per block row (Verschoor & Jalba 2012)"});

constexpr Backend cuda_balanced_backend = Tables::backend<RowMapping::balanced>(
    {"cuda-balanced", "equal numbers of nonzeros per thread block (Dehnavi et al. 2010)"});

}  // namespace cnc
