#pragma once

#include <cnc/context.hpp>
#include <cnc/matrix.hpp>

#include <memory>

namespace cnc {

/// What ctx's backend works out once about A, for products with vectors of V; null where there is nothing to, as with
/// all backends but some baselines. It is good for A's arrays as long as they live, whose values may change in place,
/// and for one context at a time.
///
/// Errors   UnsupportedOperation (the backend does not take this matrix), OutOfMemory, DeviceError.
/// Cost     allocates, and may wait for the device.
template <class V, class Exec, class SparseMatrix>
std::unique_ptr<MatrixPlan> plan_spmv(const Context<Exec>& ctx, const SparseMatrix& A) {
  const auto operand = A.operand();
  const auto plan = ctx.template matrices<V>(operand).plan;
  return plan != nullptr ? plan(ctx.queue(), operand) : nullptr;
}

/// The same for a matrix whose format is known at run time only.
template <class V, class Exec, class M>
std::unique_ptr<MatrixPlan> plan_spmv(const Context<Exec>& ctx,
                                      const Matrix<M, typename Exec::memory_space>& A) {
  return std::visit([&](const auto& a) { return plan_spmv<V>(ctx, a); }, A);
}

/// y := alpha A x + beta y, A in any of the formats. `plan`: what plan_spmv returned for A.
///
/// Shapes   A: rows x cols (scalars);  x: [cols];  y: [rows]; x and y must not overlap.
/// Values   beta == 0 overwrites y: NaN in y is never read. Summation order is fixed per backend.
/// Types    A in float or double, x and y in V; A may be narrower than V, not wider.
/// Async    enqueued on ctx's stream; allocates nothing.
/// Errors   InvalidArgument (extents, a plan that is missing or of another matrix; in builds with CNC_CHECKED also what
///          A.validate() finds), UnsupportedOperation (backend), DeviceError (launch).
/// Cost     A.spmv_cost gives bytes and flops.
/// Method   per format and backend; start at backends/NAME/.
template <class Exec, class SparseMatrix, class X, class Y>
requires Kokkos::is_view<X>::value && Kokkos::is_view<Y>::value void spmv(
    const Context<Exec>& ctx, typename Y::non_const_value_type alpha, const SparseMatrix& A,
    const X& x, typename Y::non_const_value_type beta, const Y& y,
    const MatrixPlan* plan = nullptr) {
  detail::check_vector<Exec>(x, A.cols, "spmv: x needs A.cols contiguous entries");
  detail::check_vector<Exec>(y, A.rows, "spmv: y needs A.rows contiguous entries");
#ifdef CNC_CHECKED
  if constexpr (std::is_same_v<typename SparseMatrix::memory_space, HostSpace>) A.validate();
#endif
  auto operand = A.operand();
  operand.plan = plan;
  const auto& ops = ctx.template matrices<typename Y::non_const_value_type>(operand);
  detail::offered(ops.spmv, ctx.backend(), "spmv")(ctx.queue(), alpha, operand, x.data(), beta,
                                                   y.data());
}

/// The same for a matrix whose format is known at run time only.
template <class Exec, class M, class X, class Y>
void spmv(const Context<Exec>& ctx, typename Y::non_const_value_type alpha,
          const Matrix<M, typename Exec::memory_space>& A, const X& x,
          typename Y::non_const_value_type beta, const Y& y, const MatrixPlan* plan = nullptr) {
  std::visit([&](const auto& a) { spmv(ctx, alpha, a, x, beta, y, plan); }, A);
}

}  // namespace cnc
