#pragma once

#include <cnc/backend.hpp>

#include <cstddef>
#include <vector>

namespace cnc::testing {

using BackendTest = void (*)(const Backend&);
using BackendFilter = bool (*)(const Backend&);

/// Runs the test on a backend, or skips it where that cannot run here.
void run_on_backend(BackendTest test, const Backend& backend);

/// One test case per backend that is wanted: `cases[k]` runs the test on backends[k]. Throws std::logic_error if there are
/// more backends than cases.
bool register_cases(const char* what, BackendFilter wanted,
                    const std::vector<const Backend*>& backends, void (*const* cases)(),
                    std::size_t count);

}  // namespace cnc::testing
