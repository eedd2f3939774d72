#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <cnc/context.hpp>
#include <cnc/matrix.hpp>

#include <optional>
#include <string>

namespace cnc {

/// What Jacobi does with diagonal entries that are not positive.
enum class DiagonalRule {
  as_it_is,      ///< 1 / a_ii; a zero is a fault
  one_for_zero,  ///< one in the place of a zero
  magnitude,     ///< 1 / |a_ii|, and one for a zero: positive definite whatever A is
  row_norm,  ///< one over the 2-norm of the row, and one for zeros: the same, for A with zeros on the diagonal
};

/// A built-in preconditioner: kind, block size, and the inverted diagonal (blocks).
template <class V, class Space = HostSpace>
struct Preconditioner {
  PreconditionerKind kind = PreconditionerKind::none;  ///< which of them
  int block_size = 1;
  DiagonalRule diagonal = DiagonalRule::as_it_is;  ///< jacobi, and blocks of one row
  Vector<V, Space> inverse;  ///< jacobi: [rows]; block_jacobi: [ceil(rows/b) b^2], row-major
  Vector<V, Space>
      transposed_inverse;  ///< block_jacobi: every block transposed, where a method wants it
  bool uniform = false;    ///< jacobi: all entries of the inverse are the same; set-up says so

  /// What kernels see.
  PreconditionerOperand<V> operand() const {
    return {kind, block_size, inverse.data(), transposed_inverse.data(), uniform};
  }
};

/// Outcome of a set-up: `row` is the first row (scalar) at fault, -1 when all is well. For the built-in ones a row is at
/// fault when its diagonal entry is zero or not finite, when it has an entry in its diagonal block that is not
/// finite, or when it is the first row of a singular block (singular_block is then true).
struct PreconditionerSetup {
  index_t row = -1;                    ///< the first at fault
  bool singular_block = false;         ///< the fault is its whole block
  const char* fault = nullptr;         ///< another fault in words, "has a zero pivot": a literal
  bool ok() const { return row < 0; }  ///< no row is at fault
};

/// Inverts the diagonal (blocks) of A into M.inverse, which is allocated when its extent differs and
/// reused otherwise; `none` leaves it empty. Blocks are inverted by Gauss-Jordan elimination with partial
/// pivoting in double. `block_size` counts for block_jacobi only; size 1 is the same as jacobi.
///
/// Values   "zero" and "singular" include everything whose inverse V cannot hold. Rows and blocks at
///          fault get the identity, the others their inverse, so M can be applied in any case.
///          A negative diagonal is no fault here: the solver sees it as r.z < 0.
/// Errors   InvalidArgument (A not square, not valid CSR, block size outside 1..16). A zero diagonal is no exception:
///          it is reported in the result, the solver turns it into a status.
/// Cost     O(nonzeros of the diagonal blocks b), in parallel where the matrix is, and the check of A unless
///          A.checked vouches for it. Rows that do not ascend are read from end to end.
template <class V, class S, class Space>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M);

/// The same for a matrix in any layout, whose block size need not be that of the blocks.
///
/// Errors   InvalidArgument (A not square, block size outside 1..16). Layouts other than CSR are taken as valid: call
///          validate() where one may not be.
/// Cost     O(stored values); no CSR matrix is made.
template <class V, class Space>
PreconditionerSetup set_up_preconditioner(const Matrix<V, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M);

/// The same for A^T A, whose rows are multiplied with each other as far as blocks want them; takes the transpose of A.
/// DiagonalRule::one_for_zero is the rule for a column without entries.
///
/// Errors   InvalidArgument (not valid CSR, block size outside 1..16).
/// Cost     O(nonzeros b), in parallel where the matrix is.
template <class V, class Space>
PreconditionerSetup set_up_normal_preconditioner(const CsrMatrix<V, Space>& transpose,
                                                 PreconditionerKind kind, int block_size,
                                                 Preconditioner<V, Space>& M);

/// A preconditioner z := M^-1 r as a solver uses it: set up from a matrix, updated with its values, applied in every
/// iteration. Derive from it for one of your own and give it to Solver::set_preconditioner; the built-in ones are
/// derived from it too (docs/adding_a_preconditioner.md). V is the type of the vectors, matrices are in the
/// memory of Exec.
///
/// Values   M is linear and the same in every iteration, unless it varies(); symmetric positive definite for CG and MINRES. It
///          may be applied more often than there are iterations.
/// Threads  an object belongs to one solver at a time.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class PreconditionerBase {
 public:
  using Space = typename Exec::memory_space;  ///< of matrix and vectors

  virtual ~PreconditionerBase() = default;

  /// What reports call it, "ilu0".
  virtual std::string name() const = 0;

  /// Bytes that set_up takes at least for such a matrix; prepare compares them, with all the rest, to what is free.
  virtual double bytes(index_t rows, offset_t nonzeros) const = 0;

  /// Sets up for A, which is square and valid, its rows in the order of the iterations (A.checked says whether columns
  /// ascend). `layout` is the same matrix as it was laid out for products, for those who multiply with it. A solver calls
  /// this in prepare, or in set_preconditioner when it is prepared.
  ///
  /// Lifetime  A and layout may be kept: as they are until the next set_up or update_values.
  /// Async     nothing is under way when it is called, and the solver waits for what it has enqueued, wherever.
  /// Errors    numerical ones are the outcome: the first row at fault, which ends a solve as `breakdown`. Exceptions,
  ///           OutOfMemory say, pass through prepare, which leaves the solver not prepared.
  virtual PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                     const Matrix<V, Space>& layout) = 0;

  /// The same for new values on the pattern of the last set_up. Default: set_up.
  virtual PreconditionerSetup update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                            const Matrix<V, Space>& layout) {
    return set_up(ctx, A, layout);
  }

  /// z := M^-1 r.
  ///
  /// Shapes  r, z: [rows]; they do not overlap. z is overwritten: what was there is not read.
  /// Async   enqueued on ctx's stream; allocates nothing. With only_enqueues() that is a promise: see there.
  /// Errors  as the operations that it enqueues. Default: that of local(), UnsupportedOperation without.
  virtual void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                     const Vector<V, Space>& z) const;

  /// z := M^-T r, for bicg. The same promises as of apply.
  /// Errors  as apply. Default: that of local(), UnsupportedOperation without.
  virtual void apply_transposed(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                                const Vector<V, Space>& z) const;
  /// Whether there is apply_transposed. Default: where local() has what it takes.
  virtual bool has_transpose() const {
    const auto M = local();
    return M && (M->kind != PreconditionerKind::block_jacobi || M->transposed_inverse != nullptr);
  }

  /// What kernels see, where M is local to a row or a block of rows: passes then apply it on the way, in every form
  /// of a solve, and apply is called where there are no passes. Valid until the next set_up or update; where its numbers change otherwise, give it to set_preconditioner again. Default: it is not.
  virtual std::optional<PreconditionerOperand<V>> local() const { return {}; }

  /// Whether apply only enqueues: kernels and copies, on ctx's stream alone, the same ones for the same r and z until
  /// the next set_up or update. It waits for nothing, reads no result and does nothing on the host that counts. A
  /// device then goes through iterations without the host, and records apply in a graph; what it enqueues may be
  /// done a few times more than there are iterations. Default: no such promise, and the host waits in each iteration. On a host it makes no difference.
  virtual bool only_enqueues() const { return false; }

  /// Whether M is not linear in r, or another one each time: iterations of a Krylov method of its own, say. Then
  /// Method::automatic takes pcg_flexible and fgmres; the other methods take it for fixed. Default: it is not.
  virtual bool varies() const { return false; }

  /// Whether M is symmetric where A is, as CG and MINRES require. Where it is not, Method::automatic takes methods for any matrix,
  /// and reports say so of methods that were named. Default: it is.
  virtual bool keeps_symmetry() const { return true; }
};

namespace detail {
/// apply_local on a queue that is not the context's.
template <class V, class Exec>
void apply_local(const Context<Exec>& ctx, const Queue& queue, const PreconditionerOperand<V>& M,
                 const Vector<const V, typename Exec::memory_space>& r,
                 const Vector<V, typename Exec::memory_space>& z) {
  const VectorOps<V>& ops = ctx.template vectors<V>();
  const index_t n = checked_extent(z.extent(0));
  // Backends without the operation still do what a plain one can do.
  if (ops.precondition != nullptr || M.kind == PreconditionerKind::block_jacobi)
    offered(ops.precondition, ctx.backend(), "block-Jacobi preconditioning")(queue, n, M, r.data(),
                                                                             z.data());
  else if (M.kind == PreconditionerKind::jacobi)
    ops.multiply(queue, n, M.inverse, r.data(), z.data());
  else
    ops.axpby(queue, n, V(1), r.data(), V(0), z.data());
}
}  // namespace detail

/// z := M^-1 r with a preconditioner that is local to a row or a block of rows.
///
/// Shapes   r, z: [rows]; they do not overlap.
/// Async    enqueued on ctx's stream; allocates nothing.
/// Errors   UnsupportedOperation (the backend has no block-Jacobi preconditioning).
template <class V, class Exec>
void apply_local(const Context<Exec>& ctx, const PreconditionerOperand<V>& M,
                 const Vector<const V, typename Exec::memory_space>& r,
                 const Vector<V, typename Exec::memory_space>& z) {
  detail::apply_local(ctx, ctx.queue(), M, r, z);
}

template <class V, class Exec>
void PreconditionerBase<V, Exec>::apply_transposed(const Context<Exec>& ctx,
                                                   const Vector<const V, Space>& r,
                                                   const Vector<V, Space>& z) const {
  if (!has_transpose())
    throw UnsupportedOperation("preconditioner '" + name() + "' has no apply_transposed");
  apply_local(ctx, local()->transposed(), r, z);
}

template <class V, class Exec>
void PreconditionerBase<V, Exec>::apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                                        const Vector<V, Space>& z) const {
  const auto operand = local();
  if (!operand) throw UnsupportedOperation("preconditioner '" + name() + "' has no apply");
  apply_local(ctx, *operand, r, z);
}

}  // namespace cnc
