#pragma once

#include "support/sanitized.hpp"

namespace cnc::testing {

/// False in sanitized builds: allocation_count() is 0 there. Sanitizers bring an operator new of their own, which
/// cannot be replaced under every compiler.
inline constexpr bool allocations_are_counted = !is_sanitized;

/// Calls of operator new by this program so far. A test that uses this compiles
/// support/allocation_count.cpp too. The memory of Kokkos views does not come from operator new, but
/// the record that every allocation of a view makes does.
long allocation_count();

}  // namespace cnc::testing
