#include "harness/measure.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace cnc::perf {

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double Samples::median() const { return median_of(seconds); }

double Samples::fastest() const {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

double Samples::spread() const {
  if (seconds.size() < 4) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t quarter = sorted.size() / 4;
  return (sorted[sorted.size() - 1 - quarter] - sorted[quarter]) / median();
}

double speedup(const Samples& ours, const Samples& other) {
  std::vector<double> quotients;
  for (std::size_t i = 0; i < std::min(ours.seconds.size(), other.seconds.size()); ++i)
    quotients.push_back(other.seconds[i] / ours.seconds[i]);
  return median_of(std::move(quotients));
}

using Operation = std::function<void()>;

Turn repeat(Operation operation, const MeasureOptions& options) {
  return repeat_enqueued(
      std::move(operation), [] {}, options);
}

Turn repeat_enqueued(Operation operation, Operation wait, const MeasureOptions& options) {
  const double share = options.seconds / options.turns;
  auto calls = std::make_shared<long>(0);
  return [operation = std::move(operation), wait = std::move(wait), share, calls] {
    operation();
    wait();
    if (*calls == 0) *calls = detail::calls_filling(share, operation, wait);
    return detail::seconds_of_calls(*calls, operation, wait) / static_cast<double>(*calls);
  };
}

std::vector<Samples> measure_interleaved(const std::vector<Turn>& contestants,
                                         const MeasureOptions& options) {
  std::vector<Samples> samples(contestants.size());
  for (const Turn& turn : contestants) (void)turn();
  for (int round = 0; round < options.turns; ++round)
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const std::size_t which = round % 2 == 0 ? i : contestants.size() - 1 - i;
      samples[which].seconds.push_back(contestants[which]());
    }
  return samples;
}

void warm_up_threads(int threads) {
  omp_set_num_threads(threads);
  const double end = now() + 0.2;
#pragma omp parallel num_threads(threads)
  {
    volatile double sink = 1;
    while (now() < end) sink = sink * 1.0000001;
  }
}

}  // namespace cnc::perf
