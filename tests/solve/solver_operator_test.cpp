#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <cnc/blas1.hpp>
#include <cnc/reorder.hpp>

using namespace cnc;
using namespace cnc::testing;

// What a solver can be prepared with, and how it orders its rows.

namespace {

/// A matrix whose rows come in an order that makes them far from their neighbours.
CsrMatrix<double> shuffled(const CsrMatrix<double>& A, int block_size) {
  Vector<index_t> p("p", static_cast<std::size_t>(A.rows));
  const index_t blocks = A.rows / block_size;
  for (index_t i = 0; i < blocks; ++i)
    for (int r = 0; r < block_size; ++r)
      p(i * block_size + r) =
          static_cast<index_t>(static_cast<offset_t>(i) * 1009 % blocks) * block_size + r;
  return permute(A, p);
}

}  // namespace

CNC_SOLVER_TEST_WHERE(solves_on_request, "matrix-free equals the matrix") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:20x15", "poisson2d:11x9"));
  const LinearOperator<double> operation{P.rows(), [&](const auto& x, const auto& y) {
                                           Kokkos::deep_copy(y, product(P.A, copy_of(x)));
                                         }};
  for (const Method method : every_method) {
    if (!takes_parts_of_others(ctx.backend(), method)) continue;
    INFO(to_string(method));
    SolveOptions options = options_for(method, {"csr", 1}, PreconditionerKind::none);
    const Vector<double> x = zeros<double>(P.rows()), y = zeros<double>(P.rows());
    const SolveReport by_matrix = solve_once(ctx, options, P.A, P.b, x);
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(operation);
    const SolveReport by_operator = solver.solve(P.b, y);
    CHECK(by_matrix.converged());
    CHECK(by_operator.converged());
    CHECK(by_operator.form == (has_passes(ctx.backend(), method) ? SolveForm::fused_steps
                                                                 : SolveForm::plain_operations));
    CHECK(by_operator.format == "matrix-free");
    CHECK(by_operator.bytes > 0);
    // Where residuals leap, rounding decides how many it takes.
    const int apart = method_facts(method).symmetric ? 1 : 1 + by_matrix.iterations / 4;
    CHECK(std::abs(by_operator.iterations - by_matrix.iterations) <= apart);
    CHECK(relative_difference(y, x) < 1e-7);
    CHECK(residual_of(P.A, P.b, y).norm <= 1.001e-8 * norm2(P.b));
  }
}

CNC_SOLVER_TEST("matrix-free with the caller's preconditioner") {
  const auto P = known_problem<double>(sized(ctx, "wathen:7x7", "wathen:4x4"));
  SolveOptions options;
  const SolveReport jacobi = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  options.preconditioner = PreconditionerKind::none;
  const SolveReport none = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(LinearOperator<double>{P.rows(), [&](const auto& x, const auto& y) {
                                          Kokkos::deep_copy(y, product(P.A, copy_of(x)));
                                        }});
  Preconditioner<double> M;
  REQUIRE(set_up_preconditioner(P.A, PreconditionerKind::jacobi, 1, M).ok());
  // This one works where the context does.
  const auto inverse = copy_to<typename Exec::memory_space>(M.inverse);
  solver.Solver<double, Exec>::set_preconditioner(
      [&](const auto& r, const auto& z) { multiply(ctx, inverse, r, z); });
  const SolveReport custom = solver.solve(P.b, zeros<double>(P.rows()));
  CHECK(custom.converged());
  CHECK(std::abs(custom.iterations - jacobi.iterations) <= 1);
  CHECK(custom.iterations < none.iterations);
}

CNC_SOLVER_TEST("reordered by RCM, x and b keep the caller's order") {
  const std::pair<const char*, int> cases[] = {{sized(ctx, "poisson2d:23x17", "poisson2d:8x7"), 1},
                                               {sized(ctx, "elasticity2d:9", "elasticity2d:4"), 2}};
  for (const auto& [text, block] : cases) {
    const auto P = with_known_solution(text, shuffled(generate_problem(text), block));
    for (const FormatSpec& format : formats_for(P.A, {2, 3}))
      for (const auto kind : {PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
        INFO(text << " " << format.text() << " " << int(kind));
        SolveOptions options = options_for(Method::pcg, format, kind);
        options.rtol = 1e-11;
        options.reordering = Reordering::rcm;
        const Vector<double> x = zeros<double>(P.rows()), b = copy_of(P.b);
        const SolveReport report = solve_once(ctx, options, P.A, b, x);
        CHECK(report.converged());
        CHECK(relative_difference(x, P.solution) < 1e-8);
        CHECK(same_bits(b, P.b));
        const Residual own = residual_of(P.A, P.b, x);
        CHECK(own.norm <= report.tolerance + own.rounding);
        // A guess is in the caller's order as well.
        const Vector<double> guess = copy_of(P.solution);
        CHECK(solve_once(ctx, options, P.A, b, guess).iterations == 0);
        CHECK(same_bits(guess, P.solution));
      }
  }
}

CNC_SOLVER_TEST("RCM keeps the blocks of the automatic layout and of the preconditioner") {
  const auto A = generate_problem(sized(ctx, "elasticity3d:6", "elasticity3d:3"));
  const auto P = with_known_solution("elasticity3d", shuffled(A, 3));
  SolveOptions options;
  options.preconditioner = PreconditionerKind::block_jacobi;
  const auto solve_in_order = [&](Reordering reordering) {
    options.reordering = reordering;
    return solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  };
  const SolveReport given = solve_in_order(Reordering::none);
  const SolveReport reordered = solve_in_order(Reordering::rcm);
  // Of some sixty iterations; on devices rounding differs more, with the order and the form of a run.
  constexpr index_t little = Context<Exec>::memory == MemorySpace::host ? 2 : 5;
  CHECK(reordered.format == given.format);
  CHECK(reordered.preconditioner == given.preconditioner);
  CHECK(std::abs(reordered.iterations - given.iterations) <= little);

  options.format = {"csr", 1};
  options.preconditioner_block_size = 3;
  const SolveReport in_csr = solve_in_order(Reordering::rcm);
  CHECK(in_csr.preconditioner == given.preconditioner);
  CHECK(std::abs(in_csr.iterations - given.iterations) <= little);
}

CNC_SOLVER_TEST("block Jacobi takes the unknowns of a node, whatever layout is chosen") {
  const std::tuple<const char*, const char*, int> cases[] = {
      {sized(ctx, "elasticity3d:6", "elasticity3d:3"), "block-jacobi:3", 3},
      {sized(ctx, "elasticity2d:9", "elasticity2d:4"), "block-jacobi:2", 2},
      {sized(ctx, "poisson2d:23x17", "poisson2d:8x7"), "block-jacobi:1", 1}};
  for (const auto& [text, name, size] : cases) {
    const auto P = with_known_solution(text, generate_problem(text));
    SolveOptions options;
    options.preconditioner = PreconditionerKind::block_jacobi;
    const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    INFO(text << " " << report.format);
    CHECK(report.preconditioner == name);
    options.preconditioner_block_size = size;
    CHECK(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).iterations ==
          report.iterations);
    // A layout that the caller names says it.
    options.preconditioner_block_size = 0;
    options.format = {"csr", 1};
    CHECK(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).preconditioner ==
          "block-jacobi:1");
  }
}

CNC_SOLVER_TEST("the automatic layout comes with its reasons") {
  const auto A = generate_problem(sized(ctx, "elasticity3d:4", "elasticity3d:3"));
  auto solver = solver_on<double>(ctx);
  CHECK(solver.advice().empty());
  solver.prepare(A);
  const FormatAdvice advice = choose_format(analyze(A), sizeof(double), Context<Exec>::memory);
  CHECK(solver.advice() == advice.reasons);
  CHECK(solver.solve(varied_vector<double>(A.rows), zeros<double>(A.rows)).format ==
        advice.format.text());
  SolveOptions options;
  options.format = {"csr", 1};
  solver.set_options(options);
  solver.prepare(A);
  CHECK(solver.advice().empty());
}

CNC_SOLVER_TEST("one context serves several solvers, one solver several matrices") {
  const auto small = known_problem<double>("poisson2d:5x6");
  const auto large = known_problem<double>(sized(ctx, "poisson2d:40x30", "poisson2d:13x11"));
  auto one = solver_on<double>(ctx), two = solver_on<double>(ctx), moved = solver_on<double>(ctx);
  one.prepare(small.A);
  two.prepare(large.A);
  const Vector<double> x = zeros<double>(small.rows()), y = zeros<double>(large.rows());
  CHECK(one.solve(small.b, x).converged());
  CHECK(two.solve(large.b, y).converged());
  CHECK(relative_difference(x, small.solution) < 1e-6);
  CHECK(relative_difference(y, large.solution) < 1e-6);
  one.prepare(large.A);
  const Vector<double> again = zeros<double>(large.rows());
  CHECK(one.solve(large.b, again).converged());
  CHECK(same_bits(again, y));
  moved = std::move(one);
  Kokkos::deep_copy(again, 0);
  CHECK(moved.solve(large.b, again).converged());
  CHECK(same_bits(again, y));
}
