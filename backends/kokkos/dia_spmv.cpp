#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/product_dots.hpp"

namespace cnc::kokkos {
namespace {

/// A and x, one row at a time: neighbouring rows read neighbouring values of every diagonal.
template <class M, class V>
struct DiaRows {
  DiaOperand<M> A;
  const V* x;

  KOKKOS_INLINE_FUNCTION V product(index_t i) const {
    V sum = 0;
    for (index_t d = 0; d < A.diagonals; ++d) {
      const index_t offset = A.offsets[d];
      const M* diagonal = A.values + static_cast<offset_t>(d) * A.rows;
      const offset_t right = static_cast<offset_t>(i) + offset;
      if (right >= 0 && right < A.cols) sum += static_cast<V>(diagonal[i]) * x[right];
      if (A.symmetric && offset > 0 && offset <= i)
        sum += static_cast<V>(diagonal[i - offset]) * x[i - offset];
    }
    return sum;
  }
};

/// A x in one row, stored.
template <class M, class V, class Store>
struct Multiply {
  DiaRows<M, V> rows;
  Store store;

  KOKKOS_FUNCTION void operator()(index_t i) const { store(i, rows.product(i)); }
};

/// y := A x and its dots in the rows [begin, end).
template <class M, class V, int N>
struct MultiplyAndDot {
  DiaRows<M, V> rows;
  V* y;
  RowDots<V, N> dots;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<double, N>& sum) const {
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<double, N>& s) {
          const V product = rows.product(i);
          y[i] = product;
          dots.add(i, product, s);
        },
        sum);
  }
};

}  // namespace

template <class Exec, class M, class V>
void Spmv<Exec, DiaOperand<M>, V>::spmv(const Queue& queue, V alpha, const DiaOperand<M>& A,
                                        const V* x, V beta, V* y) {
  using Store = StoreProduct<V>;
  for_each_entry<Exec>("cnc::dia_spmv", queue, A.rows,
                       Multiply<M, V, Store>{{A, x}, Store{alpha, beta, y}});
}

template <class Exec, class M, class V>
void Spmv<Exec, DiaOperand<M>, V>::relax(const Queue& queue, const DiaOperand<M>& A,
                                         const RelaxationStep<V>& step, const V* x, V* y) {
  using Store = StoreRelaxed<V>;
  for_each_entry<Exec>("cnc::dia_relax", queue, A.rows,
                       Multiply<M, V, Store>{{A, x}, Store{step, x, y}});
}

template <class Exec, class M, class V>
void Spmv<Exec, DiaOperand<M>, V>::spmv_dot(const Queue& queue, const DiaOperand<M>& A, const V* x,
                                            V* y, const ProductDots<V>& dots) {
  if (dots.with == nullptr) return spmv(queue, V(1), A, x, V(0), y);
  with_dots(dots, y, [&](const auto& row_dots, const auto& store) {
    constexpr int N = std::decay_t<decltype(row_dots)>::count;
    sum_parts<Exec, N>("cnc::spmv_dot", queue, entry_team<Exec>, A.rows, units_per_part(1),
                       MultiplyAndDot<M, V, N>{{A, x}, y, row_dots}, store);
  });
}

#define CNC_INSTANTIATE(M, V)                       \
  template struct Spmv<HostExec, DiaOperand<M>, V>; \
  CNC_IF_DEVICE(template struct Spmv<DeviceExec, DiaOperand<M>, V>;)
CNC_FOR_PRECISIONS(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
