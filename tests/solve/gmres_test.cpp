#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <solve/engine.hpp>

#include <cnc/amg.hpp>
#include <cnc/options.hpp>

#include <array>
#include <memory>

using namespace cnc;
using namespace cnc::testing;

// GMRES against the textbook: modified Gram-Schmidt and normal least squares in long double on a dense matrix.

namespace {

using Dense = std::vector<std::vector<long double>>;

/// The iterate of full GMRES from x = 0 after k steps, preconditioned on the right with the inverse of the diagonal.
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, algorithm 9.5; the small problem by Givens
///          rotations on its columns, one after the other.
std::vector<double> textbook(const CsrMatrix<double>& A, const Vector<double>& b, int steps,
                             double& residual) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<long double> inverse(n, 1);
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      if (A.columns(k) == row)
        inverse[static_cast<std::size_t>(row)] = 1 / static_cast<long double>(A.values(k));
  const auto dot = [n](const auto& x, const auto& y) {
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  };
  Dense V{std::vector<long double>(n)}, H;
  for (std::size_t i = 0; i < n; ++i) V[0][i] = b(i);
  const long double beta = std::sqrt(dot(V[0], V[0]));
  for (auto& value : V[0]) value /= beta;
  std::vector<long double> g{beta}, cosines, sines;
  for (int j = 0; j < steps; ++j) {
    std::vector<long double> w(n, 0), h;
    for (index_t row = 0; row < A.rows; ++row)
      for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k) {
        const auto column = static_cast<std::size_t>(A.columns(k));
        w[static_cast<std::size_t>(row)] += A.values(k) * inverse[column] * V.back()[column];
      }
    for (const auto& v : V) {
      h.push_back(dot(v, w));
      for (std::size_t i = 0; i < n; ++i) w[i] -= h.back() * v[i];
    }
    long double below = std::sqrt(dot(w, w));
    for (auto& value : w) value /= below;
    V.push_back(w);
    for (std::size_t k = 0; k < cosines.size(); ++k) {
      const long double kept = h[k];
      h[k] = cosines[k] * kept + sines[k] * h[k + 1];
      h[k + 1] = -sines[k] * kept + cosines[k] * h[k + 1];
    }
    const long double length = std::sqrt(h.back() * h.back() + below * below);
    cosines.push_back(h.back() / length);
    sines.push_back(below / length);
    h.back() = length;
    H.push_back(h);
    g.push_back(-sines.back() * g.back());
    g[g.size() - 2] *= cosines.back();
  }
  residual = static_cast<double>(std::abs(g.back()));
  std::vector<long double> y(static_cast<std::size_t>(steps));
  for (std::size_t k = y.size(); k-- > 0;) {
    y[k] = g[k];
    for (std::size_t i = k + 1; i < y.size(); ++i) y[k] -= H[i][k] * y[i];
    y[k] /= H[k][k];
  }
  std::vector<double> x(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k) sum += y[k] * V[k][i];
    x[i] = static_cast<double>(inverse[i] * sum);
  }
  return x;
}

bool has_resident_steps(const Backend& backend) {
  return matrix_ops<BcsrOperand<double>, double>(backend).arnoldi != nullptr;
}

bool makes_resident_steps(const Backend& backend) {
  return solves(backend) && has_resident_steps(backend);
}

SolveOptions gmres_options(Method method, int restart, PreconditionerKind kind) {
  SolveOptions options = options_for(method, {}, kind, 3);
  options.restart = restart;
  return options;
}

}  // namespace

CNC_SOLVER_TEST("gmres stopped at each step has the textbook's iterate") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  const auto P = known_problem<double>("convection3d:4:3");
  for (const Method method : {Method::gmres, Method::fgmres}) {
    auto solver = solver_on<double>(ctx, gmres_options(method, 30, PreconditionerKind::jacobi));
    solver.prepare(P.A);
    for (index_t k = 1; k <= 12; ++k) {
      INFO(method_name(method) << " stopped at " << k);
      SolveOptions options = solver.options();
      options.rtol = 0;
      options.max_iterations = k;
      solver.set_options(options);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      double residual = 0;
      const std::vector<double> expected = textbook(P.A, P.b, k, residual);
      CHECK(report.iterations == k);
      CHECK(report.status == SolveStatus::max_iterations);
      CHECK(report.form == (has_resident_steps(ctx.backend()) ? SolveForm::resident
                                                              : SolveForm::plain_operations));
      CHECK(report.recurrence_residual == Approx(residual).epsilon(1e-9));
      CHECK(report.true_residual == Approx(residual).epsilon(1e-9));
      double apart = 0;
      for (index_t i = 0; i < P.rows(); ++i)
        apart = std::max(apart, std::abs(x(i) - expected[static_cast<std::size_t>(i)]));
      CHECK(apart < 1e-11);
      // Minimal residuals do not grow.
      for (std::size_t i = 1; i < report.history.size(); ++i)
        CHECK(report.history[i] <= report.history[i - 1] * (1 + 1e-12));
    }
  }
}

CNC_SOLVER_TEST("gmres keeps its basis orthogonal, however seldom the host looks") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  // Products are all but parallel to what they are products of: each step loses a digit, and most of two.
  const auto P = known_problem<double>("convection3d:4:2");
  const auto A = deep_copy_of(P.A);
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      A.values(k) = 0.001 * A.values(k) + (A.columns(k) == row ? 1 : 0);
  using Space = typename Exec::memory_space;
  detail::System<double, Exec> system;
  system.ctx = &ctx;
  system.rows = A.rows;
  system.matrix = Matrix<double, Space>(copy_to<Space>(A));
  for (const index_t together : {1, 3, 8, -1, -3, -8}) {
    const bool resident = together < 0;
    if (resident && !has_resident_steps(ctx.backend())) continue;
    INFO("a look after " << together);
    constexpr int restart = 10;
    detail::Workspace<double, Space> work;
    work.allocate(A.rows, method_facts(Method::gmres), false);
    work.allocate_basis(A.rows, restart, false);
    work.basis->steps_between_looks = together;
    work.basis->resident_steps_between_looks = -together;
    if (resident) detail::plan_iterations(system, work);
    ctx.reserve(A.rows);
    const auto x = zeroed<double, Space>("x", P.b.extent(0));
    Kokkos::deep_copy(work.r, P.b);
    detail::Tally tally;
    detail::Gmres<double, Exec> gmres(system, work, x, tally);
    gmres.start(Method::gmres, resident ? SolveForm::resident : SolveForm::plain_operations,
                norm2(P.b));
    std::vector<double> history;
    CHECK(gmres.iterate(5, 0, &history) == 5);
    CHECK(history.size() == 5);
    for (std::size_t k = 1; k < history.size(); ++k) CHECK(history[k] < 0.1 * history[k - 1]);
    ctx.fence();
    const Vector<double> basis = copy_to<HostSpace>(work.basis->v);
    const auto entry = [&](int j, index_t i) {
      return basis(static_cast<std::size_t>(work.basis->stride * j + i));
    };
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k <= j; ++k) {
        double dot = 0;
        for (index_t i = 0; i < A.rows; ++i) dot += entry(j, i) * entry(k, i);
        CHECK(dot == Approx(j == k ? 1 : 0).margin(1e-13));
      }
  }
}

CNC_SOLVER_TEST("gmres solves what is not symmetric with any restart and preconditioner") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  const auto P = known_problem<double>(sized(ctx, "convection3d:6:2", "convection3d:4:2"));
  for (const Method method : {Method::gmres, Method::fgmres})
    for (const int restart : {1, 3, 8, 9, 30})
      for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi,
                              PreconditionerKind::block_jacobi}) {
        if (is_emulated(ctx.backend()) && restart != 3 && restart != 9) continue;
        INFO(method_name(method) << " " << restart << " " << int(kind));
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report =
            solve_once(ctx, gmres_options(method, restart, kind), P.A, P.b, x);
        CHECK(report.converged());
        CHECK(report.method == method);
        CHECK(report.iterations < 400);
        CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
        CHECK(residual_of(P.A, P.b, x).norm <= 1.001e-8 * norm2(P.b));
        CHECK(relative_difference(x, P.solution) < 1e-6);
        const Vector<double> again = zeros<double>(P.rows());
        const SolveReport second =
            solve_once(ctx, gmres_options(method, restart, kind), P.A, P.b, again);
        CHECK(same_bits(x, again));
        CHECK(second.history == report.history);
      }
}

CNC_SOLVER_TEST_WHERE(makes_resident_steps,
                      "steps of gmres in one launch do what plain operations do") {
  struct Case {
    const char* problem;
    FormatSpec format;
    PreconditionerKind kind;
    int block_size, restart;
  };
  using Kind = PreconditionerKind;
  int turn = 0;
  for (const Case& c : {Case{"convection3d:6:2", {"csr", 1}, Kind::jacobi, 1, 30},
                        {"convection3d:6:2", {"csr", 1}, Kind::block_jacobi, 4, 7},
                        {"convection3d:6:2", {"dia", 1}, Kind::none, 1, 40},
                        {"convection3d:5:2", {"bsell", 1}, Kind::jacobi, 1, 12},
                        {"convection3d:5:2", {"bcsr", 3}, Kind::block_jacobi, 3, 20},
                        {"convection3d:5:2", {"bsell", 3}, Kind::block_jacobi, 3, 20},
                        {"convection3d:4:2", {"csr", 1}, Kind::jacobi, 1, 1},
                        {"poisson2d:2x3", {"csr", 1}, Kind::none, 1, 30},
                        // Longer cycles than an emulated device has room for on chip.
                        {"convection3d:13:2", {"csr", 1}, Kind::jacobi, 1, 60}}) {
    INFO(c.problem << " " << c.format.text() << " " << int(c.kind) << " restart " << c.restart);
    const auto P = known_problem<double>(c.problem);
    SolveOptions options = options_for(turn++ % 2 == 0 ? Method::gmres : Method::fgmres, c.format,
                                       c.kind, c.block_size);
    options.restart = c.restart;
    options.form = SolveForm::plain_operations;
    const Vector<double> x = zeros<double>(P.rows()), other = zeros<double>(P.rows()),
                         again = zeros<double>(P.rows());
    const SolveReport plain = solve_once(ctx, options, P.A, P.b, x);
    options.form = SolveForm::resident;
    const SolveReport resident = solve_once(ctx, options, P.A, P.b, other);
    CHECK(plain.form == SolveForm::plain_operations);
    CHECK(resident.form == SolveForm::resident);
    CHECK(resident.converged());
    CHECK(resident.iterations == plain.iterations);
    CHECK(resident.backend_calls < plain.backend_calls);
    for (std::size_t k = 0; k < std::min(plain.history.size(), resident.history.size()); ++k)
      CHECK(resident.history[k] ==
            Approx(plain.history[k]).epsilon(1e-6).margin(1e-13 * plain.history[0]));
    CHECK(relative_difference(other, x) < 1e-7);
    const SolveReport second = solve_once(ctx, options, P.A, P.b, again);
    CHECK(same_bits(again, other));
    CHECK(second.history == resident.history);
  }
}

CNC_SOLVER_TEST("steps of gmres in one launch are refused by name where they do not fit") {
  const auto P = known_problem<double>("convection3d:4:2");
  const Vector<double> x = zeros<double>(P.rows());
  SolveOptions options = gmres_options(Method::gmres, 10, PreconditionerKind::jacobi);
  options.form = SolveForm::resident;
  options.format = {"bcsr", 2};  // not compiled
  CHECK_THROWS_AS(solve_once(ctx, options, P.A, P.b, x), UnsupportedOperation);
  options.form = SolveForm::automatic;
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  SolveReport report = solve_once(ctx, options, P.A, P.b, x);
  CHECK(report.converged());
  CHECK(report.form == SolveForm::plain_operations);
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  solver.set_preconditioner([](const auto& r, const auto& z) { Kokkos::deep_copy(z, r); });
  Kokkos::deep_copy(x, 0.0);
  report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.form == SolveForm::plain_operations);
  options.form = SolveForm::resident;
  solver.set_options(options);
  CHECK_THROWS_AS(solver.solve(P.b, x), UnsupportedOperation);
}

CNC_SOLVER_TEST("gmres goes on from a guess, and with a float matrix under double vectors") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  const auto P = known_problem<double>("convection3d:4:2");
  SolveOptions options = gmres_options(Method::gmres, 10, PreconditionerKind::jacobi);
  options.rtol = 1e-12;
  options.storage = StoragePrecision::f32;
  const Vector<double> x = zeros<double>(P.rows());
  for (index_t i = 0; i < P.rows(); ++i) x(i) = 0.9 * P.solution(i);
  const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
  CHECK(report.converged());
  CHECK(report.restarts > 0);
  CHECK(residual_of(P.A, P.b, x).norm <= 1.001e-12 * norm2(P.b));
}

CNC_SOLVER_TEST("fgmres takes a preconditioner that changes from step to step") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  const auto P = known_problem<double>("convection3d:4:2");
  auto solver = solver_on<double>(ctx, gmres_options(Method::fgmres, 20, PreconditionerKind::none));
  solver.prepare(P.A);
  int calls = 0;
  solver.set_preconditioner([&calls](const auto& r, const auto& z) {
    const double factor = 1.0 + calls++ % 3;
    for (std::size_t i = 0; i < r.extent(0); ++i) z(i) = r(i) * factor * (i % 2 == 0 ? 1.0 : 0.7);
  });
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.restarts == 0);
  CHECK(calls >= report.iterations);  // on a device steps are enqueued ahead
  CHECK(relative_difference(x, P.solution) < 1e-6);
}

CNC_SOLVER_TEST("gmres ends where the matrix is singular or holds no numbers") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  const auto solve = [&](const CsrMatrix<double>& A, const std::vector<double>& b) {
    const Vector<double> rhs("b", b.size()), x = zeros<double>(A.rows);
    for (std::size_t i = 0; i < b.size(); ++i) rhs(i) = b[i];
    return solve_once(ctx, gmres_options(Method::gmres, 5, PreconditionerKind::none), A, rhs, x);
  };
  // A shift that loses what it shifts out: nothing but zero is left after three steps.
  const auto shift = literal_csr<double>(3, 3, {0, 1, 2, 2}, {1, 2}, {1, 1});
  const SolveReport singular = solve(shift, {0, 0, 1});
  CHECK(singular.status == SolveStatus::breakdown);
  CHECK(singular.iterations < 10);
  CHECK(std::isfinite(singular.true_residual));
  // Singular to rounding: what can be solved is.
  const SolveReport half =
      solve(literal_csr<double>(3, 3, {0, 1, 2, 2}, {0, 1}, {1, 3}), {1, 1, 1});
  CHECK(half.status == SolveStatus::breakdown);
  CHECK(half.true_residual == Approx(1));
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const SolveReport none = solve(literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {1, nan}), {1, 1});
  CHECK_FALSE(none.converged());
  // A cyclic shift: full GMRES gets nowhere before the last step, and then is done.
  const auto cyclic = literal_csr<double>(4, 4, {0, 1, 2, 3, 4}, {1, 2, 3, 0}, {1, 1, 1, 1});
  const SolveReport last = solve(cyclic, {0, 0, 0, 1});
  CHECK(last.converged());
  CHECK(last.iterations == 4);
}

CNC_SOLVER_TEST("the automatic method comes to gmres where bicgstab2 fails") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  // The residual of bicgstab is orthogonal to its shadow after the first half step.
  const auto A = literal_csr<double>(2, 2, {0, 1, 2}, {1, 0}, {1, -1});
  const Vector<double> b("b", 2), x = zeros<double>(2);
  b(0) = 1;
  SolveOptions options = gmres_options(Method::automatic, 5, PreconditionerKind::none);
  const SolveReport report = solve_once(ctx, options, A, b, x);
  CHECK(report.converged());
  CHECK(report.method == Method::gmres);
  CHECK_THAT(report.choice, Catch::Matchers::StartsWith("bicgstab2: not symmetric") &&
                                Catch::Matchers::ContainsSubstring("(breakdown) gmres"));
  CHECK(x(0) == Approx(0).margin(1e-12));
  CHECK(x(1) == Approx(1));
}

CNC_SOLVER_TEST("the automatic method lets cycles of gmres grow where they gain nothing") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  // A cyclic shift: no residual falls before the basis is whole.
  constexpr index_t n = 40;
  std::vector<index_t> offsets{0}, columns;
  for (index_t row = 0; row < n; ++row) {
    columns.push_back((row + 1) % n);
    offsets.push_back(row + 1);
  }
  const auto A = literal_csr<double>(n, n, offsets, columns, std::vector<double>(n, 1.0));
  const Vector<double> b("b", n), x = zeros<double>(n);
  b(n - 1) = 1;
  SolveOptions options = gmres_options(Method::automatic, 5, PreconditionerKind::none);
  auto solver = solver_on<double>(ctx, options);
  // An operator without a transpose: cgnr would need one iteration.
  solver.prepare(LinearOperator<double>{n, [&](const auto& from, const auto& to) {
                                          Kokkos::deep_copy(to, product(A, copy_of(from)));
                                        }});
  for (int time = 0; time < 2; ++time) {
    Kokkos::deep_copy(x, 0.0);
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    CHECK_THAT(report.choice,
               Catch::Matchers::ContainsSubstring("gmres(5) (stagnated) gmres(20)") &&
                   Catch::Matchers::EndsWith("gmres(20) (stagnated) gmres(80)"));
    CHECK(report.iterations < 1300);
    CHECK(x(0) == Approx(1));
  }
}

TEST_CASE("a backend without several dots at once does not offer gmres") {
  const auto P = known_problem<double>("convection3d:4:2");
  SolveOptions options = gmres_options(Method::gmres, 5, PreconditionerKind::jacobi);
  options.form = SolveForm::fused_steps;
  Context<> ctx("openmp");
  const Vector<double> x = zeros<double>(P.rows());
  CHECK_THROWS_AS(solve_once(ctx, options, P.A, P.b, x), UnsupportedOperation);
  options.form = SolveForm::automatic;
  options.restart = 0;
  CHECK_THROWS_AS(Solver<double>(ctx, options), InvalidArgument);
  CHECK(parse_method("gmres") == Method::gmres);
  CHECK(parse_method("auto") == Method::automatic);
}

CNC_SOLVER_TEST("a basis of gmres is not taken for one of fgmres") {
  if (vector_ops<double>(ctx.backend()).mdot == nullptr) return;
  const auto P = known_problem<double>("convection3d:5:2");
  SolveOptions options = options_for(Method::automatic, {}, PreconditionerKind::none);
  options.form =
      SolveForm::plain_operations;  // in which there is no other method for such a matrix
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  const Vector<double> x = zeros<double>(P.rows()), y = zeros<double>(P.rows());
  CHECK(solver.solve(P.b, x).method == Method::gmres);
  solver.set_preconditioner(
      std::make_shared<Amg<double, Exec>>(AmgOptions{.cycle = AmgCycle::k, .coarsest_rows = 4}));
  const SolveReport report = solver.solve(P.b, y);
  CHECK(report.converged());
  CHECK(report.method == Method::fgmres);
  CHECK(relative_difference(y, P.solution) < 1e-5);
}
