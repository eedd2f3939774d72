#include "solve/solver_test.hpp"
#include "support/singular_problem.hpp"

using namespace cnc;
using namespace cnc::testing;

// Singular systems whose null space is known.

namespace {

using Catch::Matchers::ContainsSubstring;

bool projects(const Backend& backend) {
  return solves(backend) && vector_ops<double>(backend).mdot != nullptr;
}

}  // namespace

CNC_SOLVER_TEST_WHERE(projects, "Neumann problems converge to the x without a constant") {
  const auto P = neumann_problem(neumann_laplacian(sized(ctx, "poisson2d:19x17", "poisson2d:9x7")));
  for (const Method method : all_methods)
    for (const Reordering reordering : {Reordering::none, Reordering::rcm}) {
      INFO(to_string(method) << " " << int(reordering));
      SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
      options.null_space = NullSpace::constant;
      options.reordering = reordering;
      // A constant in the guess goes too.
      const Vector<double> x = zeros<double>(P.rows());
      Kokkos::deep_copy(x, 3.0);
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      CHECK(std::string(cnc::to_string(report.status)) == "converged");
      CHECK(std::abs(sum_of(x, 0, P.rows())) < 1e-9 * P.rows());
      CHECK(relative_difference(x, P.solution) < 1e-4);
      CHECK(residual_of(P.A, P.b, x).norm <= 1.001 * report.tolerance);
    }
}

CNC_SOLVER_TEST_WHERE(projects, "a right-hand side with a part in the null space is inconsistent") {
  const auto P = neumann_problem(neumann_laplacian("poisson2d:9x7"));
  const Vector<double> b = copy_of(P.b);
  for (index_t i = 0; i < P.rows(); ++i) b(i) += 0.25;
  const double outside = 0.25 * std::sqrt(double(P.rows()));
  for (const Method method : {Method::pcg, Method::minres, Method::gmres}) {
    INFO(to_string(method));
    SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
    options.null_space = NullSpace::constant;
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solve_once(ctx, options, P.A, b, x);
    CHECK(std::string(cnc::to_string(report.status)) == "inconsistent");
    CHECK_THAT(report.detail, ContainsSubstring("null space"));
    CHECK(report.true_residual == Approx(outside).epsilon(1e-6));
    CHECK(relative_difference(x, P.solution) < 1e-5);  // of the rest
    // Nothing but a constant.
    Kokkos::deep_copy(b, 2.0);
    const SolveReport constant = solve_once(ctx, options, P.A, b, x);
    CHECK(std::string(cnc::to_string(constant.status)) == "inconsistent");
    CHECK(norm2(x) < 1e-12);
    for (index_t i = 0; i < P.rows(); ++i) b(i) = P.b(i) + 0.25;
  }
}

CNC_SOLVER_TEST_WHERE(projects,
                      "vectors that the matrix does not map to zero never end as converged") {
  // Rows of the flow add up to zero at no boundary; columns of the other add up to something.
  const auto P = known_problem<double>("convection3d:4:1");
  for (const Method method : {Method::bicgstab, Method::gmres}) {
    SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
    options.null_space = NullSpace::constant;
    options.max_iterations = 300;
    const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    INFO(to_string(method) << " " << cnc::to_string(report.status));
    CHECK(!report.converged());
  }
  // Not even the rest of a right-hand side is solved.
  const auto regular = known_problem<double>("poisson2d:9x7");
  SolveOptions options = options_for(Method::pcg, {}, PreconditionerKind::jacobi);
  options.null_space = NullSpace::constant;
  const Vector<double> b = copy_of(regular.b);
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) += 0.25;
  const SolveReport report = solve_once(ctx, options, regular.A, b, zeros<double>(regular.rows()));
  CHECK(std::string(cnc::to_string(report.status)) == "stagnated");
  CHECK_THAT(report.detail, ContainsSubstring("does not map"));
}

CNC_SOLVER_TEST_WHERE(projects,
                      "a null space goes with extreme right-hand sides and float vectors") {
  const auto P = neumann_problem(neumann_laplacian("poisson2d:9x7"));
  SolveOptions options = options_for(Method::pcg, {}, PreconditionerKind::jacobi);
  options.null_space = NullSpace::constant;
  for (const double scale : {1e-170, 1e160}) {
    INFO(scale);
    const Vector<double> b = copy_of(P.b), x = zeros<double>(P.rows());
    for (std::size_t i = 0; i < b.extent(0); ++i) b(i) *= scale;
    const SolveReport report = solve_once(ctx, options, P.A, b, x);
    CHECK(report.converged());
    for (std::size_t i = 0; i < b.extent(0); ++i) x(i) /= scale;
    CHECK(relative_difference(x, P.solution) < 1e-5);
  }
  const auto F = known_problem<float>("poisson2d:9x7");
  auto narrow = convert_values<float>(P.A);
  const Vector<float> b("b", P.b.extent(0)), x = zeros<float>(F.rows());
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = static_cast<float>(P.b(i));
  options.rtol = 1e-5;
  CHECK(solve_once(ctx, options, narrow, b, x).converged());
  CHECK(relative_difference(x, P.solution) < 1e-3);
}

CNC_SOLVER_TEST_WHERE(projects, "null vectors that are given are taken out") {
  const auto one = neumann_laplacian("poisson2d:7x6");
  const auto P = with_known_solution("two parts", twice(one));
  auto solver = solver_on<double>(ctx, options_for(Method::pcg, {}, PreconditionerKind::jacobi));
  using Space = typename Exec::memory_space;
  std::vector<Vector<const double, Space>> parts;
  for (const index_t begin : {0, one.rows}) {
    const Vector<double> part = zeros<double>(P.rows());
    for (index_t i = begin; i < begin + one.rows; ++i) part(i) = 2;
    parts.push_back(copy_to<Space>(part));
  }
  solver.set_null_space(parts);
  solver.prepare(P.A);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(std::abs(sum_of(x, 0, one.rows)) < 1e-9 * one.rows);
  CHECK(std::abs(sum_of(x, one.rows, P.rows())) < 1e-9 * one.rows);
  CHECK(residual_of(P.A, P.b, x).norm <= 1.001 * report.tolerance);

  // The same vector twice, a wrong length, and none.
  solver.set_null_space({parts[0], parts[0]});
  CHECK_THROWS_AS(solver.prepare(P.A), InvalidArgument);
  CHECK_THROWS_AS(solver.solve(P.b, x), InvalidArgument);
  solver.set_null_space({copy_to<Space>(zeros<double>(3))});
  CHECK_THROWS_AS(solver.prepare(P.A), InvalidArgument);
  solver.set_null_space({});
  CHECK_NOTHROW(solver.prepare(P.A));
}
