#pragma once

#include <cnc/contract/backend.hpp>

#include <span>
#include <string_view>

namespace cnc {

/// Every backend of this build, in order of preference for `auto` (fastest first, yardsticks and
/// variants last), usable here or not. The list itself is in src/registry.cpp.
std::span<const Backend* const> backends();

/// A backend that CNC has and this build left out.
struct AbsentBackend {
  const char* name;
  const char* description;
  MemorySpace memory;
  const char* detail;  ///< "not built: configure with CNC_ENABLE_CUDA=ON"
  bool yardstick = false;
  bool variant = false;
};

/// Every backend that this build left out; asking for one by name says so.
std::span<const AbsentBackend> absent_backends();

/// Whether contexts with the backend can be made here: it runs on this machine, and this build's Kokkos
/// reaches its memory. The detail says on what it runs, or why it cannot.
Availability availability_of(const Backend& backend);

/// The backend of that name; "auto" is the first usable one for the memory space.
///
/// Errors   InvalidArgument (unknown name: the text lists the known ones),
///          UnsupportedOperation (known, but not built, or not usable on this machine: the text says
///          why).
const Backend& find_backend(std::string_view name, MemorySpace memory = MemorySpace::host);

}  // namespace cnc
