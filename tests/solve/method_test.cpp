#include "solve/solver_test.hpp"

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

CNC_SOLVER_TEST("a matrix that is not symmetric is no fault of a method that takes it") {
  const auto P = known_problem<double>("convection3d:5:1");
  SolveOptions options = options_for(Method::bicgstab, {}, PreconditionerKind::jacobi);
  options.max_iterations = 2;
  const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  CHECK(report.status == SolveStatus::max_iterations);
  CHECK(report.detail.empty());
}
