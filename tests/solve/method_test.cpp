#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;

// What each method is for, through the public door.

CNC_SOLVER_TEST("bicgstab solves what is not symmetric") {
  for (const char* text : {"convection3d:5:1", "convection3d:4:3"}) {
    const auto P = known_problem<double>(text);
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
      INFO(text << " " << int(kind));
      const SolveOptions options = options_for(Method::bicgstab, {}, kind, 3);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      CHECK(report.converged());
      CHECK(report.iterations < 100);
      CHECK(residual_of(P.A, P.b, x).norm <= 1.001e-8 * norm2(P.b));
      CHECK(relative_difference(x, P.solution) < 1e-6);
    }
  }
}

CNC_SOLVER_TEST("bicgstab starts again where nothing but rounding is left of its scalars") {
  const auto P = known_problem<double>("convection3d:5:1");
  SolveOptions options = options_for(Method::bicgstab, {}, PreconditionerKind::none);
  options.rtol = 0;  // never met
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
  CHECK(std::string(cnc::to_string(report.status)) == "stagnated");
  CHECK(report.true_residual < 1e-12 * norm2(P.b));
}

CNC_SOLVER_TEST("pipelined pcg comes as far as pcg, by new starts") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:40x30", "poisson2d:13x11"));
  const SolveReport classic =
      solve_once(ctx, options_for(Method::pcg, {}, PreconditionerKind::jacobi), P.A, P.b,
                 zeros<double>(P.rows()));
  SolveOptions options = options_for(Method::pcg_pipelined, {}, PreconditionerKind::jacobi);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport pipelined = solve_once(ctx, options, P.A, P.b, x);
  CHECK(pipelined.converged());
  CHECK(std::abs(pipelined.iterations - classic.iterations) <= 2);
  CHECK(relative_difference(x, P.solution) < 1e-6);

  options.rtol = 1e-12;
  const SolveReport further = solve_once(ctx, options, P.A, P.b, x);
  CHECK(further.converged());

  options.rtol = 0;
  const SolveReport last = solve_once(ctx, options, P.A, P.b, x);
  CHECK(std::string(cnc::to_string(last.status)) == "stagnated");
  CHECK(last.restarts > 0);
  CHECK(last.true_residual < 1e-12 * norm2(P.b));
}

namespace {

/// A with `shift` less on the diagonal, and 0 in every third row of it.
CsrMatrix<double> indefinite(const CsrMatrix<double>& given, double shift, bool with_zeros) {
  return with_diagonal(
      given, [=](index_t row, double a) { return with_zeros && row % 3 == 0 ? 0 : a - shift; });
}

}  // namespace

CNC_SOLVER_TEST("minres solves what is symmetric and not definite") {
  const auto definite = generate_problem("poisson2d:13x11");
  for (const bool with_zeros : {false, true}) {
    // The eigenvalues of the first are between -1.3 and 6.7, on both sides of zero.
    const auto P = with_known_solution<double>("indefinite", indefinite(definite, 1.3, with_zeros));
    for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
      INFO(with_zeros << " " << int(kind));
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report =
          solve_once(ctx, options_for(Method::minres, {}, kind), P.A, P.b, x);
      CHECK(report.converged());
      CHECK(report.iterations <= 2 * P.rows());
      CHECK(residual_of(P.A, P.b, x).norm <= 1.001e-8 * norm2(P.b));
      CHECK(relative_difference(x, P.solution) < 1e-5);
      for (std::size_t k = 1; kind == PreconditionerKind::none && k < report.history.size(); ++k)
        CHECK(report.history[k] <= report.history[k - 1] * (1 + 1e-9));
    }
  }
}

CNC_SOLVER_TEST("cg says of an indefinite matrix which method takes it") {
  const auto P = with_known_solution<double>(
      "indefinite", indefinite(generate_problem("poisson2d:13x11"), 1.3, false));
  const auto solve = [&](Method method, PreconditionerKind kind) {
    return solve_once(ctx, options_for(method, {"csr", 1}, kind, 3), P.A, P.b,
                      zeros<double>(P.rows()));
  };
  const SolveReport report = solve(Method::pcg, PreconditionerKind::none);
  CHECK(report.status == SolveStatus::not_positive_definite);
  CHECK_THAT(report.detail, Catch::Matchers::ContainsSubstring("minres"));
}

CNC_SOLVER_TEST("the automatic method suits the matrix, and gives way where it fails") {
  const auto solve = [&](const CsrMatrix<double>& A, bool as_layout) {
    const auto P = with_known_solution<double>("automatic", A);
    auto solver =
        solver_on<double>(ctx, options_for(Method::automatic, {as_layout ? "auto" : "csr", 1},
                                           PreconditionerKind::jacobi));
    if (as_layout)
      solver.prepare(Matrix<double>(to_bsell(A)));
    else
      solver.prepare(A);
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solver.solve(P.b, x);
    CHECK(report.converged());
    CHECK(relative_difference(x, P.solution) < 1e-5);
    CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
    CHECK_THAT(report.choice, Catch::Matchers::ContainsSubstring(method_name(report.method)));
    return report;
  };
  const auto definite = generate_problem("poisson2d:13x11");
  for (const bool as_layout : {false, true}) {
    INFO(as_layout);
    CHECK(solve(definite, as_layout).method == Method::pcg_smoothed);
    CHECK(solve(generate_problem("convection3d:5:1"), as_layout).method == Method::bicgstab2);
    CHECK(solve(indefinite(definite, 1.3, true), as_layout).method == Method::minres);
    // Its diagonal is positive: nothing but an iteration of CG shows that it is not definite.
    const SolveReport changed = solve(indefinite(definite, 1.3, false), as_layout);
    CHECK(changed.method == Method::minres);
    CHECK_THAT(changed.choice, Catch::Matchers::StartsWith("pcg-smoothed: ") &&
                                   Catch::Matchers::ContainsSubstring("not_positive_definite"));
  }
}

CNC_SOLVER_TEST("the automatic method works with what solvers work with") {
  const auto definite = generate_problem("poisson2d:13x11");
  const auto P = with_known_solution<double>("indefinite", indefinite(definite, 1.3, false));
  const SolveOptions plain = options_for(Method::automatic, {}, PreconditionerKind::jacobi);
  const auto check = [&](const SolveOptions& options, double accuracy) {
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
    CHECK(report.converged());
    CHECK(report.method == Method::minres);
    CHECK(relative_difference(x, P.solution) < accuracy);
    return report;
  };
  SolveOptions options = plain;
  options.reordering = Reordering::rcm;
  check(options, 1e-5);
  options = plain;
  options.storage = StoragePrecision::f32;
  CHECK(check(options, 1e-5).restarts > 0);
  options = plain;
  int calls = 0;
  index_t last = -1;
  options.callback_interval = 5;
  options.callback = [&](const Progress& progress) {
    CHECK(progress.iteration > last);  // counted on, whatever the method
    last = progress.iteration;
    return ++calls > 0;
  };
  check(options, 1e-5);
  CHECK(calls > 3);
  options = plain;
  const index_t needed = check(options, 1e-5).iterations;
  options.max_iterations = needed / 2;
  const SolveReport limited = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  CHECK(limited.status == SolveStatus::max_iterations);
  CHECK(limited.iterations == needed / 2);
  CHECK(limited.true_residual < norm2(P.b));

  // A zero on the diagonal of what is not symmetric is no fault of Jacobi's.
  const auto Q = with_known_solution<double>(
      "zero", literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {3, 1, -1, 0}));
  const Vector<double> x = zeros<double>(2);
  CHECK(solve_once(ctx, plain, Q.A, Q.b, x).converged());
  CHECK(relative_difference(x, Q.solution) < 1e-6);
}

CNC_SOLVER_TEST("smoothed CG breaks down where r is orthogonal to M^-1 r") {
  const auto A = literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {1, -1});
  const Vector<double> b("b", 2), x = zeros<double>(2);
  b(0) = b(1) = 1;
  const SolveOptions options = options_for(Method::pcg_smoothed, {}, PreconditionerKind::jacobi);
  const SolveReport report = solve_once(ctx, options, A, b, x);
  CHECK(report.status == SolveStatus::breakdown);
  CHECK(report.iterations == 0);
}

CNC_SOLVER_TEST("the automatic method is chosen again for new values") {
  const auto P = known_problem<double>("poisson2d:9x8");
  auto solver = solver_on<double>(
      ctx, options_for(Method::automatic, {"csr", 1}, PreconditionerKind::jacobi));
  solver.prepare(P.A);
  CHECK(solver.solve(P.b, zeros<double>(P.rows())).method == Method::pcg_smoothed);
  const auto other = deep_copy_of(P.A);
  for (index_t row = 0; row < other.rows; ++row)
    for (index_t k = other.row_offsets(row); k < other.row_offsets(row + 1); ++k)
      if (other.columns(k) > row) other.values(k) *= 0.5;
  solver.update_values(other);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(product(other, P.solution), x);
  CHECK(report.converged());
  CHECK(report.method == Method::bicgstab2);
  CHECK_THAT(report.choice, Catch::Matchers::ContainsSubstring("not symmetric: a("));
  CHECK(relative_difference(x, P.solution) < 1e-6);
  solver.update_values(P.A);
  CHECK(solver.solve(P.b, x).method == Method::pcg_smoothed);
}

CNC_SOLVER_TEST("a matrix that is not symmetric is no fault of a method that takes it") {
  const auto P = known_problem<double>("convection3d:5:1");
  SolveOptions options = options_for(Method::bicgstab, {}, PreconditionerKind::jacobi);
  options.max_iterations = 2;
  const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  CHECK(report.status == SolveStatus::max_iterations);
  CHECK(report.detail.empty());
}

CNC_SOLVER_TEST("the automatic method comes to the normal equations where all else stands still") {
  const auto P = with_known_solution("shift", cyclic_shift(200, 2));
  const bool has_cgnr =
      has_passes(ctx.backend(), Method::cgnr) ||
      matrix_ops<BcsrOperand<double>, double>(ctx.backend()).run[static_cast<int>(Method::cgnr)] !=
          nullptr;
  for (const bool as_layout : {false, true}) {
    INFO(as_layout);
    SolveOptions options = options_for(Method::automatic, {}, PreconditionerKind::jacobi);
    options.restart = 2;
    auto solver = solver_on<double>(ctx, options);
    if (as_layout)
      solver.prepare(Matrix<double>(to_bsell(P.A)));
    else
      solver.prepare(P.A);
    const Vector<double> b = zeros<double>(P.rows()), x = zeros<double>(P.rows());
    b(0) = 1;
    for (int k = 0; k < 2; ++k) {
      Kokkos::deep_copy(x, 0.0);
      const SolveReport report = solver.solve(b, x);
      if (!has_cgnr) continue;
      CHECK(report.converged());
      CHECK(report.method == Method::cgnr);
      CHECK(x(1) == Approx(0.5));
      CHECK_THAT(report.choice, Catch::Matchers::ContainsSubstring("gmres(2)") &&
                                    Catch::Matchers::EndsWith("cgnr"));
    }
  }
}
