#pragma once

#include "support/sanitized.hpp"

#include <cnc/backend.hpp>
#include <vendor/baselines.hpp>

#include <algorithm>
#include <vector>

#ifdef CNC_TEST_GPU_HOST
#include <support/gpu_host/backends.hpp>
#endif

namespace cnc::testing {

/// What conformance tests: the backends of the library, the baselines, and those that exist for tests alone.
/// One list for the whole program: cases are registered by their backend's place in it.
inline const std::vector<const Backend*>& tested_backends() {
  static const std::vector<const Backend*> tested = [] {
    add_backends(baselines());
    std::vector<const Backend*> list(backends().begin(), backends().end());
    // One of the variants of the host is what `openmp` is on this machine.
    const auto is_openmp = [](const Backend* backend) {
      return backend->variant &&
             vector_ops<double>(*backend).dot ==
                 vector_ops<double>(find_backend("openmp", MemorySpace::host)).dot;
    };
    list.erase(std::remove_if(list.begin(), list.end(), is_openmp), list.end());
#ifdef CNC_TEST_GPU_HOST
    for (const GpuHostBackends& emulated : gpu_host_backends())
      list.insert(list.end(), {emulated.whole, emulated.balanced, emulated.row_per_block,
                               emulated.row_per_wave});
#endif
    return list;
  }();
  return tested;
}

/// Backends that exist for tests alone emulate their hardware, a thousand times slower than it is. What
/// costs much time takes a part of its cases with them.
inline bool is_emulated(const Backend& backend) {
  for (const Backend* own : backends())
    if (own == &backend) return false;
  return true;
}

}  // namespace cnc::testing
