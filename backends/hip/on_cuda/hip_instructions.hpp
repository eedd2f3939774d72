#pragma once

#include <cnc/contract/types.hpp>

#include <hip/hip_runtime.h>
#include <cuda/target/ptx.hpp>

#include <cstdint>

// The counterpart of amd/hip_instructions.hpp for tests of the HIP sources on an NVIDIA GPU.

namespace cnc::gpu::inline hip_target {

/// Second argument of __launch_bounds__, here blocks per processor.
constexpr int hip_launch_bound(int threads, int resident) { return resident / threads; }

namespace instructions {

__device__ __forceinline__ index_t block_index() { return static_cast<index_t>(blockIdx.x); }
__device__ __forceinline__ void meet_block() { __syncthreads(); }
__device__ __forceinline__ void meet_wave() { __syncwarp(); }

template <class T>
__device__ __forceinline__ T load_streaming(const T* from) {
  return ptx::load_once(from);
}

__device__ __forceinline__ void release() { __threadfence(); }
__device__ __forceinline__ void acquire() { __threadfence(); }
__device__ __forceinline__ void add_release(std::uint32_t* counter, std::uint32_t value) {
  ptx::add_release(counter, value);
}
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* counter) {
  return ptx::load_acquire(counter);
}
__device__ __forceinline__ double load_remote(const double* from) { return ptx::load_remote(from); }
__device__ __forceinline__ void add_relaxed(std::uint32_t* counter, std::uint32_t value) {
  ptx::add_relaxed(counter, value);
}
template <class T>
__device__ __forceinline__ T load_relaxed(const T* from) {
  return ptx::load_relaxed(from);
}
__device__ __forceinline__ void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  ptx::store_relaxed(to, value);
}
__device__ __forceinline__ std::uint64_t load_across(const std::uint64_t* from) {
  return ptx::load_relaxed_of_system(from);
}
__device__ __forceinline__ void store_across(std::uint64_t* to, std::uint64_t value) {
  ptx::store_relaxed_of_system(to, value);
}
__device__ __forceinline__ void pause() {}

}  // namespace instructions
}  // namespace cnc::gpu::inline hip_target
