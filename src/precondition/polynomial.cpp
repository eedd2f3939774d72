#include <cnc/polynomial.hpp>

#include "convert/spaces.hpp"
#include "precondition/amg/build_cycle.hpp"

#include <utility>

namespace cnc {

template <class V, class Exec>
struct ChebyshevPolynomial<V, Exec>::State {
  PolynomialOptions options;
  detail::CycleLevel<V, Exec> level;
};

template <class V, class Exec>
ChebyshevPolynomial<V, Exec>::ChebyshevPolynomial(const PolynomialOptions& options)
    : state_(std::make_unique<State>()) {
  require(options.degree >= 1 && options.degree <= 100,
          "ChebyshevPolynomial: the degree must be 1 to 100");
  require(options.interval > 0 && options.interval < 1,
          "ChebyshevPolynomial: the interval must begin above 0 and below 1");
  state_->options = options;
}
template <class V, class Exec>
ChebyshevPolynomial<V, Exec>::~ChebyshevPolynomial() = default;

template <class V, class Exec>
std::string ChebyshevPolynomial<V, Exec>::name() const {
  return "chebyshev:" + std::to_string(state_->options.degree);
}

template <class V, class Exec>
double ChebyshevPolynomial<V, Exec>::bytes(index_t rows, offset_t) const {
  return 5.0 * rows * sizeof(V);  // with what the estimate of the spectrum takes
}

template <class V, class Exec>
PreconditionerSetup ChebyshevPolynomial<V, Exec>::set_up(Context<Exec>& ctx,
                                                         const CsrMatrix<V, Space>& A,
                                                         const Matrix<V, Space>& layout) {
  const Exec& exec = ctx.execution_space_instance();
  state_->level = {};
  detail::SetUpLevel<V, Space> level;
  level.A = detail::finest_blocks<Exec>(A, layout, 1);
  level.inverse = uninitialized<V, Space>("cnc::chebyshev", static_cast<std::size_t>(A.rows));
  const index_t fault = detail::invert_diagonal(exec, level.A, level.inverse);
  if (fault >= 0) return {.row = fault};
  detail::set_up_smoother(ctx, level, &layout, detail::is_symmetric(A, layout), state_->level);
  state_->level.f = state_->level.y = {};  // the estimate's
  return {};
}

template <class V, class Exec>
void ChebyshevPolynomial<V, Exec>::apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                                         const Vector<V, Space>& z) const {
  const auto& level = state_->level;
  require(level.rows == detail::checked_extent(r.extent(0)),
          "ChebyshevPolynomial: apply without a set_up for a matrix of so many rows");
  const double end = level.largest, begin = end * state_->options.interval;
  const double middle = (end + begin) / 2, half = (end - begin) / 2;
  // From one vector to the other, so that the last step ends in z.
  Vector<V, Space> now = z, next = level.x;
  if (state_->options.degree % 2 == 0) std::swap(now, next);
  level.relax_blocks(ctx, V(0), V(0), static_cast<V>(1 / middle), r.data(), nullptr, now.data());
  double rho = half / middle;
  for (int k = 1; k < state_->options.degree; ++k) {
    const double next_rho = 1 / (2 * middle / half - rho);
    const double of_last = next_rho * rho;
    level.A.relax(ctx,
                  {.of_x = static_cast<V>(1 + of_last),
                   .of_y = static_cast<V>(k == 1 ? 0 : -of_last),
                   .of_residual = static_cast<V>(2 * next_rho / half),
                   .f = r.data(),
                   .inverse = level.inverse.data()},
                  now, next, level.r);
    std::swap(now, next);
    rho = next_rho;
  }
}

template <class V, class Exec>
double ChebyshevPolynomial<V, Exec>::largest_eigenvalue() const {
  return state_->level.largest;
}

template class ChebyshevPolynomial<float>;
template class ChebyshevPolynomial<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class ChebyshevPolynomial<float, Kokkos::DefaultExecutionSpace>;
template class ChebyshevPolynomial<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
