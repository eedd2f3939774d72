#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <cnc/contract/preconditioner_operand.hpp>

namespace cnc {

/// A built-in preconditioner: kind, block size, and the inverted diagonal (blocks).
template <class V, class Space = HostSpace>
struct Preconditioner {
  PreconditionerKind kind = PreconditionerKind::none;  ///< which of them
  int block_size = 1;
  Vector<V, Space> inverse;  ///< jacobi: [rows]; block_jacobi: [ceil(rows/b) b^2], row-major

  /// What kernels see.
  PreconditionerOperand<V> operand() const { return {kind, block_size, inverse.data()}; }
};

/// Outcome of a set-up: `row` is the first row (scalar) at fault, -1 when all is well. A row is at fault
/// when its diagonal entry is zero or not finite, when it has an entry in its diagonal block that is not
/// finite, or when it is the first row of a singular block (singular_block is then true).
struct PreconditionerSetup {
  index_t row = -1;                    ///< the first at fault
  bool singular_block = false;         ///< the fault is its whole block
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

}  // namespace cnc
