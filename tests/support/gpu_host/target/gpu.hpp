#pragma once

#include "support/gpu_host/processor.hpp"

#include <cnc/contract/types.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

// What the shared kernels of backends/gpu need of a device, for the host: every kernel runs in ordinary tests,
// under sanitizers, with waves of 32 and of 64 lanes. Every target has a header of this name with the same
// functions; kernels find theirs by include path.

#define CNC_GPU_TARGET host
#define CNC_GPU_KERNEL(threads) inline void
#define CNC_GPU_DENSE_KERNEL(threads, resident) inline void
#define CNC_GPU_DEVICE inline
/// An OS thread runs one block at a time, and all lanes of the block.
#define CNC_GPU_SHARED static thread_local
/// Unrolling is a matter of speed.
#define CNC_GPU_UNROLL
#define CNC_GPU_UNROLL_BY(times)

namespace cnc::gpu::inline CNC_GPU_TARGET {

CNC_GPU_DEVICE int thread_index() { return machine::Processor::current().lane(); }
CNC_GPU_DEVICE int block_threads() { return machine::Processor::current().task().threads; }
CNC_GPU_DEVICE index_t block_index() { return machine::Processor::current().task().block; }
/// The block's place in the order in which the device starts them.
CNC_GPU_DEVICE index_t start_index() { return block_index(); }
CNC_GPU_DEVICE index_t grid_blocks() { return machine::Processor::current().task().blocks; }

/// All threads of the block meet; what they wrote to memory before is seen by all of them after.
CNC_GPU_DEVICE void block_barrier() { machine::Processor::current().barrier(); }

/// The value of the lane `delta` further up; the own one where that is beyond the wave. Collective.
template <int wave, class T>
CNC_GPU_DEVICE T shuffle_down(T value, int delta) {
  static_assert(wave == 32 || wave == 64);
  const int own = thread_index();
  const int source = own % wave + delta < wave ? own + delta : own;
  return machine::Processor::current().exchange(wave, machine::Exchange::down, delta, value,
                                                source);
}
/// The value of lane (own lane xor mask). Collective.
template <int wave, class T>
CNC_GPU_DEVICE T shuffle_xor(T value, int mask) {
  static_assert(wave == 32 || wave == 64);
  const int source = thread_index() ^ (mask % wave);
  return machine::Processor::current().exchange(wave, machine::Exchange::exclusive_or, mask, value,
                                                source);
}

/// The lanes of a wave meet; what they wrote to memory before is seen by all of them after.
template <int wave>
CNC_GPU_DEVICE void wave_barrier() {
  (void)shuffle_xor<wave>(0, 1);
}

/// Bits that are one.
CNC_GPU_DEVICE int ones(std::uint32_t word) { return std::popcount(word); }

/// The block's dynamic shared memory, aligned to 16 bytes.
template <class T>
CNC_GPU_DEVICE T* dynamic_shared() {
  static_assert(alignof(T) <= 16);
  return reinterpret_cast<T*>(machine::Processor::current().shared());
}

/// Reads memory that no thread writes during the kernel and that is likely to be read again soon.
template <class T>
CNC_GPU_DEVICE T load_cached(const T* from) {
  return *from;
}

/// Reads memory that no thread writes during the kernel and this thread reads once. T has 2, 4, 8 or
/// 16 bytes and its natural alignment.
template <class T>
CNC_GPU_DEVICE T load_once(const T* from) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  return *from;
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
  return std::atomic_ref(*counter).fetch_add(1, std::memory_order_acq_rel);
}

/// Adds to a counter that blocks meet at: whoever sees the higher count with load_acquire also sees what this
/// thread, and those that it met at a block barrier before, wrote to memory.
CNC_GPU_DEVICE void add_release(std::uint32_t* counter, std::uint32_t value) {
  std::atomic_ref(*counter).fetch_add(value, std::memory_order_release);
}
CNC_GPU_DEVICE std::uint32_t load_acquire(const std::uint32_t* counter) {
  return std::atomic_ref(*const_cast<std::uint32_t*>(counter)).load(std::memory_order_acquire);
}
/// Reads what another block has written during this kernel, past this processor's own cache.
CNC_GPU_DEVICE double load_remote(const double* from) { return *from; }
/// Two words that are read and written together as far as the device can; each of them is whole in itself.
struct alignas(16) WordPair {
  std::uint64_t first, second;
};
/// What blocks show each other during a kernel. Here with more order than a device promises: the thread sanitizer would
/// not believe what else keeps readers and writers apart.
CNC_GPU_DEVICE void add_relaxed(std::uint32_t* counter, std::uint32_t value) {
  std::atomic_ref(*counter).fetch_add(value, std::memory_order_relaxed);
}
CNC_GPU_DEVICE std::uint32_t load_relaxed(const std::uint32_t* from) {
  return std::atomic_ref(*const_cast<std::uint32_t*>(from)).load(std::memory_order_relaxed);
}
CNC_GPU_DEVICE std::uint64_t load_relaxed(const std::uint64_t* from) {
  return std::atomic_ref(*const_cast<std::uint64_t*>(from)).load(std::memory_order_acquire);
}
CNC_GPU_DEVICE void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  std::atomic_ref(*to).store(value, std::memory_order_release);
}
CNC_GPU_DEVICE WordPair load_relaxed(const WordPair* from) {
  return {load_relaxed(&from->first), load_relaxed(&from->second)};
}
CNC_GPU_DEVICE void store_relaxed(WordPair* to, const WordPair& pair) {
  store_relaxed(&to->first, pair.first);
  store_relaxed(&to->second, pair.second);
}
/// What devices show each other during kernels; here, processes.
CNC_GPU_DEVICE std::uint64_t load_across(const std::uint64_t* from) { return load_relaxed(from); }
CNC_GPU_DEVICE void store_across(std::uint64_t* to, std::uint64_t value) {
  store_relaxed(to, value);
}
CNC_GPU_DEVICE WordPair load_across(const WordPair* from) { return load_relaxed(from); }
CNC_GPU_DEVICE void store_across(WordPair* to, const WordPair& pair) { store_relaxed(to, pair); }
/// Kernels begin when the one before has ended.
CNC_GPU_DEVICE void wait_for_kernel_before() {}
CNC_GPU_DEVICE void let_next_kernel_begin() {}

/// Called in polling loops: lets the rest of the block run, and other blocks.
CNC_GPU_DEVICE void pause() { machine::Processor::current().pause(); }
/// The same where another process is waited for, which runs beside this one.
CNC_GPU_DEVICE void pause_for_peer() { machine::Processor::current().pause_for_peer(); }

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
