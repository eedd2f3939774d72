#include <cnc/backend.hpp>
#include <cnc/error.hpp>

#include <kokkos/kokkos.hpp>
#include <openmp/openmp.hpp>
#include <reference/reference.hpp>
#ifdef CNC_HAVE_CUDA
#include <cuda/cuda.hpp>
#endif
#ifdef CNC_HAVE_HIP
#include <hip/hip.hpp>
#endif
#ifdef CNC_HAVE_CUSPARSE
#include <vendor/cusparse.hpp>
#endif
#ifdef CNC_HAVE_KOKKOS_KERNELS
#include <vendor/kokkos_kernels.hpp>
#endif
#ifdef CNC_HAVE_ROCSPARSE
#include <vendor/rocsparse.hpp>
#endif

#include <string>
#include <vector>

namespace cnc {

/// The only list of backends. Order of preference for `auto`; yardsticks, then variants, last.
std::span<const Backend* const> backends() {
  static const Backend* const list[] = {
      &openmp_backend(),
#ifdef CNC_HAVE_CUDA
      &cuda_backend,
#endif
#ifdef CNC_HAVE_HIP
      &hip_backend,
#endif
#ifdef CNC_KOKKOS_HAS_DEVICE
      &kokkos_device_backend,
#endif
      &kokkos_backend,
      &reference_backend,
#ifdef CNC_HAVE_KOKKOS_KERNELS
      &kokkos_kernels_backend,
#endif
#ifdef CNC_HAVE_CUSPARSE
      &cusparse_backend,
      &cusparse_alg2_backend,
      &cusparse_sell_backend,
      &cusparse_bsr_backend,
#endif
#ifdef CNC_HAVE_ROCSPARSE
      &rocsparse_backend,
      &rocsparse_stream_backend,
#endif
#ifdef CNC_HAVE_CUDA
      &cuda_row_per_block_backend,
      &cuda_row_per_warp_backend,
      &cuda_balanced_backend,
#endif
#ifdef CNC_HAVE_HIP
      &hip_row_per_block_backend,
      &hip_row_per_wave_backend,
      &hip_balanced_backend,
#endif
#ifdef __x86_64__
      &openmp_avx512_backend,
      &openmp_avx2_backend,
#endif
      &openmp_portable_backend,
  };
  return list;
}

namespace {

[[maybe_unused]] constexpr const char* without_cuda =
    "not built: configure with CNC_ENABLE_CUDA=ON";
[[maybe_unused]] constexpr const char* without_hip = "not built: configure with CNC_ENABLE_HIP=ON";
[[maybe_unused]] constexpr const char* without_cusparse =
    "not built: configure with CNC_ENABLE_CUDA=ON where cuSPARSE is installed";
[[maybe_unused]] constexpr const char* without_rocsparse =
    "not built: configure with CNC_ENABLE_HIP=ON where rocSPARSE is installed";

}  // namespace

/// The other side of every #ifdef above.
std::span<const AbsentBackend> absent_backends() {
  constexpr MemorySpace device = MemorySpace::device;
  static const std::vector<AbsentBackend> list = {
#ifndef CNC_HAVE_CUDA
      {"cuda", "NVIDIA GPUs", device, without_cuda},
#endif
#ifndef CNC_HAVE_HIP
      {"hip", "AMD GPUs", device, without_hip},
#endif
#ifndef CNC_HAVE_KOKKOS_KERNELS
      {"kokkos-kernels", "CSR SpMV and BLAS-1 of the library, to compare with", MemorySpace::host,
       "not built: configure where Kokkos Kernels is installed", true},
#endif
#ifndef CNC_HAVE_CUSPARSE
      {"cusparse", "cuSPARSE, to compare with", device, without_cusparse, true},
      {"cusparse-alg2", "its second algorithm", device, without_cusparse, true, true},
      {"cusparse-sell", "its sliced ELL", device, without_cusparse, true, true},
      {"cusparse-bsr", "its BSR", device, without_cusparse, true, true},
#endif
#ifndef CNC_HAVE_ROCSPARSE
      {"rocsparse", "rocSPARSE, to compare with", device, without_rocsparse, true},
      {"rocsparse-stream", "its stream algorithm", device, without_rocsparse, true, true},
#endif
#ifndef CNC_HAVE_CUDA
      {"cuda-row-per-block", "one row mapping of cuda", device, without_cuda, false, true},
      {"cuda-row-per-warp", "one row mapping of cuda", device, without_cuda, false, true},
      {"cuda-balanced", "one row mapping of cuda", device, without_cuda, false, true},
#endif
#ifndef CNC_HAVE_HIP
      {"hip-row-per-block", "one row mapping of hip", device, without_hip, false, true},
      {"hip-row-per-wave", "one row mapping of hip", device, without_hip, false, true},
      {"hip-balanced", "one row mapping of hip", device, without_hip, false, true},
#endif
#ifndef __x86_64__
      {"openmp:avx512", "OpenMP threads, AVX-512", MemorySpace::host,
       "not built: for x86-64 processors", false, true},
      {"openmp:avx2", "OpenMP threads, AVX2 and FMA", MemorySpace::host,
       "not built: for x86-64 processors", false, true},
#endif
  };
  return list;
}

namespace {

const char* memory_text(MemorySpace memory) {
  return memory == MemorySpace::host ? "host" : "device";
}

const Backend& preferred_backend(MemorySpace memory) {
  for (const Backend* backend : backends())
    if (backend->memory == memory && !backend->yardstick && !backend->variant &&
        availability_of(*backend).usable)
      return *backend;
  std::string not_built;
  for (const AbsentBackend& absent : absent_backends())
    if (absent.memory == memory && !absent.yardstick && !absent.variant)
      not_built += std::string(not_built.empty() ? "; " : ", ") + absent.name + " " + absent.detail;
  throw UnsupportedOperation(std::string("no backend for ") + memory_text(memory) +
                             " memory is usable on this machine" + not_built);
}

/// The backend of that name for that memory; else one of that name for the other memory; else null.
const Backend* named_backend(std::string_view name, MemorySpace memory) {
  const Backend* found = nullptr;
  for (const Backend* backend : backends()) {
    if (name != backend->name) continue;
    if (backend->memory == memory) return backend;
    found = backend;
  }
  return found;
}

const AbsentBackend* absent_backend(std::string_view name) {
  for (const AbsentBackend& absent : absent_backends())
    if (name == absent.name) return &absent;
  return nullptr;
}

std::string known_names() {
  std::string names = "auto";
  for (const Backend* backend : backends()) names += std::string(", ") + backend->name;
  return names;
}

}  // namespace

Availability availability_of(const Backend& backend) {
  Availability availability = backend.availability();
#ifndef CNC_KOKKOS_HAS_DEVICE
  if (availability.usable && backend.memory == MemorySpace::device)
    return {false, availability.detail + ", but this build's Kokkos has no device backend"};
#endif
  return availability;
}

const Backend& find_backend(std::string_view name, MemorySpace memory) {
  if (name == "auto") return preferred_backend(memory);
  const Backend* backend = named_backend(name, memory);
  const auto prefix = [&] { return "backend '" + std::string(name) + "' "; };
  if (const AbsentBackend* absent = backend == nullptr ? absent_backend(name) : nullptr)
    throw UnsupportedOperation(prefix() + "is " + absent->detail);
  if (backend == nullptr)
    throw InvalidArgument("unknown backend '" + std::string(name) + "'; known: " + known_names());
  if (backend->memory != memory)
    throw UnsupportedOperation(prefix() + "works in " + memory_text(backend->memory) +
                               " memory, not in " + memory_text(memory) + " memory");
  const Availability availability = availability_of(*backend);
  if (!availability.usable)
    throw UnsupportedOperation(prefix() + "is not usable on this machine: " + availability.detail);
  return *backend;
}

}  // namespace cnc
