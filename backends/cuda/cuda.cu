#include "cuda/cuda.hpp"

#include <gpu/table.hpp>

namespace cnc {
namespace {

using gpu::RowMapping;
using Tables = gpu::Tables<32>;

constexpr gpu::BackendText text(const char* name, const char* description) {
  return {name, description, MemorySpace::device, gpu::availability, gpu::free_bytes};
}

}  // namespace

constexpr Backend cuda_backend = Tables::backend(text("cuda", "hand-written CUDA kernels"));

constexpr Backend cuda_row_per_block_backend = Tables::backend<RowMapping::row_per_block>(
    text("cuda-row-per-block", "one thread block per block row (Verschoor & Jalba 2012)"));

constexpr Backend cuda_row_per_warp_backend = Tables::backend<RowMapping::row_per_wave>(
    text("cuda-row-per-warp", "one warp per block row (Verschoor & Jalba 2012)"));

constexpr Backend cuda_balanced_backend = Tables::backend<RowMapping::balanced>(
    text("cuda-balanced", "equal numbers of nonzeros per thread block (Dehnavi et al. 2010)"));

}  // namespace cnc
