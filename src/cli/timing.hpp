#pragma once

#include "model/timing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace cnc::cli {

using detail::now;

/// How much work goes into one figure, at least.
struct Effort {
  int repeats = 5;
  double min_seconds = 0.1;
};

/// Seconds of one call, over many samples.
struct Timing {
  double median = -1;
  double fastest = -1;
  double slowest = -1;
  /// Distance between the quartiles, of fewer than four samples between the extremes; NaN of one.
  double spread = std::numeric_limits<double>::quiet_NaN();
  int repeats = 0;  ///< 0: not measured

  bool measured() const { return repeats > 0; }
  /// Whether the median means anything: a difference of two timings may lie within what they spread,
  /// or below zero. What does not resolve is shown as noise, never as a figure.
  bool resolved() const { return measured() && median > 0 && !(spread >= median); }
};

inline Timing summarize(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size(), quarter = n / 4;
  Timing timing;
  timing.median = detail::median_of(seconds);
  timing.fastest = seconds.front();
  timing.slowest = seconds.back();
  if (n > 1) timing.spread = seconds[n - 1 - quarter] - seconds[quarter];
  timing.repeats = static_cast<int>(n);
  return timing;
}

/// Whether two figures differ by more than they spread.
inline bool distinguishable(const Timing& a, const Timing& b) {
  const double noise =
      0.5 * (std::isnan(a.spread) ? 0 : a.spread) + 0.5 * (std::isnan(b.spread) ? 0 : b.spread);
  return std::abs(a.median - b.median) > noise;
}

/// Takes samples, each of them the seconds of one call: as many as the effort says and for as long.
/// Samples that take a second or more are taken three times at most.
template <class Sample>
Timing collect(Effort effort, const Sample& sample) {
  constexpr std::size_t most = 100'000;
  std::vector<double> seconds;
  double spent = 0;
  do {
    const double start = now();
    seconds.push_back(sample());
    const double took = now() - start;
    if (took >= 1) effort.repeats = std::min(effort.repeats, 3);
    spent += took;
  } while (seconds.size() < static_cast<std::size_t>(effort.repeats) ||
           (spent < effort.min_seconds && seconds.size() < most));
  return summarize(std::move(seconds));
}

/// Times `launch`. `wait` returns when all that was launched is done. A sample is the mean of as many calls between
/// two waits as fill `sample_seconds`.
template <class Launch, class Wait>
Timing time_calls(const Effort& effort, double sample_seconds, const Launch& launch,
                  const Wait& wait) {
  const long calls = detail::calls_filling(sample_seconds, launch, wait);
  return collect(effort, [&] {
    return detail::seconds_of_calls(calls, launch, wait) / static_cast<double>(calls);
  });
}

}  // namespace cnc::cli
