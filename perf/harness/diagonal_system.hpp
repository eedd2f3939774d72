#pragma once

#include "harness/check.hpp"
#include "harness/diagonal_problems.hpp"

#include <cnc/context.hpp>
#include <cnc/convert.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

// What the benches of matrices stored by diagonals have in common: the systems, and where they are solved.

namespace cnc::perf {

/// A x = b in the precision of a run, and the x that b was made of.
template <class V>
struct System {
  const DiagonalProblem& problem;
  CsrMatrix<V> A;
  Vector<V> x, b;
};

/// (A x)(i) in double.
template <class V>
double row_product(const CsrMatrix<V>& A, const Vector<V>& x, index_t i) {
  double sum = 0;
  for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
    sum += static_cast<double>(A.values(k)) * static_cast<double>(x(A.columns(k)));
  return sum;
}

template <class V>
System<V> make_system(const DiagonalProblem& problem) {
  const index_t n = problem.A.rows;
  System<V> system{problem, convert_values<V>(problem.A), random_vector<V>(n, 2),
                   Vector<V>("b", static_cast<std::size_t>(n))};
  for (index_t i = 0; i < n; ++i) system.b(i) = static_cast<V>(row_product(system.A, system.x, i));
  return system;
}

/// Whether a list of words has this one.
inline bool has(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Where to solve: the host, and a device where this build and this machine have one.
struct Sides {
  std::optional<Context<>> host;
#ifdef CNC_KOKKOS_HAS_DEVICE
  std::optional<Context<Kokkos::DefaultExecutionSpace>> device;
#endif

  Sides(const std::vector<std::string>& sides, int threads) {
    if (has(sides, "host")) host.emplace("auto", threads);
#ifdef CNC_KOKKOS_HAS_DEVICE
    const auto& all = backends();
    const bool usable = std::any_of(all.begin(), all.end(), [](const Backend* backend) {
      return backend->memory == MemorySpace::device && availability_of(*backend).usable;
    });
    if (usable && has(sides, "device")) device.emplace("auto");
#endif
  }
  /// use(context) for each of them.
  template <class Use>
  void for_each(const Use& use) {
    if (host) use(*host);
#ifdef CNC_KOKKOS_HAS_DEVICE
    if (device) use(*device);
#endif
  }
};

}  // namespace cnc::perf
