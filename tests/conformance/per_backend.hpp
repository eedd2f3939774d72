#pragma once

#include "conformance/guarded_vector.hpp"
#include "conformance/test_queue.hpp"
#include "support/catch.hpp"
#include "support/tested_backends.hpp"
#include "support/tolerance.hpp"

#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace cnc::testing {

/// What one test case found out about one backend: differences, and operations that are not offered.
class Findings {
 public:
  /// Whether the table has the entry; counts it by name when it is empty.
  template <class Function>
  bool offered(Function entry, const std::string& name) {
    if (entry != nullptr) return true;
    not_offered(name);
    return false;
  }
  void not_offered(const std::string& name) { ++missing_[name]; }

  /// Counts a comparison; `difference` is empty when all is well. The label is built on failure only.
  template <class MakeLabel>
  void compare(const std::string& difference, const MakeLabel& make_label) {
    ++comparisons_;
    if (difference.empty()) return;
    ++failures_;
    if (failures_ <= 10) FAIL_CHECK(make_label() << ": " << difference);
  }

  offset_t comparisons() const { return comparisons_; }
  void print(const char* backend) const {
    std::printf("%s: %lld comparisons, %lld failures\n", backend,
                static_cast<long long>(comparisons_), static_cast<long long>(failures_));
    for (const auto& [name, count] : missing_)
      std::printf("%s: not offered: %s (%d times)\n", backend, name.c_str(), count);
  }

 private:
  offset_t comparisons_ = 0;
  offset_t failures_ = 0;
  std::map<std::string, int> missing_;
};

using BackendTest = void (*)(const Backend&, Findings&);

template <BackendTest test, std::size_t index>
void run_on_backend() {
  const Backend& backend = *tested_backends()[index];
  const Availability availability = availability_of(backend);
  if (!availability.usable)
    CNC_SKIP((std::string(backend.name) + ": " + availability.detail).c_str());
  Findings findings;
  test(backend, findings);
  findings.print(backend.name);
  if (findings.comparisons() == 0) CNC_SKIP("the backend offers none of these operations");
}

template <BackendTest test, std::size_t index>
void register_on_backend(const char* what) {
  if (index >= tested_backends().size()) return;
  const Backend& backend = *tested_backends()[index];
  const std::string name = std::string(what) + " on " + backend.name +
                           (backend.memory == MemorySpace::device ? " (device)" : "");
  void (*run)() = run_on_backend<test, index>;
  REGISTER_TEST_CASE(run, name, "");
}

/// One test case per backend, so that one which cannot run here is seen as skipped.
/// Catch2 takes functions without arguments: hence the index as a template argument.
template <BackendTest test, std::size_t... index>
bool register_on_backends(const char* what, std::index_sequence<index...>) {
  if (tested_backends().size() > sizeof...(index))
    throw std::logic_error("more backends than register_on_backends counts");
  (register_on_backend<test, index>(what), ...);
  return true;
}

/// Names the types of one table: matrix storage M under vectors of V.
template <class M, class V>
struct Precision {
  using Matrix = M;
  using Vectors = V;
  static const char* name() {
    if (sizeof(M) < sizeof(V)) return "f32/f64";
    return sizeof(V) == 4 ? "f32" : "f64";
  }
};

template <class Body>
void for_each_precision(const Body& body) {
  body(Precision<float, float>());
  body(Precision<double, double>());
  body(Precision<float, double>());
}

/// The oracle.
inline const Backend& reference() { return find_backend("reference"); }

inline constexpr int max_threads = 3;

/// What there is to say about a number that is too far off; else empty.
inline std::string difference(double actual, double expected, double tolerance) {
  if (agrees(actual, expected, tolerance)) return "";
  const auto text = [](double value) { return Catch::Detail::stringify(value); };
  return text(actual) + " instead of " + text(expected) + ", off by " +
         text(std::abs(actual - expected)) + ", tolerance " + text(tolerance);
}

/// The first entry that is further off than tolerance(i), or a wall that was written to; else empty.
template <class V, class Tolerance>
std::string difference(const GuardedVector<V>& actual, const GuardedVector<V>& expected,
                       const Tolerance& tolerance) {
  for (index_t i = 0; i < expected.size(); ++i)
    if (!agrees(actual[i], expected[i], tolerance(i)))
      return "entry " + std::to_string(i) + " is " +
             difference(actual[i], expected[i], tolerance(i));
  return actual.walls_intact() ? "" : "wrote outside the vector";
}

inline std::string unless(bool condition, const char* text) { return condition ? "" : text; }

}  // namespace cnc::testing

/// Runs `function(const Backend&, Findings&)` as one test case per backend.
#define CNC_CONFORMANCE_TEST(what, function)                 \
  [[maybe_unused]] static const bool function##_registered = \
      cnc::testing::register_on_backends<function>(what, std::make_index_sequence<32>())
