#pragma once

#include <cnc/preconditioner.hpp>

#include <memory>

namespace cnc {

/// What an incomplete factorisation A ~ (I + L) D (I + U) keeps.
enum class IncompleteKind {
  ic0,   ///< the pattern of A; U = L^T, for symmetric positive definite matrices
  ilu0,  ///< the pattern of A
  ilut,  ///< what is large enough, a number of entries in each row at most
  ict,   ///< the same with U = L^T, for symmetric positive definite matrices
};

/// Whether IncompleteOptions::drop and fill decide what is kept.
constexpr bool has_threshold(IncompleteKind kind) {
  return kind == IncompleteKind::ilut || kind == IncompleteKind::ict;
}

/// Which factorisation.
struct IncompleteOptions {
  IncompleteKind kind = IncompleteKind::ilu0;  ///< what it keeps
  double drop =
      1e-3;  ///< ilut: entries below this part of the mean magnitude of their row of A are dropped; ict: of sqrt(a(i, i) a(j, j))
  double fill =
      2;  ///< ilut: entries of a row of L and of U, at most, times those of the row of A; ict: of U, times those from the diagonal on
  /// Rows of a block: couplings between blocks of so many consecutive rows are left out, so that blocks are solved side by side (block
  /// Jacobi with factors inside the blocks), at the price of iterations. 0: one block.
  index_t block_rows = 0;
  /// The rows are taken by colours, no two neighbours of one colour, which leaves as many levels as there are colours (unless ilut or ict fill
  /// in), at the price of iterations. Not with block_rows.
  bool by_colours = false;
  /// Steps of Jacobi's method in place of each solve with a triangle: a polynomial of it, in which all rows go side by side, at the price
  /// of iterations. 0: exact solves; at most 100.
  int sweeps = 0;
};

/// An incomplete factorisation as a preconditioner: one solve with L, one with U.
///
/// The rows keep the order in which they are, unless colours are asked for: a fill-reducing one costs many more iterations. A pivot that is zero, or for ic0 and ict not
/// positive, makes the factorisation start again with a part of |D| added to the diagonal, ten times as much each time. Rows whose
/// predecessors are solved are solved side by side (level scheduling), on a device; on a host where there are enough of them. Blocks
/// are solved by a thread each on a host.
///
/// Values   a row is at fault whose entries are not finite or all zero, of ic0 and ict also one whose diagonal entry is negative. A
///          zero on the diagonal, also one that is not stored, counts as one that fills in.
/// Errors   InvalidArgument (options out of range; apply without a set_up), OutOfMemory.
/// Cost     set_up on one thread of the host, O(sum of squares of row lengths); apply reads L and U once, by levels on a device.
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, sections 10.3 (ILU(0), IC), 10.4 (ILUT) and 11.6 (levels);
///          ict: Lin & More, Incomplete Cholesky factorizations with limited memory, 1999, by rows of U, with a threshold;
///          shifts: Manteuffel, An incomplete factorization technique for positive definite linear systems, 1980; sweeps: Anzt, Chow,
///          Dongarra, Iterative sparse triangular solves for preconditioning, Euro-Par 2015; colours: Saad, section 12.4.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class IncompleteFactorization final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// Nothing is set up yet.
  explicit IncompleteFactorization(const IncompleteOptions& options = {});
  ~IncompleteFactorization() override;

  std::string name() const
      override;  ///< "ilu0", "ict:0.001", "ilut:0.001", "ic0:block=500", "ilu0:colours,sweeps=3"
  double bytes(index_t rows, offset_t nonzeros) const override;
  /// @{
  /// What PreconditionerBase says of them.
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override;
  bool keeps_symmetry() const override;
  /// @}
  /// On a device, where the levels, or sweeps, are few enough for a graph: loops of the host are no part of what is enqueued.
  bool only_enqueues() const override { return !detail::is_host_space<Space> && levels() <= 500; }

  offset_t entries() const;  ///< of L and U together, the diagonal once
  double shift() const;      ///< what was added to the diagonal, in parts of |D|; 0 as a rule
  int levels() const;        ///< of L, of the last set_up; 0 where it is swept

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
