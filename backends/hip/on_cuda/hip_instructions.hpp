#pragma once

#include <contract/types.hpp>

#include <hip/hip_runtime.h>

#include <cstdint>

// The counterpart of amd/hip_instructions.hpp for tests of the HIP sources on an NVIDIA GPU.

namespace cnc::gpu::inline hip_target {

inline constexpr int widest_wave = 32;

/// Second argument of __launch_bounds__, here blocks per processor.
constexpr int hip_launch_bound(int threads, int resident) { return resident / threads; }

namespace instructions {

__device__ __forceinline__ index_t block_index() { return static_cast<index_t>(blockIdx.x); }
__device__ __forceinline__ void meet_block() { __syncthreads(); }
__device__ __forceinline__ void meet_wave() { __syncwarp(); }

template <int bytes>
__device__ __forceinline__ auto load_streaming(const void* from) {
  if constexpr (bytes == 4)
    return __ldcs(static_cast<const unsigned*>(from));
  else if constexpr (bytes == 8)
    return __ldcs(static_cast<const uint2*>(from));
  else
    return __ldcs(static_cast<const uint4*>(from));
}

__device__ __forceinline__ void release() { __threadfence(); }
__device__ __forceinline__ void acquire() { __threadfence(); }

__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* counter) {
  const std::uint32_t value = *static_cast<const volatile std::uint32_t*>(counter);
  __threadfence();
  return value;
}
__device__ __forceinline__ double load_remote(const double* from) { return __ldcg(from); }
__device__ __forceinline__ void pause() {}

}  // namespace instructions
}  // namespace cnc::gpu::inline hip_target
