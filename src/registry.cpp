#include <cnc/backend.hpp>
#include <cnc/error.hpp>

#include <kokkos/kokkos.hpp>
#include <openmp/openmp.hpp>
#include <reference/reference.hpp>
#ifdef CNC_HAVE_KOKKOS_KERNELS
#include <vendor/kokkos_kernels.hpp>
#endif

#include <string>

namespace cnc {

/// The only list of backends. Order of preference for `auto`; yardsticks, then variants, last.
std::span<const Backend* const> backends() {
  static const Backend* const list[] = {
      &openmp_backend(),
#ifdef CNC_KOKKOS_HAS_DEVICE
      &kokkos_device_backend,
#endif
      &kokkos_backend,          &reference_backend,
#ifdef CNC_HAVE_KOKKOS_KERNELS
      &kokkos_kernels_backend,
#endif
#ifdef __x86_64__
      &openmp_avx512_backend,   &openmp_avx2_backend,
#endif
      &openmp_portable_backend,
  };
  return list;
}

namespace {

const char* memory_text(MemorySpace memory) {
  return memory == MemorySpace::host ? "host" : "device";
}

bool usable(const Backend& backend) { return backend.availability().usable; }

const Backend& preferred_backend(MemorySpace memory) {
  for (const Backend* backend : backends())
    if (backend->memory == memory && !backend->yardstick && !backend->variant && usable(*backend))
      return *backend;
  throw UnsupportedOperation(std::string("no backend for ") + memory_text(memory) +
                             " memory is usable on this machine");
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

std::string known_names() {
  std::string names = "auto";
  for (const Backend* backend : backends()) names += std::string(", ") + backend->name;
  return names;
}

}  // namespace

const Backend& find_backend(std::string_view name, MemorySpace memory) {
  if (name == "auto") return preferred_backend(memory);
  const Backend* backend = named_backend(name, memory);
  const auto prefix = [&] { return "backend '" + std::string(name) + "' "; };
  if (backend == nullptr)
    throw InvalidArgument("unknown backend '" + std::string(name) + "'; known: " + known_names());
  if (backend->memory != memory)
    throw UnsupportedOperation(prefix() + "works in " + memory_text(backend->memory) +
                               " memory, not in " + memory_text(memory) + " memory");
  const Availability availability = backend->availability();
  if (!availability.usable)
    throw UnsupportedOperation(prefix() + "is not usable on this machine: " + availability.detail);
  return *backend;
}

}  // namespace cnc
