#pragma once

#include "harness/group.hpp"

namespace cnc::perf {

/// A quotient over all groups of one precision.
struct Summary {
  std::string name;  ///< "f64: automatic choice over the best peer"
  double geometric_mean = 0;
  double lowest = 0;
  double highest = 0;
  int count = 0;
};

/// Speed of the automatic choice and of our best over each library and over the best peer,
/// precision by precision.
std::vector<Summary> speedups(const std::vector<Group>& groups);

/// Bytes per second of the automatic choice over the measured bandwidth, apart for subjects that
/// the last-level cache holds and for those that it does not.
std::vector<Summary> bandwidth_fractions(const std::vector<Group>& groups);

}  // namespace cnc::perf
