#pragma once

#include <cnc/contract/types.hpp>

#include <hip/hip_runtime.h>

#include <hip_instructions.hpp>

#include <cstdint>

// What the shared kernels of backends/gpu need of a device, for AMD GPUs. Every target has a header of this
// name with the same functions; kernels find theirs by include path. What HIP has no portable name for is in
// <hip_instructions.hpp>.

/// Each target's kernels live in an inline namespace of their own, so that one process can hold several.
#define CNC_GPU_TARGET hip_target
/// A kernel that is launched with at most `threads` threads per block.
#define CNC_GPU_KERNEL(threads) __global__ void __launch_bounds__(threads)
/// The same, with registers rationed so that a processor holds at least `resident` threads of it.
#define CNC_GPU_DENSE_KERNEL(threads, resident) \
  __global__ void __launch_bounds__(threads, cnc::gpu::hip_launch_bound(threads, resident))
#define CNC_GPU_DEVICE __device__ __forceinline__
#define CNC_GPU_SHARED __shared__
#define CNC_GPU_UNROLL _Pragma("unroll")
#define CNC_GPU_UNROLL_BY(times) CNC_GPU_PRAGMA(unroll times)
#define CNC_GPU_PRAGMA(text) _Pragma(#text)

namespace cnc::gpu::inline CNC_GPU_TARGET {

CNC_GPU_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
CNC_GPU_DEVICE int block_threads() { return static_cast<int>(blockDim.x); }
/// The block's place in the order in which the device starts them.
CNC_GPU_DEVICE index_t start_index() { return static_cast<index_t>(blockIdx.x); }
CNC_GPU_DEVICE index_t grid_blocks() { return static_cast<index_t>(gridDim.x); }
CNC_GPU_DEVICE index_t block_index() { return instructions::block_index(); }

/// All threads of the block meet; what they wrote to memory before is seen by all of them after.
CNC_GPU_DEVICE void block_barrier() { instructions::meet_block(); }

/// The lanes of a wave meet; what they wrote to memory before is seen by all of them after.
template <int wave>
CNC_GPU_DEVICE void wave_barrier() {
  instructions::meet_wave();
}

/// The value of the lane `delta` further up; undefined where that is beyond the wave. Collective.
template <int wave, class T>
CNC_GPU_DEVICE T shuffle_down(T value, int delta) {
  return __shfl_down(value, static_cast<unsigned>(delta), wave);
}
/// The value of lane (own lane xor mask). Collective.
template <int wave, class T>
CNC_GPU_DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor(value, mask, wave);
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

/// Reads memory that no thread writes during the kernel and this thread reads once: it does not push other
/// data out of the caches. T has 2, 4, 8 or 16 bytes and its natural alignment.
template <class T>
CNC_GPU_DEVICE T load_once(const T* from) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  return instructions::load_streaming(from);
}

/// Copies from the device's memory to shared memory what has 4, 8 or 16 bytes and that alignment; it is there after end_copies.
template <class T>
CNC_GPU_DEVICE void begin_copy(T* to, const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  *to = *from;
}
CNC_GPU_DEVICE void end_copies() {}

/// Adds one to a counter that all blocks share and returns what it was; what this thread wrote before is
/// seen by whoever reads the higher count.
CNC_GPU_DEVICE std::uint32_t take_ticket(std::uint32_t* counter) {
  instructions::release();
  const std::uint32_t ticket = atomicAdd(counter, 1u);
  instructions::acquire();
  return ticket;
}

/// Adds to a counter that blocks meet at: whoever sees the higher count with load_acquire also sees what this
/// thread, and those that it met at a block barrier before, wrote to memory.
CNC_GPU_DEVICE void add_release(std::uint32_t* counter, std::uint32_t value) {
  instructions::add_release(counter, value);
}
CNC_GPU_DEVICE std::uint32_t load_acquire(const std::uint32_t* counter) {
  return instructions::load_acquire(counter);
}
/// Reads what another block has written during this kernel, past this processor's own cache.
CNC_GPU_DEVICE double load_remote(const double* from) { return instructions::load_remote(from); }
/// Two words that are read and written together as far as the device can; each of them is whole in itself.
struct alignas(16) WordPair {
  std::uint64_t first, second;
};
/// What blocks show each other during a kernel, past the processors' own caches and in no order with anything else.
CNC_GPU_DEVICE void add_relaxed(std::uint32_t* counter, std::uint32_t value) {
  instructions::add_relaxed(counter, value);
}
CNC_GPU_DEVICE std::uint32_t load_relaxed(const std::uint32_t* from) {
  return instructions::load_relaxed(from);
}
CNC_GPU_DEVICE std::uint64_t load_relaxed(const std::uint64_t* from) {
  return instructions::load_relaxed(from);
}
CNC_GPU_DEVICE void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  instructions::store_relaxed(to, value);
}
CNC_GPU_DEVICE WordPair load_relaxed(const WordPair* from) {
  return {load_relaxed(&from->first), load_relaxed(&from->second)};
}
CNC_GPU_DEVICE void store_relaxed(WordPair* to, const WordPair& pair) {
  store_relaxed(&to->first, pair.first);
  store_relaxed(&to->second, pair.second);
}
/// @{
/// What devices show each other during kernels, in memory that both reach.
CNC_GPU_DEVICE std::uint64_t load_across(const std::uint64_t* from) {
  return instructions::load_across(from);
}
CNC_GPU_DEVICE void store_across(std::uint64_t* to, std::uint64_t value) {
  instructions::store_across(to, value);
}
CNC_GPU_DEVICE WordPair load_across(const WordPair* from) {
  return {load_across(&from->first), load_across(&from->second)};
}
CNC_GPU_DEVICE void store_across(WordPair* to, const WordPair& pair) {
  store_across(&to->first, pair.first);
  store_across(&to->second, pair.second);
}
/// @}
/// Kernels begin when the one before has ended.
CNC_GPU_DEVICE void wait_for_kernel_before() {}
CNC_GPU_DEVICE void let_next_kernel_begin() {}

/// Called in polling loops.
CNC_GPU_DEVICE void pause() { instructions::pause(); }
/// The same where another device is waited for.
CNC_GPU_DEVICE void pause_for_peer() { instructions::pause(); }

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
