#pragma once

#include <cnc/amg.hpp>

#include <memory>
#include <optional>
#include <string>

namespace cnc {

/// What the choice of a preconditioner is for.
struct AutomaticOptions {
  int solves = 1;  ///< right-hand sides that a set-up is for
};

/// A preconditioner that a set-up takes from several: what AutomaticPreconditioner and DistributedAutomaticPreconditioner have in common.
/// Base: PreconditionerBase, or a class derived from it.
template <class V, class Exec, class Base>
class OneOfSeveral : public Base {
 public:
  using Space = typename Exec::memory_space;  ///< of the vectors

  OneOfSeveral() = default;
  OneOfSeveral(const OneOfSeveral&) = delete;
  OneOfSeveral& operator=(const OneOfSeveral&) = delete;

  /// That of the one taken; "auto" before a set-up.
  std::string name() const override { return taken_ ? taken_->name() : "auto"; }
  /// z := what the one taken makes of r.
  /// Errors   InvalidArgument (none is taken), and its own.
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override {
    require(taken_ != nullptr, "a preconditioner that is chosen: apply without a set_up");
    taken_->apply(ctx, r, z);
  }
  /// That of the one taken; empty before a set-up.
  std::optional<PreconditionerOperand<V>> local() const override {
    return taken_ ? taken_->local() : std::nullopt;
  }
  /// Whether the one taken does.
  bool only_enqueues() const override { return taken_ && taken_->only_enqueues(); }
  /// Whether the one taken does.
  bool varies() const override { return taken_ && taken_->varies(); }
  /// Whether the one taken does; before a set-up it is assumed to.
  bool keeps_symmetry() const override { return !taken_ || taken_->keeps_symmetry(); }

  /// What was tried and why this one was taken.
  const std::string& choice() const { return choice_; }
  /// The one taken; null before a set-up.
  std::shared_ptr<const PreconditionerBase<V, Exec>> taken() const { return taken_; }

 protected:
  std::shared_ptr<PreconditionerBase<V, Exec>> taken_;  ///< null: none
  std::string choice_;                                  ///< what choice() says
};

/// The preconditioner that promises the least work for a matrix: Jacobi, incomplete factorisations or multigrid, by a short trial of each that comes
/// into question.
///
/// A trial takes some iterations with a right-hand side without a pattern, of CG where A is symmetric with a positive
/// diagonal, else of GMRES. How fast the residual falls in the end says how many iterations a solve to 1e-8 takes. In trials of CG factors are compared
/// with Jacobi instead: by how many iterations each takes to find the same part of x . A x (SolveReport::energy_gains). Iterations times
/// what one costs, in products, and with the set-up, is what candidates are compared by. No clock is read: the choice is the same on every run.
///
/// Errors   those of the candidates; a row at fault is one of Jacobi's where no candidate could be set up.
/// Cost     set_up 45 products for Jacobi's trial. Where that promises more work than 100 products and than a set-up, the set-ups and trials of the others; before factors are
///          tried, and where Jacobi may be enough, its trial is repeated for 120 products, on a device for 240; update_values is that of the candidate taken.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class AutomaticPreconditioner final : public OneOfSeveral<V, Exec, PreconditionerBase<V, Exec>> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// `amg`: the multigrid to try, with options and a near-null space of its own; null: one with defaults.
  explicit AutomaticPreconditioner(const AutomaticOptions& options = {},
                                   std::shared_ptr<Amg<V, Exec>> amg = {});

  /// @{
  /// What PreconditionerBase says of them.
  double bytes(index_t rows, offset_t nonzeros) const override;
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  PreconditionerSetup update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                    const Matrix<V, Space>& layout) override;
  /// @}

 private:
  std::shared_ptr<Amg<V, Exec>> amg_;
  AutomaticOptions options_;
};

}  // namespace cnc
