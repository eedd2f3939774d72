#pragma once

#include "harness/bench.hpp"
#include "harness/check.hpp"

#include <cnc/copy.hpp>

#include <Kokkos_Core.hpp>

#include <memory>
#include <vector>

namespace cnc::perf {

// What the benches of device backends share. They are built where Kokkos has a device.

using Device = Kokkos::DefaultExecutionSpace;
using DeviceSpace = Device::memory_space;
using DeviceContext = Context<Device>;

/// Bytes beyond which no cache of a device of today holds a working set.
inline constexpr double beyond_device_caches = 256e6;

/// One context for each device backend to be timed, in the registry's order.
/// Errors   as find_backend, for names that are asked for.
inline std::vector<std::unique_ptr<DeviceContext>> device_contexts(const BenchOptions& options) {
  std::vector<std::unique_ptr<DeviceContext>> contexts;
  for (const std::string& name : options.backends)
    contexts.push_back(std::make_unique<DeviceContext>(name));
  if (!options.backends.empty()) return contexts;
  for (const Backend* backend : backends())
    if (backend->memory == MemorySpace::device && (options.variants || !backend->variant) &&
        availability_of(*backend).usable)
      contexts.push_back(std::make_unique<DeviceContext>(*backend));
  return contexts;
}

/// A layout in device memory, converted there. "bsell-unsorted" keeps the rows in their order: the one
/// that libraries without row permutations take.
template <class M>
Matrix<M, DeviceSpace> device_layout(const CsrMatrix<M, DeviceSpace>& A, const FormatSpec& format) {
  if (format.name == "bsell-unsorted") return to_bsell(A, 1, device_slice_height, 1);
  return build_format(A, format);
}

}  // namespace cnc::perf
