#pragma once

#include "convert/normal_matrix.hpp"
#include "solve/preconditioners.hpp"
#include "solve/prepare.hpp"

#include <cnc/spmv.hpp>

#include <memory>

namespace cnc::detail {

/// A with ascending rows, A^T, and A^T A formed or applied, with what brings new values into them.
template <class V, class Exec>
struct NormalEquations {
  using Space = typename Exec::memory_space;

  CsrMatrix<V, Space> matrix;     ///< A, the arrays given unless its rows were sorted
  Vector<index_t, Space> origin;  ///< entry k of a sorted A is entry origin(k) of the one given
  Transposition<V, Exec> transposition;
  CsrMatrix<V, Space> normal;  ///< A^T A; no rows where it is not formed

  void set_up(const Exec& exec, const CsrMatrix<V, Space>& A) {
    *this = {};
    matrix = A;
    matrix.checked = require_csr(A);
    if (matrix.checked != Checked::ascending) {
      const RowOrder<Space> order = ascending_order<Exec>(matrix);
      origin = order.origins;
      matrix = in_order<Exec>(matrix, order);
    }
    transposition.set_up(exec, matrix);
  }
  void form(const Exec& exec) {
    normal = normal_product(exec, matrix, transpose());
  }
  /// New values in the pattern of A.
  void refill(const Exec& exec, const CsrMatrix<V, Space>& A) {
    if (origin.extent(0) != 0)
      take_entries(exec, A, origin, matrix.values);
    else
      matrix.values = A.values;
    transposition.refill(exec, matrix);
    if (normal.rows > 0) multiply_normal(exec, matrix, transpose(), normal);
  }

  const CsrMatrix<V, Space>& transpose() const { return transposition.matrix; }

  /// A^T A as two products; `between` has the rows of A.
  LinearOperator<V, Space> as_operator(const Context<Exec>& ctx,
                                       const Vector<V, Space>& between) const {
    LinearOperator<V, Space> op;
    op.rows = matrix.cols;
    op.apply = [this, &ctx, between](const Vector<const V, Space>& x, const Vector<V, Space>& y) {
      spmv(ctx, V(1), matrix, x, V(0), between);
      spmv(ctx, V(1), transpose(), between, V(0), y);
    };
    return op;
  }
  /// What is built in, of A^T A.
  std::shared_ptr<LocalPreconditioner<V, Exec>> preconditioner(const SolveOptions& options) const {
    const int block = options.preconditioner_block_size;
    auto made = std::make_shared<LocalPreconditioner<V, Exec>>(options.preconditioner,
                                                               block > 0 ? block : 1);
    (void)made->set_up_normal(transpose());
    return made;
  }
};

}  // namespace cnc::detail
