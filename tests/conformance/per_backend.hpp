#pragma once

#include <cnc/contract/methods.hpp>
#include "conformance/guarded_vector.hpp"
#include "conformance/test_queue.hpp"
#include "support/per_backend.hpp"
#include "support/tolerance.hpp"

#include <cstdio>
#include <map>
#include <string>

namespace cnc::testing {

using namespace methods;

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

  /// A comparison is an assertion of Catch2's, so that its totals are those of what was compared.
  /// `difference` is empty when all is well. The label is built on failure only.
  template <class MakeLabel>
  void compare(const std::string& difference, const MakeLabel& make_label) {
    ++comparisons_;
    if (difference.empty()) {
      SUCCEED();
    } else {
      ++failures_;
      FAIL_CHECK(make_label() << ": " << difference);
    }
  }

  offset_t comparisons() const { return comparisons_; }
  bool lacks_nothing() const { return missing_.empty(); }
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

/// Runs a test and closes its findings.
template <void (*test)(const Backend&, Findings&)>
void find_out(const Backend& backend) {
  Findings findings;
  test(backend, findings);
  findings.print(backend.name);
  if (findings.comparisons() > 0) return;
  if (findings.lacks_nothing()) FAIL("nothing was compared, although nothing is missing");
  CNC_SKIP("the backend offers none of these operations");
}

/// Names the types of one table: matrix storage M under vectors of V.
template <class M, class V>
struct Precision : PrecisionTypes<M, V> {
  static const char* name() {
    if (sizeof(M) < sizeof(V)) return "f32/f64";
    return sizeof(V) == 4 ? "f32" : "f64";
  }
};

template <class Body>
void for_each_precision(const Body& body) {
#define CNC_BODY(M, V) body(Precision<M, V>());
  CNC_FOR_PRECISIONS(CNC_BODY)
#undef CNC_BODY
}

/// An operand with its plan, where the backend wants one.
template <class Operand>
struct Planned {
  Operand operand;
  std::unique_ptr<MatrixPlan> plan;
  template <class V>
  Planned(const MatrixOps<Operand, V>& ops, const Queue& queue, const Operand& A) : operand(A) {
    if (ops.plan != nullptr) plan = ops.plan(queue, A);
    operand.plan = plan.get();
  }
};

/// The oracle.
inline const Backend& reference() { return find_backend("reference"); }

inline constexpr int max_threads = 3;

/// The largest number of host threads that makes a difference: kernels of a GPU know nothing of them.
inline int most_threads(const Backend& backend) {
  return is_emulated(backend) || backend.memory == MemorySpace::device ? 1 : max_threads;
}

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
#define CNC_CONFORMANCE_TEST(what, function) \
  CNC_TEST_PER_BACKEND(what, cnc::testing::find_out<function>, cnc::testing::every_backend)
