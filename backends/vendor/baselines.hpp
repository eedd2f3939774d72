#pragma once

#include <cnc/contract/backend.hpp>

#include <span>

namespace cnc {

/// Backends that time other people's libraries, as far as this build found those; for programs that compare:
/// add_backends(baselines()). They are no part of the library, so its clients need none of theirs.
std::span<const Backend* const> baselines();

}  // namespace cnc
