#pragma once

#include <hip/hip_runtime.h>

// What the shared launchers of backends/gpu need of the run-time library, for AMD GPUs.

#define CNC_GPU_API(name) hip##name
#define CNC_GPU_VENDOR "hip"

#include <gpu/cuda_hip/launch.hpp>
