#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;

namespace {

/// 1 on the diagonal, `flow` beside it on one side and -flow on the other: eigenvalues far from the real axis.
CsrMatrix<double> nearly_skew(index_t n, double flow) {
  std::vector<index_t> offsets{0}, columns;
  std::vector<double> values;
  for (index_t i = 0; i < n; ++i) {
    for (const index_t j : {i - 1, i, i + 1}) {
      if (j < 0 || j >= n) continue;
      columns.push_back(j);
      values.push_back(j == i ? 1 : j < i ? -flow : flow);
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  return literal_csr<double>(n, n, offsets, columns, values);
}

}  // namespace

CNC_SOLVER_TEST("bicgstab2 solves what is not symmetric") {
  for (const char* text : {"convection3d:5:1", "convection3d:4:3"}) {
    const auto P = known_problem<double>(text);
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
      INFO(text << " " << int(kind));
      const SolveOptions options = options_for(Method::bicgstab2, {}, kind, 3);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      CHECK(report.converged());
      CHECK(report.iterations < 50);
      CHECK(residual_of(P.A, P.b, x).norm <= 1.001e-8 * norm2(P.b));
      CHECK(relative_difference(x, P.solution) < 1e-6);
    }
  }
}

CNC_SOLVER_TEST(
    "bicgstab2 takes fewer products than bicgstab where eigenvalues are far from real") {
  const auto P = with_known_solution("nearly skew", nearly_skew(60, 3));
  const auto solve = [&](Method method) {
    SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
    options.max_iterations = 1000;
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
    if (method == Method::bicgstab2) {
      CHECK(report.converged());
      CHECK(relative_difference(x, P.solution) < 1e-6);
    }
    return report.iterations * method_facts(method).products;
  };
  CHECK(2 * solve(Method::bicgstab2) < solve(Method::bicgstab));
}

CNC_SOLVER_TEST("bicgstab2 starts again where it had to leave out a step") {
  // After a first step the residual is orthogonal to the shadow, and stays so.
  const auto P = with_known_solution(
      "arrow", literal_csr<double>(5, 5, {0, 1, 3, 5, 7, 9}, {0, 0, 1, 0, 2, 0, 3, 0, 4},
                                   {1, -0.1, 1, -0.1, 2, -0.1, 4, -0.1, 7}));
  const Vector<double> b("b", 5), x = zeros<double>(5);
  b(0) = 1;
  const SolveReport report =
      solve_once(ctx, options_for(Method::bicgstab2, {}, PreconditionerKind::none), P.A, b, x);
  CHECK(report.converged());
  CHECK(report.restarts > 0);
  CHECK(x(3) == Approx(0.025));
  CHECK(x(4) == Approx(0.1 / 7));
}

CNC_SOLVER_TEST("bicgstab2 comes as far as rounding lets it, by new starts") {
  const auto P = known_problem<double>("convection3d:5:1");
  SolveOptions options = options_for(Method::bicgstab2, {}, PreconditionerKind::none);
  options.rtol = 0;  // never met
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
  CHECK(std::string(cnc::to_string(report.status)) == "stagnated");
  CHECK(report.true_residual < 1e-12 * norm2(P.b));
}
