#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

// How everything is timed: the bandwidth of memory, what the program prints, and the benchmarks.

namespace cnc::detail {

/// Seconds on a steady clock.
inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// 0 without values.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// Seconds of `calls` calls one after the other, and of one `wait` until all of them are done.
template <class Call, class Wait>
double seconds_of_calls(long calls, const Call& call, const Wait& wait) {
  const double start = now();
  for (long k = 0; k < calls; ++k) call();
  wait();
  return now() - start;
}

/// As many calls between two waits as fill `seconds`, so that neither the clock nor the wait counts: found by doubling,
/// after a call that is not timed.
template <class Call, class Wait>
long calls_filling(double seconds, const Call& call, const Wait& wait) {
  constexpr long most = 1'000'000;
  (void)seconds_of_calls(1, call, wait);
  long calls = 1;
  double took = seconds_of_calls(calls, call, wait);
  while (took < seconds / 8 && calls < most) {
    calls *= 2;
    took = seconds_of_calls(calls, call, wait);
  }
  const double filling = seconds / std::max(took, 1e-9) * static_cast<double>(calls);
  return std::lround(std::clamp(filling, 1.0, static_cast<double>(most)));
}

/// Seconds of a call, the least of four samples or more that together take `seconds`; a sample is the mean of the calls
/// that fill `sample_seconds`.
template <class Call, class Wait>
double fastest_call(double seconds, double sample_seconds, const Call& call, const Wait& wait) {
  const long calls = calls_filling(sample_seconds, call, wait);
  double best = seconds_of_calls(calls, call, wait);
  double spent = best;
  for (int k = 1; k < 4 || spent < seconds; ++k) {
    const double took = seconds_of_calls(calls, call, wait);
    best = std::min(best, took);
    spent += took;
  }
  return std::max(best / static_cast<double>(calls), 1e-9);
}

}  // namespace cnc::detail
