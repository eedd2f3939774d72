#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <chrono>
#include <thread>

using namespace cnc;
using namespace cnc::testing;

// Stopping rules, and the smallest systems there are.

CNC_SOLVER_TEST("the iteration limit") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:40x11", "poisson2d:13x5"));
  for_each_cg([&](SolveOptions options) {
    for (const index_t limit : {0, 1, 5, 64, 65}) {
      options.max_iterations = limit;
      options.rtol = 1e-300;
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      // 65 iterations are more than the attainable accuracy of this problem takes.
      if (report.status != SolveStatus::stagnated) {
        CHECK(report.status == SolveStatus::max_iterations);
        CHECK(report.iterations == limit);
      }
      CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
      CHECK(report.true_residual <= report.initial_residual);
      CHECK(std::abs(residual_of(P.A, P.b, x).norm - report.true_residual) <=
            residual_of(P.A, P.b, x).rounding);
      if (limit == 0) CHECK(same_bits(x, zeros<double>(P.rows())));
      CHECK((report.bytes > 0) == (limit > 0));
    }
  });
}

CNC_SOLVER_TEST("no iteration is made where the limit is met before the first") {
  const auto P = known_problem<double>("poisson2d:6x5");
  for_each_method([&](SolveOptions options) {
    options.max_seconds = 0;
    const Vector<double> x0 = varied_vector<double>(P.rows());
    x0(3) = 5;
    const Vector<double> x = copy_of(x0);
    const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
    CHECK(report.status == SolveStatus::time_limit);
    CHECK(report.iterations == 0);
    CHECK(report.restarts == 0);
    CHECK(same_bits(x, x0));
  });
}

CNC_SOLVER_TEST("the time limit ends a solve within a few iterations of it") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:50x50", "poisson2d:10x10"));
  for_each_cg([&](SolveOptions options) {
    options.preconditioner = PreconditionerKind::none;
    options.rtol = 1e-12;
    // A busy machine may take longer than the first limits for what comes before the first iteration.
    for (options.max_seconds = 0.02;; options.max_seconds *= 4) {
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(P.A);
      const std::chrono::duration<double> of_iteration(options.max_seconds / 20);
      solver.set_preconditioner([of_iteration](const auto& r, const auto& z) {
        std::this_thread::sleep_for(of_iteration);
        Kokkos::deep_copy(z, r);
      });
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      if (report.iterations == 0 && options.max_seconds < 0.3) continue;
      CHECK(report.status == SolveStatus::time_limit);
      CHECK(report.seconds >= options.max_seconds);
      CHECK(report.iterations >= 1);
      CHECK(report.iterations <= 40);
      CHECK(report.true_residual <= report.initial_residual);
      break;
    }
  });
}

CNC_SOLVER_TEST("the callback sees every k-th iteration and can stop the solve") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x20", "poisson2d:13x11"));
  for_each_method([&](SolveOptions options) {
    for (const index_t interval : {1, 3, 7, 100}) {
      std::vector<Progress> seen;
      options.callback_interval = interval;
      options.callback = [&](const Progress& progress) {
        seen.push_back(progress);
        return true;
      };
      const SolveReport whole = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
      CHECK(whole.converged());
      REQUIRE(seen.size() == static_cast<std::size_t>(whole.iterations / interval));
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const auto iteration = static_cast<std::size_t>(seen[i].iteration);
        CHECK(iteration == (i + 1) * static_cast<std::size_t>(interval));
        CHECK(seen[i].residual == whole.history[iteration]);
        CHECK(seen[i].relative_residual == seen[i].residual / whole.rhs_norm);
        CHECK(seen[i].seconds >= (i == 0 ? 0 : seen[i - 1].seconds));
      }
      options.callback = [&](const Progress& progress) {
        return progress.iteration < 2 * interval;
      };
      const SolveReport stopped = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
      if (2 * interval >= whole.iterations) continue;  // converges first
      CHECK(stopped.status == SolveStatus::stopped);
      CHECK(stopped.iterations == 2 * interval);
      CHECK(stopped.true_residual <= stopped.initial_residual);
    }
  });
}

CNC_SOLVER_TEST("what the tolerance is relative to") {
  const auto P = known_problem<double>("poisson2d:12x12");
  for_each_method([&](SolveOptions options) {
    const Vector<double> far = zeros<double>(P.rows());
    Kokkos::deep_copy(far, 1e6);
    options.rtol = 1e-4;
    options.reference = ToleranceReference::initial_residual;
    const Vector<double> x = copy_of(far);
    const SolveReport by_guess = solve_once(ctx, options, P.A, P.b, x);
    CHECK(by_guess.converged());
    CHECK(by_guess.tolerance == Approx(1e-4 * by_guess.initial_residual));
    CHECK(by_guess.relative_residual == by_guess.true_residual / by_guess.initial_residual);

    options.reference = ToleranceReference::rhs;
    const SolveReport by_rhs = solve_once(ctx, options, P.A, P.b, copy_of(far));
    CHECK(by_rhs.converged());
    CHECK(by_rhs.tolerance == Approx(1e-4 * by_rhs.rhs_norm));
    CHECK(by_rhs.iterations > by_guess.iterations);

    options.rtol = 0;
    options.atol = 1e-2;
    const SolveReport absolute = solve_once(ctx, options, P.A, P.b, copy_of(far));
    CHECK(absolute.converged());
    CHECK(absolute.tolerance == 1e-2);
    CHECK(absolute.true_residual <= 1e-2);
  });
}

CNC_SOLVER_TEST("a right-hand side of zeros has the solution zero, whatever the guess") {
  const auto P = known_problem<double>("poisson2d:6x7");
  for_each_method([&](SolveOptions options) {
    options.rtol = 0;
    const Vector<double> x = varied_vector<double>(P.rows());
    x(2) = std::numeric_limits<double>::quiet_NaN();
    const SolveReport report = solve_once(ctx, options, P.A, zeros<double>(P.rows()), x);
    CHECK(report.converged());
    CHECK(report.iterations == 0);
    CHECK(report.true_residual == 0);
    CHECK(report.relative_residual == 0);
    CHECK(report.history == std::vector<double>{0});
    CHECK(same_bits(x, zeros<double>(P.rows())));
  });
}

CNC_SOLVER_TEST("the exact solution as a guess needs no iteration") {
  const auto P = known_problem<double>("poisson2d:6x7");
  for_each_method([&](const SolveOptions& options) {
    const Vector<double> x = copy_of(P.solution);
    const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
    CHECK(report.converged());
    CHECK(report.iterations == 0);
    CHECK(report.history.size() == 1);
    CHECK(same_bits(x, P.solution));
  });
}

CNC_SOLVER_TEST("systems of no row and of one") {
  const auto none = literal_csr<double>(0, 0, {0}, {}, {});
  const auto one = literal_csr<double>(1, 1, {0, 1}, {0}, {4});
  for_each_method([&](SolveOptions options) {
    for (const FormatSpec& format : every_format({3}))
      for (const auto reordering : {Reordering::none, Reordering::rcm})
        for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi,
                                PreconditionerKind::block_jacobi}) {
          options.format = format;
          options.reordering = reordering;
          options.preconditioner = kind;
          const SolveReport nothing =
              solve_once(ctx, options, none, zeros<double>(0), zeros<double>(0));
          CHECK(nothing.converged());
          CHECK(nothing.iterations == 0);
          const Vector<double> b("b", 1), x("x", 1);
          b(0) = 8;
          const SolveReport report = solve_once(ctx, options, one, b, x);
          CHECK(report.converged());
          CHECK(report.iterations == (options.method == Method::pcg_smoothed ? 2 : 1));
          CHECK(x(0) == 2);
        }
  });
}

CNC_SOLVER_TEST("empty rows leave their unknowns alone") {
  // Row 1 is empty and b is zero there: the system is consistent, and semidefinite without Jacobi.
  const auto A = literal_csr<double>(3, 3, {0, 2, 2, 4}, {0, 2, 0, 2}, {3, 1, 1, 2});
  for_each_method([&](SolveOptions options) {
    options.preconditioner = PreconditionerKind::none;
    const Vector<double> x("x", 3), b("b", 3);
    x(1) = 42;
    b(0) = 5;
    b(2) = 5;
    const SolveReport report = solve_once(ctx, options, A, b, x);
    CHECK(report.converged());
    CHECK(x(0) == Approx(1));
    CHECK(x(1) == 42);
    CHECK(x(2) == Approx(2));

    b(1) = 1;  // no x solves this row
    const SolveReport inconsistent = solve_once(ctx, options, A, b, x);
    CHECK_FALSE(inconsistent.converged());
    CHECK(inconsistent.true_residual <= inconsistent.initial_residual);
  });
}

CNC_SOLVER_TEST("no history is recorded unless asked for") {
  const auto P = known_problem<double>("poisson2d:6x7");
  for_each_method([&](SolveOptions options) {
    const SolveReport with = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    options.record_history = false;
    const SolveReport without = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    CHECK(without.history.empty());
    CHECK(without.converged());
    CHECK(without.iterations == with.iterations);
    CHECK(without.true_residual == with.true_residual);
  });
}
