#pragma once

#include <cnc/preconditioner.hpp>

#include <memory>

namespace cnc {

/// Which polynomial.
struct PolynomialOptions {
  int degree = 4;  ///< steps, each but the first a product
  /// The interval ends at the largest eigenvalue of D^-1 A and begins at this part of it. Smaller: more is left to the method.
  double interval = 1.0 / 30;
};

/// Steps of Chebyshev's iteration for D^-1 A as a preconditioner, D being the diagonal of A: fewer sums over all rows in a solve, for more products, which pays where
/// sums are what costs, on small systems and many processors. Symmetric where A is.
///
/// Values   A is symmetric positive definite; others get a bound by row sums, and may diverge. A row is at fault whose diagonal entry is zero or not finite.
/// Errors   InvalidArgument (options out of range; apply without a set_up), OutOfMemory.
/// Cost     set_up some 10 products; apply degree - 1 products.
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, algorithm 12.1.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class ChebyshevPolynomial final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// Nothing is set up yet.
  explicit ChebyshevPolynomial(const PolynomialOptions& options = {});
  ~ChebyshevPolynomial() override;

  std::string name() const override;  ///< "chebyshev:4"
  double bytes(index_t rows, offset_t nonzeros) const override;
  /// @{
  /// What PreconditionerBase says of them.
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override;
  /// @}
  /// On a device: loops of the host are no part of what is enqueued.
  bool only_enqueues() const override { return !detail::is_host_space<Space>; }

  double largest_eigenvalue() const;  ///< of D^-1 A, as estimated by the last set_up

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
