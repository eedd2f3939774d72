#pragma once

#include <cuda_runtime.h>

// What the shared launchers of backends/gpu need of the run-time library, for NVIDIA GPUs.

#define CNC_GPU_API(name) cuda##name
#define CNC_GPU_VENDOR "cuda"
#define CNC_GPU_OVERLAPS
#if CUDART_VERSION >= 13000  // edges of graphs have types
#define CNC_GPU_OVERLAPS_IN_GRAPHS
#endif

#include <gpu/cuda_hip/launch.hpp>
