#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/pass.hpp"

#include <cnc/contract/careful_rows.hpp>

namespace cnc::kokkos {
namespace {

using Compensated = CompensatedSum<double>;

/// Adds exact products to the sums of a reduction.
template <int N>
struct AddExactly {
  Sum<Compensated, N>& sum;
  template <class V>
  KOKKOS_INLINE_FUNCTION void operator()(int k, V a, V b) const {
    sum.value[k].add_exact(a, b);
  }
};

/// The part [begin, end) of x . y.
template <class V>
struct PartialDot {
  const V* x;
  const V* y;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<Compensated, 1>& sum) const {
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<Compensated, 1>& s) { s.value[0].add_exact(x[i], y[i]); }, sum);
  }
};

struct StoreValue {
  double* result;
  KOKKOS_FUNCTION void operator()(const Sum<Compensated, 1>& total) const {
    *result = total.value[0].value();
  }
};

/// The part [begin, end) of the sums of a pass.
template <class V, class Pass>
struct SumsOfPass {
  MethodVectors<V> v;
  const MethodScalars* scalars;

  template <class Team, int N>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<Compensated, N>& sum) const {
    const MethodScalars s = begin_pass<Pass>(*scalars);
    if (s.breakdown != Breakdown::none) return;
    const Pass pass(s);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<Compensated, N>& partial) {
          Row<V> row;
          load<Pass::summed>(v, i, row);
          AddExactly<N> to{partial};
          pass.sums_of(row, to);
        },
        sum);
  }
};

template <class Pass>
struct StoreValues {
  StoreScalars<Pass> scalars;
  template <int N>
  KOKKOS_FUNCTION void operator()(const Sum<Compensated, N>& total) const {
    double sums[N];
    for (int k = 0; k < N; ++k) sums[k] = total.value[k].value();
    scalars.store(sums);
  }
};

/// y := A x in one row.
template <class Operand, class V>
struct CarefulRow {
  detail::StoredRows<Operand, 0> rows;
  Arithmetic arithmetic;
  const V* x;
  V* y;
  KOKKOS_FUNCTION void operator()(offset_t t) const {
    detail::careful_row(rows, t, arithmetic, x, y);
  }
};

}  // namespace

template <class Exec, class V>
void CarefulSums<Exec, V>::dot(const Queue& queue, index_t n, const V* x, const V* y,
                               double* result) {
  sum_parts<Exec, 1, Compensated>("cnc::dot", queue, entry_team<Exec>, n, units_per_part(1),
                                  PartialDot<V>{x, y}, StoreValue{result});
}

template <class Exec, class V>
void CarefulSums<Exec, V>::of_pass(const Queue& queue, PassName name, index_t n,
                                   const MethodVectors<V>& v, MethodScalars* scalars) {
  for_summing_pass<V>(name, [&]<class Pass>() {
    sum_parts<Exec, Pass::sums.count, Compensated>(
        "cnc::pass_sums", queue, entry_team<Exec>, n, units_per_part(1),
        SumsOfPass<V, Pass>{v, scalars}, StoreValues<Pass>{{scalars}});
  });
}

template <class Exec, class Operand, class V>
void CarefulProduct<Exec, Operand, V>::spmv(const Queue& queue, Arithmetic arithmetic,
                                            const Operand& A, const V* x, V* y) {
  const detail::StoredRows<Operand, 0> rows{A};
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>> policy(execution_space<Exec>(queue),
                                                                      0, rows.count());
  Kokkos::parallel_for("cnc::careful", policy, CarefulRow<Operand, V>{rows, arithmetic, x, y});
}

#define CNC_INSTANTIATE(V)                  \
  template struct CarefulSums<HostExec, V>; \
  CNC_IF_DEVICE(template struct CarefulSums<DeviceExec, V>;)
CNC_FOR_VECTOR_TYPES(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE
#define CNC_INSTANTIATE_ON(Exec, M, V)                      \
  template struct CarefulProduct<Exec, BcsrOperand<M>, V>;  \
  template struct CarefulProduct<Exec, BsellOperand<M>, V>; \
  template struct CarefulProduct<Exec, DiaOperand<M>, V>;
#define CNC_INSTANTIATE(M, V)        \
  CNC_INSTANTIATE_ON(HostExec, M, V) \
  CNC_IF_DEVICE(CNC_INSTANTIATE_ON(DeviceExec, M, V))
CNC_FOR_PRECISIONS(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
