#pragma once

#include "harness/measure.hpp"

#include <cnc/contract/cost.hpp>

#include <limits>
#include <string>
#include <vector>

namespace cnc::perf {

/// One contestant's result.
struct Entry {
  std::string contestant;  ///< unique within its group: "openmp bcsr:3", "Eigen"
  bool peer = false;       ///< somebody else's code (libraries and baseline backends)
  bool automatic = false;  ///< what a user gets who chooses nothing
  std::string backend;     ///< ours only
  std::string format;      ///< ours only
  std::string form;        ///< ours, iterations only: "run", "fused steps", "plain operations"
  Cost cost;  ///< compulsory bytes and useful flops of a call; bytes of the format used
  double error = std::numeric_limits<double>::quiet_NaN();  ///< relative, against the reference
  Samples samples;
};

/// Everything that was timed in the same rounds on the same data.
struct Group {
  std::string subject;    ///< matrix, vector length or file
  std::string precision;  ///< "f64", "f32", "f32/f64"
  double rows = 0;
  double nonzeros = 0;
  double bandwidth = 0;  ///< bytes per second read from a working set of the same size; 0: none
  bool out_of_cache = false;  ///< the automatic entry's bytes exceed the last-level cache
  std::vector<Entry> entries;
};

/// An entry and how to take its turns.
struct Contestant {
  Entry entry;
  Turn turn;
};

/// The entry that is automatic; the fastest of ours; the fastest peer. Null when there is none.
const Entry* automatic_entry(const Group& group);
const Entry* best_own(const Group& group);
const Entry* best_peer(const Group& group);
/// The fastest form of one library: "AMGCL" stands for AMGCL, AMGCL:3 and AMGCL (f64).
const Entry* best_of_library(const Group& group, const std::string& library);
std::string library_of(const Entry& peer);

/// Bytes per second of an entry over the bandwidth of its group; 0 where that was not measured.
double bandwidth_fraction(const Group& group, const Entry& entry);

/// Times the contestants against each other and puts them into the group.
void measure_group(std::vector<Contestant> contestants, const MeasureOptions& options,
                   Group& group);

}  // namespace cnc::perf
