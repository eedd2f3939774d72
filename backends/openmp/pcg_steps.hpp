#pragma once

#include <openmp/vector_ops.hpp>

namespace cnc::openmp::CNC_ISA {

/// z := M^-1 r on rows [begin, end), which start at a multiple of the block size.
template <class V>
CNC_INLINE void precondition_range(const PreconditionerOperand<V>& M, const V* r, V* z,
                                   index_t begin, index_t end) {
  switch (M.kind) {
    case PreconditionerKind::none:
      for (index_t i = begin; i < end; ++i) z[i] = r[i];
      return;
    case PreconditionerKind::jacobi: {
      const V* inverse = M.inverse;
#pragma omp simd
      for (index_t i = begin; i < end; ++i) z[i] = inverse[i] * r[i];
      return;
    }
    case PreconditionerKind::block_jacobi: break;
  }
  const int b = M.block_size;
  const V* inverse = M.inverse + static_cast<offset_t>(begin) * b;
  for (index_t i = begin; i < end; i += b, inverse += b * b) {
    const int size = end - i < b ? end - i : b;
    for (int row = 0; row < size; ++row) {
      V sum = 0;
      for (int col = 0; col < size; ++col) sum += inverse[row * b + col] * r[i + col];
      z[i + row] = sum;
    }
  }
}

/// The two sums that an update leaves behind.
struct ResidualSums {
  double rz = 0;
  double rr = 0;
};

template <class V>
CNC_INLINE ResidualSums residual_sums(const V* r, const V* z, index_t begin, index_t end) {
  double rz = 0, rr = 0;
#pragma omp simd reduction(+ : rz, rr)
  for (index_t i = begin; i < end; ++i) {
    rz += double(r[i]) * double(z[i]);
    rr += double(r[i]) * double(r[i]);
  }
  return {rz, rr};
}

/// x += alpha p; r -= alpha q; z := M^-1 r; r.z and r.r, in one pass over [begin, end).
template <class V>
CNC_INLINE ResidualSums update_range(const PreconditionerOperand<V>& M, const PcgVectors<V>& v,
                                     V alpha, index_t begin, index_t end) {
  V* __restrict x = v.x;
  V* __restrict r = v.r;
  V* __restrict z = v.z;
  const V* __restrict p = v.p;
  const V* __restrict q = v.q;
  if (M.kind == PreconditionerKind::jacobi) {
    const V* __restrict inverse = M.inverse;
    double rz = 0, rr = 0;
#pragma omp simd reduction(+ : rz, rr)
    for (index_t i = begin; i < end; ++i) {
      x[i] += alpha * p[i];
      const V residual = r[i] - alpha * q[i];
      const V preconditioned = inverse[i] * residual;
      r[i] = residual;
      z[i] = preconditioned;
      rz += double(residual) * double(preconditioned);
      rr += double(residual) * double(residual);
    }
    return {rz, rr};
  }
#pragma omp simd
  for (index_t i = begin; i < end; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
  precondition_range(M, r, z, begin, end);
  return residual_sums(r, z, begin, end);
}

template <class V>
CNC_INLINE index_t group_of(const PreconditionerOperand<V>& M) {
  return group_rows(M.kind == PreconditionerKind::block_jacobi ? M.block_size : 1);
}

/// Runs body(begin, end) -> ResidualSums over all groups and returns the totals.
template <class V, class Body>
CNC_INLINE ResidualSums reduce_update(const Queue& queue, index_t n,
                                      const PreconditionerOperand<V>& M, const Body& body) {
  const index_t unit = group_of(M);
  const index_t groups = ceil_div(n, unit);
  double* rz = queue.partials;
  double* rr = queue.partials + groups;
  for_shares(queue, n, unit, [=](index_t begin, index_t end) {
    for (index_t i = begin; i < end; i += unit) {
      const ResidualSums sums = body(i, end - i < unit ? end : i + unit);
      rz[i / unit] = sums.rz;
      rr[i / unit] = sums.rr;
    }
  });
  return {sum_partials(rz, groups), sum_partials(rr, groups)};
}

CNC_INLINE void advance(PcgScalars* scalars, ResidualSums sums) {
  scalars->rz_previous = scalars->rz;
  scalars->rz = sums.rz;
  scalars->rr = sums.rr;
}

template <class V>
void precondition(const Queue& queue, index_t n, const PreconditionerOperand<V>& M, const V* r,
                  V* z) {
  for_shares(queue, n, group_of(M),
             [=](index_t begin, index_t end) { precondition_range(M, r, z, begin, end); });
}

template <class V>
void pcg_start(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
               const PcgVectors<V>& v, PcgScalars* scalars) {
  const ResidualSums sums = reduce_update(queue, n, M, [=](index_t begin, index_t end) {
    precondition_range(M, v.r, v.z, begin, end);
    return residual_sums(v.r, v.z, begin, end);
  });
  *scalars = PcgScalars{};
  scalars->rz = sums.rz;
  scalars->rr = sums.rr;
}

/// The coefficient that makes the new direction conjugate to the last; 0 for the first.
CNC_INLINE double direction_coefficient(const PcgScalars& scalars) {
  return scalars.rz_previous == 0 ? 0.0 : scalars.rz / scalars.rz_previous;
}

template <class V>
void pcg_direction(const Queue& queue, index_t n, const PcgVectors<V>& v, PcgScalars* scalars) {
  scalars->beta = direction_coefficient(*scalars);
  axpby(queue, n, V(1), static_cast<const V*>(v.z), static_cast<V>(scalars->beta), v.p);
}

template <class V>
void pcg_update(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                const PcgVectors<V>& v, PcgScalars* scalars) {
  if (scalars->breakdown != PcgBreakdown::none) return;
  scalars->breakdown = pcg_breakdown(scalars->rz, scalars->pq);
  if (scalars->breakdown != PcgBreakdown::none) return;
  scalars->alpha = scalars->rz / scalars->pq;
  const V alpha = static_cast<V>(scalars->alpha);
  advance(scalars, reduce_update(queue, n, M, [=](index_t begin, index_t end) {
            return update_range(M, v, alpha, begin, end);
          }));
}

/// p := z + beta p; s := q + beta s on [begin, end); for beta 0 the old p and s are not read.
template <class V>
CNC_INLINE void two_directions_range(const PcgVectors<V>& v, V beta, index_t begin, index_t end) {
  V* __restrict p = v.p;
  V* __restrict s = v.s;
  const V* __restrict z = v.z;
  const V* __restrict q = v.q;
  if (beta == V(0)) {
    for (index_t i = begin; i < end; ++i) {
      p[i] = z[i];
      s[i] = q[i];
    }
    return;
  }
#pragma omp simd
  for (index_t i = begin; i < end; ++i) {
    p[i] = z[i] + beta * p[i];
    s[i] = q[i] + beta * s[i];
  }
}

template <class V>
void pcg_single_reduction_update(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                                 const PcgVectors<V>& v, PcgScalars* scalars) {
  if (scalars->breakdown != PcgBreakdown::none) return;
  const double beta = direction_coefficient(*scalars);
  const double curvature =
      beta == 0 ? scalars->pq : scalars->pq - beta * scalars->rz / scalars->alpha;
  scalars->breakdown = pcg_breakdown(scalars->rz, curvature);
  if (scalars->breakdown != PcgBreakdown::none) return;
  scalars->beta = beta;
  scalars->alpha = scalars->rz / curvature;
  const V alpha = static_cast<V>(scalars->alpha);
  PcgVectors<V> update = v;
  update.q = v.s;  // r -= alpha s, where s = A p by recurrence
  advance(scalars, reduce_update(queue, n, M, [=](index_t begin, index_t end) {
            // The group stays in cache between the two passes.
            two_directions_range(v, static_cast<V>(beta), begin, end);
            return update_range(M, update, alpha, begin, end);
          }));
}

}  // namespace cnc::openmp::CNC_ISA
