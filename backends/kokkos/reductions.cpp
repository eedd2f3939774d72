#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"

#include <cmath>

namespace cnc::kokkos {
namespace {

/// The part [begin, end) of x . y.
template <class V>
struct PartialDot {
  const V* x;
  const V* y;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<double, 1>& sum) const {
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<double, 1>& s) {
          s.value[0] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
        },
        sum);
  }
};

struct StoreRoot {
  double* result;
  KOKKOS_FUNCTION void operator()(const Sum<double, 1>& total) const {
    *result = std::sqrt(total.value[0]);
  }
};

}  // namespace

template <class Exec, class V>
void Reductions<Exec, V>::dot(const Queue& queue, index_t n, const V* x, const V* y,
                              double* result) {
  sum_parts<Exec, 1>("cnc::dot", queue, entry_team<Exec>, n, units_per_part(1), PartialDot<V>{x, y},
                     StoreSum{result});
}

template <class Exec, class V>
void Reductions<Exec, V>::nrm2(const Queue& queue, index_t n, const V* x, double* result) {
  sum_parts<Exec, 1>("cnc::nrm2", queue, entry_team<Exec>, n, units_per_part(1),
                     PartialDot<V>{x, x}, StoreRoot{result});
}

#define CNC_INSTANTIATE(V)                 \
  template struct Reductions<HostExec, V>; \
  CNC_IF_DEVICE(template struct Reductions<DeviceExec, V>;)
CNC_FOR_VECTOR_TYPES(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
