#include "kokkos/block_size.hpp"
#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/product_dots.hpp"

namespace cnc::kokkos {
namespace {

/// Most neighbouring lanes of a slice that one thread works on. On a host it takes them slot by
/// slot, so that it reads the values in the order in which they lie in memory. On a device each
/// lane has a thread of its own, and neighbouring threads read neighbouring values.
template <class Exec>
inline constexpr int lanes_per_thread = is_host<Exec> ? 32 : 1;

/// A x in `count` neighbouring lanes: value[row][lane].
template <class V, int B, int L>
struct LaneSums {
  V value[block_capacity<B>][L];
};

/// A and x, up to L lanes of a slice at a time. B as in with_block_size.
template <class M, class V, int B, int L>
struct BsellRows {
  BsellOperand<M> A;
  const V* x;

  KOKKOS_INLINE_FUNCTION int size() const { return B == 0 ? A.block_size : B; }

  /// Sorted block rows, from `position` on and before `end`, that lie in one slice; L at most.
  KOKKOS_INLINE_FUNCTION int group(index_t position, index_t end) const {
    if (L == 1) return 1;
    const index_t in_slice = A.slice_height - position % A.slice_height;
    const index_t in_range = end - position;
    const index_t count = in_slice < in_range ? in_slice : in_range;
    return count < L ? count : L;
  }

  /// A x in the sorted block rows [position, position + count).
  KOKKOS_INLINE_FUNCTION void product(index_t position, int count, LaneSums<V, B, L>& sum) const {
    const index_t C = A.slice_height;
    const index_t slice = position / C;
    const index_t lane = position % C;
    const int b = size();
    const bool has_partial_column = B != 1 && A.cols % b != 0;
    for (int row = 0; row < b; ++row)
      for (int l = 0; l < count; ++l) sum.value[row][l] = 0;
    const offset_t end = A.slice_offsets[slice + 1];
    for (offset_t slot = A.slice_offsets[slice]; slot < end; slot += C) {
      const index_t* columns = A.columns + slot + lane;
      const M* values = A.values + slot * b * b + lane;
      if (has_partial_column)
        add_slots<true>(columns, values, count, sum);
      else
        add_slots<false>(columns, values, count, sum);
    }
  }

  /// One slot of every lane. Beyond the last column the stored values are zero and x ends.
  template <bool has_partial_column>
  KOKKOS_INLINE_FUNCTION void add_slots(const index_t* columns, const M* values, int count,
                                        LaneSums<V, B, L>& sum) const {
    const int b = size();
    V xs[block_capacity<B>][L];
    for (int l = 0; l < count; ++l) {
      const index_t first = columns[l] * b;
      for (int column = 0; column < b; ++column)
        xs[column][l] = !has_partial_column || A.cols - first > column ? x[first + column] : V(0);
    }
    for (int row = 0; row < b; ++row) {
      const M* entries = values + static_cast<offset_t>(row * b) * A.slice_height;
      for (int l = 0; l < count; ++l)
        for (int column = 0; column < b; ++column)
          sum.value[row][l] += static_cast<V>(entries[column * A.slice_height + l]) * xs[column][l];
    }
  }

  /// Calls use(row, value) for the scalar rows of the sorted block rows [position, end).
  template <class Use>
  KOKKOS_INLINE_FUNCTION void for_each_row(index_t position, index_t end, const Use& use) const {
    const int b = size();
    while (position < end) {
      const int count = group(position, end);
      LaneSums<V, B, L> sum;
      product(position, count, sum);
      for (int l = 0; l < count; ++l) {
        const index_t first = A.row_permutation[position + l] * b;
        const int height = A.rows - first < b ? A.rows - first : b;
        for (int row = 0; row < height; ++row) use(first + row, sum.value[row][l]);
      }
      position += count;
    }
  }
};

/// The work of thread g of a team that covers [begin, end): L positions, fewer at the end.
template <int L>
struct Share {
  index_t begin;
  index_t end;

  KOKKOS_INLINE_FUNCTION index_t count() const { return (end - begin + L - 1) / L; }
  KOKKOS_INLINE_FUNCTION index_t first(index_t g) const { return begin + g * L; }
  KOKKOS_INLINE_FUNCTION index_t last(index_t g) const {
    return end - first(g) < L ? end : first(g) + L;
  }
};

/// A x in the sorted block rows [begin, end), stored.
template <class M, class V, int B, int L, class Store>
struct Multiply {
  BsellRows<M, V, B, L> rows;
  Store store;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end) const {
    const Share<L> share{begin, end};
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, index_t(0), share.count()),
        [&](const index_t g) { rows.for_each_row(share.first(g), share.last(g), store); });
  }
};

/// y := A x and its dots in the sorted block rows [begin, end).
template <class M, class V, int B, int L, int N>
struct MultiplyAndDot {
  BsellRows<M, V, B, L> rows;
  V* y;
  RowDots<V, N> dots;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<double, N>& sum) const {
    const Share<L> share{begin, end};
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, index_t(0), share.count()),
        [&](const index_t g, Sum<double, N>& s) {
          rows.for_each_row(share.first(g), share.last(g), [&](const index_t row, const V product) {
            y[row] = product;
            dots.add(row, product, s);
          });
        },
        sum);
  }
};

template <class Exec, class M, class V, class Store>
void multiply(const char* label, const Queue& queue, const BsellOperand<M>& A, const V* x,
              const Store& store) {
  with_block_size(A.block_size, [&](auto size) {
    constexpr int B = decltype(size)::value;
    constexpr int L = lanes_per_thread<Exec>;
    for_each_part<Exec>(label, queue, entry_team<Exec>, A.block_rows(),
                        units_per_part(A.block_size), Multiply<M, V, B, L, Store>{{A, x}, store});
  });
}

}  // namespace

template <class Exec, class M, class V>
void Spmv<Exec, BsellOperand<M>, V>::spmv(const Queue& queue, V alpha, const BsellOperand<M>& A,
                                          const V* x, V beta, V* y) {
  multiply<Exec>("cnc::bsell_spmv", queue, A, x, StoreProduct<V>{alpha, beta, y});
}

template <class Exec, class M, class V>
void Spmv<Exec, BsellOperand<M>, V>::relax(const Queue& queue, const BsellOperand<M>& A,
                                           const RelaxationStep<V>& step, const V* x, V* y) {
  multiply<Exec>("cnc::bsell_step", queue, A, x, StoreRelaxed<V>{step, x, y});
}

template <class Exec, class M, class V>
void Spmv<Exec, BsellOperand<M>, V>::spmv_dot(const Queue& queue, const BsellOperand<M>& A,
                                              const V* x, V* y, const ProductDots<V>& dots) {
  if (dots.with == nullptr) return spmv(queue, V(1), A, x, V(0), y);
  with_block_size(A.block_size, [&](auto size) {
    constexpr int B = decltype(size)::value;
    constexpr int L = lanes_per_thread<Exec>;
    with_dots(dots, y, [&](const auto& row_dots, const auto& store) {
      constexpr int N = std::decay_t<decltype(row_dots)>::count;
      sum_parts<Exec, N>("cnc::spmv_dot", queue, entry_team<Exec>, A.block_rows(),
                         units_per_part(A.block_size),
                         MultiplyAndDot<M, V, B, L, N>{{A, x}, y, row_dots}, store);
    });
  });
}

#define CNC_INSTANTIATE(M, V)                         \
  template struct Spmv<HostExec, BsellOperand<M>, V>; \
  CNC_IF_DEVICE(template struct Spmv<DeviceExec, BsellOperand<M>, V>;)
CNC_FOR_PRECISIONS(CNC_INSTANTIATE)

}  // namespace cnc::kokkos
