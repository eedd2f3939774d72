#pragma once

#include <gpu/reduce.hpp>

#include <target/tuning.hpp>

#include <cstring>
#include <limits>

// Words that carry the epoch in which they were written, so that blocks of a resident kernel hand each other values
// without a fence: a reader knows the right word when it sees it. Every 64 bits say their epoch for themselves, since
// no more than that is promised to arrive together.
//
// There are two words for each value, which epochs take in turn: one is written again only two epochs later, and between
// them lies a meeting that its readers have come to.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Calls ready() until it says yes; false after so many times that nobody will come any more.
template <class Ready>
CNC_GPU_DEVICE bool wait_until(const Ready& ready) {
  for (std::uint32_t k = 0; k < tuning::most_polls; ++k) {
    if (ready()) return true;
    pause();
  }
  return false;
}

/// What takes the place of a value that never came: a run ends by it like by any other.
template <class V>
inline constexpr V never_came = std::numeric_limits<V>::quiet_NaN();

/// A value and its epoch: a float beside it, a double in two halves.
template <class V>
struct StampedWord;

template <>
struct StampedWord<float> {
  using Bits = std::uint64_t;
  Bits bits;
  static CNC_GPU_DEVICE Bits packed(float value, std::uint32_t epoch) {
    std::uint32_t raw;
    memcpy(&raw, &value, sizeof raw);
    return std::uint64_t(epoch) << 32 | raw;
  }
  /// False where they are not of this epoch.
  static CNC_GPU_DEVICE bool unpack(Bits seen, float& value, std::uint32_t epoch) {
    const auto raw = static_cast<std::uint32_t>(seen);
    memcpy(&value, &raw, sizeof raw);
    return static_cast<std::uint32_t>(seen >> 32) == epoch;
  }
  CNC_GPU_DEVICE void store(float value, std::uint32_t epoch) {
    store_relaxed(&bits, packed(value, epoch));
  }
  CNC_GPU_DEVICE bool load(float& value, std::uint32_t epoch) const {
    return unpack(load_relaxed(&bits), value, epoch);
  }
};

template <>
struct alignas(16) StampedWord<double> {
  using Bits = WordPair;
  Bits bits;
  static CNC_GPU_DEVICE Bits packed(double value, std::uint32_t epoch) {
    std::uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    const std::uint64_t stamp = std::uint64_t(epoch) << 32;
    return {stamp | (raw & 0xffffffffu), stamp | raw >> 32};
  }
  static CNC_GPU_DEVICE bool unpack(Bits seen, double& value, std::uint32_t epoch) {
    const std::uint64_t raw = (seen.first & 0xffffffffu) | seen.second << 32;
    memcpy(&value, &raw, sizeof raw);
    return static_cast<std::uint32_t>(seen.first >> 32) == epoch &&
           static_cast<std::uint32_t>(seen.second >> 32) == epoch;
  }
  CNC_GPU_DEVICE void store(double value, std::uint32_t epoch) {
    store_relaxed(&bits, packed(value, epoch));
  }
  CNC_GPU_DEVICE bool load(double& value, std::uint32_t epoch) const {
    return unpack(load_relaxed(&bits), value, epoch);
  }
};

/// Sums across the blocks of a resident kernel: partial sums whose two last bits are their epoch, and a counter by which a block
/// knows that it is worth while to look for them. The order of all additions is fixed, and nobody waits for a fence.
struct StampedSums {
  static constexpr int sums = 4;  ///< at most
  struct alignas(16) Slot {
    WordPair pairs[sums / 2];
  };
  Slot* slots = nullptr;             ///< [2][blocks]
  std::uint32_t* arrived = nullptr;  ///< blocks that have come, over all epochs

  /// Leaves the sums of the block's threads to `combine`. Collective, and a barrier of the block.
  template <int wave>
  static CNC_GPU_DEVICE void leave(double (&values)[sums]) {
    double* const of_wave = shared();
    const double sum = fold<wave>(values);
    constexpr int share = wave / sums;
    const int lane = thread_index() % wave;
    if (lane % share == 0) of_wave[lane / share * max_waves + thread_index() / wave] = sum;
    block_barrier();
  }

  /// The sums over all blocks, on all lanes of each block's first wave, for which it is collective. False on a lane that
  /// has waited in vain; the sums are then no numbers.
  template <int wave>
  CNC_GPU_DEVICE bool combine(double (&values)[sums], std::uint32_t epoch) const {
    constexpr int share = wave / sums;
    const int lane = thread_index(), k = lane / share, waves = block_threads() / wave;
    double* const of_wave = shared();
    double sum = 0;
    for (int w = lane % share; w < waves; w += share) sum += of_wave[k * max_waves + w];
    sum = group_sum<wave>(sum);
    if (lane % share == 0) store_relaxed(&word(slot(epoch, block_index()), k), stamped(sum, epoch));
    wave_barrier<wave>();
    bool here = true;
    if (lane == 0) {
      const std::uint32_t all = epoch * static_cast<std::uint32_t>(grid_blocks());
      add_relaxed(arrived, 1);
      // The difference, because the counter may wrap around.
      here =
          wait_until([&] { return static_cast<std::int32_t>(load_relaxed(arrived) - all) >= 0; });
    }
    wave_barrier<wave>();
    for (double& value : values) value = here ? 0 : never_came<double>;
    here &= collect<wave>(values, epoch);
    sum = fold<wave>(values);
    wave_barrier<wave>();
    if (lane % share == 0) of_wave[k] = sum;
    wave_barrier<wave>();
    for (int j = 0; j < sums; ++j) values[j] = of_wave[j];
    return here;
  }

 private:
  static CNC_GPU_DEVICE double* shared() {
    CNC_GPU_SHARED double of_wave[sums * max_waves];
    return of_wave;
  }
  CNC_GPU_DEVICE Slot& slot(std::uint32_t epoch, index_t block) const {
    return slots[offset_t(epoch % 2) * grid_blocks() + block];
  }
  static CNC_GPU_DEVICE std::uint64_t& word(Slot& slot, int k) {
    return k % 2 == 0 ? slot.pairs[k / 2].first : slot.pairs[k / 2].second;
  }
  static CNC_GPU_DEVICE std::uint64_t stamped(double sum, std::uint32_t epoch) {
    std::uint64_t raw;
    memcpy(&raw, &sum, sizeof raw);
    return (raw & ~std::uint64_t(3)) | (epoch & 3);
  }
  static CNC_GPU_DEVICE double value_of(std::uint64_t raw) {
    raw &= ~std::uint64_t(3);
    double value;
    memcpy(&value, &raw, sizeof value);
    return value;
  }

  /// Four sums over a wave at the price of one and a half: each quarter of the lanes gets one of them.
  template <int wave>
  static CNC_GPU_DEVICE double fold(const double (&values)[sums]) {
    const int lane = thread_index() % wave;
    const bool upper = lane / (wave / 2) != 0, odd = lane / (wave / 4) % 2 != 0;
    double mine[2];
    for (int k = 0; k < 2; ++k) {
      const double give = upper ? values[k] : values[k + 2];
      mine[k] = (upper ? values[k + 2] : values[k]) + shuffle_xor<wave>(give, wave / 2);
    }
    const double give = odd ? mine[0] : mine[1];
    return group_sum<wave>((odd ? mine[1] : mine[0]) + shuffle_xor<wave>(give, wave / 4));
  }
  /// Over a quarter of the lanes, on all of them.
  template <int wave>
  static CNC_GPU_DEVICE double group_sum(double value) {
    for (int mask = wave / 8; mask > 0; mask /= 2) value += shuffle_xor<wave>(value, mask);
    return value;
  }

  /// Each lane's share of the blocks.
  template <int wave>
  CNC_GPU_DEVICE bool collect(double (&values)[sums], std::uint32_t epoch) const {
    constexpr int together = 5;  // all blocks of a device of 160 processors at once
    bool here = true;
    for (index_t first = thread_index(); first < grid_blocks(); first += together * wave) {
      WordPair seen[together][sums / 2];
      const bool came = wait_until([&] {
        bool late = false;
        CNC_GPU_UNROLL
        for (int j = 0; j < together; ++j)
          for (int k = 0; k < sums / 2; ++k) {
            WordPair& pair = seen[j][k];
            pair = {epoch & 3, epoch & 3};  // of nobody: nothing
            if (first + j * wave < grid_blocks())
              pair = load_relaxed(&slot(epoch, first + j * wave).pairs[k]);
            late |= (((pair.first ^ epoch) | (pair.second ^ epoch)) & 3) != 0;
          }
        return !late;
      });
      CNC_GPU_UNROLL
      for (int j = 0; j < together; ++j)
        for (int k = 0; k < sums / 2; ++k) {
          values[2 * k] += value_of(seen[j][k].first);
          values[2 * k + 1] += value_of(seen[j][k].second);
        }
      if (!came) values[0] = never_came<double>;
      here &= came;
    }
    return here;
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
