#pragma once

#include <openmp/vector_ops.hpp>

namespace cnc::openmp::CNC_ISA {

/// Specialised per format, in the file of its kernel. Units are what a thread's share is counted in:
/// block rows, slices, rows.
template <class Operand, class V>
struct FormatKernel;

/// What is done with a row's product: y := alpha A x + beta y
template <class V>
struct StoreProduct {
  V alpha, beta;
  V* y;
  CNC_INLINE void operator()(index_t row, V product) const {
    y[row] = beta == V(0) ? alpha * product : alpha * product + beta * y[row];
  }
  /// The same for rows from `row` on: what is asked once is not asked in a loop, which has to be one of vectors.
  CNC_INLINE void rows(index_t row, const V* products, index_t count) const {
    V* const to = y + row;
    if (beta == V(0)) {
#pragma omp simd
      for (index_t k = 0; k < count; ++k) to[k] = alpha * products[k];
    } else {
#pragma omp simd
      for (index_t k = 0; k < count; ++k) to[k] = alpha * products[k] + beta * to[k];
    }
  }
};

/// The same: a step of a relaxation.
template <class V>
struct StoreRelaxed {
  RelaxationStep<V> step;
  const V* x;
  V* y;
  CNC_INLINE void operator()(index_t row, V product) const { y[row] = step(row, product, x, y); }
  /// The same for rows from `row` on; `products` is lost.
  CNC_INLINE void rows(index_t row, V* products, index_t count) const {
    if (step.f != nullptr) {
      const V* const f = step.f + row;
#pragma omp simd
      for (index_t k = 0; k < count; ++k) products[k] = step.of_residual * (f[k] - products[k]);
    } else {
#pragma omp simd
      for (index_t k = 0; k < count; ++k) products[k] = step.of_residual * -products[k];
    }
    if (step.inverse != nullptr) {
      const V* const inverse = step.inverse + row;
#pragma omp simd
      for (index_t k = 0; k < count; ++k) products[k] *= inverse[k];
    }
    if (step.of_x != V(0)) add(products, step.of_x, x + row, count);
    if (step.of_y != V(0)) add(products, step.of_y, y + row, count);
    V* const to = y + row;
#pragma omp simd
    for (index_t k = 0; k < count; ++k) to[k] = products[k];
  }
  CNC_INLINE static void add(V* sums, V factor, const V* of, index_t count) {
#pragma omp simd
    for (index_t k = 0; k < count; ++k) sums[k] += factor * of[k];
  }
};

/// A thread's share of the matrix, in units, cut at whole groups of equal work.
template <class V, class Operand>
CNC_INLINE Range share_of(const Operand& A, int part, int parts) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t units = Kernel::units(A), group = Kernel::units_per_group(A);
  const auto unit_at = [=](index_t g) {
    const offset_t unit = static_cast<offset_t>(g) * group;
    return unit < units ? static_cast<index_t>(unit) : units;
  };
  const Range share = balanced_share(ceil_div(units, group), part, parts,
                                     [&](index_t g) { return Kernel::work_before(A, unit_at(g)); });
  return {unit_at(share.begin), unit_at(share.end)};
}

template <class V, class Operand>
CNC_INLINE int threads_for(const Queue& queue, const Operand& A) {
  using Kernel = FormatKernel<Operand, V>;
  return useful_threads(queue, Kernel::work_before(A, Kernel::units(A)));
}

/// y := A x on a thread's share, with partial sums of with . y and of y . y as far as they are wanted.
template <class V, class Operand>
CNC_INLINE void product_share(const Operand& A, const V* x, V* y, const V* with, double* with_sums,
                              double* self_sums, Range share) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t group = Kernel::units_per_group(A);
  for (index_t i = share.begin; i < share.end; i += group) {
    const index_t end = share.end - i < group ? share.end : i + group;
    Kernel::multiply(A, x, StoreProduct<V>{V(1), V(0), y}, i, end);
    if (with != nullptr) with_sums[i / group] = Kernel::dot(A, with, y, i, end);
    if (self_sums != nullptr)
      self_sums[i / group] = Kernel::dot(A, static_cast<const V*>(y), y, i, end);
  }
}

/// A matrix as runs see it: its format is behind function pointers, called once per thread and product.
template <class V>
struct SharedProduct {
  const void* matrix;
  index_t rows;
  index_t groups;  ///< with a partial sum each
  int threads;
  Range (*share)(const void* matrix, int part, int parts);
  index_t (*rows_before)(const void* matrix, index_t unit);
  void (*multiply)(const void* matrix, const V* x, V* y, const V* with, double* with_sums,
                   double* self_sums, Range share);
};

template <class V, class Operand>
SharedProduct<V> shared_product(const Queue& queue, const Operand& A) {
  using Kernel = FormatKernel<Operand, V>;
  return {&A,
          A.rows,
          ceil_div(Kernel::units(A), Kernel::units_per_group(A)),
          threads_for<V>(queue, A),
          [](const void* matrix, int part, int parts) {
            return share_of<V>(*static_cast<const Operand*>(matrix), part, parts);
          },
          [](const void* matrix, index_t unit) {
            return Kernel::rows_before(*static_cast<const Operand*>(matrix), unit);
          },
          [](const void* matrix, const V* x, V* y, const V* with, double* with_sums,
             double* self_sums, Range share) {
            product_share(*static_cast<const Operand*>(matrix), x, y, with, with_sums, self_sums,
                          share);
          }};
}

template <class V, class Operand, class Store>
void multiply(const Queue& queue, const Operand& A, const V* x, const Store& store) {
  run_team(threads_for<V>(queue, A), Shares::equal, [&](const Team& team) {
    const Range share = share_of<V>(A, team.part(), team.parts());
    FormatKernel<Operand, V>::multiply(A, x, store, share.begin, share.end);
  });
}

template <class Operand, class V>
void spmv(const Queue& queue, V alpha, const Operand& A, const V* x, V beta, V* y) {
  multiply(queue, A, x, StoreProduct<V>{alpha, beta, y});
}

template <class Operand, class V>
void relax(const Queue& queue, const Operand& A, const RelaxationStep<V>& step, const V* x, V* y) {
  multiply(queue, A, x, StoreRelaxed<V>{step, x, y});
}

template <class Operand, class V>
void spmv_dot(const Queue& queue, const Operand& A, const V* x, V* y, const ProductDots<V>& dots) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t groups = ceil_div(Kernel::units(A), Kernel::units_per_group(A));
  double* const with_sums = queue.partials;
  double* const self_sums = dots.self_result != nullptr ? with_sums + groups : nullptr;
  run_team(threads_for<V>(queue, A), Shares::equal, [&](const Team& team) {
    product_share(A, x, y, dots.with, with_sums, self_sums,
                  share_of<V>(A, team.part(), team.parts()));
  });
  if (dots.with != nullptr) *dots.with_result = sum_partials(with_sums, groups);
  if (dots.self_result != nullptr) *dots.self_result = sum_partials(self_sums, groups);
}

}  // namespace cnc::openmp::CNC_ISA
