#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <cnc/blas1.hpp>
#include <cnc/triplets.hpp>

using namespace cnc;
using namespace cnc::testing;

// Methods with products with A^T: bicg, and cgnr, the conjugate gradients of the normal equations.

namespace {

constexpr Method with_transpose[] = {Method::bicg, Method::cgnr};

/// A problem in which something flows, so that A^T is another matrix, or one that keeps a symmetric layout.
KnownProblem<double> flow() { return known_problem<double>("convection3d:5:1"); }

template <class Exec>
void check_solution(const SolveReport& report, const KnownProblem<double>& P,
                    const Vector<double>& x) {
  CHECK(std::string(cnc::to_string(report.status)) == "converged");
  CHECK(residual_of(P.A, P.b, x).norm <= 1.001 * report.tolerance);
  CHECK(relative_difference(x, P.solution) < 1e-5);
}

/// 2n x 2n, skew: nothing on the diagonal, eigenvalues on both sides of zero along the imaginary axis.
CsrMatrix<double> skew(index_t n) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < n; ++i) {
    const double a = 1 + i % 5;
    entries.push_back({i, n + i, a});
    entries.push_back({n + i, i, -a});
    if (i > 0) entries.push_back({i, n + i - 1, 0.5});
    if (i > 0) entries.push_back({n + i - 1, i, -0.5});
  }
  return csr_from_triplets<double>(2 * n, 2 * n, entries);
}

}  // namespace

CNC_SOLVER_TEST("bicg and cgnr solve what is not symmetric, in every layout") {
  const auto P = flow();
  for (const FormatSpec& format : formats_for(P.A, {3}))
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
      for (const StoragePrecision storage : {StoragePrecision::as_vectors, StoragePrecision::f32}) {
        if (is_emulated(ctx.backend()) && (storage != StoragePrecision::f32 || int(kind) == 0))
          continue;
        for (const Method method : with_transpose) {
          INFO(format.text() << " " << int(kind) << " " << int(storage) << " "
                             << to_string(method));
          SolveOptions options = options_for(method, format, kind, 3);
          options.storage = storage;
          const Vector<double> x = zeros<double>(P.rows());
          check_solution<Exec>(solve_once(ctx, options, P.A, P.b, x), P, x);
        }
      }
}

CNC_SOLVER_TEST("a method with the transpose follows new values and the order of rows") {
  const auto P = flow();
  const auto other = with_known_solution(
      "twice", with_diagonal(P.A, [](index_t row, double a) { return a + 1 + row % 3; }));
  for (const Method method : with_transpose)
    for (const Reordering reordering : {Reordering::none, Reordering::rcm})
      for (const char* format : {"csr", "bsell", "dia"}) {
        INFO(to_string(method) << " " << format << " " << int(reordering));
        SolveOptions options = options_for(method, {format, 1}, PreconditionerKind::jacobi);
        options.reordering = reordering;
        auto solver = solver_on<double>(ctx, options);
        solver.prepare(P.A);
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport first = solver.solve(P.b, x);
        check_solution<Exec>(first, P, x);
        solver.update_values(other.A);
        Kokkos::deep_copy(x, 0.0);
        const SolveReport second = solver.solve(other.b, x);
        check_solution<Exec>(second, other, x);
        const Vector<double> fresh = zeros<double>(P.rows());
        CHECK(solve_once(ctx, options, other.A, other.b, fresh).iterations == second.iterations);
        CHECK(same_bits(x, fresh));
      }
}

CNC_SOLVER_TEST("a layout given brings its transpose along") {
  const auto P = flow();
  const auto other =
      with_known_solution("other", with_diagonal(P.A, [](index_t, double a) { return 1.5 * a; }));
  const auto symmetric = known_problem<double>("poisson2d:9x7");
  for (const Method method : with_transpose) {
    for (const FormatSpec& format : formats_for(P.A, {3})) {
      if (format.name == "auto") continue;
      INFO(to_string(method) << " " << format.text());
      auto solver =
          solver_on<double>(ctx, options_for(method, {}, PreconditionerKind::block_jacobi, 2));
      solver.prepare(build_format(P.A, format));
      const Vector<double> x = zeros<double>(P.rows());
      check_solution<Exec>(solver.solve(P.b, x), P, x);
      solver.update_values(build_format(other.A, format));
      check_solution<Exec>(solver.solve(other.b, x), other, x);
    }
    INFO(to_string(method) << " dia-symmetric");
    auto solver = solver_on<double>(ctx, options_for(method, {}, PreconditionerKind::jacobi));
    solver.prepare(build_format(symmetric.A, {"dia-symmetric", 1}));
    const Vector<double> x = zeros<double>(symmetric.rows());
    check_solution<Exec>(solver.solve(symmetric.b, x), symmetric, x);
  }
}

CNC_SOLVER_TEST("an operator and functions need their transposes") {
  using Space = typename Exec::memory_space;
  const auto P = flow();
  const auto A = copy_to<Space>(P.A), At = copy_to<Space>(transpose(P.A));
  Preconditioner<double> jacobi;
  REQUIRE(set_up_preconditioner(P.A, PreconditionerKind::jacobi, 1, jacobi).ok());
  const auto inverse = copy_to<Space>(jacobi.inverse);
  const auto scale = [&](const auto& r, const auto& z) { multiply(ctx, inverse, r, z); };
  const Vector<double, Space> b = copy_to<Space>(P.b), x = zeroed<double, Space>("x", b.extent(0));
  for (const Method method : with_transpose) {
    if (!has_passes(ctx.backend(), method)) continue;
    INFO(to_string(method));
    SolveOptions options = options_for(method, {"csr", 1}, PreconditionerKind::none);
    const SolveReport plain = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));

    LinearOperator<double, Space> operation{
        P.rows(), [&](const auto& from, const auto& to) { spmv(ctx, 1.0, A, from, 0.0, to); }};
    Solver<double, Exec> solver(ctx, options);
    solver.prepare(operation);
    CHECK_THROWS_AS(solver.solve(b, x), UnsupportedOperation);
    operation.apply_transposed = [&](const auto& from, const auto& to) {
      spmv(ctx, 1.0, At, from, 0.0, to);
    };
    solver.prepare(operation);
    Kokkos::deep_copy(x, 0.0);
    const SolveReport by_operator = solver.solve(b, x);
    CHECK(by_operator.converged());
    CHECK(std::abs(by_operator.iterations - plain.iterations) <= 2);
    check_solution<Exec>(by_operator, P, copy_to<HostSpace>(x));

    solver.prepare(A);
    solver.set_preconditioner(scale);
    if (method == Method::bicg) {
      CHECK_THROWS_AS(solver.solve(b, x), UnsupportedOperation);
      options.preconditioner = PreconditionerKind::jacobi;
      const SolveReport built_in = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
      for (const EnqueuesOnly promise : {EnqueuesOnly::no, EnqueuesOnly::yes}) {
        solver.set_preconditioner(scale, promise, scale);
        Kokkos::deep_copy(x, 0.0);
        const SolveReport by_function = solver.solve(b, x);
        CHECK(by_function.converged());
        CHECK(std::abs(by_function.iterations - built_in.iterations) <= 2);
      }
    } else {
      Kokkos::deep_copy(x, 0.0);
      CHECK(solver.solve(b, x).converged());  // any definite M is one of the normal equations
    }
  }
}

CNC_SOLVER_TEST("cgnr solves what has no diagonal and no definite part") {
  const auto P = with_known_solution("skew", skew(40));
  const SolveOptions options = options_for(Method::cgnr, {}, PreconditionerKind::jacobi);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
  check_solution<Exec>(report, P, x);
  CHECK(report.iterations <= P.rows());
  for (std::size_t k = 1; k < report.history.size(); ++k)
    CHECK(report.history[k] <= report.history[k - 1] * (1 + 1e-12));
}

CNC_SOLVER_TEST("cgnr says so where no x solves the system") {
  // Row 1 is empty, and b has something there.
  const auto A = literal_csr<double>(3, 3, {0, 2, 2, 3}, {0, 2, 1}, {1, 2, 3});
  const Vector<double> b("b", 3), x = zeros<double>(3);
  b(0) = b(1) = 1;
  b(2) = 3;
  const SolveReport report =
      solve_once(ctx, options_for(Method::cgnr, {"csr", 1}, PreconditionerKind::jacobi), A, b, x);
  CHECK(!report.converged());
  CHECK(report.true_residual == Approx(1).epsilon(1e-10));  // the least there is
}
