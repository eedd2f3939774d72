#include "cuda/cuda.hpp"

#include "cuda/availability.hpp"

#include <gpu/table.hpp>

namespace cnc {
namespace {

using gpu::RowMapping;

constexpr gpu::BackendText text(const char* name, const char* description) {
  return {name, description, MemorySpace::device, cuda::availability, cuda::free_bytes};
}

}  // namespace

constexpr Backend cuda_backend =
    gpu::backend_table<gpu::native_wave>(text("cuda", "hand-written CUDA kernels"));

constexpr Backend cuda_row_per_block_backend =
    gpu::mapping_backend_table<gpu::native_wave, RowMapping::row_per_block>(
        text("cuda-row-per-block", "one thread block per block row (Verschoor & Jalba 2012)"));

constexpr Backend cuda_row_per_warp_backend =
    gpu::mapping_backend_table<gpu::native_wave, RowMapping::row_per_wave>(
        text("cuda-row-per-warp", "one warp per block row (Verschoor & Jalba 2012)"));

constexpr Backend cuda_balanced_backend =
    gpu::mapping_backend_table<gpu::native_wave, RowMapping::balanced>(
        text("cuda-balanced", "equal numbers of nonzeros per thread block (Dehnavi et al. 2010)"));

}  // namespace cnc
