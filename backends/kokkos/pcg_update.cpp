#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/pcg_sums.hpp"
#include "kokkos/preconditioners.hpp"

namespace cnc::kokkos {
namespace {

/// alpha := rz / pq.
KOKKOS_INLINE_FUNCTION PcgStep classic_step(const PcgScalars& scalars) {
  const PcgBreakdown breakdown = breakdown_of(scalars, scalars.pq);
  if (breakdown != PcgBreakdown::none) return {breakdown, 0, 0};
  return {breakdown, scalars.rz / scalars.pq, scalars.beta};
}

/// x += alpha p; r -= alpha q; z := M^-1 r; r.z and r.r in the part [begin, end) of the units.
template <class V, class P>
struct ClassicUpdate {
  index_t n;
  P M;
  PcgVectors<V> v;
  const PcgScalars* scalars;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  PcgSums& sum) const {
    const PcgStep step = classic_step(*scalars);
    if (step.breakdown != PcgBreakdown::none) return;
    const V alpha = static_cast<V>(step.alpha);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, PcgSums& s) {
          const index_t first = M.first(i);
          const int height = M.height(i, n);
          for (int k = 0; k < height; ++k) {
            v.x[first + k] += alpha * v.p[first + k];
            v.r[first + k] -= alpha * v.q[first + k];
          }
          precondition_and_sum(M, i, n, v.r, v.z, s);
        },
        sum);
  }
};

struct FinishClassicUpdate {
  PcgScalars* scalars;
  KOKKOS_FUNCTION void operator()(const PcgSums& total) const {
    finish_update(classic_step(*scalars), total, *scalars);
  }
};

}  // namespace

template <class Exec, class V>
void PcgUpdate<Exec, V>::run(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                             const PcgVectors<V>& vectors, PcgScalars* scalars) {
  with_preconditioner(M, [&](const auto& units) {
    using Units = std::decay_t<decltype(units)>;
    sum_parts<Exec, 2>("cnc::pcg_update", queue, entry_team<Exec>, ceil_div(n, units.scalars()),
                       units_per_part(units.scalars()),
                       ClassicUpdate<V, Units>{n, units, vectors, scalars},
                       FinishClassicUpdate{scalars});
  });
}

template struct PcgUpdate<HostExec, float>;
template struct PcgUpdate<HostExec, double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template struct PcgUpdate<DeviceExec, float>;
template struct PcgUpdate<DeviceExec, double>;
#endif

}  // namespace cnc::kokkos
