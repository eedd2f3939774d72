#pragma once

#include "mixed.hpp"
#include "precondition/amg/cycle.hpp"
#include "solve/spectrum.hpp"

#include <cnc/copy.hpp>

#include <cmath>
#include <type_traits>

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

/// p := z + (*rz / *rz_before) p; at first, where there is no number before, p := z. Beside a diagonal z is inverse times r.
template <class M>
struct NextDirection {
  const double* rz;
  const double* rz_before;
  const M* z;  ///< r, with an inverse
  const M* inverse;
  M* p;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const M zi = inverse != nullptr ? inverse[i] * z[i] : z[i];
    p[i] = rz_before == nullptr ? zi : zi + static_cast<M>(*rz / *rz_before) * p[i];
  }
};

/// rz, pq := what an iteration has left; zeros after a breakdown.
struct KeepSums {
  using Cg = methods::Cg<double>;
  const MethodScalars* scalars;
  double* rz;
  double* pq;  ///< null: a start, which has none
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    const bool is_good = scalars->breakdown == Breakdown::none;
    *rz = is_good ? scalars->value[Cg::rz] : 0;
    if (pq != nullptr) *pq = is_good ? scalars->value[Cg::pq] : 0;
  }
};

/// Iterations of CG for A by a product with its dot and a pass; offered() where the backend has both and S is built in, not null.
template <class M, class Exec>
class FusedIterations {
 public:
  using Space = typename Exec::memory_space;
  using Cg = methods::Cg<M>;

  FusedIterations(const Context<Exec>& ctx, const CycleLevel<M, Exec>& level,
                  const PreconditionerOperand<M>* S)
      : ctx_(ctx), level_(level), S_(S) {
    v_.at[Cg::r] = level.f.data();
    v_.at[Cg::z] = level.x.data();
    v_.at[Cg::p] = level.y.data();
    v_.at[Cg::q] = level.r.data();
  }
  bool offered() const {
    if (S_ == nullptr || level_.A.ranks || update() == nullptr) return false;
    return level_.A.with_operand(
        [&](const auto& A) { return ctx_.template matrices<M>(A).spmv_dot != nullptr; });
  }
  /// z := S^-1 r, which passes may keep to themselves where S is a diagonal, and r . z
  void start(double* rz) {
    passes().start[0](ctx_.queue(), level_.rows, *S_, v_, scalars_.data(), PassPart::whole);
    keep(rz, nullptr);
  }
  /// q := A p, r := r - alpha q, z := S^-1 r; p . q and r . z
  void go_on(double* pq, double* rz) {
    const auto dots =
        dots_of<methods::Product<Cg::p, Cg::q, methods::Dot<Cg::p, Cg::pq>>>(v_, scalars_.data());
    level_.A.with_operand([&](const auto& A) {
      ctx_.template matrices<M>(A).spmv_dot(ctx_.queue(), A, v_[Cg::p], v_[Cg::q], dots);
    });
    update()(ctx_.queue(), level_.rows, *S_, v_, scalars_.data(), PassPart::whole);
    keep(rz, pq);
  }

 private:
  const MethodPasses<M>& passes() const {
    return ctx_.template vectors<M>().methods[static_cast<int>(Method::pcg)];
  }
  PassEntry<M> update() const {
    return passes().iteration[method_facts(Method::pcg).iteration_phases - 1];
  }
  void keep(double* rz, double* pq) const { on_each(ctx_, 1, KeepSums{scalars_.data(), rz, pq}); }

  const Context<Exec>& ctx_;
  const CycleLevel<M, Exec>& level_;
  const PreconditionerOperand<M>* S_;
  MethodVectors<M> v_ = {};
  Vector<MethodScalars, Space> scalars_ = zeroed<MethodScalars, Space>("cnc::spectrum", 1);
};

/// The largest eigenvalue of S^-1 A, which is symmetric positive definite, by some iterations of CG, whose coefficients are Lanczos' matrix.
/// invert(r, z): z := S^-1 r; `S`: the same where it is built in, else null. From inside, so a little more is returned; 0 where CG breaks down
/// at once. Uses the vectors of the level. Waits, once: iterations after a breakdown leave nothing that is positive, which is seen afterwards.
template <class M, class Exec, class Invert>
double largest_eigenvalue(Context<Exec>& ctx, const CycleLevel<M, Exec>& level,
                          std::type_identity_t<const PreconditionerOperand<M>*> S,
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
  const auto invert_with_dot = [&](double* to) {
    invert(r, z);
    dot_to(to, r, z);
  };
  const offset_t first = level.A.ranks && level.rows > 0 ? level.A.ranks->number_of(0) : 0;
  on_each(ctx, level.rows, SetRandom<M>{r.data(), first});
  FusedIterations<M, Exec> fused(ctx, level, S);
  const bool is_fused = fused.offered();
  const bool is_diagonal = S != nullptr && S->kind == PreconditionerKind::jacobi;
  if (is_fused)
    fused.start(rz);
  else
    invert_with_dot(rz);
  for (int k = 0; k < steps; ++k) {
    on_each(
        ctx, level.rows,
        NextDirection<M>{rz + k, k > 0 ? rz + k - 1 : nullptr, is_diagonal ? r.data() : z.data(),
                         is_diagonal ? S->inverse : nullptr, p.data()});
    if (is_fused) {
      fused.go_on(pq + k, rz + k + 1);
      continue;
    }
    level.A.multiply(ctx, p, M(0), q);
    dot_to(pq + k, p, q);
    on_each(ctx, level.rows, TakeOff<M>{rz + k, pq + k, q.data(), r.data()});
    invert_with_dot(rz + k + 1);
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
  const int b = level.block_size;
  const PreconditionerOperand<M> D{
      b == 1 ? PreconditionerKind::jacobi : PreconditionerKind::block_jacobi, b,
      level.inverse.data()};
  return largest_eigenvalue(ctx, level, &D, [&](const auto& r, const auto& z) {
    level.relax_blocks(ctx, M(0), M(0), M(1), r.data(), nullptr, z.data());
  });
}

}  // namespace cnc::detail
