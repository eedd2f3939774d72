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

/// The parts [begin, end) of y_k . x.
template <class V>
struct PartialDots {
  const V* y;
  offset_t stride;
  int count;
  const V* x;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<double, max_vectors_together>& sum) const {
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<double, max_vectors_together>& s) {
          for (int k = 0; k < count; ++k)
            s.value[k] += static_cast<double>(y[k * stride + i]) * static_cast<double>(x[i]);
        },
        sum);
  }
};

struct StoreSums {
  double* result;
  int count;
  KOKKOS_FUNCTION void operator()(const Sum<double, max_vectors_together>& total) const {
    for (int k = 0; k < count; ++k) result[k] = total.value[k];
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

template <class Exec, class V>
void Reductions<Exec, V>::mdot(const Queue& queue, index_t n, int count, const V* y,
                               offset_t stride, const V* x, double* result) {
  sum_parts<Exec, max_vectors_together>("cnc::mdot", queue, entry_team<Exec>, n, units_per_part(1),
                                        PartialDots<V>{y, stride, count, x},
                                        StoreSums{result, count});
}

template <class Exec, class V>
void Reductions<Exec, V>::maxpy(const Queue& queue, index_t n, int count, double scale,
                                const double* c, const V* y, offset_t stride, V* x, double* xx) {
  for_each_entry<Exec>(
      "cnc::maxpy", queue, n, KOKKOS_LAMBDA(const index_t i) {
        V sum = x[i];
        for (int k = 0; k < count; ++k) sum += static_cast<V>(scale * c[k]) * y[k * stride + i];
        x[i] = sum;
      });
  if (xx != nullptr) dot(queue, n, x, x, xx);
}

#define CNC_INSTANTIATE(V)                 \
  template struct Reductions<HostExec, V>; \
  CNC_IF_DEVICE(template struct Reductions<DeviceExec, V>;)
CNC_FOR_VECTOR_TYPES(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
