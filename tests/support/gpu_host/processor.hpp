#pragma once

#include "support/gpu_host/fiber.hpp"

#include <cnc/contract/types.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

// Runs thread blocks on the host: a block is one OS thread, its lanes are fibers that switch where lanes of
// a GPU meet. What would hang there, or mean nothing, ends the process with a message here.

namespace cnc::gpu::inline host::machine {

inline constexpr int max_block_threads = 1024;
inline constexpr std::size_t max_shared_bytes = std::size_t(64) << 10;

/// A block about to run.
struct BlockTask {
  const char* operation = "";                   ///< for messages
  const std::function<void()>* lane = nullptr;  ///< what every lane does
  index_t block = 0;
  index_t blocks = 1;
  int threads = 1;
  std::size_t shared_bytes = 0;
  bool resident = false;  ///< the other blocks run at the same time
  bool descending =
      false;  ///< the last lane starts first: finds barriers that the other order hides
};

enum class Exchange : int { none, down, exclusive_or };

/// One OS thread's means of running blocks, one at a time.
class Processor {
 public:
  /// This OS thread's.
  static Processor& mine();
  /// The one whose lane is running: valid inside kernels only.
  static Processor& current() { return *current_; }

  void run(const BlockTask& task);

  // What lanes ask for.
  int lane() const { return lane_; }
  const BlockTask& task() const { return task_; }
  std::byte* shared() { return shared_; }
  void barrier();
  void pause();
  void pause_for_peer();
  /// Lanes of a wave show each other their values: returns that of `source`, a lane of the block.
  template <class T>
  T exchange(int wave, Exchange kind, int argument, const T& value, int source);

  ~Processor();

 private:
  /// What has become of 32 neighbours. A wave is one or two of them.
  struct Group {
    int exchanging = 0;  ///< wait for the rest of their wave
    int in_barrier = 0;
    int finished = 0;
    Exchange kind = Exchange::none;  ///< of those that are exchanging
    int argument = 0;
    unsigned exchanges = 0;  ///< completed: its parity says which slots are in use
  };
  struct alignas(16) Slot {
    std::byte bytes[16];
  };
  static constexpr int group_lanes = 32;

  Processor();
  static void work(void* self);
  void take_lanes();
  void finish_lane();
  void suspend();
  void resume_next();
  void release(int first, int last);
  void switch_to(Fiber& fiber);
  Fiber& idle_fiber();
  Group* wave_groups(int wave) { return &groups_[lane_ / wave * (wave / group_lanes)]; }
  int count(int wave, int Group::*what);
  Slot* slots(int wave) { return slots_[wave_groups(wave)->exchanges % 2].data(); }
  void meet_wave(int wave, Exchange kind, int argument);
  [[noreturn]] void fail(const char* text) const;

  static constinit thread_local Processor* current_;

  BlockTask task_;
  int lane_ = 0;     ///< who runs
  int started_ = 0;  ///< lanes that have been started
  int finished_ = 0;
  int in_barrier_ = 0;
  int wave_ = group_lanes;  ///< of the block's last exchange
  unsigned pauses_ = 0;
  std::array<Group, max_block_threads / group_lanes> groups_;
  std::array<Slot, max_block_threads> slots_[2];

  // Lanes that may run, first come first served. Every lane is in it at most once.
  std::array<int, max_block_threads> ready_ = {};
  unsigned ready_begin_ = 0;
  unsigned ready_end_ = 0;

  Fiber root_;  ///< the OS thread
  Fiber* running_ = &root_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::array<Fiber*, max_block_threads> fiber_of_ = {};  ///< by lane
  std::byte* shared_ = nullptr;                          ///< [max_shared_bytes]
};

template <class T>
T Processor::exchange(int wave, Exchange kind, int argument, const T& value, int source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(Slot));
  // The next exchange uses the other slots, and the one after that begins when all have read these.
  Slot* const shown = slots(wave);
  std::memcpy(shown[lane_].bytes, &value, sizeof value);
  meet_wave(wave, kind, argument);
  T seen;
  std::memcpy(&seen, shown[source].bytes, sizeof seen);
  return seen;
}

}  // namespace cnc::gpu::inline host::machine
