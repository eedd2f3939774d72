#pragma once

#include "on_each.hpp"
#include "precondition/amg/cycle_loops.hpp"
#include "solve/other_ranks.hpp"

#include <cnc/amg.hpp>
#include <cnc/convert.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/spmv.hpp>

#include <memory>
#include <utility>
#include <vector>

// A level as cycles see it, in values of M, and what goes through several of them in one launch.

namespace cnc::detail {

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
  /// Where the next level is on fewer ranks: its vectors, as they are beside the prolongation, go there and come back. Else without ranks.
  PlannedMatrix<M, Exec> gather, spread;
  Vector<M, Space> ungathered;  ///< such a vector
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
    if (!gather.ranks) return restrict_in_place(ctx, room, to);
    restrict_in_place(ctx, room, ungathered);
    gather.multiply(ctx, ungathered, M(0), to);
  }
  /// to := to + P correction, with room for a vector of this level; overwrites r
  void prolong(const Context<Exec>& ctx, const Vector<M, Space>& correction,
               const Vector<M, Space>& room, const Vector<M, Space>& to) const {
    if (!spread.ranks) return prolong_in_place(ctx, correction, room, to);
    spread.multiply(ctx, correction, M(0), ungathered);
    prolong_in_place(ctx, ungathered, room, to);
  }
  /// @{
  /// The same where a rank has its own aggregates.
  void restrict_in_place(const Context<Exec>& ctx, const Vector<M, Space>& room,
                         const Vector<M, Space>& to) const {
    if (factored.empty()) return restriction.multiply(ctx, r, M(0), to);
    smooth_transfer(ctx, r, M(0), room, room);
    on_each(ctx, static_cast<offset_t>(to.extent(0)),
            SumAggregate<M>{factored.offsets.data(), factored.members.data(),
                            factored.weights.data(), room.data(), to.data()});
  }
  void prolong_in_place(const Context<Exec>& ctx, const Vector<M, Space>& correction,
                        const Vector<M, Space>& room, const Vector<M, Space>& to) const {
    if (factored.empty()) return prolongation.multiply(ctx, correction, M(1), to);
    on_each(
        ctx, rows,
        FromAggregate<M>{factored.of.data(), factored.weights.data(), correction.data(), r.data()});
    smooth_transfer(ctx, r, M(1), to, room);
  }
  /// @}
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

}  // namespace cnc::detail
