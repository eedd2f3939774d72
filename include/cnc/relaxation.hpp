#pragma once

#include <cnc/preconditioner.hpp>

#include <memory>

namespace cnc {

/// What a relaxation uses of A = L + D + U, whose parts are below, on and above the diagonal in the order of its sweep.
enum class RelaxationKind {
  jacobi,  ///< M = D / omega: damped Jacobi, local to a row
  sor,     ///< M = D / omega + L: successive over-relaxation; with omega = 1 Gauss-Seidel
  ssor,    ///< a sweep forth and one back: symmetric where A is
};

/// The order in which a sweep goes through the rows.
enum class SweepOrder {
  automatic,  ///< natural on the host, colours on a device
  natural,    ///< as they come, one after the other: on the host alone
  colours,  ///< rows of one colour, no two of which are neighbours, side by side; then those of the next
};

/// Which relaxation.
struct RelaxationOptions {
  RelaxationKind kind = RelaxationKind::sor;  ///< what it uses of A
  double omega = 1;  ///< the relaxation factor, above 0; below 2 where it sweeps
  SweepOrder order = SweepOrder::automatic;  ///< of the rows
};

/// A step of relaxation as a preconditioner. With Method::richardson it is the classical stationary iteration: damped
/// Jacobi, Gauss-Seidel, SOR or SSOR; ssor also preconditions CG and MINRES, and all of them the methods for
/// nonsymmetric matrices but bicg, for which sweeps have no transpose, and cgnr and lsqr, whose preconditioner is one of A^T A.
///
/// Colours are given greedily, in the order of the rows, each the least that no neighbour has (in A or A^T). They change
/// the order of the sweep, and with it the iterates; they depend on the pattern alone, not on the number of threads.
///
/// Values   a row at fault has no diagonal entry, or one that is zero or not finite.
/// Errors   InvalidArgument (omega out of range; natural order on a device; apply without a set_up).
/// Cost     set_up O(nonzeros) on one thread of the host, for sweeps; update_values where the matrix is. apply reads one
///          triangle of A, for ssor two.
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, section 4.1 and 4.1.2; colours: section
///          12.4.3.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class Relaxation final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// Nothing is set up yet.
  explicit Relaxation(const RelaxationOptions& options = {});
  ~Relaxation() override;

  std::string name() const override;  ///< "sor:1.5", "gauss-seidel"
  double bytes(index_t rows, offset_t nonzeros) const override;
  /// @{
  /// What PreconditionerBase says of them.
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  PreconditionerSetup update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                    const Matrix<V, Space>& layout) override;
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override;
  std::optional<PreconditionerOperand<V>> local() const override;
  bool keeps_symmetry() const override;
  /// @}
  /// On a device: loops of the host are no part of what is enqueued.
  bool only_enqueues() const override { return !detail::is_host_space<Space>; }

  int colours() const;  ///< of the last set_up; 0 in natural order

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
