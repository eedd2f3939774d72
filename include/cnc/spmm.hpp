#pragma once

#include <cnc/context.hpp>
#include <cnc/contract/columns.hpp>
#include <cnc/matrix.hpp>

#include <bit>

namespace cnc {

namespace detail {
/// Refuses views that are not interleaved columns: rows one after the other, without a gap.
template <class Exec, class View>
void check_columns(const View& view, index_t n, std::size_t columns, const char* text) {
  static_assert(View::rank == 2, "several vectors are a view of rank 2");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the context's execution space cannot reach these vectors");
  require(view.extent(0) == static_cast<std::size_t>(n) && view.extent(1) == columns, text);
  require(n == 0 || (view.stride(0) == columns && (columns == 1 || view.stride(1) == 1)),
          "spmm: X and Y must be interleaved columns (LayoutRight), contiguous");
}
}  // namespace detail

/// Y := alpha A X + beta Y for several interleaved columns: the matrix is read once for all of them.
///
/// Shapes   A: rows x cols (scalars);  X: [cols x K], Y: [rows x K], LayoutRight, K = 1, 2, 4, 8 or 16; X and Y must not
///          overlap.
/// Values   beta == 0 overwrites Y: NaN in Y is never read. Summation order is fixed per backend.
/// Types    A in float or double, X and Y in V; A may be narrower than V, not wider.
/// Async    enqueued on ctx's stream; allocates nothing.
/// Errors   InvalidArgument (extents, layout, K), UnsupportedOperation (the oracle, baselines), DeviceError (launch).
/// Cost     the bytes of spmv for A, and K times those for vectors; K times its flops.
template <class Exec, class SparseMatrix, class X, class Y>
requires Kokkos::is_view<X>::value && Kokkos::is_view<Y>::value void spmm(
    const Context<Exec>& ctx, typename Y::non_const_value_type alpha, const SparseMatrix& A,
    const X& x, typename Y::non_const_value_type beta, const Y& y) {
  const std::size_t columns = y.extent(1);
  require(std::has_single_bit(columns) && columns <= max_columns,
          "spmm: the number of columns must be 1, 2, 4, 8 or 16");
  detail::check_columns<Exec>(x, A.cols, columns, "spmm: X needs A.cols rows and the columns of Y");
  detail::check_columns<Exec>(y, A.rows, columns, "spmm: Y needs A.rows rows");
#ifdef CNC_CHECKED
  if constexpr (std::is_same_v<typename SparseMatrix::memory_space, HostSpace>) A.validate();
#endif
  const auto operand = A.operand();
  const auto& ops = ctx.template matrices<typename Y::non_const_value_type>(operand);
  detail::offered(ops.spmm, ctx.backend(), "products with several vectors")(
      ctx.queue(), static_cast<int>(columns), alpha, operand, x.data(), beta, y.data(), {});
}

/// The same for a matrix whose format is known at run time only.
template <class Exec, class M, class X, class Y>
void spmm(const Context<Exec>& ctx, typename Y::non_const_value_type alpha,
          const Matrix<M, typename Exec::memory_space>& A, const X& x,
          typename Y::non_const_value_type beta, const Y& y) {
  std::visit([&](const auto& a) { spmm(ctx, alpha, a, x, beta, y); }, A);
}

}  // namespace cnc
