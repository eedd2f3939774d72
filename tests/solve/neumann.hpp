#pragma once

#include <cnc/blas1.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/spmv.hpp>

namespace cnc::testing {

/// Two terms of the Neumann series of A = D - (D - A): M^-1 = 2 D^-1 - D^-1 A D^-1. Not local, enqueued from the
/// operations of the context; definite where the eigenvalues of D^-1 A are below 2.
template <class V, class Exec>
class Neumann final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// With `promises` it says that it only enqueues, as it does.
  explicit Neumann(bool promises = true) : promises_(promises) {}

  std::string name() const override { return "neumann:2"; }
  double bytes(index_t rows, offset_t) const override {
    return 2.0 * static_cast<double>(rows) * sizeof(V);
  }
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override {
    ++set_ups;
    A_ = layout;
    plan_ = plan_spmv<V>(ctx, layout);
    result_ = uninitialized<V, Space>("neumann", static_cast<std::size_t>(A.rows));
    return set_up_preconditioner(A, PreconditionerKind::jacobi, 1, D_);
  }
  PreconditionerSetup update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                    const Matrix<V, Space>& layout) override {
    ++updates;
    A_ = layout;
    plan_ = plan_spmv<V>(ctx, layout);
    return set_up_preconditioner(A, PreconditionerKind::jacobi, 1, D_);
  }
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override {
    ++applied;
    multiply(ctx, D_.inverse, r, z);
    spmv(ctx, V(1), A_, z, V(0), result_, plan_.get());
    multiply(ctx, D_.inverse, result_, result_);
    axpby(ctx, V(-1), result_, V(2), z);
  }
  /// Of a symmetric matrix.
  void apply_transposed(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                        const Vector<V, Space>& z) const override {
    apply(ctx, r, z);
  }
  bool has_transpose() const override { return true; }
  bool only_enqueues() const override { return promises_; }

  int set_ups = 0, updates = 0;
  mutable int applied = 0;  ///< calls of apply: the recorded ones are done more often

 private:
  bool promises_;
  Matrix<V, Space> A_;
  std::unique_ptr<MatrixPlan> plan_;
  Preconditioner<V, Space> D_;
  Vector<V, Space> result_;
};

}  // namespace cnc::testing
