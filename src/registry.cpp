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

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cnc {
namespace {

using List = std::vector<const Backend*>;

/// The only list of the library's backends. Order of preference for `auto`; variants last.
List own_backends() {
  return {
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
#ifdef CNC_HAVE_AVX
      &openmp_avx512_backend,
      &openmp_avx2_backend,
#endif
      &openmp_portable_backend,
  };
}

/// Lists are only ever followed by longer ones and stay as they are, so a span of one remains valid.
struct Registry {
  std::mutex turn;
  std::deque<List> lists = {own_backends()};
  std::atomic<const List*> latest = &lists.front();
};

/// Never destroyed: a solver with static storage may look backends up at the end of the program.
Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

constexpr const char* without_cuda = "not built: configure with CNC_ENABLE_CUDA=ON";
constexpr const char* without_hip = "not built: configure with CNC_ENABLE_HIP=ON";
constexpr const char* without_cusparse =
    "not built: configure with CNC_ENABLE_CUDA=ON where cuSPARSE is installed";
constexpr const char* without_rocsparse =
    "not built: configure with CNC_ENABLE_HIP=ON where rocSPARSE is installed";

/// What a build, or a program that adds no baselines, can be without.
constexpr AbsentBackend known_backends[] = {
    {"cuda", "NVIDIA GPUs", MemorySpace::device, without_cuda},
    {"hip", "AMD GPUs", MemorySpace::device, without_hip},
    {"kokkos-kernels", "CSR SpMV and BLAS-1 of the library, to compare with", MemorySpace::host,
     "not built: configure where Kokkos Kernels is installed", true},
    {"cusparse", "cuSPARSE, to compare with", MemorySpace::device, without_cusparse, true},
    {"cusparse-alg2", "its second algorithm", MemorySpace::device, without_cusparse, true, true},
    {"cusparse-sell", "its sliced ELL", MemorySpace::device, without_cusparse, true, true},
    {"cusparse-bsr", "its BSR", MemorySpace::device, without_cusparse, true, true},
    {"rocsparse", "rocSPARSE, to compare with", MemorySpace::device, without_rocsparse, true},
    {"rocsparse-stream", "its stream algorithm", MemorySpace::device, without_rocsparse, true,
     true},
    {"cuda-row-per-block", "one row mapping of cuda", MemorySpace::device, without_cuda, false,
     true},
    {"cuda-row-per-warp", "one row mapping of cuda", MemorySpace::device, without_cuda, false,
     true},
    {"cuda-balanced", "one row mapping of cuda", MemorySpace::device, without_cuda, false, true},
    {"hip-row-per-block", "one row mapping of hip", MemorySpace::device, without_hip, false, true},
    {"hip-row-per-wave", "one row mapping of hip", MemorySpace::device, without_hip, false, true},
    {"hip-balanced", "one row mapping of hip", MemorySpace::device, without_hip, false, true},
    {"openmp:avx512", "OpenMP threads, AVX-512", MemorySpace::host,
     "not built: for x86-64 processors", false, true},
    {"openmp:avx2", "OpenMP threads, AVX2 and FMA", MemorySpace::host,
     "not built: for x86-64 processors", false, true},
};

const char* memory_text(MemorySpace memory) {
  return memory == MemorySpace::host ? "host" : "device";
}

const Backend& preferred_backend(MemorySpace memory) {
  for (const Backend* backend : backends())
    if (backend->memory == memory && !backend->baseline && !backend->variant &&
        availability_of(*backend).usable)
      return *backend;
  std::string not_built;
  for (const AbsentBackend& absent : absent_backends())
    if (absent.memory == memory && !absent.baseline && !absent.variant)
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

const AbsentBackend* known_backend(std::string_view name) {
  for (const AbsentBackend& known : known_backends)
    if (name == known.name) return &known;
  return nullptr;
}

std::string known_names() {
  std::string names = "auto";
  for (const Backend* backend : backends()) names += std::string(", ") + backend->name;
  return names;
}

}  // namespace

std::span<const Backend* const> backends() { return *registry().latest.load(); }

std::vector<AbsentBackend> absent_backends() {
  std::vector<AbsentBackend> absent;
  for (const AbsentBackend& known : known_backends) {
    bool here = false;
    for (const Backend* backend : backends())
      here = here ||
             (std::string_view(backend->name) == known.name && backend->memory == known.memory);
    if (!here) absent.push_back(known);
  }
  return absent;
}

void add_backends(std::span<const Backend* const> added) {
  const std::lock_guard lock(registry().turn);
  List list = registry().lists.back();
  for (const Backend* backend : added) {
    require(backend != nullptr && backend->availability != nullptr, "add_backends: not a backend");
    require(*backend->name != '\0' && std::string_view(backend->name) != "auto",
            "add_backends: a backend needs a name of its own");
    bool known = false;
    for (const Backend* other : list) {
      known = known || other == backend;
      if (other != backend && other->memory == backend->memory &&
          std::string_view(other->name) == backend->name)
        throw InvalidArgument("add_backends: there is a backend '" + std::string(backend->name) +
                              "' for " + memory_text(backend->memory) + " memory already");
    }
    if (!known) list.push_back(backend);
  }
  registry().latest = &registry().lists.emplace_back(std::move(list));
}

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
  if (const AbsentBackend* absent = backend == nullptr ? known_backend(name) : nullptr)
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
