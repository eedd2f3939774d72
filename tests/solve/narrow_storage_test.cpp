#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;

// A float matrix under double vectors: the true residual is that of the matrix given.

namespace {

/// A problem with values that float cannot hold: D A D, D from 1 to `spread`.
KnownProblem<double> unrepresentable(const std::string& text, double spread = 1.7) {
  const auto A = generate_problem(text);
  const auto scale = [&](index_t i) { return std::pow(spread, i % 7 / 6.0); };
  Vector<double> values("values", A.values.extent(0));
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      values(k) = A.values(k) * scale(row) * scale(A.columns(k));
  return with_known_solution(
      text, CsrMatrix<double>(A.rows, A.cols, 1, A.row_offsets, A.columns, values));
}

}  // namespace

CNC_SOLVER_TEST("float storage under double vectors reaches double accuracy by restarts") {
  for (const char* text : {sized(ctx, "poisson2d:20x20", "poisson2d:9x9"),
                           sized(ctx, "elasticity2d:6", "elasticity2d:3")}) {
    const auto P = unrepresentable(text);
    for (const Method method : every_method)
      for (const FormatSpec& format : formats_for(P.A, {2}))
        for (const auto reordering : {Reordering::none, Reordering::rcm}) {
          INFO(text << " " << to_string(method) << " " << format.text());
          SolveOptions options = options_for(method, format, PreconditionerKind::jacobi);
          options.storage = StoragePrecision::f32;
          options.reordering = reordering;
          options.rtol = 1e-12;
          const Vector<double> x = zeros<double>(P.rows());
          const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
          CHECK(report.converged());
          CHECK(report.restarts > 0);
          const Residual own = residual_of(P.A, P.b, x);
          CHECK(own.norm <= 1e-12 * norm2(P.b) + own.rounding);
          CHECK(relative_difference(x, P.solution) < 1e-9);
        }
  }
}

TEST_CASE("float storage moves fewer bytes per iteration") {
  const auto P = unrepresentable("poisson2d:30x30");
  Context<> ctx("reference");
  SolveOptions options;
  options.format = {"csr", 1};
  const auto bytes_per_iteration = [&] {
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    const SolveReport report = solver.solve(P.b, zeros<double>(P.rows()));
    CHECK(report.converged());
    return report.bytes / report.iterations;
  };
  const double wide = bytes_per_iteration();
  options.storage = StoragePrecision::f32;
  const double narrow = bytes_per_iteration();
  CHECK(wide - narrow == Approx(4.0 * static_cast<double>(P.A.stored())));
}

CNC_SOLVER_TEST("where the float matrix is too far off, x is still the best one found") {
  // A condition number beyond 1e8: what the float matrix says about a correction may be all wrong.
  const auto P = unrepresentable(sized(ctx, "poisson2d:30x30", "poisson2d:9x9"), 1e4);
  for (const index_t limit : {20, is_emulated(ctx.backend()) ? 200 : 2000}) {
    SolveOptions options;
    options.storage = StoragePrecision::f32;
    options.preconditioner = PreconditionerKind::none;
    options.rtol = 1e-15;
    options.max_iterations = limit;
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(P.A);
    const Vector<double> x = zeros<double>(P.rows());
    double before = residual_of(P.A, P.b, x).norm;
    for (int step = 0; step < 3; ++step) {
      const SolveReport report = solver.solve(P.b, x);
      const Residual after = residual_of(P.A, P.b, x);
      CHECK(report.true_residual <= report.initial_residual);
      CHECK(after.norm <= before + after.rounding);
      CHECK(std::abs(after.norm - report.true_residual) <= after.rounding);
      before = after.norm;
    }
  }
}

TEST_CASE("a value that float cannot hold refuses float storage") {
  const auto A = generate_problem("poisson2d:4x4");
  Vector<double> values("values", A.values.extent(0));
  Kokkos::deep_copy(values, A.values);
  values(0) = 1e60;
  Context<> ctx("reference");
  SolveOptions options;
  options.storage = StoragePrecision::f32;
  Solver<double> solver(ctx, options);
  const CsrMatrix<double> large(A.rows, A.cols, 1, A.row_offsets, A.columns, values);
  CHECK_THROWS_AS(solver.prepare(large), InvalidArgument);
}

CNC_SOLVER_TEST("where the float matrix fails, the one given goes on") {
  // H D H with a reflection H: symmetric, eigenvalues from 1 down to 1e-10, which float rounds to either side of zero.
  constexpr index_t n = 12;
  std::vector<double> u(n), values;
  double uu = 0;
  for (index_t i = 0; i < n; ++i) uu += (u[i] = 1 + 0.3 * ((i * 5) % 7)) * u[i];
  const auto h = [&](index_t i, index_t j) { return (i == j) - 2 * u[i] * u[j] / uu; };
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t k = 0; k < n; ++k)
        sum += h(i, k) * std::pow(10.0, -10.0 * k / (n - 1)) * h(j, k);
      columns.push_back(j);
      values.push_back(sum);
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  for (index_t i = 0; i < n; ++i)  // to the last bit
    for (index_t j = 0; j < i; ++j) values[i * n + j] = values[j * n + i];
  const auto P =
      with_known_solution("ill-conditioned", literal_csr<double>(n, n, offsets, columns, values));
  // All of its spectrum is in this right-hand side.
  const Vector<double> b("b", n);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < n; ++k) b(i) += h(i, k);
  SolveOptions options = options_for(Method::pcg, {}, PreconditionerKind::none);
  options.rtol = 1e-7;
  options.max_iterations = 2000;
  const SolveReport wide = solve_once(ctx, options, P.A, b, zeros<double>(n));
  CHECK(wide.converged());
  CHECK(wide.choice.empty());
  options.storage = StoragePrecision::f32;
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  for (int k = 0; k < 2; ++k) {
    const Vector<double> x = zeros<double>(n);
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    const Residual own = residual_of(P.A, b, x);
    CHECK(own.norm <= 1.01e-7 * norm2(b) + own.rounding);
    // It is not tried again before there are other values.
    CHECK_THAT(report.choice, Catch::Matchers::ContainsSubstring(k == 0 ? "after" : "before"));
    CHECK(report.format == "csr");
  }
}
