#pragma once

#include "harness/ratios.hpp"

#include <cnc/model.hpp>

#include <nlohmann/json.hpp>

#include <iosfwd>

namespace cnc::perf {

/// What a bench found, and under which circumstances.
class Record {
 public:
  std::string bench;
  std::string question;
  nlohmann::ordered_json machine;
  nlohmann::ordered_json build;
  nlohmann::ordered_json settings;
  Bandwidth memory;
  std::vector<Group> groups;
  std::vector<std::string> notes;  ///< what was left out and why; what else was found
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();  ///< figures of one bench alone

  nlohmann::ordered_json json() const;
  /// Circumstances, as a Markdown section.
  void print_heading(std::ostream& out) const;
  /// One row for each group: automatic choice and best of ours beside the best peer.
  void print_groups(std::ostream& out) const;
  /// Every contestant of every group.
  void print_contestants(std::ostream& out) const;
  /// Geometric means, then the notes.
  void print_summary(std::ostream& out) const;
};

}  // namespace cnc::perf
