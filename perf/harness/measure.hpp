#pragma once

#include "model/timing.hpp"

#include <functional>
#include <vector>

namespace cnc::perf {

using detail::median_of;
using detail::now;

/// Seconds of one call, once for each turn that a contestant had.
struct Samples {
  std::vector<double> seconds;

  bool empty() const { return seconds.empty(); }
  double median() const;
  double fastest() const;
  /// Distance between the quartiles over the median.
  double spread() const;
};

/// Median over the turns of other / ours: above 1 means that ours is faster. Turn i of both was
/// taken within the same round, so a machine that slows down for a while slows down both sides of a
/// quotient.
double speedup(const Samples& ours, const Samples& other);

/// 0 without values.
double geometric_mean(const std::vector<double>& values);

/// One turn: does its work and says how many seconds one call took.
using Turn = std::function<double()>;

struct MeasureOptions {
  int turns = 9;
  double seconds = 0.3;  ///< timed work of each contestant over all turns, at least
};

/// A turn of as many calls as fill its share of the time, after one call that is not timed: it
/// brings the contestant's own data back into the caches that the one before it used. The number of
/// calls is found in the first turn. `operation` returns when its result is there.
Turn repeat(std::function<void()> operation, const MeasureOptions& options);

/// The same for an operation that is only enqueued: `wait` returns when all calls of a turn are done.
Turn repeat_enqueued(std::function<void()> operation, std::function<void()> wait,
                     const MeasureOptions& options);

/// Takes the contestants' turns round by round, forwards and backwards in alternation (ABBA...),
/// after one round that does not count. Result: the samples of each contestant.
std::vector<Samples> measure_interleaved(const std::vector<Turn>& contestants,
                                         const MeasureOptions& options);

/// Creates the OpenMP threads and makes them work for a moment, so that no contestant pays for
/// that.
void warm_up_threads(int threads);

}  // namespace cnc::perf
