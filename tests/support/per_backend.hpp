#pragma once

#include "support/backend_cases.hpp"
#include "support/catch.hpp"
#include "support/tested_backends.hpp"

#include <cstddef>
#include <utility>

// One test case per backend: the one way in which tests run on all of them.

namespace cnc::testing {

inline bool every_backend(const Backend&) { return true; }

/// One test case per backend, so that one which cannot run here is seen as skipped.
/// Catch2 takes functions without arguments: hence the index as a template argument.
template <BackendTest test, std::size_t... index>
bool register_on_backends(const char* what, BackendFilter wanted, std::index_sequence<index...>) {
  static constexpr void (*cases[])() = {[] { run_on_backend(test, *tested_backends()[index]); }...};
  return register_cases(what, wanted, tested_backends(), cases, sizeof...(index));
}

}  // namespace cnc::testing

/// Runs `function(const Backend&)` as one test case per backend that `filter(const Backend&)` takes.
#define CNC_TEST_PER_BACKEND(what, function, filter)                                \
  [[maybe_unused]] static const bool CNC_TEST_JOIN(registered_at_line_, __LINE__) = \
      cnc::testing::register_on_backends<function>(what, filter, std::make_index_sequence<32>())
#define CNC_TEST_JOIN(a, b) CNC_TEST_JOIN_EXPANDED(a, b)
#define CNC_TEST_JOIN_EXPANDED(a, b) a##b
