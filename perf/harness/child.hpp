#pragma once

#include <string>
#include <vector>

namespace cnc::perf {

/// Runs a program (path first, then its arguments) and returns its standard output.
/// Errors   Error when it cannot be started or does not end with 0.
std::string output_of_child(const std::vector<std::string>& command);

}  // namespace cnc::perf
