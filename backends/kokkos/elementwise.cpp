#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"

#include <cmath>

namespace cnc::kokkos {

template <class Exec, class V>
void Elementwise<Exec, V>::axpy(const Queue& queue, index_t n, V alpha, const V* x, V* y) {
  for_each_entry<Exec>(
      "cnc::axpy", queue, n, KOKKOS_LAMBDA(const index_t i) { y[i] = alpha * x[i] + y[i]; });
}

template <class Exec, class V>
void Elementwise<Exec, V>::axpby(const Queue& queue, index_t n, V alpha, const V* x, V beta, V* y) {
  if (beta == V(0))
    for_each_entry<Exec>(
        "cnc::axpby", queue, n, KOKKOS_LAMBDA(const index_t i) { y[i] = alpha * x[i]; });
  else
    for_each_entry<Exec>(
        "cnc::axpby", queue, n,
        KOKKOS_LAMBDA(const index_t i) { y[i] = alpha * x[i] + beta * y[i]; });
}

template <class Exec, class V>
void Elementwise<Exec, V>::scal(const Queue& queue, index_t n, V alpha, V* x) {
  if (alpha == V(0))
    for_each_entry<Exec>(
        "cnc::scal", queue, n, KOKKOS_LAMBDA(const index_t i) { x[i] = V(0); });
  else
    for_each_entry<Exec>(
        "cnc::scal", queue, n, KOKKOS_LAMBDA(const index_t i) { x[i] *= alpha; });
}

template <class Exec, class V>
void Elementwise<Exec, V>::multiply(const Queue& queue, index_t n, const V* x, const V* y, V* z) {
  for_each_entry<Exec>(
      "cnc::multiply", queue, n, KOKKOS_LAMBDA(const index_t i) { z[i] = x[i] * y[i]; });
}

template <class Exec, class V>
void Elementwise<Exec, V>::normalize(const Queue& queue, index_t n, const V* x, const double* xx,
                                     V* y) {
  for_each_entry<Exec>(
      "cnc::normalize", queue, n, KOKKOS_LAMBDA(const index_t i) {
        y[i] = *xx > 0 ? static_cast<V>(1 / std::sqrt(*xx)) * x[i] : V(0);
      });
}

#define CNC_INSTANTIATE(V)                  \
  template struct Elementwise<HostExec, V>; \
  CNC_IF_DEVICE(template struct Elementwise<DeviceExec, V>;)
CNC_FOR_VECTOR_TYPES(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
