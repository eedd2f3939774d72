#pragma once

#include <cnc/context.hpp>
#include <cnc/contract/run.hpp>

#include <memory>
#include <string>

namespace cnc::detail {

/// What a solve works in, allocated in prepare.
template <class V, class Space>
struct Workspace {
  /// Iterations between looks at the clock, the divergence limit and the best iterate. A device does so
  /// many in the time of a look that it is better left alone for longer.
  static constexpr index_t longest_batch = is_host_space<Space> ? 64 : 256;

  Vector<V, Space> vectors[max_method_vectors];  ///< of the method, but for x
  Vector<V, Space> r, scratch;                   ///< two of them
  Vector<V, Space> best;                         ///< snapshot of the best iterate
  Vector<V, Space> rhs,
      guess;  ///< b and x in the order of the rows that iterations use (reordering)
  Vector<double, Space> wide_x, wide_r;  ///< of float vectors: for the true residual in double
  Kokkos::View<MethodScalars*, Space> scalars;
  Kokkos::View<MethodScalars*, SharedSpace<Space>>
      host_scalars;                               ///< the host's copy; the same on a host
  Vector<double, SharedSpace<Space>> rr_history;  ///< [longest_batch] of a run
  std::unique_ptr<RunPlan> plan;

  void allocate(index_t n, const MethodFacts& method, bool reordered, bool wide = false) {
    const auto size = static_cast<std::size_t>(n);
    const auto vector = [size](const char* label) { return zeroed<V, Space>(label, size); };
    for (int k = 0; k < max_method_vectors; ++k)
      vectors[k] =
          k < method.vectors && k != method.x ? vector("cnc::method_vector") : Vector<V, Space>();
    r = vectors[method.r];
    scratch = method.scratch >= 0 ? vectors[method.scratch] : vector("cnc::scratch");
    best = vector("cnc::best");
    rhs = reordered ? vector("cnc::rhs") : Vector<V, Space>();
    guess = reordered ? vector("cnc::guess") : Vector<V, Space>();
    wide_x = wide ? zeroed<double, Space>("cnc::wide_x", size) : Vector<double, Space>();
    wide_r = wide ? zeroed<double, Space>("cnc::wide_r", size) : Vector<double, Space>();
    scalars = zeroed<MethodScalars, Space>("cnc::scalars", 1);
    if constexpr (is_host_space<Space>)
      host_scalars = scalars;
    else
      host_scalars = uninitialized<MethodScalars, SharedSpace<Space>>("cnc::host_scalars", 1);
    host_scalars(0) = {};
    rr_history = uninitialized<double, SharedSpace<Space>>("cnc::rr_history", longest_batch);
  }
};

}  // namespace cnc::detail
