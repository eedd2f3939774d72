#pragma once

#include "progress.hpp"

#include <cnc/solver.hpp>

#include <algorithm>
#include <string>
#include <type_traits>

namespace cnc::cli {

/// The line that is rewritten while the iteration runs. The bar fills with the decades gained.
std::string progress_text(const Progress& progress, double rtol);

/// Often enough for Ctrl-C to act within a moment, rarely enough to cost nothing.
template <class Exec>
index_t callback_interval(const Context<Exec>&, offset_t nonzeros) {
  constexpr bool on_host = std::is_same_v<typename Exec::memory_space, HostSpace>;
  constexpr offset_t entries = on_host ? 20'000'000 : 2'000'000'000;
  constexpr offset_t most = on_host ? 100 : 1024;
  return static_cast<index_t>(std::clamp<offset_t>(entries / (nonzeros + 1), 1, most));
}

}  // namespace cnc::cli
