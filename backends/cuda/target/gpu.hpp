#pragma once

#include <cnc/contract/types.hpp>

#include <cuda/target/ptx.hpp>

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

// What the shared kernels of backends/gpu need of a device, for NVIDIA GPUs. Every target has a header
// of this name with the same functions; kernels find theirs by include path.

/// Each target's kernels live in an inline namespace of their own, so that one process can hold several.
#define CNC_GPU_TARGET cuda_target
/// A kernel that is launched with at most `threads` threads per block.
#define CNC_GPU_KERNEL(threads) __global__ void __launch_bounds__(threads)
/// The same, with registers rationed so that a processor holds at least `resident` threads of it.
#define CNC_GPU_DENSE_KERNEL(threads, resident) \
  __global__ void __launch_bounds__(threads, (resident) / (threads))
#define CNC_GPU_DEVICE __device__ __forceinline__
#define CNC_GPU_SHARED __shared__
#define CNC_GPU_UNROLL _Pragma("unroll")
#define CNC_GPU_UNROLL_BY(times) CNC_GPU_PRAGMA(unroll times)
#define CNC_GPU_PRAGMA(text) _Pragma(#text)

namespace cnc::gpu::inline CNC_GPU_TARGET {

CNC_GPU_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
CNC_GPU_DEVICE int block_threads() { return static_cast<int>(blockDim.x); }
CNC_GPU_DEVICE index_t block_index() { return static_cast<index_t>(blockIdx.x); }
/// The block's place in the order in which the device starts them.
CNC_GPU_DEVICE index_t start_index() { return static_cast<index_t>(blockIdx.x); }
CNC_GPU_DEVICE index_t grid_blocks() { return static_cast<index_t>(gridDim.x); }

/// All threads of the block meet; what they wrote to memory before is seen by all of them after.
CNC_GPU_DEVICE void block_barrier() { __syncthreads(); }

/// The lanes of a wave meet; what they wrote to memory before is seen by all of them after.
template <int wave>
CNC_GPU_DEVICE void wave_barrier() {
  __syncwarp();
}

/// The value of the lane `delta` further up; undefined where that is beyond the wave. Collective.
template <int wave, class T>
CNC_GPU_DEVICE T shuffle_down(T value, int delta) {
  return __shfl_down_sync(0xffffffffu, value, static_cast<unsigned>(delta));
}
/// The value of lane (own lane xor mask). Collective.
template <int wave, class T>
CNC_GPU_DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

/// Bits that are one.
CNC_GPU_DEVICE int ones(std::uint32_t word) { return __popc(word); }

/// The block's dynamic shared memory, aligned to 16 bytes.
template <class T>
CNC_GPU_DEVICE T* dynamic_shared() {
  extern __shared__ float4 cnc_dynamic_shared[];
  return reinterpret_cast<T*>(cnc_dynamic_shared);
}

/// Reads memory that no thread writes during the kernel and that is likely to be read again soon.
template <class T>
CNC_GPU_DEVICE T load_cached(const T* from) {
  return __ldg(from);
}

/// Reads memory that no thread writes during the kernel and this thread reads once: it takes no place
/// in the first-level cache. T has 2, 4, 8 or 16 bytes and its natural alignment.
template <class T>
CNC_GPU_DEVICE T load_once(const T* from) {
  return ptx::load_once(from);
}

/// Begins to copy from the device's memory to shared memory what has 4, 8 or 16 bytes and that alignment, without a register.
template <class T>
CNC_GPU_DEVICE void begin_copy(T* to, const T* from) {
  __pipeline_memcpy_async(to, from, sizeof(T));
}
/// What this thread has begun to copy is there.
CNC_GPU_DEVICE void end_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/// Adds one to a counter that all blocks share and returns what it was; what this thread wrote before is
/// seen by whoever reads the higher count.
CNC_GPU_DEVICE std::uint32_t take_ticket(std::uint32_t* counter) {
  __threadfence();
  const std::uint32_t ticket = atomicAdd(counter, 1u);
  __threadfence();
  return ticket;
}

/// Adds to a counter that blocks meet at: whoever sees the higher count with load_acquire also sees what this
/// thread, and those that it met at a block barrier before, wrote to memory.
CNC_GPU_DEVICE void add_release(std::uint32_t* counter, std::uint32_t value) {
  ptx::add_release(counter, value);
}
CNC_GPU_DEVICE std::uint32_t load_acquire(const std::uint32_t* counter) {
  return ptx::load_acquire(counter);
}
/// Reads what another block has written during this kernel, past this processor's own cache.
CNC_GPU_DEVICE double load_remote(const double* from) { return ptx::load_remote(from); }
/// Two words that are read and written together as far as the device can; each of them is whole in itself.
struct alignas(16) WordPair {
  std::uint64_t first, second;
};
/// What blocks show each other during a kernel, past the processors' own caches and in no order with anything else.
CNC_GPU_DEVICE void add_relaxed(std::uint32_t* counter, std::uint32_t value) {
  ptx::add_relaxed(counter, value);
}
CNC_GPU_DEVICE std::uint32_t load_relaxed(const std::uint32_t* from) {
  return ptx::load_relaxed(from);
}
CNC_GPU_DEVICE std::uint64_t load_relaxed(const std::uint64_t* from) {
  return ptx::load_relaxed(from);
}
CNC_GPU_DEVICE void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  ptx::store_relaxed(to, value);
}
CNC_GPU_DEVICE WordPair load_relaxed(const WordPair* from) {
  std::uint64_t words[2];
  ptx::load_relaxed(&from->first, words);
  return {words[0], words[1]};
}
CNC_GPU_DEVICE void store_relaxed(WordPair* to, const WordPair& pair) {
  const std::uint64_t words[2] = {pair.first, pair.second};
  ptx::store_relaxed(&to->first, words);
}
/// @{
/// What devices show each other during kernels, in memory that both reach.
CNC_GPU_DEVICE std::uint64_t load_across(const std::uint64_t* from) {
  return ptx::load_relaxed_of_system(from);
}
CNC_GPU_DEVICE void store_across(std::uint64_t* to, std::uint64_t value) {
  ptx::store_relaxed_of_system(to, value);
}
CNC_GPU_DEVICE WordPair load_across(const WordPair* from) {
  std::uint64_t words[2];
  ptx::load_relaxed_of_system(&from->first, words);
  return {words[0], words[1]};
}
CNC_GPU_DEVICE void store_across(WordPair* to, const WordPair& pair) {
  const std::uint64_t words[2] = {pair.first, pair.second};
  ptx::store_relaxed_of_system(&to->first, words);
}
/// @}
/// @{
/// For kernels launched with launch_overlapping, which begin before the one before them has ended: what that one writes is
/// there after the wait, and only then. And the kernel after this one may begin, once all blocks have come here or ended.
CNC_GPU_DEVICE void wait_for_kernel_before() { ptx::wait_for_kernel_before(); }
CNC_GPU_DEVICE void let_next_kernel_begin() { ptx::let_next_kernel_begin(); }
/// @}

/// Called in polling loops.
CNC_GPU_DEVICE void pause() {}
/// The same where another device is waited for.
CNC_GPU_DEVICE void pause_for_peer() {}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
