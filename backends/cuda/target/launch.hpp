#pragma once

#include <cuda_runtime.h>

// What the shared launchers of backends/gpu need of the run-time library, for NVIDIA GPUs.

#define CNC_GPU_API(name) cuda##name
#define CNC_GPU_VENDOR "cuda"
#define CNC_GPU_OVERLAPS
// Edges of graphs have types since 12.3, at first under another name.
#if CUDART_VERSION >= 12030
#define CNC_GPU_OVERLAPS_IN_GRAPHS
#if CUDART_VERSION < 13000
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#endif
#endif

#include <gpu/cuda_hip/launch.hpp>
