#pragma once

#include <cuda_runtime.h>

// What the shared launchers of backends/gpu need of the run-time library, for NVIDIA GPUs.

#define CNC_GPU_API(name) cuda##name
#define CNC_GPU_VENDOR "cuda"
#define CNC_GPU_OVERLAPS

#include <gpu/cuda_hip/launch.hpp>
