#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"

namespace cnc::kokkos {
namespace {

/// p := z + beta p in the part [begin, end).
template <class V>
struct Direction {
  const V* z;
  V* p;
  PcgScalars* scalars;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end) const {
    const bool first = scalars->rz_previous == 0;
    const double beta = first ? 0 : scalars->rz / scalars->rz_previous;
    const V b = static_cast<V>(beta);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end),
                         [&](const index_t i) { p[i] = first ? z[i] : z[i] + b * p[i]; });
    // Nobody reads beta meanwhile, so the first team may write it.
    if (begin == 0) Kokkos::single(Kokkos::PerTeam(team), [&]() { scalars->beta = beta; });
  }
};

}  // namespace

template <class Exec, class V>
void PcgDirection<Exec, V>::run(const Queue& queue, index_t n, const PcgVectors<V>& vectors,
                                PcgScalars* scalars) {
  for_each_part<Exec>("cnc::direction", queue, entry_team<Exec>, n, units_per_part(1),
                      Direction<V>{vectors.z, vectors.p, scalars});
}

template struct PcgDirection<HostExec, float>;
template struct PcgDirection<HostExec, double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template struct PcgDirection<DeviceExec, float>;
template struct PcgDirection<DeviceExec, double>;
#endif

}  // namespace cnc::kokkos
