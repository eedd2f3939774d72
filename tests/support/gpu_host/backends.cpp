#include "support/gpu_host/backends.hpp"

#include <gpu/table.hpp>

namespace cnc {
namespace {

using gpu::RowMapping;

constexpr gpu::BackendText text(const char* name) {
  return {name, "GPU kernels on the host, for tests", MemorySpace::host};
}

template <int wave>
constexpr Backend whole = [] {
  Backend backend = gpu::Tables<wave>::backend(text(wave == 64 ? "gpu-host-64" : "gpu-host-32"));
  backend.variant = true;  // never chosen by `auto`
  return backend;
}();
template <int wave>
constexpr Backend balanced = gpu::Tables<wave>::template backend<RowMapping::balanced>(
    text(wave == 64 ? "gpu-host-64-balanced" : "gpu-host-32-balanced"));
template <int wave>
constexpr Backend row_per_block = gpu::Tables<wave>::template backend<RowMapping::row_per_block>(
    text(wave == 64 ? "gpu-host-64-row-per-block" : "gpu-host-32-row-per-block"));
template <int wave>
constexpr Backend row_per_wave = gpu::Tables<wave>::template backend<RowMapping::row_per_wave>(
    text(wave == 64 ? "gpu-host-64-row-per-wave" : "gpu-host-32-row-per-wave"));

template <int... waves>
std::vector<GpuHostBackends> backends_of() {
  return {{&whole<waves>, &balanced<waves>, &row_per_block<waves>, &row_per_wave<waves>}...};
}

}  // namespace

const std::vector<GpuHostBackends>& gpu_host_backends() {
  static const std::vector<GpuHostBackends> all = backends_of<CNC_TEST_WAVES>();
  return all;
}

}  // namespace cnc
