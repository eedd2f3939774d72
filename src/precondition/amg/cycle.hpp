#pragma once

#include "on_each.hpp"

#include <cnc/amg.hpp>
#include <cnc/convert.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/spmv.hpp>

#include <cmath>
#include <memory>
#include <vector>

// A cycle through the levels of a hierarchy, in values of M: what of a hierarchy is used in iterations.

namespace cnc::detail {

/// to[i] := from[i]
template <class From, class To>
struct ConvertTo {
  const From* from;
  To* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { to[i] = static_cast<To>(from[i]); }
};

/// The same, times a factor that is not known to the host.
template <class From, class To>
struct ScaleTo {
  const From* from;
  To* to;
  const double* factor;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    to[i] = static_cast<To>(*factor * static_cast<double>(from[i]));
  }
};
/// factors[0] := a power of two near 1 / norm, factors[1] := its inverse; 1 for a norm that has none. factors[2] is the norm.
struct SetFactors {
  double* factors;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    const double norm = factors[2];
    int exponent = 0;
    if (norm > 0 && std::isfinite(norm)) std::frexp(norm, &exponent);
    factors[0] = std::ldexp(1.0, -exponent);
    factors[1] = std::ldexp(1.0, exponent);
  }
};

/// A step of the smoother in block row i, with t = A x: d := a d + c D^-1 (f - t), x := x + d. The first step has x = 0,
/// and reads neither t nor d.
template <class M, bool first>
struct SmoothBlock {
  int b;
  index_t rows;
  const M* inverse;
  M a, c;
  const M* f;
  const M* t;
  M* d;
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (b == 1) {
      const M step = c * inverse[i] * (first ? f[i] : f[i] - t[i]);
      d[i] = first ? step : a * d[i] + step;
      x[i] = first ? d[i] : x[i] + d[i];
      return;
    }
    const offset_t begin = i * b;
    const int height = rows - begin < b ? static_cast<int>(rows - begin) : b;
    const M* const D = inverse + begin * b;
    for (int r = 0; r < height; ++r) {
      M sum = 0;
      for (int q = 0; q < height; ++q)
        sum += D[r * b + q] * (first ? f[begin + q] : f[begin + q] - t[begin + q]);
      const offset_t at = begin + r;
      d[at] = first ? c * sum : a * d[at] + c * sum;
      x[at] = first ? d[at] : x[at] + d[at];
    }
  }
};

/// r := f - r
template <class M>
struct SubtractFrom {
  const M* f;
  M* r;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { r[i] = f[i] - r[i]; }
};

/// Row i of a dense product x := A f.
template <class M>
struct DenseRow {
  index_t n;
  const M* A;
  const M* f;
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    constexpr int ways = 8;  // sums side by side: one alone would wait for itself
    const M* const row = A + i * n;
    M sums[ways] = {};
    index_t j = 0;
    for (; j + ways <= n; j += ways)
      for (int w = 0; w < ways; ++w) sums[w] += row[j + w] * f[j + w];
    M sum = 0;
    for (; j < n; ++j) sum += row[j] * f[j];
    for (int w = 0; w < ways; ++w) sum += sums[w];
    x[i] = sum;
  }
};

/// A matrix with what its products need.
template <class M, class Exec>
struct PlannedMatrix {
  using Space = typename Exec::memory_space;
  Matrix<M, Space> matrix;
  std::unique_ptr<MatrixPlan> plan;

  void take(const Context<Exec>& ctx, Matrix<M, Space> A) {
    matrix = std::move(A);
    plan = plan_spmv<M>(ctx, matrix);
  }
  void multiply(const Context<Exec>& ctx, M alpha, const Vector<M, Space>& x, M beta,
                const Vector<M, Space>& y) const {
    spmv(ctx, alpha, matrix, x, beta, y, plan.get());
  }
};

/// x[i] := x[i] + d[i]
template <class M>
struct AddTo {
  const M* d;
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { x[i] += d[i]; }
};

/// A level as a cycle sees it. The last one has its inverse, the others all the rest.
template <class M, class Exec>
struct CycleLevel {
  using Space = typename Exec::memory_space;

  index_t rows = 0;
  PlannedMatrix<M, Exec> A, prolongation, restriction;
  int block_size = 1;
  Vector<M, Space> inverse;  ///< of diagonal blocks, with what the smoother adds to them
  AmgSmoother smoother = AmgSmoother::chebyshev;
  std::shared_ptr<PreconditionerBase<M, Exec>> sweep;  ///< of smoothers that are objects
  double largest = 0;                                  ///< bound of the eigenvalues of D^-1 A
  Vector<M, Space> dense;                              ///< the last level: [rows][rows]
  Vector<M, Space> f, x, d, r;

  void allocate(bool is_last) {
    const auto n = static_cast<std::size_t>(rows);
    f = zeroed<M, Space>("cnc::amg", n);
    x = zeroed<M, Space>("cnc::amg", n);
    if (is_last) return;
    d = zeroed<M, Space>("cnc::amg", n);
    r = zeroed<M, Space>("cnc::amg", n);
  }
  index_t blocks() const { return ceil_div(rows, block_size); }
};

template <class M, class Exec>
class Cycle {
 public:
  using Space = typename Exec::memory_space;

  std::vector<CycleLevel<M, Exec>> levels;
  Vector<double, Space> factors;  ///< of r where it is narrowed: see SetFactors
  int degree = 2;
  AmgCycle kind = AmgCycle::v;

  /// x of a level := one cycle for its f.
  void run(const Context<Exec>& ctx, std::size_t l) const {
    const CycleLevel<M, Exec>& level = levels[l];
    if (level.dense.extent(0) > 0) {
      on_each(ctx, level.rows,
              DenseRow<M>{level.rows, level.dense.data(), level.f.data(), level.x.data()});
      return;
    }
    if (l + 1 == levels.size()) {  // too large for an inverse, and nothing coarser was found
      smooth(ctx, level, true, 4 * degree);
      return;
    }
    smooth(ctx, level, true, degree);
    correct(ctx, level, l);
    if (kind == AmgCycle::w && l > 0 && l + 2 < levels.size()) {
      smooth(ctx, level, false, degree);
      correct(ctx, level, l);
    }
    smooth(ctx, level, false, degree);
  }

 private:
  void correct(const Context<Exec>& ctx, const CycleLevel<M, Exec>& level, std::size_t l) const {
    const CycleLevel<M, Exec>& next = levels[l + 1];
    level.A.multiply(ctx, M(1), level.x, M(0), level.r);
    on_each(ctx, level.rows, SubtractFrom<M>{level.f.data(), level.r.data()});
    level.restriction.multiply(ctx, M(1), level.r, M(0), next.f);
    run(ctx, l + 1);
    level.prolongation.multiply(ctx, M(1), next.x, M(1), level.x);
  }

  struct Step {
    M of_last, of_residual;  ///< d := of_last d + of_residual D^-1 (f - A x)
  };
  static Step step(AmgSmoother smoother, int k, double largest) {
    switch (smoother) {
      case AmgSmoother::jacobi: return {M(0), static_cast<M>(4.0 / 3 / largest)};
      case AmgSmoother::l1_jacobi: return {M(0), M(1)};
      default:  // Chebyshev's polynomial of the fourth kind for [0, largest]
        return {k == 1 ? M(0) : static_cast<M>((2.0 * k - 3) / (2 * k + 1)),
                static_cast<M>((8.0 * k - 4) / (2 * k + 1) / largest)};
    }
  }

  void smooth(const Context<Exec>& ctx, const CycleLevel<M, Exec>& level, bool from_zero,
              int steps) const {
    for (int k = 1; k <= steps; ++k) {
      const bool first = from_zero && k == 1;
      if (!first) level.A.multiply(ctx, M(1), level.x, M(0), level.r);
      if (level.sweep) {
        sweep(ctx, level, first);
        continue;
      }
      const Step now = step(level.smoother, k, level.largest);
      const auto run = [&]<bool zero>() {
        on_each(ctx, level.blocks(),
                SmoothBlock<M, zero>{level.block_size, level.rows, level.inverse.data(),
                                     now.of_last, now.of_residual, level.f.data(), level.r.data(),
                                     level.d.data(), level.x.data()});
      };
      if (first)
        run.template operator()<true>();
      else
        run.template operator()<false>();
    }
  }
  /// x := x + S^-1 (f - r), where r is A x.
  void sweep(const Context<Exec>& ctx, const CycleLevel<M, Exec>& level, bool first) const {
    if (first) return level.sweep->apply(ctx, level.f, level.x);
    on_each(ctx, level.rows, SubtractFrom<M>{level.f.data(), level.r.data()});
    level.sweep->apply(ctx, level.r, level.d);
    on_each(ctx, level.rows, AddTo<M>{level.d.data(), level.x.data()});
  }
};

}  // namespace cnc::detail
