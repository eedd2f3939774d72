#pragma once

#include <openmp/partition.hpp>
#include <openmp/simd.hpp>

namespace cnc::openmp::CNC_ISA {

/// Calls body(begin, end) on every thread with its share of [0, n), cut at multiples of `unit`.
template <class Body>
CNC_INLINE void for_shares(const Queue& queue, index_t n, index_t unit, const Body& body) {
  const index_t groups = ceil_div(n, unit);
  const int threads = useful_threads(queue, n);
  if (groups <= 1 || threads == 1) {
    body(index_t(0), n);
    return;
  }
  run_team(threads, Shares::equal, [&](const Team& team) {
    const Range share = equal_share(groups, team.part(), team.parts());
    const offset_t end = static_cast<offset_t>(share.end) * unit;
    body(share.begin * unit, end < n ? static_cast<index_t>(end) : n);
  });
}

/// Sum of all partial sums in order: the same bits on any number of threads.
CNC_INLINE double sum_partials(const double* partials, index_t count) {
  double sum = 0;
  for (index_t g = 0; g < count; ++g) sum += partials[g];
  return sum;
}

/// Sums body(begin, end) over groups of `unit` indices.
template <class Body>
CNC_INLINE double reduce_groups(const Queue& queue, index_t n, index_t unit, const Body& body) {
  double* partials = queue.partials;
  for_shares(queue, n, unit, [=](index_t begin, index_t end) {
    for (index_t i = begin; i < end; i += unit)
      partials[i / unit] = body(i, end - i < unit ? end : i + unit);
  });
  return sum_partials(partials, ceil_div(n, unit));
}

template <class V>
CNC_INLINE double dot_range(const V* x, const V* y, index_t begin, index_t end) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = begin; i < end; ++i) sum += double(x[i]) * double(y[i]);
  return sum;
}

template <class V>
void axpy(const Queue& queue, index_t n, V alpha, const V* x, V* y) {
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
#pragma omp simd
    for (index_t i = begin; i < end; ++i) y[i] += alpha * x[i];
  });
}

template <class V>
void axpby(const Queue& queue, index_t n, V alpha, const V* x, V beta, V* y) {
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
    if (beta == V(0)) {
#pragma omp simd
      for (index_t i = begin; i < end; ++i) y[i] = alpha * x[i];
    } else {
#pragma omp simd
      for (index_t i = begin; i < end; ++i) y[i] = alpha * x[i] + beta * y[i];
    }
  });
}

template <class V>
void scal(const Queue& queue, index_t n, V alpha, V* x) {
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
    if (alpha == V(0)) {
      for (index_t i = begin; i < end; ++i) x[i] = V(0);
    } else {
#pragma omp simd
      for (index_t i = begin; i < end; ++i) x[i] *= alpha;
    }
  });
}

template <class V>
void multiply(const Queue& queue, index_t n, const V* x, const V* y, V* z) {
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
#pragma omp simd
    for (index_t i = begin; i < end; ++i) z[i] = x[i] * y[i];
  });
}

template <class V>
void dot(const Queue& queue, index_t n, const V* x, const V* y, double* result) {
  *result = reduce_groups(queue, n, reduction_block,
                          [=](index_t begin, index_t end) { return dot_range(x, y, begin, end); });
}

template <class V>
void nrm2(const Queue& queue, index_t n, const V* x, double* result) {
  dot(queue, n, x, x, result);
  *result = __builtin_sqrt(*result);
}

template <class V>
void mdot(const Queue& queue, index_t n, int count, const V* y, offset_t stride, const V* x,
          double* result) {
  const index_t groups = ceil_div(n, reduction_block);
  double* const partials = queue.partials;
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
    for (index_t i = begin; i < end; i += reduction_block) {
      const index_t group_end = end - i < reduction_block ? end : i + reduction_block;
      for (int k = 0; k < count; ++k)
        partials[offset_t(k) * groups + i / reduction_block] =
            dot_range(y + k * stride, x, i, group_end);
    }
  });
  for (int k = 0; k < count; ++k) result[k] = sum_partials(partials + offset_t(k) * groups, groups);
}

template <class V>
void maxpy(const Queue& queue, index_t n, int count, double scale, const double* c, const V* y,
           offset_t stride, V* x, double* xx) {
  double* const partials = queue.partials;
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
    // A group stays in the nearest cache while all vectors pass by.
    for (index_t i = begin; i < end; i += reduction_block) {
      const index_t group_end = end - i < reduction_block ? end : i + reduction_block;
      for (int k = 0; k < count; ++k) {
        const V factor = static_cast<V>(scale * c[k]);
        const V* const from = y + k * stride;
#pragma omp simd
        for (index_t j = i; j < group_end; ++j) x[j] += factor * from[j];
      }
      if (xx != nullptr) partials[i / reduction_block] = dot_range(x, x, i, group_end);
    }
  });
  if (xx != nullptr) *xx = sum_partials(partials, ceil_div(n, reduction_block));
}

template <class V>
void normalize(const Queue& queue, index_t n, const V* x, const double* xx, V* y) {
  if (*xx > 0)
    axpby(queue, n, static_cast<V>(1 / __builtin_sqrt(*xx)), x, V(0), y);
  else
    scal(queue, n, V(0), y);
}

}  // namespace cnc::openmp::CNC_ISA
