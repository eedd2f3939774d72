#pragma once

#include "on_each.hpp"
#include "solve/other_ranks.hpp"

#include <cnc/amg.hpp>
#include <cnc/convert.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/spmv.hpp>

#include <cmath>
#include <memory>
#include <utility>
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

/// A power of two near 1 / norm; 1 for a norm that has none.
KOKKOS_INLINE_FUNCTION double inverse_power(double norm) {
  int exponent = 0;
  if (norm > 0 && std::isfinite(norm)) std::frexp(norm, &exponent);
  return std::ldexp(1.0, -exponent);
}
/// What brings residuals into the range of a narrower type: a number or, where the norm is not known to the host, that of
/// its memory.
struct RangeFactor {
  double known = 1;
  const double* norm = nullptr;
  KOKKOS_INLINE_FUNCTION double operator()() const {
    return norm == nullptr ? known : inverse_power(*norm);
  }
};
/// f := factor r; then, unless that is null, x := first inverse f: the first step from zero
/// where D is diagonal.
template <class V, class M>
struct LoadResidual {
  const V* r;
  RangeFactor factor;
  M* f;
  M first = 0;
  const M* inverse = nullptr;  ///< null: ones
  M* x = nullptr;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const M value = static_cast<M>(factor() * static_cast<double>(r[i]));
    f[i] = value;
    if (x != nullptr) x[i] = first * (inverse == nullptr ? M(1) : inverse[i]) * value;
  }
};
/// z := x / factor
template <class M, class V>
struct UnloadSolution {
  const M* x;
  RangeFactor factor;
  V* z;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    z[i] = static_cast<V>(static_cast<double>(x[i]) / factor());
  }
};

/// y := of_x x + of_y y + of_residual D^-1 r in block row i; a factor of zero leaves its vector unread.
template <class M>
struct RelaxBlock {
  int b;
  index_t rows;
  const M* inverse;
  M of_x, of_y, of_residual;
  const M* r;
  const M* x;
  M* y;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (b == 1) return store(i, inverse[i] * r[i]);
    const offset_t begin = i * b;
    const int height = rows - begin < b ? static_cast<int>(rows - begin) : b;
    const M* const D = inverse + begin * b;
    for (int q = 0; q < height; ++q) {
      M sum = 0;
      for (int k = 0; k < height; ++k) sum += D[q * b + k] * r[begin + k];
      store(begin + q, sum);
    }
  }
  KOKKOS_INLINE_FUNCTION void store(offset_t at, M relaxed) const {
    M value = of_residual * relaxed;
    if (of_x != M(0)) value += of_x * x[at];
    if (of_y != M(0)) value += of_y * y[at];
    y[at] = value;
  }
};

/// A step of a relaxation in row i, whose product with x is there.
template <class M>
struct RelaxRow {
  RelaxationStep<M> step;
  const M* product;
  const M* x;
  M* y;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    y[i] = step(static_cast<index_t>(i), product[i], x, y);
  }
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

/// A matrix with what its products need. On several ranks it is the block of the own rows and columns, and the rest is theirs.
template <class M, class Exec>
struct PlannedMatrix {
  using Space = typename Exec::memory_space;
  Matrix<M, Space> matrix;
  std::unique_ptr<MatrixPlan> plan;
  std::shared_ptr<OtherRanks> ranks;  ///< or null

  void take(const Context<Exec>& ctx, Matrix<M, Space> A) {
    matrix = std::move(A);
    plan = plan_spmv<M>(ctx, matrix);
  }
  /// y := A x + beta y
  void multiply(const Context<Exec>& ctx, const Vector<M, Space>& x, M beta,
                const Vector<M, Space>& y) const {
    if (ranks) ranks->begin(x.data(), false);
    spmv(ctx, M(1), matrix, x, beta, y, plan.get());
    if (ranks) ranks->end(y.data(), false, nullptr);
  }
  /// As the entry of backends; one that has none makes the product first, in `product`, which may be y unless that is read.
  void relax(const Context<Exec>& ctx, const RelaxationStep<M>& step, const Vector<M, Space>& x,
             const Vector<M, Space>& y, const Vector<M, Space>& product) const {
    with_operand([&](const auto& operand) {
      const auto& ops = ctx.template matrices<M>(operand);
      if (ops.relax != nullptr) {
        if (ranks) ranks->begin(x.data(), false);
        ops.relax(ctx.queue(), operand, step, x.data(), y.data());
        if (ranks) ranks->end_step(y.data(), -step.of_residual, step.inverse);
        return;
      }
      multiply(ctx, x, M(0), product);
      on_each(ctx, operand.rows, RelaxRow<M>{step, product.data(), x.data(), y.data()});
    });
  }
  /// What `body` returns for what backends see of the matrix.
  template <class Body>
  auto with_operand(const Body& body) const {
    const auto visit = [&](const auto& a) {
      auto operand = a.operand();
      operand.plan = plan.get();
      return body(operand);
    };
    return std::visit(visit, matrix);
  }
};

/// fine := T coarse, T having the weight of an aggregate in the rows of its members
template <class M>
struct FromAggregate {
  const index_t* of;
  const M* weights;
  const M* coarse;
  M* fine;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    fine[i] = weights[of[i]] * coarse[of[i]];
  }
};
/// coarse := T^T fine
template <class M>
struct SumAggregate {
  const index_t* offsets;
  const index_t* members;
  const M* weights;
  const M* fine;
  M* coarse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t a) const {
    constexpr int together = 4;  // entries that are under way
    const index_t end = offsets[a + 1];
    M sum = 0;
    for (index_t k = offsets[a]; k < end; k += together) {
      M entries[together];
      for (int u = 0; u < together; ++u) entries[u] = k + u < end ? fine[members[k + u]] : M(0);
      for (int u = 0; u < together; ++u) sum += entries[u];
    }
    coarse[a] = weights[a] * sum;
  }
};

/// A prolongation by its factors, P = (I - factor A) T, where D is the same in all rows and A is symmetric. With a dictionary of the
/// rows of A that is a third of the bytes of P, and P^T the same.
template <class M, class Space>
struct FactoredProlongation {
  Kokkos::View<const index_t*, Space> of;       ///< [rows] the aggregate of each
  Kokkos::View<const index_t*, Space> offsets;  ///< [aggregates + 1]
  Kokkos::View<const index_t*, Space> members;  ///< [rows]
  Vector<M, Space> weights;                     ///< [aggregates] entries of T
  M factor = 0;                                 ///< omega / D

  bool empty() const { return of.extent(0) == 0; }
};

/// A level as a cycle sees it. The last one has its inverse, the others all the rest.
template <class M, class Exec>
struct CycleLevel {
  using Space = typename Exec::memory_space;

  index_t rows = 0;
  PlannedMatrix<M, Exec> A, prolongation, restriction;
  FactoredProlongation<M, Space> factored;  ///< in place of both, or empty
  int block_size = 1;
  Vector<M, Space> inverse;  ///< of diagonal blocks, with what the smoother adds to them
  M same_inverse = 0;  ///< its entry where that is the same in all rows of a first level; else 0
  AmgSmoother smoother = AmgSmoother::chebyshev;
  std::shared_ptr<PreconditionerBase<M, Exec>> sweep;  ///< of smoothers that are objects
  M sweep_factor = 1;  ///< what a sweep adds is taken times this, that it may converge
  /// A level that is solved by other means, which stand for all levels below it.
  std::shared_ptr<PreconditionerBase<M, Exec>> solver;
  double largest = 0;      ///< bound of the eigenvalues of D^-1 A
  Vector<M, Space> dense;  ///< the last level: [rows][rows]
  /// By W- and K-cycles: not the first level, nor where levels become smaller so slowly that visits would add up.
  bool visited_twice = false;
  Vector<M, Space> f, x, y, r;         ///< the right-hand side, two iterates, a residual
  Vector<M, Space> of_two;             ///< [4 rows], where cycles are accelerated: see Cycle
  Vector<double, Space> coefficients;  ///< the same

  void allocate(bool is_last) {
    const auto n = static_cast<std::size_t>(rows);
    f = zeroed<M, Space>("cnc::amg", n);
    x = zeroed<M, Space>("cnc::amg", n);
    if (is_last) return;
    y = zeroed<M, Space>("cnc::amg", n);
    r = zeroed<M, Space>("cnc::amg", n);
  }
  index_t blocks() const { return ceil_div(rows, block_size); }

  /// What D^-1 is in a step with a given factor of the residual: an array, or part of the factor.
  struct ScaledStep {
    M of_residual;
    const M* inverse;
  };
  ScaledStep scaled_step(M of_residual) const {
    if (same_inverse == M(0)) return {of_residual, inverse.data()};
    return {of_residual * same_inverse, nullptr};
  }

  /// to := P^T r, with room for a vector of this level
  void restrict(const Context<Exec>& ctx, const Vector<M, Space>& room,
                const Vector<M, Space>& to) const {
    if (factored.empty()) return restriction.multiply(ctx, r, M(0), to);
    smooth_transfer(ctx, r, M(0), room, room);
    on_each(ctx, static_cast<offset_t>(to.extent(0)),
            SumAggregate<M>{factored.offsets.data(), factored.members.data(),
                            factored.weights.data(), room.data(), to.data()});
  }
  /// to := to + P correction, with room for a vector of this level; overwrites r
  void prolong(const Context<Exec>& ctx, const Vector<M, Space>& correction,
               const Vector<M, Space>& room, const Vector<M, Space>& to) const {
    if (factored.empty()) return prolongation.multiply(ctx, correction, M(1), to);
    on_each(
        ctx, rows,
        FromAggregate<M>{factored.of.data(), factored.weights.data(), correction.data(), r.data()});
    smooth_transfer(ctx, r, M(1), to, room);
  }
  /// to := of_y to + (I - factor A) from
  void smooth_transfer(const Context<Exec>& ctx, const Vector<M, Space>& from, M of_y,
                       const Vector<M, Space>& to, const Vector<M, Space>& room) const {
    A.relax(ctx, {.of_x = M(1), .of_y = of_y, .of_residual = factored.factor}, from, to, room);
  }

  /// y := of_x x + of_y y + of_residual D^-1 r
  void relax_blocks(const Context<Exec>& ctx, M of_x, M of_y, M of_residual, const M* residual,
                    const M* from, M* to) const {
    on_each(ctx, blocks(),
            RelaxBlock<M>{block_size, rows, inverse.data(), of_x, of_y, of_residual, residual, from,
                          to});
  }
};

/// The combination of two directions c and d with the least residual, or the least error in the energy norm, from products
/// of test vectors t and u with v = A c, w = A d and residuals: s = t.v, t.f, t.w, u.v, u.w, u.r. Then s[0], s[1] are the coefficients.
struct SolveForTwo {
  double* s;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    const double first = s[1] / s[0];
    const double determinant = s[0] * s[4] - s[2] * s[3];
    const double second = s[0] * s[5] / determinant;
    const bool one = std::isfinite(first), two = one && std::isfinite(second);
    const double corrected = first - second * s[2] / s[0];
    s[0] = two ? corrected : one ? first : 1;
    s[1] = two ? second : 0;
  }
};

/// f := f - (*dividend / *divisor) v, unless that is no number
template <class M>
struct TakeOff {
  const double* dividend;
  const double* divisor;
  const M* v;
  M* f;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const double factor = *dividend / *divisor;
    if (std::isfinite(factor)) f[i] -= static_cast<M>(factor) * v[i];
  }
};

/// x := s[0] c + s[1] d
template <class M>
struct CombineTwo {
  const double* s;
  const M* c;
  const M* d;
  M* x;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    x[i] = static_cast<M>(s[0]) * c[i] + static_cast<M>(s[1]) * d[i];
  }
};

/// Coarse levels that a backend goes through in one launch, their matrices in CSR.
template <class M, class Exec>
struct CoarseLaunch {
  using Space = typename Exec::memory_space;
  struct Level {
    CsrMatrix<M, Space> A, restriction, prolongation;
    explicit Level(const CycleLevel<M, Exec>& level)
        : A(in_csr(level.A.matrix)),
          restriction(in_csr(level.restriction.matrix)),
          prolongation(in_csr(level.prolongation.matrix)) {}
  };
  /// Without the check of what is in CSR already.
  static CsrMatrix<M, Space> in_csr(const Matrix<M, Space>& A) {
    const auto* const csr = std::get_if<BcsrMatrix<M, Space>>(&A);
    return csr != nullptr && csr->block_size == 1 ? *csr : cnc::to_csr(A);
  }

  std::vector<Level> levels;  ///< all but the last
  std::size_t first = 0;      ///< their place in the cycle
  CoarseCycle<M> cycle = {};
  std::unique_ptr<CoarsePlan> plan;  ///< null: there are none
  bool (*run)(const Queue&, CoarsePlan&, const CoarseCycle<M>&) = nullptr;
};

/// norms[i] := *own where i is this rank, else 0
struct PlaceNorm {
  const double* own;
  int rank;
  double* norms;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { norms[i] = i == rank ? *own : 0; }
};
/// *largest := that of `count` norms; what is no number stays
struct TakeLargestNorm {
  int count;
  const double* norms;
  double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    double found = norms[0];
    for (int r = 1; r < count; ++r)
      if (found == found && !(norms[r] <= found)) found = norms[r];
    *largest = found;
  }
};

/// How ranks whose devices reach each other learn all norms without the host: every rank has all of a vector with one of each.
template <class Exec>
struct NormsOfRanks {
  std::shared_ptr<OtherRanks> ranks;
  Vector<double, typename Exec::memory_space> all;  ///< [ranks]
  int rank = 0;

  void take_largest(const Context<Exec>& ctx, double* norm) const {
    const auto count = static_cast<int>(all.extent(0));
    on_each(ctx, count, PlaceNorm{norm, rank, all.data()});
    ranks->begin(all.data() + rank, false);
    ranks->end(all.data(), false, nullptr);
    on_each(ctx, 1, TakeLargestNorm{count, all.data(), norm});
  }
};

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
