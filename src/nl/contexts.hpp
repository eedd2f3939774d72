#pragma once

#include "nl/context.hpp"

#include <functional>

namespace cnc::nl {

/// The calling thread's current context, or null: what it made current, else what any thread made current last.
/// Cost   two loads, but where a context was deleted or made current elsewhere since.
Context* find_current();

/// visit is called for every context, while none can come or go.
void for_each_context(const std::function<void(Context&)>& visit);

/// Initialises Kokkos unless the program has.
/// Errors   Failure (Kokkos has been finalised).
void start_kokkos();

}  // namespace cnc::nl
