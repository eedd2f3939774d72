#pragma once

#include "precondition/amg/cycle_level.hpp"
#include "precondition/amg/norms_of_ranks.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace cnc::detail {

/// A cycle through the levels of a hierarchy, in values of M: what of a hierarchy is used in iterations.
template <class M, class Exec>
class Cycle {
 public:
  using Space = typename Exec::memory_space;

  std::vector<CycleLevel<M, Exec>> levels;
  Vector<double, Space> norm;  ///< of r, where M is narrower
  NormsOfRanks<Exec> norms;    ///< the same, of devices of several ranks
  int degree = 2;
  AmgCycle kind = AmgCycle::v;
  bool symmetric = false;  ///< whether the matrix is: what is least where cycles are accelerated
  CoarseLaunch<M, Exec> coarse;

  /// What the launch is given: pointers into it and into the levels.
  CoarseCycle<M> coarse_operand(const CoarseLaunch<M, Exec>& launch) const {
    CoarseCycle<M> cycle;
    cycle.count = static_cast<int>(launch.levels.size()) + 1;
    cycle.steps = degree;
    for (int k = 0; k < cycle.count; ++k) {
      const CycleLevel<M, Exec>& level = levels[launch.first + static_cast<std::size_t>(k)];
      CoarseLevel<M>& to = cycle.levels[k];
      to.rows = level.rows;
      to.f = level.f.data();
      to.x = level.x.data();
      if (k + 1 == cycle.count) {
        to.dense = level.dense.data();
        continue;
      }
      const auto& matrices = launch.levels[static_cast<std::size_t>(k)];
      to.A = matrices.A.operand();
      to.restriction = matrices.restriction.operand();
      to.prolongation = matrices.prolongation.operand();
      to.block_size = level.block_size;
      to.inverse = level.inverse.data();
      to.factor = factor(level);
      to.y = level.y.data();
      to.r = level.r.data();
    }
    for (int k = 1; k <= degree; ++k) {
      const Step of_step = step(levels[launch.first].smoother, k);
      cycle.of_last[k - 1] = of_step.of_last;
      cycle.of_residual[k - 1] = of_step.of_residual;
    }
    return cycle;
  }

  /// Allocates what a K-cycle needs on a level.
  void allocate_acceleration(CycleLevel<M, Exec>& level) const {
    if (kind != AmgCycle::k || !level.visited_twice) return;
    level.of_two = zeroed<M, Space>("cnc::amg", 4 * static_cast<std::size_t>(level.rows));
    level.coefficients = zeroed<double, Space>("cnc::amg", 6);
  }

  /// z := one cycle for r
  template <class V>
  void apply(const Context<Exec>& ctx, const V* r, V* z) const {
    const CycleLevel<M, Exec>& finest = levels[0];
    const std::shared_ptr<OtherRanks>& ranks = finest.A.ranks;
    if (finest.rows == 0 && !ranks) return;
    RangeFactor range;
    if constexpr (sizeof(M) < sizeof(V)) {
      ctx.template vectors<V>().nrm2(ctx.queue(), finest.rows, r, norm.data());
      // One number for all ranks, or the cycle would not be linear.
      if (norms.ranks) {
        norms.take_largest(ctx, norm.data());
        range.norm = norm.data();
      } else if (ranks) {
        double largest = fetch(norm, 0);
        ranks->take_largest(&largest, 1);
        range.known = inverse_power(largest);
      } else if constexpr (is_host_space<Space>)
        range.known = inverse_power(*norm.data());
      else
        range.norm = norm.data();
    }
    LoadResidual<V, M> load{r, range, finest.f.data()};
    const bool starts =
        finest.block_size == 1 && !finest.sweep && !finest.solver && finest.dense.extent(0) == 0;
    if (starts) {
      const auto [of_residual, inverse] =
          finest.scaled_step(factor(finest) * step(finest.smoother, 1).of_residual);
      load.first = of_residual;
      load.inverse = inverse;
      load.x = finest.x.data();
    }
    on_each(ctx, finest.rows, load);
    on_each(ctx, finest.rows, UnloadSolution<M, V>{run(ctx, 0, starts).data(), range, z});
  }

 private:
  /// One cycle for f of a level, whose first step may have been made: the vector that has its result, x or y.
  const Vector<M, Space>& run(const Context<Exec>& ctx, std::size_t l, bool started = false) const {
    const CycleLevel<M, Exec>& level = levels[l];
    if (coarse.plan && l == coarse.first && coarse.run(ctx.queue(), *coarse.plan, coarse.cycle))
      return level.x;
    if (level.solver) {
      level.solver->apply(ctx, level.f, level.x);
      return level.x;
    }
    if (level.dense.extent(0) > 0) {
      on_each(ctx, level.rows,
              DenseRow<M>{level.rows, level.dense.data(), level.f.data(), level.x.data()});
      return level.x;
    }
    Iterate iterate{&level.x, &level.y};
    if (l + 1 == levels.size()) {  // too large for an inverse, and nothing coarser was found
      smooth(ctx, level, iterate, started ? From::first_step : From::zero, 4 * degree);
      return *iterate.now;
    }
    smooth(ctx, level, iterate, started ? From::first_step : From::zero, degree);
    correct(ctx, l, iterate);
    if (kind == AmgCycle::w && level.visited_twice && l + 2 < levels.size()) {
      smooth(ctx, level, iterate, From::iterate, degree);
      correct(ctx, l, iterate);
    }
    smooth(ctx, level, iterate, From::iterate, degree);
    return *iterate.now;
  }

  /// What smoothing begins with.
  enum class From { zero, first_step, iterate };
  /// An approximate solution, and where the next one is made.
  struct Iterate {
    const Vector<M, Space>* now;
    const Vector<M, Space>* next;
  };

  /// x := x + P A_c^-1 P^T (f - A x), about, x being the iterate; where the next one is made is room.
  void correct(const Context<Exec>& ctx, std::size_t l, const Iterate& iterate) const {
    const CycleLevel<M, Exec>& level = levels[l];
    const CycleLevel<M, Exec>& next = levels[l + 1];
    const auto& [x, room] = iterate;
    level.A.relax(ctx, {.f = level.f.data()}, *x, level.r, level.r);
    level.restrict(ctx, *room, next.f);
    const bool accelerated = next.of_two.extent(0) > 0;
    const Vector<M, Space>& correction =
        accelerated ? run_accelerated(ctx, l + 1) : run(ctx, l + 1);
    level.prolong(ctx, correction, *room, *x);
  }

  /// Two cycles, and the best combination of what they give: two steps of flexible CG, or of GCR where the matrix is not
  /// symmetric. Overwrites f.
  ///
  /// Method   Notay & Vassilevski, Recursive Krylov-based multigrid cycles, 2008, section 2.
  const Vector<M, Space>& run_accelerated(const Context<Exec>& ctx, std::size_t l) const {
    const CycleLevel<M, Exec>& level = levels[l];
    const auto n = static_cast<std::size_t>(level.rows);
    const auto part = [&](std::size_t k) {
      return Vector<M, Space>(level.of_two.data() + k * n, n);
    };
    const Vector<M, Space> c = part(0), d = part(1), v = part(2), w = part(3);
    const Vector<M, Space>&t = symmetric ? c : v, &u = symmetric ? d : w;
    double* const s = level.coefficients.data();
    const auto dot_to = [&](int k, const Vector<M, Space>& a, const Vector<M, Space>& b) {
      ctx.template vectors<M>().dot(ctx.queue(), level.rows, a.data(), b.data(), s + k);
    };
    const auto cycle_to = [&](const Vector<M, Space>& to, const Vector<M, Space>& image) {
      on_each(ctx, level.rows, ConvertTo<M, M>{run(ctx, l).data(), to.data()});
      level.A.multiply(ctx, to, M(0), image);
    };
    cycle_to(c, v);
    dot_to(0, t, v);
    dot_to(1, t, level.f);
    on_each(ctx, level.rows, TakeOff<M>{s + 1, s, v.data(), level.f.data()});
    cycle_to(d, w);
    dot_to(2, t, w);
    dot_to(3, u, v);
    dot_to(4, u, w);
    dot_to(5, u, level.f);
    on_each(ctx, 1, SolveForTwo{s});
    on_each(ctx, level.rows, CombineTwo<M>{s, c.data(), d.data(), level.x.data()});
    return level.x;
  }

  /// d := of_last d + of_residual factor(level) D^-1 (f - A x), x := x + d
  struct Step {
    M of_last, of_residual;
  };
  static Step step(AmgSmoother smoother, int k) {
    switch (smoother) {
      case AmgSmoother::jacobi: return {M(0), static_cast<M>(4.0 / 3)};
      case AmgSmoother::l1_jacobi: return {M(0), M(1)};
      default:  // Chebyshev's polynomial of the fourth kind for [0, 1]
        return {k == 1 ? M(0) : static_cast<M>((2.0 * k - 3) / (2 * k + 1)),
                static_cast<M>((8.0 * k - 4) / (2 * k + 1))};
    }
  }
  /// Brings the spectrum of D^-1 A into [0, 1]; that of l1-Jacobi is there.
  static M factor(const CycleLevel<M, Exec>& level) {
    return level.smoother == AmgSmoother::l1_jacobi ? M(1) : static_cast<M>(1 / level.largest);
  }

  /// In iterates instead of steps, whose last one is the difference of two: one vector less to store.
  void smooth(const Context<Exec>& ctx, const CycleLevel<M, Exec>& level, Iterate& iterate,
              From from, int steps) const {
    const bool from_zero = from != From::iterate;
    for (int k = from == From::first_step ? 2 : 1; k <= steps; ++k) {
      if (level.sweep) {
        sweep(ctx, level, *iterate.now, from_zero && k == 1);
        continue;
      }
      const auto [of_last, of_unit] = step(level.smoother, k);
      const M of_residual = of_unit * factor(level);
      if (from_zero && k == 1) {
        level.relax_blocks(ctx, M(0), M(0), of_residual, level.f.data(), nullptr,
                           iterate.now->data());
        continue;
      }
      const M of_before = from_zero && k == 2 ? M(0) : -of_last;  // the iterate before was zero
      const auto& [x, y] = iterate;
      if (level.block_size == 1) {
        const auto [scaled, inverse] = level.scaled_step(of_residual);
        level.A.relax(ctx,
                      {.of_x = M(1) + of_last,
                       .of_y = of_before,
                       .of_residual = scaled,
                       .f = level.f.data(),
                       .inverse = inverse},
                      *x, *y, level.r);
      } else {
        level.A.relax(ctx, {.f = level.f.data()}, *x, level.r, level.r);
        level.relax_blocks(ctx, M(1) + of_last, of_before, of_residual, level.r.data(), x->data(),
                           y->data());
      }
      std::swap(iterate.now, iterate.next);
    }
  }
  /// x := x + sweep_factor S^-1 (f - A x)
  void sweep(const Context<Exec>& ctx, const CycleLevel<M, Exec>& level, const Vector<M, Space>& x,
             bool from_zero) const {
    const auto& vectors = ctx.template vectors<M>();
    if (from_zero) {
      level.sweep->apply(ctx, level.f, x);
      if (level.sweep_factor != M(1))
        vectors.scal(ctx.queue(), level.rows, level.sweep_factor, x.data());
      return;
    }
    level.A.relax(ctx, {.f = level.f.data()}, x, level.r, level.r);
    level.sweep->apply(ctx, level.r, level.y);
    vectors.axpy(ctx.queue(), level.rows, level.sweep_factor, level.y.data(), x.data());
  }
};

}  // namespace cnc::detail
