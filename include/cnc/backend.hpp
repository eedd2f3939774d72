#pragma once

#include <cnc/contract/backend.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace cnc {

/// Every backend of this build, in order of preference for `auto` (fastest first, variants last), usable here
/// or not, and behind them what add_backends was given. The list itself is in src/registry.cpp. A span stays valid;
/// it does not see what is added later.
std::span<const Backend* const> backends();

/// A backend that CNC has and this program is without.
struct AbsentBackend {
  const char* name;         ///< as find_backend takes it
  const char* description;  ///< one line for lists of backends
  MemorySpace memory;       ///< where its operands would be
  const char* detail;       ///< "not built: configure with CNC_ENABLE_CUDA=ON"
  bool baseline = false;    ///< as Backend::baseline
  bool variant = false;     ///< as Backend::variant
};

/// Every backend of CNC that backends() lacks; asking for one by name says so.
std::vector<AbsentBackend> absent_backends();

/// Lets backends of the caller's be found by name, for the rest of the program: its own kernel sets, or baselines.
/// They must outlive every use. Adding one again does nothing. Safe beside other threads.
///
/// Errors   InvalidArgument (null, no availability function, or another backend has that name in that memory);
///          nothing is then added.
void add_backends(std::span<const Backend* const> added);

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
