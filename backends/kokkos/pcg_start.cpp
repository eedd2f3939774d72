#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/pcg_sums.hpp"
#include "kokkos/preconditioners.hpp"

namespace cnc::kokkos {
namespace {

template <class V, class P>
struct Start {
  index_t n;
  P M;
  const V* r;
  V* z;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  PcgSums& sum) const {
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, PcgSums& s) { precondition_and_sum(M, i, n, r, z, s); }, sum);
  }
};

struct StoreStart {
  PcgScalars* scalars;
  KOKKOS_FUNCTION void operator()(const PcgSums& total) const {
    scalars->rz = total.value[0];
    scalars->rr = total.value[1];
    scalars->rz_previous = 0;
    scalars->alpha = 0;
    scalars->beta = 0;
    scalars->breakdown = PcgBreakdown::none;
  }
};

}  // namespace

template <class Exec, class V>
void PcgStart<Exec, V>::run(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                            const PcgVectors<V>& vectors, PcgScalars* scalars) {
  with_preconditioner(M, [&](const auto& units) {
    using Units = std::decay_t<decltype(units)>;
    sum_parts<Exec, 2>("cnc::pcg_start", queue, entry_team<Exec>, ceil_div(n, units.scalars()),
                       units_per_part(units.scalars()),
                       Start<V, Units>{n, units, vectors.r, vectors.z}, StoreStart{scalars});
  });
}

template struct PcgStart<HostExec, float>;
template struct PcgStart<HostExec, double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template struct PcgStart<DeviceExec, float>;
template struct PcgStart<DeviceExec, double>;
#endif

}  // namespace cnc::kokkos
