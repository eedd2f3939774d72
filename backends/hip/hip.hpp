#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

/// Hand-written HIP kernels (backends/gpu compiled for AMD GPUs), for the waves of the architectures compiled for.
extern const Backend hip_backend;

// The mappings of the literature for block rows, as variants to compare with. Products only.

/// One thread block per block row. Verschoor & Jalba 2012, section 4.
extern const Backend hip_row_per_block_backend;
/// One wave per block row. Verschoor & Jalba 2012, section 4.
extern const Backend hip_row_per_wave_backend;
/// Thread blocks with equal numbers of nonzeros (CSR). Dehnavi, Fernandez & Giannacopoulos 2010.
extern const Backend hip_balanced_backend;

}  // namespace cnc
