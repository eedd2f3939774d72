#pragma once

#include "io/read_options.hpp"

#include <string>

namespace cnc::detail {

/// Refuses `bytes` more for a reader that holds `held` already, before they are allocated: sizes come from
/// files, which may say anything, and the system would grant the memory and end the process later.
/// Errors   OutOfMemory naming the file.
void check_memory(const std::string& name, double held, double bytes, const ReadOptions& options);

}  // namespace cnc::detail
