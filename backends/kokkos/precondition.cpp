#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/preconditioners.hpp"

namespace cnc::kokkos {
namespace {

template <class Exec, class V, class P>
void apply_units(const Queue& queue, index_t n, const P& M, const V* r, V* z) {
  for_each_entry<Exec>(
      "cnc::precond", queue, ceil_div(n, M.scalars()),
      KOKKOS_LAMBDA(const index_t i) { M.apply(i, n, r, z); });
}

}  // namespace

template <class Exec, class V>
void Precondition<Exec, V>::apply(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                                  const V* r, V* z) {
  with_preconditioner(M, [&](const auto& units) { apply_units<Exec>(queue, n, units, r, z); });
}

#define CNC_INSTANTIATE(V)                   \
  template struct Precondition<HostExec, V>; \
  CNC_IF_DEVICE(template struct Precondition<DeviceExec, V>;)
CNC_FOR_VECTOR_TYPES(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
