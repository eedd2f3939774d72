#include "harness/group.hpp"

#include <functional>
#include <utility>

namespace cnc::perf {
namespace {

const Entry* fastest(const Group& group, const std::function<bool(const Entry&)>& wanted) {
  const Entry* found = nullptr;
  for (const Entry& entry : group.entries)
    if (!entry.samples.empty() && wanted(entry) &&
        (found == nullptr || entry.samples.median() < found->samples.median()))
      found = &entry;
  return found;
}

}  // namespace

std::string library_of(const Entry& peer) {
  return peer.contestant.substr(0, peer.contestant.find_first_of(": "));
}

const Entry* automatic_entry(const Group& group) {
  return fastest(group, [](const Entry& entry) { return entry.automatic; });
}

const Entry* best_own(const Group& group) {
  return fastest(group, [](const Entry& entry) { return !entry.peer; });
}

const Entry* best_peer(const Group& group) {
  return fastest(group, [](const Entry& entry) { return entry.peer; });
}

const Entry* best_of_library(const Group& group, const std::string& library) {
  return fastest(group,
                 [&](const Entry& entry) { return entry.peer && library_of(entry) == library; });
}

double bandwidth_fraction(const Group& group, const Entry& entry) {
  if (group.bandwidth <= 0 || entry.samples.empty()) return 0;
  return entry.cost.bytes / entry.samples.median() / group.bandwidth;
}

void measure_group(std::vector<Contestant> contestants, const MeasureOptions& options,
                   Group& group) {
  std::vector<Turn> turns;
  turns.reserve(contestants.size());
  for (const Contestant& contestant : contestants) turns.push_back(contestant.turn);
  std::vector<Samples> samples = measure_interleaved(turns, options);
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    contestants[i].entry.samples = std::move(samples[i]);
    group.entries.push_back(std::move(contestants[i].entry));
  }
}

}  // namespace cnc::perf
