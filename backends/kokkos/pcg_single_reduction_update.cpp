#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/pcg_sums.hpp"
#include "kokkos/preconditioners.hpp"

namespace cnc::kokkos {
namespace {

/// beta := rz / rz_previous; alpha := rz / (pq - beta rz / alpha_previous).
KOKKOS_INLINE_FUNCTION PcgStep single_reduction_step(const PcgScalars& scalars) {
  const bool first = scalars.rz_previous == 0;
  const double beta = first ? 0 : scalars.rz / scalars.rz_previous;
  const double curvature = first ? scalars.pq : scalars.pq - beta * scalars.rz / scalars.alpha;
  const PcgBreakdown breakdown = breakdown_of(scalars, curvature);
  if (breakdown != PcgBreakdown::none) return {breakdown, 0, 0};
  return {breakdown, scalars.rz / curvature, beta};
}

/// All vector work of a Chronopoulos-Gear iteration in the part [begin, end) of the units.
template <class V, class P>
struct SingleReductionUpdate {
  index_t n;
  P M;
  PcgVectors<V> v;
  const PcgScalars* scalars;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  PcgSums& sum) const {
    const PcgStep step = single_reduction_step(*scalars);
    if (step.breakdown != PcgBreakdown::none) return;
    const bool fresh = scalars->rz_previous == 0;
    const V alpha = static_cast<V>(step.alpha);
    const V beta = static_cast<V>(step.beta);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, PcgSums& s) {
          const index_t first = M.first(i);
          const int height = M.height(i, n);
          for (index_t k = first; k < first + height; ++k) move(k, fresh, alpha, beta);
          precondition_and_sum(M, i, n, v.r, v.z, s);
        },
        sum);
  }

  /// The first iteration does not read the old p and s.
  KOKKOS_FUNCTION void move(index_t k, bool fresh, V alpha, V beta) const {
    const V p = fresh ? v.z[k] : v.z[k] + beta * v.p[k];
    const V s = fresh ? v.q[k] : v.q[k] + beta * v.s[k];
    v.p[k] = p;
    v.s[k] = s;
    v.x[k] += alpha * p;
    v.r[k] -= alpha * s;
  }
};

struct FinishSingleReductionUpdate {
  PcgScalars* scalars;
  KOKKOS_FUNCTION void operator()(const PcgSums& total) const {
    finish_update(single_reduction_step(*scalars), total, *scalars);
  }
};

}  // namespace

template <class Exec, class V>
void PcgSingleReductionUpdate<Exec, V>::run(const Queue& queue, index_t n,
                                            const PreconditionerOperand<V>& M,
                                            const PcgVectors<V>& vectors, PcgScalars* scalars) {
  with_preconditioner(M, [&](const auto& units) {
    using Units = std::decay_t<decltype(units)>;
    sum_parts<Exec, 2>("cnc::pcg_update", queue, entry_team<Exec>, ceil_div(n, units.scalars()),
                       units_per_part(units.scalars()),
                       SingleReductionUpdate<V, Units>{n, units, vectors, scalars},
                       FinishSingleReductionUpdate{scalars});
  });
}

template struct PcgSingleReductionUpdate<HostExec, float>;
template struct PcgSingleReductionUpdate<HostExec, double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template struct PcgSingleReductionUpdate<DeviceExec, float>;
template struct PcgSingleReductionUpdate<DeviceExec, double>;
#endif

}  // namespace cnc::kokkos
