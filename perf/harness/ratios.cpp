#include "harness/ratios.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace cnc::perf {
namespace {

Summary summarize(std::string name, const std::vector<double>& values) {
  Summary summary{std::move(name), geometric_mean(values), 0, 0, static_cast<int>(values.size())};
  if (!values.empty()) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    summary.lowest = *low;
    summary.highest = *high;
  }
  return summary;
}

template <class Get>
std::set<std::string> distinct(const std::vector<Group>& groups, const Get& get) {
  std::set<std::string> names;
  for (const Group& group : groups) get(group, names);
  return names;
}

using Pick = std::function<const Entry*(const Group&)>;

/// Speed of what `ours` picks over what `other` picks, where both exist.
Summary compare(const std::vector<Group>& groups, const std::string& precision,
                const std::string& name, const Pick& ours, const Pick& other) {
  std::vector<double> ratios;
  for (const Group& group : groups) {
    if (group.precision != precision) continue;
    const Entry* a = ours(group);
    const Entry* b = other(group);
    if (a != nullptr && b != nullptr) ratios.push_back(speedup(a->samples, b->samples));
  }
  return summarize(precision + ": " + name, ratios);
}

}  // namespace

std::vector<Summary> speedups(const std::vector<Group>& groups) {
  const auto precisions =
      distinct(groups, [](const Group& group, auto& names) { names.insert(group.precision); });
  const auto libraries = distinct(groups, [](const Group& group, auto& names) {
    for (const Entry& entry : group.entries)
      if (entry.peer) names.insert(library_of(entry));
  });
  std::vector<Summary> result;
  for (const std::string& precision : precisions) {
    const auto both = [&](const std::string& name, const Pick& other) {
      for (Summary summary :
           {compare(groups, precision, "automatic choice / " + name, automatic_entry, other),
            compare(groups, precision, "our best / " + name, best_own, other)})
        if (summary.count > 0) result.push_back(std::move(summary));
    };
    both("best peer", best_peer);
    for (const std::string& library : libraries)
      both(library, [&](const Group& group) { return best_of_library(group, library); });
  }
  return result;
}

std::vector<Summary> bandwidth_fractions(const std::vector<Group>& groups) {
  const auto precisions =
      distinct(groups, [](const Group& group, auto& names) { names.insert(group.precision); });
  std::vector<Summary> result;
  for (const std::string& precision : precisions)
    for (const bool out_of_cache : {true, false}) {
      std::vector<double> fractions;
      for (const Group& group : groups) {
        const Entry* entry = automatic_entry(group);
        if (group.precision != precision || group.out_of_cache != out_of_cache ||
            entry == nullptr || group.bandwidth <= 0)
          continue;
        fractions.push_back(bandwidth_fraction(group, *entry));
      }
      if (fractions.empty()) continue;
      result.push_back(
          summarize(precision + (out_of_cache ? ", out of cache" : ", in cache"), fractions));
    }
  return result;
}

}  // namespace cnc::perf
