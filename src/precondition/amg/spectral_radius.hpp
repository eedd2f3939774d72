#pragma once

#include "mixed.hpp"
#include "precondition/amg/cycle.hpp"
#include "solve/spectrum.hpp"

#include <cnc/blas1.hpp>

#include <cmath>

namespace cnc::detail {

/// x(i) := a number in [-1, 1) without a pattern
template <class M>
struct SetRandom {
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    x[i] = static_cast<M>(unit_entry(static_cast<std::uint64_t>(i)));
  }
};

/// The largest eigenvalue of D^-1 A, which is symmetric positive definite, by some iterations of CG, whose coefficients are Lanczos' matrix.
/// From inside, so a little more is returned; 0 where CG breaks down at once. Uses the vectors of the level. Waits.
template <class M, class Exec>
double largest_eigenvalue(Context<Exec>& ctx, const CycleLevel<M, Exec>& level) {
  constexpr int steps = 8;
  constexpr double margin = 1.1;
  LanczosMatrix lanczos;
  const auto& r = level.f;
  const auto& z = level.x;
  const auto& p = level.d;
  const auto& q = level.r;
  on_each(ctx, level.rows, SetRandom<M>{r.data()});
  double rz = 0, alpha = 0;
  for (int k = 0; k <= steps; ++k) {
    on_each(ctx, level.blocks(),
            SmoothBlock<M, true>{level.block_size, level.rows, level.inverse.data(), M(0), M(1),
                                 r.data(), nullptr, q.data(), z.data()});
    const double rz_before = rz;
    rz = dot(ctx, r, z);
    if (!(rz > 0) || !std::isfinite(rz)) break;
    if (k > 0) lanczos.add(alpha, rz_before, rz);
    if (k == steps) break;
    axpby(ctx, M(1), z, static_cast<M>(k > 0 ? rz / rz_before : 0), p);
    level.A.multiply(ctx, M(1), p, M(0), q);
    const double pq = dot(ctx, p, q);
    if (!(pq > 0) || !std::isfinite(pq)) break;
    alpha = rz / pq;
    axpy(ctx, static_cast<M>(-alpha), q, r);
  }
  return lanczos.size() > 0 ? margin * lanczos.ends().largest : 0;
}

}  // namespace cnc::detail
