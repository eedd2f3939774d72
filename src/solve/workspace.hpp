#pragma once

#include <cnc/context.hpp>

#include <memory>
#include <string>

namespace cnc::detail {

/// What a solve works in, allocated in prepare.
template <class V, class Space>
struct Workspace {
  /// Iterations between looks at the clock, the divergence limit and the best iterate. A device does so
  /// many in the time of a look that it is better left alone for longer.
  static constexpr index_t longest_batch = is_host_space<Space> ? 64 : 256;

  Vector<V, Space> r, z, p, q, s;
  Vector<V, Space> best;  ///< snapshot of the best iterate
  Vector<V, Space> rhs,
      guess;  ///< b and x in the order of the rows that iterations use (reordering)
  Vector<double, Space> wide_x, wide_r;  ///< of float vectors: for the true residual in double
  Kokkos::View<PcgScalars*, Space> scalars;
  Kokkos::View<PcgScalars*, SharedSpace<Space>>
      host_scalars;                               ///< the host's copy; the same on a host
  Vector<double, SharedSpace<Space>> rr_history;  ///< [longest_batch] of a run
  std::unique_ptr<PcgPlan> plan;

  void allocate(index_t n, bool with_s, bool reordered, bool wide = false) {
    const auto size = static_cast<std::size_t>(n);
    const auto vector = [size](const char* label) { return zeroed<V, Space>(label, size); };
    r = vector("cnc::r");
    z = vector("cnc::z");
    p = vector("cnc::p");
    q = vector("cnc::q");
    best = vector("cnc::best");
    s = with_s ? vector("cnc::s") : Vector<V, Space>();
    rhs = reordered ? vector("cnc::rhs") : Vector<V, Space>();
    guess = reordered ? vector("cnc::guess") : Vector<V, Space>();
    wide_x = wide ? zeroed<double, Space>("cnc::wide_x", size) : Vector<double, Space>();
    wide_r = wide ? zeroed<double, Space>("cnc::wide_r", size) : Vector<double, Space>();
    scalars = zeroed<PcgScalars, Space>("cnc::scalars", 1);
    if constexpr (is_host_space<Space>)
      host_scalars = scalars;
    else
      host_scalars = uninitialized<PcgScalars, SharedSpace<Space>>("cnc::host_scalars", 1);
    host_scalars(0) = {};
    rr_history = uninitialized<double, SharedSpace<Space>>("cnc::rr_history", longest_batch);
  }
};

}  // namespace cnc::detail
