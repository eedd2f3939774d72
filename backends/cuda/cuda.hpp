#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

/// Hand-written CUDA kernels (backends/gpu compiled for NVIDIA GPUs).
extern const Backend cuda_backend;

// The mappings of the literature for block rows, as variants to compare with. Products only.

/// One thread block per block row. Verschoor & Jalba 2012, section 4.
extern const Backend cuda_row_per_block_backend;
/// One warp per block row. Verschoor & Jalba 2012, section 4.
extern const Backend cuda_row_per_warp_backend;
/// Thread blocks with equal numbers of nonzeros (CSR). Dehnavi, Fernandez & Giannacopoulos 2010.
extern const Backend cuda_balanced_backend;

}  // namespace cnc
