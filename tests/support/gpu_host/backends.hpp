#pragma once

#include <cnc/contract/backend.hpp>

#include <vector>

namespace cnc {

/// The shared GPU kernels on the host, for tests: with waves of so many lanes, and for products with one mapping of rows to threads,
/// as the variants of the GPU backends.
struct GpuHostBackends {
  const Backend* whole;
  const Backend* balanced;
  const Backend* row_per_block;
  const Backend* row_per_wave;
};
/// For each number of lanes that was compiled (CNC_TEST_WAVES).
const std::vector<GpuHostBackends>& gpu_host_backends();

/// Those with all operations.
inline std::vector<const Backend*> emulated_devices() {
  std::vector<const Backend*> whole;
  for (const GpuHostBackends& backends : gpu_host_backends()) whole.push_back(backends.whole);
  return whole;
}

}  // namespace cnc
