#pragma once

#include "clock.hpp"

#include <algorithm>
#include <vector>

namespace cnc::cli {

/// Seconds of one call, over many.
struct Timing {
  double median = -1;  ///< negative: not measured
  double fastest = -1;
  double slowest = -1;
  int repeats = 0;

  bool measured() const { return repeats > 0; }
};

inline Timing summarize(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back(),
          static_cast<int>(seconds.size())};
}

/// Calls `work` once to warm up, then at least `repeats` times and for `min_seconds`. `work`
/// returns only when its result is there. A call of a second or more is repeated three
/// times at most.
template <class Work>
Timing time_repeated(int repeats, double min_seconds, const Work& work) {
  const double first = now();
  work();
  const bool slow = now() - first >= 1;
  std::vector<double> seconds;
  double spent = 0;
  while (static_cast<int>(seconds.size()) < (slow ? std::min(repeats, 3) : repeats) ||
         (spent < min_seconds && seconds.size() < 100'000)) {
    const double start = now();
    work();
    seconds.push_back(now() - start);
    spent += seconds.back();
  }
  return summarize(std::move(seconds));
}

/// The same for work that is only enqueued: `wait` returns when all of it is done. Each figure is the
/// mean of as many calls between two waits as take about a millisecond, so that the wait, which on a
/// device costs more than a small kernel, does not count. `batches` false: one call between two waits.
template <class Launch, class Wait>
Timing time_enqueued(int repeats, double min_seconds, bool batches, const Launch& launch,
                     const Wait& wait) {
  int calls = 1;
  const auto work = [&] {
    for (int k = 0; k < calls; ++k) launch();
    wait();
  };
  if (batches) {
    work();
    const double start = now();
    work();
    calls = std::clamp(static_cast<int>(1e-3 / std::max(now() - start, 1e-7)), 1, 1000);
  }
  Timing timing = time_repeated(repeats, min_seconds, work);
  timing.median /= calls;
  timing.fastest /= calls;
  timing.slowest /= calls;
  return timing;
}

}  // namespace cnc::cli
