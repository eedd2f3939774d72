#pragma once

#include <cnc/contract/types.hpp>

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstring>

// What the HIP target needs of AMD hardware and HIP has no function for: compiler builtins. The header of
// this name in on_cuda has the same for tests on an NVIDIA GPU.

namespace cnc::gpu::inline hip_target {

/// Second argument of __launch_bounds__, here the waves that each of the four SIMDs of a processor holds. Counted
/// in waves of 64, which asks no more of a device with narrower waves than it can hold.
constexpr int hip_launch_bound(int, int resident) {
  return resident < 4 * 64 ? 1 : resident / (4 * 64);
}

namespace instructions {

/// The block's place in the grid. On gfx942 neighbours start on different dies, each with a second-level cache of
/// its own: renumbered so that each die has one contiguous range of rows. Eight dies as on MI300X; with
/// another number the ranges are only less contiguous. Not measured.
__device__ __forceinline__ index_t block_index() {
#ifdef __gfx942__
  constexpr unsigned dies = 8;
  const unsigned die = blockIdx.x % dies;
  const unsigned longer = gridDim.x % dies;  // the first so many dies have one block more
  return static_cast<index_t>(die * (gridDim.x / dies) + (die < longer ? die : longer) +
                              blockIdx.x / dies);
#else
  return static_cast<index_t>(blockIdx.x);
#endif
}

/// __syncthreads orders shared memory alone in some releases. Fences at the scope of the block do not wait until
/// stores have left for the second-level cache; each wave does so here, because a thread that meets
/// others may then release, for other blocks, what all of them wrote.
__device__ __forceinline__ void meet_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__device__ __forceinline__ void meet_wave() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/// The builtin takes scalars and the compiler's own vectors, not those of HIP.
template <class T>
__device__ __forceinline__ T load_streaming(const T* from) {
  T value;
  if constexpr (sizeof(T) == 2) {
    const auto half = __builtin_nontemporal_load(reinterpret_cast<const std::uint16_t*>(from));
    memcpy(&value, &half, sizeof value);
  } else if constexpr (sizeof(T) == 4) {
    const auto word = __builtin_nontemporal_load(reinterpret_cast<const std::uint32_t*>(from));
    memcpy(&value, &word, sizeof value);
  } else {
    using Words = std::uint32_t __attribute__((ext_vector_type(sizeof(T) / 4)));
    const auto words = __builtin_nontemporal_load(reinterpret_cast<const Words*>(from));
    memcpy(&value, &words, sizeof value);
  }
  return value;
}

/// What this thread has written, and what it saw written, is visible to the device before what it does next.
/// The wait is spelled out for gfx942: compilers start writing the second-level cache back there, and have been
/// seen to go on before that is done.
__device__ __forceinline__ void release() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_waitcnt(0);
}
/// What follows sees what was visible to the device before.
__device__ __forceinline__ void acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }

__device__ __forceinline__ void add_release(std::uint32_t* counter, std::uint32_t value) {
  release();
  atomicAdd(counter, value);
}
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* counter) {
  return __hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ __forceinline__ double load_remote(const double* from) {
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ __forceinline__ void add_relaxed(std::uint32_t* counter, std::uint32_t value) {
  __hip_atomic_fetch_add(counter, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class T>
__device__ __forceinline__ T load_relaxed(const T* from) {
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ __forceinline__ void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  __hip_atomic_store(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ __forceinline__ std::uint64_t load_across(const std::uint64_t* from) {
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ void store_across(std::uint64_t* to, std::uint64_t value) {
  __hip_atomic_store(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ void pause() { __builtin_amdgcn_s_sleep(1); }

}  // namespace instructions
}  // namespace cnc::gpu::inline hip_target
