#pragma once

#include "mixed.hpp"
#include "precondition/amg/cycle.hpp"
#include "solve/spectrum.hpp"

#include <cnc/copy.hpp>

#include <cmath>

namespace cnc::detail {

/// x(i) := a number in [-1, 1) without a pattern, the one of first + i
template <class M>
struct SetRandom {
  M* x;
  offset_t first = 0;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    x[i] = static_cast<M>(unit_entry(static_cast<std::uint64_t>(first + i)));
  }
};

/// p := z + (*rz / *rz_before) p; at first, where there is no number before, p := z.
template <class M>
struct NextDirection {
  const double* rz;
  const double* rz_before;
  const M* z;
  M* p;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    p[i] = rz_before == nullptr ? z[i] : z[i] + static_cast<M>(*rz / *rz_before) * p[i];
  }
};

/// The largest eigenvalue of S^-1 A, which is symmetric positive definite, by some iterations of CG, whose coefficients are Lanczos' matrix.
/// invert(r, z): z := S^-1 r. From inside, so a little more is returned; 0 where CG breaks down at once. Uses the vectors of the level. Waits, once:
/// iterations after a breakdown leave no numbers, which is seen afterwards.
template <class M, class Exec, class Invert>
double largest_eigenvalue(Context<Exec>& ctx, const CycleLevel<M, Exec>& level,
                          const Invert& invert) {
  using Space = typename Exec::memory_space;
  constexpr int steps = 8;
  constexpr double margin = 1.1;
  const auto& r = level.f;
  const auto& z = level.x;
  const auto& p = level.y;
  const auto& q = level.r;
  ctx.reserve(level.rows);
  const auto dots = zeroed<double, Space>("cnc::spectrum", 2 * steps + 1);
  double* const rz = dots.data();       // [steps + 1]
  double* const pq = rz + (steps + 1);  // [steps]
  const auto dot_to = [&](double* to, const Vector<M, Space>& x, const Vector<M, Space>& y) {
    ctx.template vectors<M>().dot(ctx.queue(), level.rows, x.data(), y.data(), to);
    if (!level.A.ranks) return;
    const Vector<double, Space> there(to, 1);
    double sum = fetch(there, 0);
    level.A.ranks->add_up(&sum, 1);
    Kokkos::deep_copy(ctx.execution_space_instance(), there, sum);
  };
  const offset_t first = level.A.ranks && level.rows > 0 ? level.A.ranks->number_of(0) : 0;
  on_each(ctx, level.rows, SetRandom<M>{r.data(), first});
  for (int k = 0; k <= steps; ++k) {
    invert(r, z);
    dot_to(rz + k, r, z);
    if (k == steps) break;
    on_each(ctx, level.rows,
            NextDirection<M>{rz + k, k > 0 ? rz + k - 1 : nullptr, z.data(), p.data()});
    level.A.multiply(ctx, p, M(0), q);
    dot_to(pq + k, p, q);
    on_each(ctx, level.rows, TakeOff<M>{rz + k, pq + k, q.data(), r.data()});
  }
  ctx.fence();
  const auto seen = copy_to<HostSpace>(dots);
  const auto usable = [&](int k) { return seen(k) > 0 && std::isfinite(seen(k)); };
  LanczosMatrix lanczos;
  for (int k = 0; k < steps; ++k) {
    const int product = steps + 1 + k;
    if (!usable(k) || !usable(product) || !usable(k + 1)) break;
    lanczos.add(seen(k) / seen(product), seen(k), seen(k + 1));
  }
  return lanczos.size() > 0 ? margin * lanczos.ends().largest : 0;
}
/// The same of D^-1 A.
template <class M, class Exec>
double largest_eigenvalue(Context<Exec>& ctx, const CycleLevel<M, Exec>& level) {
  return largest_eigenvalue(ctx, level, [&](const auto& r, const auto& z) {
    level.relax_blocks(ctx, M(0), M(0), M(1), r.data(), nullptr, z.data());
  });
}

}  // namespace cnc::detail
