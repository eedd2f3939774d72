#pragma once

#include "processors.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace cnc::detail {

// Parallel regions of the library. OpenMP makes the threads; where they wait for each other is here,
// because an OpenMP library may spin for as long as a time slice of the scheduler, and on a machine that
// is busy with something else that is the very time in which the thread waited for cannot run.

inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Where the threads of a team wait for each other: they spin for a while, then sleep.
class Barrier {
 public:
  /// Counts in. The last of `parts` threads releases those who wait.
  void arrive(int parts) {
    if (is_last(parts)) release();
  }

  /// Counts in and returns when all have: what each wrote before is seen after. Returns the seconds
  /// waited, 0 for a wait too short to be timed.
  double arrive_and_wait(int parts) {
    const std::uint32_t before = phase_.load(std::memory_order_relaxed) & ~sleepers;
    if (is_last(parts)) {
      release();
      return 0;
    }
    for (int i = 0; i < untimed_spins; ++i) {
      if (passed(before)) return 0;
      spin_pause();
    }
    return wait_long(before, parts);
  }

 private:
  static constexpr std::uint32_t sleepers = 1;  ///< bit of phase_: somebody sleeps until it changes
  static constexpr std::uint32_t one_phase = 2;
  static constexpr int untimed_spins = 32;

  bool is_last(int parts) {
    return arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 ==
           static_cast<std::uint32_t>(parts);
  }
  bool passed(std::uint32_t before) const {
    return (phase_.load(std::memory_order_acquire) & ~sleepers) != before;
  }
  void release() {
    arrived_.store(0, std::memory_order_relaxed);
    const std::uint32_t next = (phase_.load(std::memory_order_relaxed) & ~sleepers) + one_phase;
    if ((phase_.exchange(next, std::memory_order_acq_rel) & sleepers) != 0) wake();
  }
  double wait_long(std::uint32_t before, int parts);
  void wake();

  // On cache lines of their own: those who spin on the phase are not disturbed by those who arrive.
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> phase_{0};
};

/// How the teams of the calling thread have fared lately, and whether it had better work alone.
///
/// Alone while the machine has more to run than processors, which is checked every now and then. And alone
/// for a while when a team was slower than one thread: shares are equal, so a thread that waits for more than
/// (parts - 1) / parts of the time would have been faster alone; the others did not get a processor.
/// Results do not depend on it: they have the same bits for any number of threads.
inline bool (*crowd_rule)(int threads) =
    is_crowded;  ///< the rule of threads that make their first team; for tests

class TeamRecord {
 public:
  using Clock = std::chrono::steady_clock;

  /// `is_crowded(threads)` says whether the machine is busy with something besides a team of so many.
  explicit TeamRecord(bool (*is_crowded)(int threads) = detail::is_crowded)
      : is_crowded_(is_crowded) {}

  /// The calling thread's own.
  static TeamRecord& of_this_thread();

  /// Whether to use one thread for the region about to begin, instead of `threads`.
  bool works_alone(int threads) {
    begin_ = Clock::now();
    waited_ = 0;
    return begin_ >= next_try_ ? try_again(threads) : alone_;
  }
  /// The team has come together.
  void team_begins();
  void add_wait(double seconds) { waited_ += seconds; }
  /// Whether the first of `parts` threads had better go on alone.
  bool gives_up(int parts) {
    return alone_ || (lost_ + waited_ >= least_loss && loses_time(parts));
  }
  void end_region(int parts) {
    if (waited_ > 0 || lost_ > 0) account(parts);
  }

 private:
  static constexpr double least_loss = 1e-3;  ///< below, it may be a thread that had to wake up
  static constexpr double alone_for = 16;     ///< times what was lost

  bool try_again(int threads);
  bool loses_time(int parts);
  void account(int parts);
  double seconds_in_region() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  bool (*is_crowded_)(int threads);
  Clock::time_point begin_{};     ///< of the region
  Clock::time_point next_try_{};  ///< of a team
  double waited_ = 0;             ///< seconds in this region
  double lost_ = 0, spent_ = 0;   ///< seconds in the regions just before, each with a long wait
  bool alone_ = false;
  bool has_team_ = false;  ///< its threads have been made
};

/// A thread's place in the team that runs a parallel region.
class Team {
 public:
  struct Shared {
    Barrier barrier;
    TeamRecord* record = nullptr;  ///< the first thread's
    bool dissolved = false;
  };

  Team() = default;
  Team(Shared& shared, int part, int parts) : shared_(&shared), part_(part), parts_(parts) {}

  int part() const { return part_; }
  int parts() const { return parts_; }

  /// Returns when all threads of the team have come here.
  void wait() {
    if (parts_ == 1) return;
    const double seconds = shared_->barrier.arrive_and_wait(parts_);
    if (part_ == 0 && seconds > 0 && shared_->record != nullptr) shared_->record->add_wait(seconds);
  }

  /// As wait; false, for all alike, when the first thread had better go on alone: in the next region.
  /// Between two calls there must be a wait.
  bool wait_and_stay() {
    if (parts_ == 1) return true;
    if (part_ == 0 && shared_->record != nullptr)
      shared_->dissolved = shared_->record->gives_up(parts_);
    wait();
    return !shared_->dissolved;
  }

  /// The end of a region: the first thread waits here rather than in the OpenMP library.
  void leave() {
    if (part_ == 0)
      wait();
    else
      shared_->barrier.arrive(parts_);
  }

 private:
  Shared* shared_ = nullptr;
  int part_ = 0;
  int parts_ = 1;
};

/// What the shares of a team's work are like.
enum class Shares {
  equal,    ///< a long wait says that the machine is busy
  unknown,  ///< or that a share was large
};

/// Calls body(team) on `threads` threads, or on the calling one alone when teams do not pay at present.
template <class Body>
void run_team(int threads, Shares shares, const Body& body,
              TeamRecord& record = TeamRecord::of_this_thread()) {
#ifdef _OPENMP
  if (threads > 1) {
    if (!record.works_alone(threads)) {
      Team::Shared shared;
      int parts = 1;
      if (shares == Shares::equal) shared.record = &record;
#pragma omp parallel num_threads(threads)
      {
        Team team(shared, omp_get_thread_num(), omp_get_num_threads());
        if (team.part() == 0) {
          parts = team.parts();
          record.team_begins();
        }
        body(team);
        team.leave();
      }
      if (shares == Shares::equal) record.end_region(parts);
      return;
    }
  }
#else
  (void)threads, (void)shares, (void)record;
#endif
  Team alone;
  body(alone);
}

}  // namespace cnc::detail
