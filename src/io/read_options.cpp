#include "io/read_options.hpp"

#include "parallel.hpp"

#include <algorithm>

namespace cnc::detail {

int ReadOptions::thread_count() const { return threads > 0 ? threads : set_up_threads(); }

std::size_t ReadOptions::window() const {
  if (window_bytes > 0) {
    return window_bytes;
  }
  // Large enough that a thread's share outweighs waking it, small beside the matrices for which
  // peak memory matters.
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const auto threads_served = static_cast<std::size_t>(thread_count());
  return std::clamp(threads_served * mebibyte, 16 * mebibyte, 64 * mebibyte);
}

}  // namespace cnc::detail
