#pragma once

#include <cnc/contract/backend.hpp>

#include <span>
#include <string_view>

namespace cnc {

/// Every backend of this build, in order of preference for `auto` (fastest first, yardsticks and
/// variants last), usable here or not. The list itself is in src/registry.cpp.
std::span<const Backend* const> backends();

/// Whether contexts with the backend can be made here: it runs on this machine, and this build's Kokkos
/// reaches its memory. The detail says on what it runs, or why it cannot.
Availability availability_of(const Backend& backend);

/// The backend of that name; "auto" is the first usable one for the memory space.
///
/// Errors   InvalidArgument (unknown name: the text lists the known ones),
///          UnsupportedOperation (known, but not usable on this machine: the text says why).
const Backend& find_backend(std::string_view name, MemorySpace memory = MemorySpace::host);

}  // namespace cnc
