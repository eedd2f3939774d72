#include "solve/solver_test.hpp"

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
