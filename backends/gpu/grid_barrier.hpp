#pragma once

#include <gpu/reduce.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Sums across the blocks of a resident kernel, and thereby a barrier: every block leaves its partial sums in a
/// slot and counts itself in; once all are counted, one wave of each block reads all slots and adds them up, in
/// the same order everywhere. So one reduction costs one atomic, one read of the counter and one of the
/// slots, and its bits do not depend on who came first.
///
/// Two sets of slots in turn are enough: a block writes to a set again only after a barrier that every reader
/// of its old contents has joined. `sums`: that it can take at one time.
template <int sums>
struct GridBarrier {
  double* slots = nullptr;           ///< [2][blocks][sums]
  std::uint32_t* arrived = nullptr;  ///< blocks that have come, over all barriers; 0 at first
  std::uint32_t barriers = 0;        ///< passed by this thread

  static constexpr std::size_t slot_bytes(index_t blocks) {
    return sizeof(double) * 2 * sums * static_cast<std::size_t>(blocks);
  }

  /// The barrier alone: what any thread wrote to memory before is seen by all after. Collective over the grid.
  CNC_GPU_DEVICE void meet() {
    block_barrier();
    if (thread_index() == 0) wait_for_all();
    ++barriers;
    block_barrier();
  }

  /// Replaces each value by its sum over all threads of all blocks, the same bits on all of them. What any
  /// thread wrote to memory before is seen by all after. Collective over the grid.
  template <int wave, int N>
  CNC_GPU_DEVICE void sum(double (&values)[N]) {
    static_assert(N <= sums);
    CNC_GPU_SHARED double of_wave[N * max_waves];
    CNC_GPU_SHARED double total[N];
    const int lane = thread_index() % wave;
    for (int k = 0; k < N; ++k) {
      values[k] = lane_sum<wave>(values[k], wave);
      if (lane == 0) of_wave[k * max_waves + thread_index() / wave] = values[k];
    }
    block_barrier();
    if (thread_index() < wave) {
      const int waves = block_threads() / wave;
      for (int k = 0; k < N; ++k)
        values[k] = lane_sum<wave>(lane < waves ? of_wave[k * max_waves + lane] : 0.0, wave);
      if (lane == 0) {
        for (int k = 0; k < N; ++k) slot(block_index())[k] = values[k];
        wait_for_all();
      }
      wave_barrier<wave>();
      collect<wave>(values);
      for (int k = 0; k < N; ++k) {
        values[k] = lane_sum<wave>(values[k], wave);
        if (lane == 0) total[k] = values[k];
      }
    }
    ++barriers;
    block_barrier();
    for (int k = 0; k < N; ++k) values[k] = total[k];
  }

 private:
  CNC_GPU_DEVICE double* slot(index_t block) const {
    return slots + (offset_t(barriers % 2) * grid_blocks() + block) * sums;
  }

  CNC_GPU_DEVICE void wait_for_all() const {
    const std::uint32_t all = (barriers + 1) * static_cast<std::uint32_t>(grid_blocks());
    add_release(arrived, 1);
    // The difference, because the counter may wrap around in a long run.
    while (static_cast<std::int32_t>(load_acquire(arrived) - all) < 0) pause();
  }

  /// Leaves in each lane of the wave the sums of its share of the blocks.
  template <int wave, int N>
  CNC_GPU_DEVICE void collect(double (&values)[N]) const {
    constexpr int together = 5;  // all blocks of a device of 160 processors at once
    for (int k = 0; k < N; ++k) values[k] = 0;
    for (index_t first = thread_index(); first < grid_blocks(); first += together * wave) {
      double part[together][N];
      CNC_GPU_UNROLL
      for (int j = 0; j < together; ++j)
        for (int k = 0; k < N; ++k)
          part[j][k] =
              first + j * wave < grid_blocks() ? load_remote(slot(first + j * wave) + k) : 0.0;
      CNC_GPU_UNROLL
      for (int j = 0; j < together; ++j)
        for (int k = 0; k < N; ++k) values[k] += part[j][k];
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
