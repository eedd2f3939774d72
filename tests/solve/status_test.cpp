#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// Endings other than convergence that the numbers themselves cause.

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class V>
struct Outcome {
  SolveReport report;
  Vector<V> x;
};

template <class V, class Exec>
Outcome<V> solve(Context<Exec>& ctx, const SolveOptions& options, const CsrMatrix<V>& A,
                 const Vector<V>& b, const Vector<V>& x0) {
  const Vector<V> x = copy_of(x0);
  SolveReport report = solve_once(ctx, options, A, b, x);
  return {report, x};
}

/// The promise of every solve: x is no worse than x0, and the report speaks of the x returned.
template <class V>
void check_best(const Outcome<V>& outcome, const CsrMatrix<V>& A, const Vector<V>& b,
                const Vector<V>& x0) {
  const Residual before = residual_of(A, b, x0);
  const Residual after = residual_of(A, b, outcome.x);
  CHECK(std::isfinite(after.norm));
  CHECK(after.norm <= before.norm + before.rounding);
  CHECK(outcome.report.true_residual <= outcome.report.initial_residual);
  CHECK(std::abs(after.norm - outcome.report.true_residual) <= after.rounding);
}

CsrMatrix<double> diagonal(const std::vector<double>& values) {
  const auto n = static_cast<index_t>(values.size());
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) {
    offsets.push_back(i + 1);
    columns.push_back(i);
  }
  return literal_csr<double>(n, n, offsets, columns, values);
}

}  // namespace

CNC_SOLVER_TEST("an indefinite matrix ends as not_positive_definite") {
  // Eigenvalues 3 and -1: p.Ap < 0 once p has a component along (1, -1).
  const auto A = literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1});
  for_each_cg([&](const SolveOptions& options) {
    const Vector<double> rhs = varied_vector<double>(2);
    rhs(1) = -rhs(1);
    const auto outcome = solve(ctx, options, A, rhs, zeros<double>(2));
    CHECK(outcome.report.status == SolveStatus::not_positive_definite);
    CHECK_THAT(outcome.report.detail, ContainsSubstring("p.Ap < 0"));
    check_best(outcome, A, rhs, zeros<double>(2));
  });
}

CNC_SOLVER_TEST("a negative diagonal under Jacobi ends as not_positive_definite") {
  const auto A = diagonal({4, 3, -2, 5});
  const Vector<double> b("b", 4);
  b(2) = 1;
  for_each_cg([&](const SolveOptions& options) {
    const auto outcome = solve(ctx, options, A, b, zeros<double>(4));
    CHECK(outcome.report.status == SolveStatus::not_positive_definite);
    CHECK_THAT(outcome.report.detail, ContainsSubstring("row 2"));
    check_best(outcome, A, b, zeros<double>(4));
  });
}

CNC_SOLVER_TEST("zero curvature ends as a breakdown") {
  // p = b = (1, 0) and p.Ap = 0.
  const auto A = literal_csr<double>(2, 2, {0, 1, 2}, {1, 0}, {1, 1});
  const Vector<double> b("b", 2);
  b(0) = 1;
  for_each_method([&](SolveOptions options) {
    options.preconditioner = PreconditionerKind::none;
    const auto outcome = solve(ctx, options, A, b, zeros<double>(2));
    const MethodFacts& facts = method_facts(options.method);
    if (facts.indefinite || facts.normal_equations) {  // such a method needs one or two iterations
      CHECK(outcome.report.converged());
      return;
    }
    CHECK(outcome.report.status == SolveStatus::breakdown);
    CHECK(outcome.report.iterations == 0);
    check_best(outcome, A, b, zeros<double>(2));
  });
}

CNC_SOLVER_TEST("a zero or missing diagonal entry ends as a breakdown that names its row") {
  const auto zero = literal_csr<double>(3, 3, {0, 1, 3, 4}, {0, 1, 2, 2}, {2, 0, 1, 3});
  const auto missing = literal_csr<double>(3, 3, {0, 1, 2, 3}, {0, 2, 2}, {2, 1, 3});
  const auto empty_row = literal_csr<double>(3, 3, {0, 1, 1, 2}, {0, 2}, {2, 3});
  const Vector<double> b = varied_vector<double>(3), x0 = varied_vector<double>(3);
  x0(0) = 7;
  for_each_method([&](SolveOptions options) {
    if (method_facts(options.method).indefinite) return;        // one stands for the zero
    if (method_facts(options.method).normal_equations) return;  // the diagonal is that of A^T A
    for (const auto& A : {zero, missing, empty_row})
      for (const auto reordering : {Reordering::none, Reordering::rcm}) {
        options.reordering = reordering;
        const auto outcome = solve(ctx, options, A, b, x0);
        CHECK(outcome.report.status == SolveStatus::breakdown);
        CHECK_THAT(outcome.report.detail, ContainsSubstring("row 1"));
        CHECK(outcome.report.iterations == 0);
        CHECK(same_bits(outcome.x, x0));
        check_best(outcome, A, b, x0);
      }
  });
}

CNC_SOLVER_TEST("a singular block ends as a breakdown unless the caller preconditions") {
  // Rows 2 and 3 hold the block (1 1; 1 1).
  const auto A = literal_csr<double>(4, 4, {0, 1, 2, 4, 6}, {0, 1, 2, 3, 2, 3}, {2, 2, 1, 1, 1, 1});
  const Vector<double> x0 = varied_vector<double>(4);
  const Vector<double> b("b", 4);
  Kokkos::deep_copy(b, 2.0);
  for_each_cg([&](SolveOptions options) {
    options.preconditioner = PreconditionerKind::block_jacobi;
    options.preconditioner_block_size = 2;
    const auto outcome = solve(ctx, options, A, b, x0);
    CHECK(outcome.report.status == SolveStatus::breakdown);
    CHECK_THAT(outcome.report.detail, ContainsSubstring("block of row 2"));
    CHECK(same_bits(outcome.x, x0));

    // b lies in the range of A, so that CG without the block converges all the same.
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(A);
    solver.set_preconditioner([](const auto& r, const auto& z) { Kokkos::deep_copy(z, r); });
    CHECK(solver.solve(b, copy_of(x0)).converged());
  });
}

CNC_SOLVER_TEST("a NaN or an infinity ends as not_finite") {
  const auto P = known_problem<double>("poisson2d:5x4");
  const auto index = static_cast<std::size_t>(P.rows() / 2);
  for_each_method([&](SolveOptions options) {
    for (const double bad : {not_a_number, infinity, -infinity})
      for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        options.preconditioner = kind;
        const Vector<double> x0 = varied_vector<double>(P.rows());

        const Vector<double> b = copy_of(P.b);
        b(index) = bad;
        const auto in_b = solve(ctx, options, P.A, b, x0);
        CHECK(in_b.report.status == SolveStatus::not_finite);
        CHECK_THAT(in_b.report.detail, ContainsSubstring("right-hand side"));
        CHECK(same_bits(in_b.x, x0));

        const auto A = deep_copy_of(P.A);
        A.values(index) = bad;
        const auto in_A = solve(ctx, options, A, P.b, x0);
        CHECK(in_A.report.status == SolveStatus::not_finite);
        CHECK(same_bits(in_A.x, x0));

        x0(index) = bad;
        const auto in_x0 = solve(ctx, options, P.A, P.b, x0);
        CHECK(in_x0.report.status == SolveStatus::not_finite);
        CHECK_THAT(in_x0.report.detail, ContainsSubstring("initial residual"));
        CHECK(in_x0.report.history.size() == 1);
      }
  });
}

CNC_SOLVER_TEST("a NaN that appears during the iteration leaves the best x") {
  const auto P = known_problem<double>("poisson2d:9x8");
  for_each_method([&](SolveOptions options) {
    if (!takes_parts_of_others(ctx.backend(), options.method)) return;
    for (const int sick : {1, 2, 7}) {
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(P.A);
      int calls = 0;
      solver.set_preconditioner([&](const auto& r, const auto& z) {
        Kokkos::deep_copy(z, r);
        if (++calls == sick) z(0) = not_a_number;
      });
      const Vector<double> x0 = zeros<double>(P.rows()), x = copy_of(x0);
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.status == SolveStatus::not_finite);
      check_best({report, x}, P.A, P.b, x0);
    }
  });
}

CNC_SOLVER_TEST("a residual that overflows ends as not_finite") {
  const auto P = known_problem<double>("poisson2d:5x4");
  const Vector<double> far = zeros<double>(P.rows());
  Kokkos::deep_copy(far, 1e308);
  for_each_method([&](const SolveOptions& options) {
    const auto outcome = solve(ctx, options, P.A, P.b, far);
    CHECK(outcome.report.status == SolveStatus::not_finite);
    CHECK_THAT(outcome.report.detail, ContainsSubstring("overflow"));
    CHECK(same_bits(outcome.x, far));
  });
}

CNC_SOLVER_TEST("a right-hand side whose norm underflows is not taken for zero") {
  const auto P = known_problem<double>("poisson2d:5x4");
  // The last ones have entries that are no longer normal numbers: x cannot be more precise than they are.
  for (const double scale : {1e-170, 1e-290, 1e-310, 1e-320}) {
    const Vector<double> tiny = copy_of(P.b), x0 = zeros<double>(P.rows());
    for (std::size_t i = 0; i < tiny.extent(0); ++i) tiny(i) *= scale;
    for_each_method([&](const SolveOptions& options) {
      INFO(scale);
      const auto outcome = solve(ctx, options, P.A, tiny, x0);
      if (scale >= 1e-290)
        CHECK(outcome.report.converged());
      else if (!outcome.report.converged())
        CHECK(outcome.report.status == SolveStatus::stagnated);
      CHECK(outcome.report.true_residual < 1e-3 * outcome.report.rhs_norm);
      CHECK(outcome.report.rhs_norm > 0);
    });
  }
}

CNC_SOLVER_TEST("a residual that grows past the limit ends as diverged") {
  const auto P = known_problem<double>(sized(ctx, "convection3d:7:2", "convection3d:4:2"));
  for_each_cg([&](SolveOptions options) {
    options.divergence = 1.0001;
    options.callback = [](const Progress&) { return true; };
    options.callback_interval = 1;  // looks at the residual after every iteration
    options.allow_nonsymmetric = true;
    const auto outcome = solve(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    CHECK(outcome.report.status == SolveStatus::diverged);
    CHECK(outcome.report.iterations > 0);
    check_best(outcome, P.A, P.b, zeros<double>(P.rows()));
  });
}

CNC_SOLVER_TEST("missing the tolerance by a rounding is no stagnation") {
  const auto P = known_problem<float>(sized(ctx, "poisson2d:23x19", "poisson2d:13x11"));
  for_each_method([&](SolveOptions options) {
    if (options.method == Method::pcg_smoothed) return;  // one iteration does not move x
    int cases = 0;
    const int most = is_emulated(ctx.backend()) ? 1 : 60;  // which takes its time
    for (index_t k = 1; k < 60 && cases < most; ++k) {
      // One more iteration from x0: what the recurrence says of it, and what is true.
      options.rtol = 0;
      options.atol = 0;
      options.max_iterations = k;
      const Vector<float> x0 = solve(ctx, options, P.A, P.b, zeros<float>(P.rows())).x;
      options.max_iterations = 1;
      const SolveReport step = solve(ctx, options, P.A, P.b, x0).report;
      const double believed = step.history.back();
      if (step.true_residual <= believed || step.true_residual < 0.5 * step.initial_residual ||
          step.true_residual >= step.initial_residual || believed < 1e-4 * step.rhs_norm)
        continue;
      ++cases;
      options.max_iterations = 1000;
      options.atol = (believed + step.true_residual) / 2;
      const SolveReport report = solve(ctx, options, P.A, P.b, x0).report;
      CHECK(report.converged());
      CHECK(report.restarts == 1);
    }
    // An iteration of bicgstab2 gains so much that hardly one ends between.
    CHECK((cases > 0 || options.method == Method::bicgstab2));
  });
}

/// A tolerance that V cannot reach.
template <class V, class Exec>
void check_stagnation(Context<Exec>& ctx) {
  // More iterations than lie between two snapshots of the best x.
  const auto P = known_problem<V>(sized(ctx, "poisson2d:60x50", "poisson2d:13x11"));
  for_each_cg([&](SolveOptions options) {
    options.rtol = sizeof(V) == 4 ? 1e-12 : 1e-17;
    const Vector<V> zero = zeros<V>(P.rows());
    const auto cold = solve(ctx, options, P.A, P.b, zero);
    const auto warm = solve(ctx, options, P.A, P.b, cold.x);
    const auto check = [&](const auto& outcome, const Vector<V>& x0) {
      CHECK(outcome.report.status == SolveStatus::stagnated);
      CHECK(outcome.report.detail != "");
      CHECK(outcome.report.true_residual < (sizeof(V) == 4 ? 1e-5 : 1e-14) * norm2(P.b));
      check_best(outcome, P.A, P.b, x0);
    };
    check(cold, zero);
    check(warm, cold.x);
  });
}

CNC_SOLVER_TEST("a tolerance below what float can reach ends as stagnated") {
  check_stagnation<float>(ctx);
}
CNC_SOLVER_TEST("a tolerance below what double can reach ends as stagnated") {
  check_stagnation<double>(ctx);
}
