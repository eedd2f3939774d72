#pragma once

#include <chrono>

namespace cnc::cli {

/// Seconds on a steady clock.
inline double now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

}  // namespace cnc::cli
