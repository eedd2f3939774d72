#pragma once

#include "support/catch.hpp"
#include "support/tested_backends.hpp"

#include <stdexcept>
#include <string>
#include <utility>

// One test case per backend: the one way in which tests run on all of them.

namespace cnc::testing {

using BackendTest = void (*)(const Backend&);
using BackendFilter = bool (*)(const Backend&);

inline bool every_backend(const Backend&) { return true; }

template <BackendTest test, std::size_t index>
void run_on_backend() {
  const Backend& backend = *tested_backends()[index];
  const Availability availability = availability_of(backend);
  if (!availability.usable)
    CNC_SKIP((std::string(backend.name) + ": " + availability.detail).c_str());
  test(backend);
}

template <BackendTest test, std::size_t index>
void register_on_backend(const char* what, BackendFilter wanted) {
  if (index >= tested_backends().size()) return;
  const Backend& backend = *tested_backends()[index];
  if (!wanted(backend)) return;
  const std::string name = std::string(what) + " on " + backend.name +
                           (backend.memory == MemorySpace::device ? " (device)" : "");
  void (*run)() = run_on_backend<test, index>;
  REGISTER_TEST_CASE(run, name, "");
}

/// One test case per backend, so that one which cannot run here is seen as skipped.
/// Catch2 takes functions without arguments: hence the index as a template argument.
template <BackendTest test, std::size_t... index>
bool register_on_backends(const char* what, BackendFilter wanted, std::index_sequence<index...>) {
  if (tested_backends().size() > sizeof...(index))
    throw std::logic_error("more backends than register_on_backends counts");
  (register_on_backend<test, index>(what, wanted), ...);
  return true;
}

}  // namespace cnc::testing

/// Runs `function(const Backend&)` as one test case per backend that `filter(const Backend&)` takes.
#define CNC_TEST_PER_BACKEND(what, function, filter)                                \
  [[maybe_unused]] static const bool CNC_TEST_JOIN(registered_at_line_, __LINE__) = \
      cnc::testing::register_on_backends<function>(what, filter, std::make_index_sequence<32>())
#define CNC_TEST_JOIN(a, b) CNC_TEST_JOIN_EXPANDED(a, b)
#define CNC_TEST_JOIN_EXPANDED(a, b) a##b
