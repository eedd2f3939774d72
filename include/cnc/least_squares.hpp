#pragma once

#include <cnc/solver.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <vector>

namespace cnc {

/// A^T A of a CSR matrix in CSR, columns ascending, entries summed in the order of A's rows: the same bits for any number of
/// threads. Entries that cancel stay stored.
///
/// Errors   InvalidArgument (A not valid CSR, more than 2^31 - 1 entries), OutOfMemory.
/// Cost     the sum over rows of (entries of the row)^2, in parallel.
template <class T, class Space>
CsrMatrix<T, Space> normal_matrix(const CsrMatrix<T, Space>& A);

/// How the least ||b - A x|| is found.
enum class LeastSquaresMethod {
  automatic,  ///< normal_equations where A^T A has at most 1.5 times the entries of A and A^T together, else lsqr
  lsqr,              ///< Paige & Saunders' method on A and A^T
  cgnr,              ///< conjugate gradients with products by A and A^T
  normal_equations,  ///< A^T A is formed as a sparse product; SolveOptions::method solves with it
};

/// "auto", "lsqr", "cgnr", "normal-equations".
const char* to_string(LeastSquaresMethod method);
/// Reads what to_string writes; '_' is as good as '-'.
/// Errors   InvalidArgument, with the names that are known.
LeastSquaresMethod parse_least_squares_method(std::string_view text);

/// Finds the x with the least ||b - A x||_2, A of any shape: prepare once per pattern, update_values for other values, solve per
/// right-hand side.
///
/// Converged when ||A^T (b - A x)|| <= rtol ||A^T b||, or atol, computed with the matrix given: SolveReport::true_residual is that
/// norm, least_squares_residual is ||b - A x||. The built-in preconditioners are of A^T A: Jacobi's are the squared norms of the columns.
/// Where the normal equations do not get there, lsqr goes on from the x reached; SolveReport::choice says so.
///
/// Lifetime, threads and types: as of Solver.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class LeastSquaresSolver {
 public:
  using Space = typename Exec::memory_space;  ///< of matrix and vectors

  /// options.method is meant for the normal equations, `automatic` and `pcg` being pcg; the other methods have their own.
  /// Errors   InvalidArgument (options that Solver refuses, a null space, norm or components).
  explicit LeastSquaresSolver(Context<Exec>& ctx, SolveOptions options = {},
                              LeastSquaresMethod method = LeastSquaresMethod::automatic);
  ~LeastSquaresSolver();
  /// @{
  /// What was moved from is only destroyed or assigned to.
  LeastSquaresSolver(LeastSquaresSolver&&) noexcept;
  LeastSquaresSolver& operator=(LeastSquaresSolver&&) noexcept;
  /// @}

  /// Errors   those of Solver::prepare.
  void prepare(const CsrMatrix<V, Space>& A);
  /// New values on the pattern given to prepare.
  void update_values(const CsrMatrix<V, Space>& A);

  /// Solves from the x given.
  ///
  /// Shapes   b: [rows], x: [columns], contiguous views of V that do not overlap
  template <class B, class X>
  requires(Kokkos::is_view<B>::value&& Kokkos::is_view<X>::value&& B::rank == 1) SolveReport
      solve(const B& b, const X& x) {
    return solve_columns(as_column(detail::as_vector<const V, Exec>(b, strided)),
                         as_column(detail::as_vector<V, Exec>(x, strided)))
        .front();
  }
  /// Solves for several right-hand sides, the columns of b; the normal equations take them side by side, as Solver does.
  ///
  /// Shapes   b: [rows][count], x: [columns][count], in any layout, views of V that do not overlap
  template <class B, class X>
  requires(Kokkos::is_view<B>::value&& Kokkos::is_view<X>::value&& B::rank ==
           2) std::vector<SolveReport> solve(const B& b, const X& x) {
    return solve_columns(detail::as_multivector<const V, Exec>(b),
                         detail::as_multivector<V, Exec>(x));
  }

  /// Replaces the built-in preconditioner of the normal equations by the caller's (of an object of A^T A). Takes effect in the next
  /// prepare; lsqr and cgnr do not take one.
  template <std::derived_from<PreconditionerBase<V, Exec>> P>
  void set_preconditioner(std::shared_ptr<P> preconditioner) {
    use_preconditioner(std::move(preconditioner));
  }

  LeastSquaresMethod method() const;               ///< the one that prepare chose
  const std::vector<std::string>& advice() const;  ///< why, after prepare
  void set_options(SolveOptions options);          ///< as of Solver

 private:
  static constexpr const char* strided =
      "LeastSquaresSolver: b and x must be contiguous, not strided views";
  template <class T>
  static MultiVector<T, Space> as_column(const Vector<T, Space>& v) {
    return MultiVector<T, Space>(v.data(), Kokkos::LayoutStride(v.extent(0), 1, 1, v.extent(0)));
  }
  std::vector<SolveReport> solve_columns(const MultiVector<const V, Space>& b,
                                         const MultiVector<V, Space>& x);
  void use_preconditioner(std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
