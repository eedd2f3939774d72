#pragma once

#include <contract/types.hpp>

#include <hip/hip_runtime.h>

#include <cstdint>

// The counterpart of amd/hip_instructions.hpp for tests of the HIP sources on an NVIDIA GPU.

namespace cnc::gpu::inline hip_target {

/// Second argument of __launch_bounds__, here blocks per processor.
constexpr int hip_launch_bound(int threads, int resident) { return resident / threads; }

namespace instructions {

__device__ __forceinline__ index_t block_index() { return static_cast<index_t>(blockIdx.x); }
__device__ __forceinline__ void meet_block() { __syncthreads(); }
__device__ __forceinline__ void meet_wave() { __syncwarp(); }

/// Past the first-level cache, and kept in the second like anything else.
template <int bytes>
__device__ __forceinline__ auto load_streaming(const void* from) {
  if constexpr (bytes == 4)
    return __ldcg(static_cast<const unsigned*>(from));
  else if constexpr (bytes == 8)
    return __ldcg(static_cast<const uint2*>(from));
  else
    return __ldcg(static_cast<const uint4*>(from));
}

__device__ __forceinline__ void release() {
  __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
__device__ __forceinline__ void acquire() {
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
}
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* counter) {
  return __nv_atomic_load_n(const_cast<std::uint32_t*>(counter), __NV_ATOMIC_ACQUIRE,
                            __NV_THREAD_SCOPE_DEVICE);
}
__device__ __forceinline__ double load_remote(const double* from) { return __ldcg(from); }
__device__ __forceinline__ void pause() {}

}  // namespace instructions
}  // namespace cnc::gpu::inline hip_target
