#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

// The shared GPU kernels on the host, for tests. The number is the lanes of a wave.

extern const Backend gpu_host_32_backend;

// Products with one mapping of rows to threads, as the variants of the GPU backends.

extern const Backend gpu_host_32_row_per_block_backend;
extern const Backend gpu_host_32_row_per_wave_backend;
extern const Backend gpu_host_32_balanced_backend;

#ifdef CNC_TEST_GPU_HOST_64
extern const Backend gpu_host_64_backend;
extern const Backend gpu_host_64_row_per_block_backend;
extern const Backend gpu_host_64_row_per_wave_backend;
extern const Backend gpu_host_64_balanced_backend;
#endif

}  // namespace cnc
