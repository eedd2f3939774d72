#include "team.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace cnc::detail {
namespace {

/// A few times what it costs to sleep and to be woken, and a small part of a time slice.
constexpr std::chrono::microseconds longest_spin{100};
/// Between two looks at what the machine has to run: one costs some microseconds.
constexpr std::chrono::milliseconds between_tries{20};
/// Seconds after which a team is late: waking threads that sleep takes less.
constexpr double long_start = 1e-4;
/// Seconds to work alone at most: a process that was stopped for an hour has not lost an hour.
constexpr double longest_alone = 1;

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

double Barrier::wait_long(std::uint32_t before, int parts) {
  using Clock = TeamRecord::Clock;
  const auto start = Clock::now();
  // More threads than processors: whoever is waited for may need this one.
  static const int processors = affinity_processors();
  const auto end = parts > processors ? start : start + longest_spin;
  auto now = start;
  do {
    for (int i = 0; i < 16 && !passed(before); ++i) spin_pause();
    now = Clock::now();
  } while (!passed(before) && now < end);

  if (!passed(before)) {
    do {
      std::uint32_t seen = before;
      if (phase_.compare_exchange_strong(seen, before | sleepers, std::memory_order_acq_rel) ||
          seen == (before | sleepers))
        futex(phase_, FUTEX_WAIT_PRIVATE, before | sleepers);
    } while (!passed(before));
    now = Clock::now();
  }
  return std::chrono::duration<double>(now - start).count();
}

void Barrier::wake() { futex(phase_, FUTEX_WAKE_PRIVATE, INT_MAX); }

TeamRecord& TeamRecord::of_this_thread() {
  thread_local TeamRecord record(crowd_rule);
  return record;
}

bool TeamRecord::try_again(int threads) {
  alone_ = is_crowded_(threads);
  next_try_ = begin_ + between_tries;
  return alone_;
}

void TeamRecord::team_begins() {
  const double seconds = seconds_in_region();
  // The OpenMP library waits until all threads have left the last region. The first team is made.
  if (has_team_ && seconds > long_start) waited_ += seconds;
  has_team_ = true;
}

bool TeamRecord::loses_time(int parts) {
  const double lost = lost_ + waited_;
  if (lost * parts <= (spent_ + seconds_in_region()) * (parts - 1)) return false;
  alone_ = true;
  next_try_ =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(alone_for * lost, longest_alone)));
  return true;
}

void TeamRecord::account(int parts) {
  if (waited_ > 0 && !gives_up(parts)) {
    lost_ += waited_;
    spent_ += seconds_in_region();
  } else {
    lost_ = spent_ = 0;
  }
}

}  // namespace cnc::detail
