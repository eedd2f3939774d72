#pragma once

#include <parallel.hpp>

#include <atomic>

namespace cnc::detail {

/// Calls body(i, scratch) for i in [0, n), threads taking the next as they are done with one, each with a scratch of
/// its own. What body does must not depend on which thread does it.
template <class Scratch, class Body>
void share_out(int n, int threads, const Body& body) {
  threads = std::max(1, std::min(n, threads));
  std::atomic<int> next{0};
  parallel_for(
      threads,
      [&](int) {
        Scratch scratch;
        for (int i = next.fetch_add(1, std::memory_order_relaxed); i < n;
             i = next.fetch_add(1, std::memory_order_relaxed))
          body(i, scratch);
      },
      threads);
}

struct NoScratch {};

}  // namespace cnc::detail
