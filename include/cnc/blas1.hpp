#pragma once

#include <cnc/context.hpp>

namespace cnc {

// Vector operations. Shapes: all vectors [n], contiguous. Async: enqueued on ctx's stream, except that
// dot and nrm2 wait for their result. Errors: InvalidArgument (extents), DeviceError (launch).

namespace detail {
template <class View>
using ScalarOf = typename View::non_const_value_type;
}

/// y := alpha x + y. x and y must not overlap. Cost: 3 vector passes.
template <class Exec, class X, class Y>
void axpy(const Context<Exec>& ctx, detail::ScalarOf<Y> alpha, const X& x, const Y& y) {
  const index_t n = detail::checked_extent(y.extent(0));
  detail::check_vector<Exec>(x, n, "axpy: x and y need the same length");
  detail::check_vector<Exec>(y, n, "axpy: y must be contiguous");
  ctx.template vectors<detail::ScalarOf<Y>>().axpy(ctx.queue(), n, alpha, x.data(), y.data());
}

/// y := alpha x + beta y; beta == 0 overwrites y, NaN in y is never read. Cost: 3 passes (2 for beta 0).
template <class Exec, class X, class Y>
void axpby(const Context<Exec>& ctx, detail::ScalarOf<Y> alpha, const X& x,
           detail::ScalarOf<Y> beta, const Y& y) {
  const index_t n = detail::checked_extent(y.extent(0));
  detail::check_vector<Exec>(x, n, "axpby: x and y need the same length");
  detail::check_vector<Exec>(y, n, "axpby: y must be contiguous");
  ctx.template vectors<detail::ScalarOf<Y>>().axpby(ctx.queue(), n, alpha, x.data(), beta,
                                                    y.data());
}

/// x := alpha x; alpha == 0 overwrites x. Cost: 2 passes.
template <class Exec, class X>
void scal(const Context<Exec>& ctx, detail::ScalarOf<X> alpha, const X& x) {
  const index_t n = detail::checked_extent(x.extent(0));
  detail::check_vector<Exec>(x, n, "scal: x must be contiguous");
  ctx.template vectors<detail::ScalarOf<X>>().scal(ctx.queue(), n, alpha, x.data());
}

/// z := x .* y, entry by entry; z may be x or y. Cost: 3 passes.
template <class Exec, class X, class Y, class Z>
void multiply(const Context<Exec>& ctx, const X& x, const Y& y, const Z& z) {
  const index_t n = detail::checked_extent(z.extent(0));
  detail::check_vector<Exec>(x, n, "multiply: x and z need the same length");
  detail::check_vector<Exec>(y, n, "multiply: y and z need the same length");
  detail::check_vector<Exec>(z, n, "multiply: z must be contiguous");
  ctx.template vectors<detail::ScalarOf<Z>>().multiply(ctx.queue(), n, x.data(), y.data(),
                                                       z.data());
}

/// x . y, accumulated in double whatever the vectors are, in an order that depends on n alone.
/// Cost: 2 passes and a wait. Grows the context's scratch when n is larger than ever before.
template <class Exec, class X, class Y>
double dot(Context<Exec>& ctx, const X& x, const Y& y) {
  const index_t n = detail::checked_extent(x.extent(0));
  detail::check_vector<Exec>(x, n, "dot: x must be contiguous");
  detail::check_vector<Exec>(y, n, "dot: x and y need the same length");
  ctx.reserve(n);
  ctx.template vectors<detail::ScalarOf<X>>().dot(ctx.queue(), n, x.data(), y.data(),
                                                  ctx.result_slot());
  return ctx.read_result();
}

/// Euclidean norm of x, accumulated in double. No rescaling: squares beyond 1e308 give infinity.
/// Cost: 1 pass and a wait.
template <class Exec, class X>
double nrm2(Context<Exec>& ctx, const X& x) {
  const index_t n = detail::checked_extent(x.extent(0));
  detail::check_vector<Exec>(x, n, "nrm2: x must be contiguous");
  ctx.reserve(n);
  ctx.template vectors<detail::ScalarOf<X>>().nrm2(ctx.queue(), n, x.data(), ctx.result_slot());
  return ctx.read_result();
}

}  // namespace cnc
