#include "support/gpu_host/backends.hpp"

#include <gpu/table.hpp>

namespace cnc {
namespace {

using gpu::RowMapping;

constexpr gpu::BackendText text(const char* name) {
  return {name, "GPU kernels on the host, for tests", MemorySpace::host};
}

template <int wave>
constexpr Backend whole(const char* name) {
  Backend backend = gpu::Tables<wave>::backend(text(name));
  backend.variant = true;  // never chosen by `auto`
  return backend;
}
template <int wave, RowMapping mapping>
constexpr Backend variant(const char* name) {
  return gpu::Tables<wave>::template backend<mapping>(text(name));
}

}  // namespace

constexpr Backend gpu_host_32_backend = whole<32>("gpu-host-32");
constexpr Backend gpu_host_32_row_per_block_backend =
    variant<32, RowMapping::row_per_block>("gpu-host-32-row-per-block");
constexpr Backend gpu_host_32_row_per_wave_backend =
    variant<32, RowMapping::row_per_wave>("gpu-host-32-row-per-wave");
constexpr Backend gpu_host_32_balanced_backend =
    variant<32, RowMapping::balanced>("gpu-host-32-balanced");

#ifdef CNC_TEST_GPU_HOST_64
constexpr Backend gpu_host_64_backend = whole<64>("gpu-host-64");
constexpr Backend gpu_host_64_row_per_block_backend =
    variant<64, RowMapping::row_per_block>("gpu-host-64-row-per-block");
constexpr Backend gpu_host_64_row_per_wave_backend =
    variant<64, RowMapping::row_per_wave>("gpu-host-64-row-per-wave");
constexpr Backend gpu_host_64_balanced_backend =
    variant<64, RowMapping::balanced>("gpu-host-64-balanced");
#endif

}  // namespace cnc
