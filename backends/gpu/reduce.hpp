#pragma once

#include <cnc/contract/arithmetic.hpp>
#include <cnc/contract/queue.hpp>

#include <target/gpu.hpp>

// Sums with a fixed order: lanes of a wave in a tree, waves of a block in a tree, blocks one after the
// other in the block that finishes last. The order depends on the launch alone, never on the run. A sum is a number, or a
// compensated one with what it has lost.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Largest block of any kernel here; shared arrays with an entry per wave are sized for 32 lanes.
inline constexpr int max_block = 1024;
inline constexpr int max_waves = max_block / 32;

template <int wave, class T>
CNC_GPU_DEVICE T of_lane_across(T value, int mask) {
  return shuffle_xor<wave>(value, mask);
}
template <int wave, class T>
CNC_GPU_DEVICE CompensatedSum<T> of_lane_across(const CompensatedSum<T>& value, int mask) {
  return {shuffle_xor<wave>(value.sum, mask), shuffle_xor<wave>(value.rest, mask)};
}

/// Lane 0 of each group of `lanes` neighbours gets the group's sum; lanes is a power of two.
template <int wave, class T>
CNC_GPU_DEVICE T lane_sum(T value, int lanes) {
  for (int delta = lanes / 2; delta > 0; delta /= 2) value += of_lane_across<wave>(value, delta);
  return value;
}

/// N sums over the threads of a block, each the same on all threads afterwards. Collective.
template <int wave, int N, class T>
CNC_GPU_DEVICE void block_sum(T (&sums)[N]) {
  CNC_GPU_SHARED T of_wave[N * max_waves];
  const int lane = thread_index() % wave;
  const int waves = block_threads() / wave;
  for (int k = 0; k < N; ++k) sums[k] = lane_sum<wave>(sums[k], wave);
  block_barrier();  // an earlier sum may still be read
  if (lane == 0)
    for (int k = 0; k < N; ++k) of_wave[k * max_waves + thread_index() / wave] = sums[k];
  block_barrier();
  for (int k = 0; k < N; ++k) {
    // At most max_waves values: every group of that many lanes sums them in the same tree.
    const int of = lane % max_waves;
    sums[k] = of < waves ? of_wave[k * max_waves + of] : T{};
    sums[k] = lane_sum<wave>(sums[k], max_waves);
  }
}

/// Whether this block is the last of the grid to come here; the others' writes are then visible to it.
/// Leaves the counter at zero for the next kernel. Collective.
CNC_GPU_DEVICE bool last_block(std::uint32_t* ticket) {
  CNC_GPU_SHARED bool last;
  block_barrier();
  if (thread_index() == 0) {
    last = take_ticket(ticket) == static_cast<std::uint32_t>(grid_blocks()) - 1;
    if (last) *ticket = 0;
  }
  block_barrier();
  return last;
}

/// Scratch of a sum across the grid.
struct GridScratch {
  double* partials = nullptr;
  std::uint32_t* ticket = nullptr;
};

/// N sums across the grid. True on all threads of one block, which then holds the totals; false on all
/// threads of the others. Collective.
template <int wave, int N, class T>
CNC_GPU_DEVICE bool grid_sum(T (&sums)[N], const GridScratch& scratch) {
  auto* const partials = reinterpret_cast<T*>(scratch.partials);
  block_sum<wave>(sums);
  if (thread_index() == 0)
    for (int k = 0; k < N; ++k) partials[block_index() * N + k] = sums[k];
  if (!last_block(scratch.ticket)) return false;
  for (int k = 0; k < N; ++k) sums[k] = T{};
  for (index_t block = thread_index(); block < grid_blocks(); block += block_threads())
    for (int k = 0; k < N; ++k) sums[k] += partials[block * N + k];
  block_sum<wave>(sums);
  return true;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
