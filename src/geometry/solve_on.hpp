#pragma once

#include "geometry/system_solver.hpp"

#include <cnc/context.hpp>
#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/least_squares.hpp>

#include <optional>
#include <type_traits>

namespace cnc::geometry {

/// Solves on the backend and in the memory of a context, with vectors of V.
template <class V, class Exec>
class SolveOn final : public SystemSolver {
 public:
  using Space = typename Exec::memory_space;

  /// Keeps a reference to the context.
  SolveOn(Context<Exec>& ctx, SolveOptions options,
          LeastSquaresMethod method = LeastSquaresMethod::automatic)
      : ctx_(ctx), options_(std::move(options)), asked_(method) {}

  void prepare(const CsrMatrix<double>& A, SystemKind kind) override {
    least_squares_.reset();
    definite_.reset();
    matrix_ = copy_to<Space>(in_precision(A));
    if (kind == SystemKind::least_squares)
      least_squares_.emplace(ctx_, options_, asked_).prepare(matrix_);
    else
      definite_.emplace(ctx_, options_).prepare(matrix_);
    ctx_.fence();
  }

  SolveReport solve(const Vector<const double>& b, const Vector<double>& x) override {
    const auto right = brought(b);
    const auto solution = brought(Vector<const double>(x));
    const SolveReport report = least_squares_
                                   ? least_squares_->solve(right, solution)
                                   : definite_->solve(Vector<const V, Space>(right), solution);
    const auto back = Kokkos::create_mirror_view_and_copy(HostSpace(), solution);
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = static_cast<double>(back(i));
    return report;
  }

  std::string method() const override {
    return least_squares_ ? to_string(least_squares_->method()) : method_name(options_.method);
  }

 private:
  static CsrMatrix<V> in_precision(const CsrMatrix<double>& A) {
    if constexpr (std::is_same_v<V, double>)
      return A;
    else
      return convert_values<V>(A);
  }
  /// A copy of its own, so that nothing is written to the caller's.
  static Vector<V, Space> brought(const Vector<const double>& v) {
    const auto on_host = uninitialized<V>("values", v.extent(0));
    for (std::size_t i = 0; i < v.extent(0); ++i) on_host(i) = static_cast<V>(v(i));
    return copy_to<Space>(on_host);
  }

  Context<Exec>& ctx_;
  SolveOptions options_;
  LeastSquaresMethod asked_;
  CsrMatrix<V, Space> matrix_;
  std::optional<LeastSquaresSolver<V, Exec>> least_squares_;
  std::optional<Solver<V, Exec>> definite_;
};

}  // namespace cnc::geometry
