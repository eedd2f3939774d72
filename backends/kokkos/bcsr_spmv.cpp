#include "kokkos/block_size.hpp"
#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/product_dots.hpp"

namespace cnc::kokkos {
namespace {

/// A and x, one block row at a time. B as in with_block_size.
template <class M, class V, int B>
struct BcsrRows {
  using Row = Sum<V, block_capacity<B>>;

  BcsrOperand<M> A;
  const V* x;

  KOKKOS_INLINE_FUNCTION int size() const { return B == 0 ? A.block_size : B; }

  /// Scalar rows of block row i; fewer than the block size in a partial last one.
  KOKKOS_INLINE_FUNCTION int height(index_t i) const {
    return A.rows - i * size() < size() ? A.rows - i * size() : size();
  }

  /// sum += block k times its piece of x.
  KOKKOS_INLINE_FUNCTION void add_block(index_t k, Row& sum) const {
    const int b = size();
    const index_t first = A.columns[k] * b;
    const M* block = A.values + static_cast<offset_t>(k) * b * b;
    if (B == 1 || A.cols - first >= b) {
      for (int row = 0; row < b; ++row)
        for (int column = 0; column < b; ++column)
          sum.value[row] += static_cast<V>(block[row * b + column]) * x[first + column];
    } else {
      for (int row = 0; row < b; ++row)
        for (int column = 0; column < A.cols - first; ++column)
          sum.value[row] += static_cast<V>(block[row * b + column]) * x[first + column];
    }
  }

  /// A x in block row i, known to all lanes of the thread.
  template <class Team>
  KOKKOS_INLINE_FUNCTION Row product(const Team& team, index_t i) const {
    Row total;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, A.row_offsets[i], A.row_offsets[i + 1]),
        [&](const index_t k, Row& sum) { add_block(k, sum); }, total);
    return total;
  }
};

/// A x in the block rows [begin, end), stored.
template <class M, class V, int B, class Store>
struct Multiply {
  BcsrRows<M, V, B> rows;
  Store store;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end), [&](const index_t i) {
      const auto product = rows.product(team, i);
      Kokkos::single(Kokkos::PerThread(team), [&]() {
        for (int row = 0; row < rows.height(i); ++row)
          store(i * rows.size() + row, product.value[row]);
      });
    });
  }
};

/// y := A x and its dots in the block rows [begin, end).
template <class M, class V, int B, int N>
struct MultiplyAndDot {
  BcsrRows<M, V, B> rows;
  V* y;
  RowDots<V, N> dots;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<double, N>& sum) const {
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<double, N>& s) {
          const auto product = rows.product(team, i);
          const index_t first = i * rows.size();
          for (int row = 0; row < rows.height(i); ++row)
            dots.add(first + row, product.value[row], s);
          Kokkos::single(Kokkos::PerThread(team), [&]() {
            for (int row = 0; row < rows.height(i); ++row) y[first + row] = product.value[row];
          });
        },
        sum);
  }
};

template <class Exec, class M, class V, class Store>
void multiply(const char* label, const Queue& queue, const BcsrOperand<M>& A, const V* x,
              const Store& store) {
  with_block_size(A.block_size, [&](auto size) {
    constexpr int B = decltype(size)::value;
    for_each_part<Exec>(label, queue, row_team<Exec>, A.block_rows(), units_per_part(A.block_size),
                        Multiply<M, V, B, Store>{{A, x}, store});
  });
}

}  // namespace

template <class Exec, class M, class V>
void Spmv<Exec, BcsrOperand<M>, V>::spmv(const Queue& queue, V alpha, const BcsrOperand<M>& A,
                                         const V* x, V beta, V* y) {
  multiply<Exec>("cnc::bcsr_spmv", queue, A, x, StoreProduct<V>{alpha, beta, y});
}

template <class Exec, class M, class V>
void Spmv<Exec, BcsrOperand<M>, V>::relax(const Queue& queue, const BcsrOperand<M>& A,
                                          const RelaxationStep<V>& step, const V* x, V* y) {
  multiply<Exec>("cnc::bcsr_relax", queue, A, x, StoreRelaxed<V>{step, x, y});
}

template <class Exec, class M, class V>
void Spmv<Exec, BcsrOperand<M>, V>::spmv_dot(const Queue& queue, const BcsrOperand<M>& A,
                                             const V* x, V* y, const ProductDots<V>& dots) {
  if (dots.with == nullptr) return spmv(queue, V(1), A, x, V(0), y);
  with_block_size(A.block_size, [&](auto size) {
    constexpr int B = decltype(size)::value;
    with_dots(dots, y, [&](const auto& row_dots, const auto& store) {
      constexpr int N = std::decay_t<decltype(row_dots)>::count;
      sum_parts<Exec, N>("cnc::spmv_dot", queue, row_team<Exec>, A.block_rows(),
                         units_per_part(A.block_size),
                         MultiplyAndDot<M, V, B, N>{{A, x}, y, row_dots}, store);
    });
  });
}

#define CNC_INSTANTIATE(M, V)                        \
  template struct Spmv<HostExec, BcsrOperand<M>, V>; \
  CNC_IF_DEVICE(template struct Spmv<DeviceExec, BcsrOperand<M>, V>;)
CNC_FOR_PRECISIONS(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
