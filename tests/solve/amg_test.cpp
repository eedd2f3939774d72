#include "solve/solver_test.hpp"
#include "support/plate_problem.hpp"
#include "support/same_matrix.hpp"
#include "support/small_matrix.hpp"

#include <cnc/amg.hpp>
#include <cnc/blas1.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

using namespace cnc;
using namespace cnc::testing;

namespace {

using Catch::Matchers::ContainsSubstring;

bool takes_amg(const Backend& backend) {
  return solves(backend) && takes_parts_of_others(backend, Method::pcg);
}

/// A solver with multigrid and what came of it.
template <class V, class Exec>
struct AmgSolve {
  using Space = typename Exec::memory_space;
  std::shared_ptr<Amg<V, Exec>> amg;
  HostFacingSolver<V, Exec> solver;

  explicit AmgSolve(Context<Exec>& ctx, const AmgOptions& options = {}, Method method = Method::pcg)
      : amg(std::make_shared<Amg<V, Exec>>(options)),
        solver(solver_on<V>(ctx, options_for(method, {}, PreconditionerKind::none))) {
    solver.set_preconditioner(amg);
  }
  void set_modes(const std::vector<Vector<V>>& modes) {
    std::vector<Vector<const V, Space>> there;
    for (const auto& mode : modes) there.push_back(copy_to<Space>(mode));
    amg->set_near_null_space(there);
  }
  SolveReport solve(const KnownProblem<V>& P) {
    solver.prepare(P.A);
    x = zeros<V>(P.rows());
    return solver.solve(P.b, x);
  }
  Vector<V> x;
};

/// One cycle for r.
template <class V, class Exec>
Vector<V> applied(Context<Exec>& ctx, const Amg<V, Exec>& amg, const Vector<V>& r) {
  using Space = typename Exec::memory_space;
  const Vector<V, Space> z = zeroed<V, Space>("z", r.extent(0));
  amg.apply(ctx, Vector<const V, Space>(copy_to<Space>(r)), z);
  ctx.fence();
  return copy_to<HostSpace>(z);
}

double dot_of(const Vector<double>& x, const Vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) sum += x(i) * y(i);
  return sum;
}

/// Poisson's problem with parts changed: change(i, j, value) for every entry.
template <class Change>
CsrMatrix<double> changed_poisson(const std::string& problem, const Change& change) {
  const CsrMatrix<double> A = generate_problem(problem);
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      A.values(k) = change(i, A.columns(k), A.values(k));
  return A;
}

/// A backend that has no launch for coarse levels.
Backend without_coarse_launch(Backend backend) {
  const auto take_away = [&]<class V>() {
    std::get<VectorOps<V>>(backend.vectors).plan_coarse = nullptr;
    std::get<VectorOps<V>>(backend.vectors).coarse_cycle = nullptr;
  };
  take_away.operator()<float>();
  take_away.operator()<double>();
  return backend;
}

/// One whose device does not start it after all.
Backend refusing_coarse_launch(Backend backend) {
  const auto refuse = [&]<class V>() {
    std::get<VectorOps<V>>(backend.vectors).coarse_cycle =
        [](const Queue&, CoarsePlan&, const CoarseCycle<V>&) { return false; };
  };
  refuse.operator()<float>();
  refuse.operator()<double>();
  return backend;
}

/// One that has products, and no steps of a relaxation.
Backend without_fused_relaxation(Backend backend) {
  const auto take_away = [&]<class M, class V>() {
    std::apply([](auto&... ops) { ((ops.relax = nullptr), ...); },
               std::get<MatrixTable<M, V>>(backend.matrices).formats);
  };
  take_away.operator()<float, float>();
  take_away.operator()<float, double>();
  take_away.operator()<double, double>();
  return backend;
}

}  // namespace

CNC_SOLVER_TEST_WHERE(takes_amg, "multigrid takes as many iterations on a finer grid") {
  const bool small = is_emulated(ctx.backend());
  for (const char* name :
       {small ? "poisson2d:24" : "poisson2d:60", small ? "poisson3d:8" : "poisson3d:24"}) {
    INFO(name);
    const auto P = known_problem<double>(name);
    AmgSolve<double, Exec> run(ctx, {.coarsest_rows = 60});
    const SolveReport report = run.solve(P);
    CHECK(report.converged());
    CHECK(report.preconditioner == "amg");
    CHECK(report.iterations <= 14);
    CHECK(relative_difference(run.x, P.solution) < 1e-6);
    const AmgHierarchy& h = run.amg->hierarchy();
    REQUIRE(h.levels.size() >= 2);
    CHECK(h.symmetric);
    CHECK(h.in_float);
    CHECK(h.levels[0].rows == P.rows());
    CHECK(h.levels[0].nonzeros == P.A.nonzeros);
    CHECK(h.levels.back().rows == h.coarsest_rank);
    CHECK(h.operator_complexity() > 1);
    CHECK(h.operator_complexity() < 2);
    CHECK(h.levels[0].largest_eigenvalue > 1.8);
    CHECK(h.levels[0].largest_eigenvalue <= 2);
  }
}

CNC_SOLVER_TEST_WHERE(takes_amg, "spectra by fused passes are those of plain operations") {
  Context<> reference("reference", 1);
  for (const auto& [name, block] : {std::pair{"stencil27:8", 1}, std::pair{"elasticity3d:5", 3}})
    for (const bool in_float : {true, false}) {
      INFO(name << " " << in_float);
      const auto P = known_problem<double>(name);
      const AmgOptions options{.block_size = block, .coarsest_rows = 60, .in_float = in_float};
      AmgSolve<double, Exec> run(ctx, options);
      AmgSolve<double, Kokkos::DefaultHostExecutionSpace> plain(reference, options);
      CHECK(run.solve(P).converged());
      CHECK(plain.solve(P).converged());
      const double found = run.amg->hierarchy().levels[0].largest_eigenvalue;
      CHECK(found > 1);
      const double expected = plain.amg->hierarchy().levels[0].largest_eigenvalue;
      CHECK(std::abs(found - expected) < 2e-3 * expected);
    }
}

CNC_SOLVER_TEST_WHERE(takes_amg, "a cycle is linear, symmetric and positive") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:31x40", "poisson2d:15x12"));
  const auto check = [&](const AmgOptions& options) {
    INFO(options.smoothed << " " << options.smoother_degree << " " << int(options.cycle) << " "
                          << int(options.smoother));
    AmgSolve<double, Exec> run(ctx, options);
    CHECK(run.solve(P).converged());
    CHECK(!run.amg->hierarchy().in_float);
    const Vector<double> u = varied_vector<double>(P.rows()), v = zeros<double>(P.rows());
    for (index_t i = 0; i < P.rows(); ++i) v(i) = (i * 53 % 17) - 8.0;
    const auto Mu = applied(ctx, *run.amg, u), Mv = applied(ctx, *run.amg, v);
    CHECK(std::abs(dot_of(u, Mv) - dot_of(v, Mu)) <= 1e-12 * std::abs(dot_of(u, Mu)));
    CHECK(dot_of(u, Mu) > 0);
    CHECK(dot_of(v, Mv) > 0);
    const Vector<double> w = zeros<double>(P.rows());
    for (index_t i = 0; i < P.rows(); ++i) w(i) = 2 * u(i) - 3 * v(i);
    const auto Mw = applied(ctx, *run.amg, w);
    for (index_t i = 0; i < P.rows(); ++i) w(i) = 2 * Mu(i) - 3 * Mv(i);
    CHECK(relative_difference(Mw, w) < 1e-11);
  };
  AmgOptions options{.coarsest_rows = 10, .in_float = false};
  for (const bool smoothed : {true, false})
    for (const int degree : {1, 3})
      for (const AmgCycle cycle : {AmgCycle::v, AmgCycle::w}) {
        options.smoothed = smoothed;
        options.smoother_degree = degree;
        options.cycle = cycle;
        check(options);
      }
  for (const AmgSmoother smoother :
       {AmgSmoother::jacobi, AmgSmoother::l1_jacobi, AmgSmoother::gauss_seidel, AmgSmoother::ilu0})
    check({.smoother = smoother, .coarsest_rows = 10, .in_float = false});
}

CNC_SOLVER_TEST_WHERE(takes_amg, "a prolongation in factors does what its matrix does") {
  using Space = typename Exec::memory_space;
  const Backend no_fusion = without_fused_relaxation(ctx.backend());
  SharingContext<Exec> other_ctx(no_fusion);
  // Long lines, whose rows a host reads in runs; too few rows for a device to read a dictionary of them.
  const bool reads =
      ctx.backend().dictionaries != ReadsDictionaries::no && detail::is_host_space<Space>;
  const auto layout_of = [](const CsrMatrix<double, Space>& A, bool with_dictionary) {
    Matrix<double, Space> layout = build_format(A, {"dia-symmetric", 1});
    if (with_dictionary) REQUIRE(find_row_dictionary(layout, A));
    return layout;
  };
  const auto times = [](CsrMatrix<double> A, double factor) {
    Vector<double> values("values", A.values.extent(0));
    for (std::size_t k = 0; k < values.extent(0); ++k) values(k) = factor * A.values(k);
    A.values = values;
    return copy_to<Space>(A);
  };
  const auto check = [&](const CsrMatrix<double>& given, const AmgOptions& options) {
    INFO(int(options.cycle) << " " << int(options.smoother) << " " << options.smoother_degree << " "
                            << options.in_float);
    const auto A = copy_to<Space>(given);
    const Vector<double> r = varied_vector<double>(A.rows);
    const Matrix<double, Space> plain = layout_of(A, false), layout = layout_of(A, true);
    const double same = options.in_float ? 1e-5 : 1e-12;
    Amg<double, Exec> by_matrix(options), by_factors(options), unfused(options);
    REQUIRE(by_matrix.set_up(ctx, A, plain).ok());
    REQUIRE(by_factors.set_up(ctx, A, layout).ok());
    REQUIRE(unfused.set_up(other_ctx, A, layout).ok());
    CHECK(!by_matrix.hierarchy().in_factors);
    CHECK(by_factors.hierarchy().in_factors == reads);
    const auto expected = applied(ctx, by_matrix, r);
    CHECK(relative_difference(applied(ctx, by_factors, r), expected) < same);
    CHECK(relative_difference(applied(other_ctx, unfused, r), expected) < same);
    // Without a dictionary there are matrices again, with one factors; other values give other ones.
    REQUIRE(by_factors.update_values(ctx, A, plain).ok());
    CHECK(!by_factors.hierarchy().in_factors);
    CHECK(relative_difference(applied(ctx, by_factors, r), expected) < same);
    const auto B = times(given, 2.5);
    REQUIRE(by_matrix.update_values(ctx, B, layout_of(B, false)).ok());
    REQUIRE(by_factors.update_values(ctx, B, layout_of(B, true)).ok());
    CHECK(by_factors.hierarchy().in_factors == reads);
    CHECK(relative_difference(applied(ctx, by_factors, r), applied(ctx, by_matrix, r)) < same);
  };
  const CsrMatrix<double> A = generate_problem("poisson2d:61x24");
  for (const bool in_float : {false, true})
    for (const AmgCycle cycle : {AmgCycle::v, AmgCycle::w})
      check(A, {.cycle = cycle, .coarsest_rows = 20, .in_float = in_float});
  for (const AmgSmoother smoother : {AmgSmoother::jacobi, AmgSmoother::l1_jacobi})
    check(A, {.smoother = smoother, .smoother_degree = 1, .coarsest_rows = 20, .in_float = false});

  // Whatever the units, in float too.
  for (const double factor : {1e-12, 1e12}) {
    const auto scaled = times(A, factor);
    const Vector<double> r = varied_vector<double>(A.rows);
    const AmgOptions options{.coarsest_rows = 20};
    Amg<double, Exec> by_matrix(options), by_factors(options);
    REQUIRE(by_matrix.set_up(ctx, scaled, layout_of(scaled, false)).ok());
    REQUIRE(by_factors.set_up(ctx, scaled, layout_of(scaled, true)).ok());
    CHECK(by_factors.hierarchy().in_float);
    CHECK(relative_difference(applied(ctx, by_factors, r), applied(ctx, by_matrix, r)) < 1e-5);
  }

  // Weak couplings, near-null vectors of the caller, a matrix that is not symmetric and diagonals that differ have another prolongation.
  const auto in_factors = [&](const CsrMatrix<double>& given, bool with_vector) {
    const auto there = copy_to<Space>(given);
    Matrix<double, Space> layout = build_format(there, {"dia", 1});
    REQUIRE(find_row_dictionary(layout, there));
    Amg<double, Exec> amg({.coarsest_rows = 20});
    const auto vector = copy_to<Space>(varied_vector<double>(given.rows));
    if (with_vector) amg.set_near_null_space({vector});
    REQUIRE(amg.set_up(ctx, there, layout).ok());
    return amg.hierarchy().in_factors;
  };
  CHECK(in_factors(A, false) == reads);
  CHECK(!in_factors(A, true));
  CHECK(!in_factors(generate_problem("anisotropic2d:50:0.01"), false));
  CHECK(!in_factors(generate_problem("convection3d:8:5"), false));
  // Sides that are no unknowns are where diagonals are less: the same with the magnitudes beside them.
  const index_t line = 61;
  const auto closed = changed_poisson("poisson2d:61x24", [&](index_t i, index_t j, double value) {
    const bool at_side = i % line == 0 || i % line == line - 1;
    return i == j && at_side ? value - 1 : value;
  });
  CHECK(!in_factors(closed, false));
}

CNC_SOLVER_TEST_WHERE(takes_amg, "coarse levels in one launch do what they do one by one") {
  // The same backend, and what it does without.
  const bool offers_launch = vector_ops<double>(ctx.backend()).plan_coarse != nullptr;
  const Backend no_launch = without_coarse_launch(ctx.backend());
  const Backend no_fusion = without_fused_relaxation(no_launch);
  const Backend refusal = refusing_coarse_launch(ctx.backend());
  const auto check = [&](const std::string& name, int dimension, const AmgOptions& options) {
    INFO(name << ", degree " << options.smoother_degree << ", smoother " << int(options.smoother));
    const auto P = known_problem<double>(name);
    const auto prepare = [&](AmgSolve<double, Exec>& run) {
      if (dimension > 0)
        run.set_modes(rigid_body_modes<double>(problem_coordinates(name), dimension));
      run.solver.prepare(P.A);
    };
    AmgSolve<double, Exec> run(ctx, options);
    prepare(run);
    const AmgHierarchy& h = run.amg->hierarchy();
    if (offers_launch) {
      CHECK(h.levels_together >= 2);
      CHECK(h.levels_together < static_cast<int>(h.levels.size()));
    }
    const Vector<double> r = varied_vector<double>(P.rows());
    const auto expected = applied(ctx, *run.amg, r);
    for (int turn = 0; turn < 3; ++turn)  // the counter of the launch goes on
      CHECK(relative_difference(applied(ctx, *run.amg, r), expected) == 0);
    run.solver.update_values(P.A);
    CHECK(relative_difference(applied(ctx, *run.amg, r), expected) == 0);
    for (const Backend* const other : {&no_launch, &no_fusion, &refusal}) {
      SharingContext<Exec> other_ctx(*other);
      AmgSolve<double, Exec> one_by_one(other_ctx, options);
      prepare(one_by_one);
      if (other != &refusal) CHECK(one_by_one.amg->hierarchy().levels_together == 0);
      CHECK(relative_difference(applied(other_ctx, *one_by_one.amg, r), expected) < 1e-12);
    }
  };
  for (const int degree : {1, 2, 3})
    check("poisson2d:24x19", 0, {.smoother_degree = degree, .coarsest_rows = 5, .in_float = false});
  check("poisson2d:24x19", 0,
        {.smoother = AmgSmoother::l1_jacobi, .coarsest_rows = 5, .in_float = false});
  check("elasticity2d:14", 2, {.block_size = 2, .coarsest_rows = 8, .in_float = false});
  check("convection3d:7:1", 0, {.coarsest_rows = 8, .in_float = false});
}

CNC_SOLVER_TEST_WHERE(takes_amg, "K-cycles make up for plain aggregates") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:60", "poisson2d:20"));
  AmgOptions options{.smoothed = false, .coarsest_rows = 10};
  AmgSolve<double, Exec> v(ctx, options);
  const SolveReport with_v = v.solve(P);
  options.cycle = AmgCycle::k;
  AmgSolve<double, Exec> k(ctx, options, Method::automatic);
  const SolveReport with_k = k.solve(P);
  CHECK(k.amg->hierarchy().levels.size() >= 4);
  CHECK(with_v.converged());
  CHECK(with_k.converged());
  const bool has_flexible_cg = takes_parts_of_others(ctx.backend(), Method::pcg_flexible);
  CHECK(with_k.method == (has_flexible_cg ? Method::pcg_flexible : Method::fgmres));
  CHECK_THAT(with_k.choice, ContainsSubstring("preconditioner varies"));
  CHECK(with_v.choice.empty());
  AmgSolve<double, Exec> fixed(ctx, options);
  CHECK_THAT(fixed.solve(P).choice, ContainsSubstring("pcg is not made: pcg-flexible"));
  CHECK((P.rows() > 1000 ? 3 * with_k.iterations < 2 * with_v.iterations
                         : with_k.iterations < with_v.iterations));
  CHECK(relative_difference(k.x, P.solution) < 1e-6);

  // Sweeps smooth inside of them too.
  options.smoother = AmgSmoother::gauss_seidel;
  AmgSolve<double, Exec> swept(ctx, options, Method::automatic);
  const SolveReport with_sweeps = swept.solve(P);
  CHECK(with_sweeps.converged());
  CHECK(with_sweeps.iterations < with_v.iterations);
  options.smoother = AmgSmoother::chebyshev;

  // Not linear, but homogeneous: the steps inside are the best whatever the size.
  const Vector<double> r = varied_vector<double>(P.rows()), twice = zeros<double>(P.rows());
  for (index_t i = 0; i < P.rows(); ++i) twice(i) = 2 * r(i);
  const auto z = applied(ctx, *k.amg, r), of_twice = applied(ctx, *k.amg, twice);
  for (index_t i = 0; i < P.rows(); ++i) z(i) *= 2;
  CHECK(relative_difference(of_twice, z) == 0);  // powers of two do not round
  const auto nothing = applied(ctx, *k.amg, zeros<double>(P.rows()));
  CHECK(dot_of(nothing, nothing) == 0);

  const auto body = known_problem<double>("elasticity2d:14");
  AmgSolve<double, Exec> of_body(ctx, {.block_size = 2, .cycle = AmgCycle::k, .coarsest_rows = 8},
                                 Method::automatic);
  const SolveReport with_body = of_body.solve(body);
  CHECK(with_body.converged());
  of_body.solver.update_values(body.A);
  const Vector<double> again = zeros<double>(body.rows());
  CHECK(of_body.solver.solve(body.b, again).iterations == with_body.iterations);

  const auto flow = known_problem<double>(sized(ctx, "convection3d:14:1", "convection3d:6:1"));
  AmgSolve<double, Exec> of_flow(ctx, options, Method::automatic);
  const SolveReport with_flow = of_flow.solve(flow);
  CHECK(with_flow.converged());
  CHECK(with_flow.method == Method::fgmres);
  CHECK(relative_difference(of_flow.x, flow.solution) < 1e-5);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "new values on old aggregates are those of a new hierarchy") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:40x30", "poisson2d:14x13"));
  const auto Q = with_known_solution<double>(
      "scaled", changed_poisson(sized(ctx, "poisson2d:40x30", "poisson2d:14x13"),
                                [](index_t i, index_t j, double value) {
                                  return value * (i == j ? 3.3 : 3 + 0.1 * ((i + j) % 3));
                                }));
  for (const AmgSmoother smoother :
       {AmgSmoother::chebyshev, AmgSmoother::jacobi, AmgSmoother::l1_jacobi,
        AmgSmoother::gauss_seidel, AmgSmoother::ilu0}) {
    INFO(int(smoother));
    // With every coupling strong new values have the aggregates of old ones, on all levels.
    const AmgOptions options{.strength = 0, .smoother = smoother, .coarsest_rows = 20};
    AmgSolve<double, Exec> run(ctx, options), fresh(ctx, options);
    CHECK(run.solve(P).converged());
    run.solver.update_values(Q.A);
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = run.solver.solve(Q.b, x);
    const SolveReport expected = fresh.solve(Q);
    CHECK(report.converged());
    CHECK(report.iterations == expected.iterations);
    CHECK(relative_difference(applied(ctx, *run.amg, Q.b), applied(ctx, *fresh.amg, Q.b)) == 0);
  }
}

TEST_CASE("sweeps with factors are damped where they would diverge") {
  Context<> ctx;
  const auto plate = plate_problem("poisson2d:40");
  AmgSolve<double, HostExec> factors(ctx, {.smoother = AmgSmoother::ilu0});
  AmgSolve<double, HostExec> polynomial(ctx);
  const SolveReport with_factors = factors.solve(plate);
  CHECK(with_factors.converged());
  CHECK(2 * with_factors.iterations < polynomial.solve(plate).iterations);
}

TEST_CASE("sweeps with factors follow a matrix that is symmetric no longer") {
  Context<> ctx;
  const auto A = generate_problem("poisson2d:40x30");
  const auto skewed = changed_poisson("poisson2d:40x30", [](index_t i, index_t j, double value) {
    return i < j ? 0.4 * value : value;
  });
  const AmgOptions options{.strength = 0, .smoother = AmgSmoother::ilu0, .coarsest_rows = 20};
  Amg<double> changed(options), fresh(options);
  REQUIRE(changed.set_up(ctx, A, Matrix<double>(A)).ok());
  REQUIRE(changed.update_values(ctx, skewed, Matrix<double>(skewed)).ok());
  REQUIRE(fresh.set_up(ctx, skewed, Matrix<double>(skewed)).ok());
  const Vector<double> r = varied_vector<double>(A.rows);
  CHECK(relative_difference(applied(ctx, changed, r), applied(ctx, fresh, r)) == 0);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "rigid motions make elasticity easy") {
  const std::string name = sized(ctx, "elasticity3d:9", "elasticity3d:3");
  const auto P = known_problem<double>(name);
  const AmgOptions options{.block_size = 3, .coarsest_rows = 30};
  AmgSolve<double, Exec> constants(ctx, options), motions(ctx, options);
  motions.set_modes(rigid_body_modes<double>(problem_coordinates(name), 3));
  const SolveReport with_constants = constants.solve(P), with_motions = motions.solve(P);
  CHECK(with_constants.converged());
  CHECK(with_motions.converged());
  CHECK(with_motions.iterations <= with_constants.iterations);
  CHECK(with_motions.iterations <= 16);
  CHECK(motions.amg->hierarchy().levels[0].block_size == 3);
  CHECK(motions.amg->hierarchy().levels[1].block_size == 6);
  CHECK(relative_difference(motions.x, P.solution) < 1e-5);

  const auto plane = known_problem<double>("elasticity2d:20");
  AmgSolve<double, Exec> turned(ctx, {.block_size = 2, .coarsest_rows = 40});
  turned.set_modes(rigid_body_modes<double>(problem_coordinates("elasticity2d:20"), 2));
  CHECK(turned.solve(plane).iterations <= 20);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "multigrid preconditions methods for nonsymmetric matrices") {
  const auto P = known_problem<double>(sized(ctx, "convection3d:14:1", "convection3d:6:1"));
  for (const Method method : {Method::bicgstab, Method::gmres})
    for (const AmgSmoother smoother : {AmgSmoother::chebyshev, AmgSmoother::ilu0}) {
      if (!takes_parts_of_others(ctx.backend(), method)) continue;
      AmgSolve<double, Exec> run(ctx, {.smoother = smoother, .coarsest_rows = 30}, method);
      const SolveReport report = run.solve(P);
      CHECK(report.converged());
      CHECK(report.iterations <= 20);
      CHECK(!run.amg->hierarchy().symmetric);
    }
}

CNC_SOLVER_TEST_WHERE(takes_amg,
                      "rows without neighbours and parts without others are no trouble") {
  // Each seventh unknown is eliminated: a row and a column of the identity; and the rest falls apart at row 100.
  const auto alone = [](index_t i) { return i % 7 == 3; };
  const auto A = changed_poisson("poisson2d:20x15", [&](index_t i, index_t j, double value) {
    if (i == j) return alone(i) ? 1.0 : value;
    return alone(i) || alone(j) || (i < 100) != (j < 100) ? 0.0 : value;
  });
  const auto P = with_known_solution<double>("parts", A);
  AmgSolve<double, Exec> run(ctx, {.coarsest_rows = 10});
  const SolveReport report = run.solve(P);
  CHECK(report.converged());
  CHECK(report.iterations <= 25);
  CHECK(relative_difference(run.x, P.solution) < 1e-6);

  std::vector<std::vector<double>> diagonal(6, std::vector<double>(6, 0));
  for (std::size_t i = 0; i < 6; ++i) diagonal[i][i] = double(i + 1);
  AmgSolve<double, Exec> nothing_to_do(ctx, {.coarsest_rows = 1});
  CHECK(nothing_to_do.solve(with_known_solution<double>("diagonal", small_matrix(diagonal)))
            .converged());
  AmgSolve<double, Exec> one(ctx);
  CHECK(one.solve(with_known_solution<double>("one", small_matrix({{4}}))).iterations <= 1);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "a singular matrix keeps its null space on every level") {
  // Neumann: the diagonal is what the off-diagonal entries add up to.
  const CsrMatrix<double> A = generate_problem(sized(ctx, "poisson2d:30x20", "poisson2d:12x9"));
  for (index_t i = 0; i < A.rows; ++i) {
    double sum = 0;
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      if (A.columns(k) != i) sum -= A.values(k);
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      if (A.columns(k) == i) A.values(k) = sum;
  }
  const auto P = with_known_solution<double>("neumann", A);
  SolveOptions options = options_for(Method::pcg, {}, PreconditionerKind::none);
  options.null_space = NullSpace::constant;
  auto solver = solver_on<double>(ctx, options);
  const auto amg = std::make_shared<Amg<double, Exec>>(AmgOptions{.coarsest_rows = 20});
  solver.set_preconditioner(amg);
  solver.prepare(A);
  const Vector<double> x = zeros<double>(A.rows);
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.iterations <= 20);
  CHECK(amg->hierarchy().coarsest_rank == amg->hierarchy().levels.back().rows - 1);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "what cannot be a hierarchy ends with a status") {
  const std::string name = "poisson2d:12x9";
  const auto solved = [&](const CsrMatrix<double>& A) {
    AmgSolve<double, Exec> run(ctx, {.coarsest_rows = 10});
    const SolveReport report = run.solve(with_known_solution<double>("changed", A));
    for (std::size_t i = 0; i < run.x.extent(0); ++i) REQUIRE(std::isfinite(run.x(i)));
    return report;
  };
  const SolveReport zero = solved(changed_poisson(
      name, [](index_t i, index_t j, double value) { return i == 5 && j == 5 ? 0.0 : value; }));
  CHECK(zero.status == SolveStatus::breakdown);
  CHECK_THAT(zero.detail, ContainsSubstring("row 5"));

  const SolveReport indefinite =
      solved(changed_poisson(name, [](index_t i, index_t j, double value) {
        return i == j && i % 2 == 0 ? -value : value;
      }));
  CHECK(!indefinite.converged());

  // Positive off-diagonal entries, and entries that float cannot hold.
  CHECK(solved(changed_poisson(name, [](index_t i, index_t j, double value) {
          return i == j ? value + 2 : std::abs(value);
        })).converged());
  AmgSolve<double, Exec> huge(ctx, {.coarsest_rows = 10});
  CHECK(huge.solve(with_known_solution<double>(
                       "huge", changed_poisson(name, [](index_t, index_t,
                                                        double value) { return 1e60 * value; })))
            .converged());
  CHECK(!huge.amg->hierarchy().in_float);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "multigrid refuses what it cannot take") {
  CHECK_THROWS_AS((Amg<double, Exec>({.strength = 1})), InvalidArgument);
  CHECK_THROWS_AS((Amg<double, Exec>({.block_size = 17})), InvalidArgument);
  CHECK_THROWS_AS((Amg<double, Exec>({.smoother_degree = 0})), InvalidArgument);
  CHECK_THROWS_AS((Amg<double, Exec>({.coarsest_rows = 0})), InvalidArgument);
  AmgSolve<double, Exec> run(ctx);
  run.set_modes({zeros<double>(7)});
  CHECK_THROWS_WITH(run.solver.prepare(generate_problem("poisson2d:30x30")),
                    ContainsSubstring("near-null vector 1 has 7 entries"));
  Amg<double, Exec> nothing;
  const auto r = zeroed<double, typename Exec::memory_space>("r", 3);
  CHECK_THROWS_AS(nothing.apply(ctx, r, r), InvalidArgument);
  AmgSolve<double, Exec> small(ctx, {.coarsest_rows = 10});
  small.solver.prepare(generate_problem("poisson2d:8"));
  const auto of_8x8 = zeroed<double, typename Exec::memory_space>("r", 64);
  const auto z = zeroed<double, typename Exec::memory_space>("z", 64);
  CHECK_THROWS_WITH(small.amg->apply(Context<Exec>(ctx.backend()), of_8x8, z),
                    ContainsSubstring("has not reserved"));
  CHECK_THROWS_AS(rigid_body_modes<double>(zeros<double>(7), 3), InvalidArgument);
}

CNC_SOLVER_TEST_WHERE(takes_amg, "units and sizes are no trouble for a cycle in float") {
  const std::string name = "poisson2d:12x12";
  const auto plain = known_problem<double>(name);
  const auto iterations = [&](const KnownProblem<double>& P, bool in_float) {
    AmgSolve<double, Exec> run(ctx, {.coarsest_rows = 20});
    const SolveReport report = run.solve(P);
    INFO(report.detail);
    CHECK(report.converged());
    CHECK(run.amg->hierarchy().in_float == in_float);
    return report.iterations;
  };
  const index_t usual = iterations(plain, true);
  // Right-hand sides that float does not hold.
  for (const double scale : {1e-60, 1e-36, 1e60}) {
    INFO(scale);
    KnownProblem<double> P{name, plain.A, copy_of(plain.solution), copy_of(plain.b)};
    for (index_t i = 0; i < P.rows(); ++i) {
      P.b(i) *= scale;
      P.solution(i) *= scale;
    }
    CHECK(iterations(P, true) <= usual + 1);
  }
  // A boundary value by penalty, on the last level too; an unknown of another unit; a row whose inverse float does not hold.
  for (const double penalty : {1e8, 1e14}) {
    INFO(penalty);
    const auto A = changed_poisson(name, [&](index_t i, index_t j, double value) {
      return i == 7 && j == 7 ? penalty : value;
    });
    CHECK(iterations(with_known_solution<double>("penalty", A), true) <= 2 * usual);
    AmgSolve<double, Exec> at_once(ctx);
    CHECK(at_once.solve(with_known_solution<double>("penalty", A)).iterations <= 3);
    CHECK(at_once.amg->hierarchy().coarsest_rank == 144);
  }
  const auto tiny = changed_poisson(name, [](index_t i, index_t j, double value) {
    if (i == 7 && j == 7) return 1e-45;
    return i == 7 || j == 7 ? 0.0 : value;
  });
  CHECK(iterations(with_known_solution<double>("tiny", tiny), false) <= 2 * usual);
}

TEST_CASE("a node of very many neighbours does not fill the coarse matrix") {
  // Node 0 is coupled with b_1 ... b_d, each of which with an a_k.
  const index_t d = 3000, n = 1 + 2 * d;
  std::vector<index_t> offsets{0}, columns;
  std::vector<double> values;
  const auto add = [&](index_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  };
  for (index_t i = 0; i < n; ++i) {
    if (i == 0) {
      add(0, d + 1);
      for (index_t k = 1; k <= d; ++k) add(k, -1);
    } else if (i <= d) {
      add(0, -1);
      add(i, 3);
      add(i + d, -1);
    } else {
      add(i - d, -1);
      add(i, 2);
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  const auto A = wrap_csr(n, n, static_cast<offset_t>(values.size()), offsets.data(),
                          columns.data(), values.data());
  Context<> ctx;
  AmgSolve<double, HostExec> run(ctx);
  CHECK(run.solve(with_known_solution<double>("hub", A)).converged());
  CHECK(run.amg->hierarchy().operator_complexity() < 3);
}

TEST_CASE("a matrix that is no longer symmetric is known as such") {
  Context<> ctx;
  const auto P = known_problem<double>("poisson2d:30x30");
  AmgSolve<double, HostExec> run(ctx, {}, Method::bicgstab);
  run.solver.prepare(P.A);
  CHECK(run.amg->hierarchy().symmetric);
  const auto other = changed_poisson("poisson2d:30x30", [](index_t i, index_t j, double value) {
    return i < j ? 1.3 * value : i > j ? 0.7 * value : value;
  });
  run.solver.update_values(other);
  CHECK(!run.amg->hierarchy().symmetric);
  const Vector<double> x = zeros<double>(P.rows());
  CHECK(run.solver.solve(P.b, x).converged());
}

TEST_CASE("what is no number is a fault of its row") {
  Context<> ctx;
  const auto A = small_matrix({{2, std::nan("")}, {0, 2}});
  Amg<double> amg;
  const PreconditionerSetup outcome = amg.set_up(ctx, A, Matrix<double>(A));
  CHECK(outcome.row == 0);
  CHECK(std::string(outcome.fault) == "has an entry that is not finite");
}

TEST_CASE("a hierarchy has the same bits on any number of threads") {
  for (const char* problem : {"poisson3d:24", "elasticity3d:8", "wathen:40x40"}) {
    INFO(problem);
    const auto P = known_problem<double>(problem);
    Vector<double> first;
    for (const int threads : {5, 2, 1}) {
#ifdef _OPENMP
      const int before = omp_get_max_threads();
      omp_set_num_threads(threads);  // those of the set-up
#endif
      ThreadedContext ctx("openmp", threads);
      ctx.set_least_work(1);
      AmgSolve<double, HostExec> run(ctx, {.coarsest_rows = 50});
      CHECK(run.solve(P).converged());
      const Vector<double> z = applied(ctx, *run.amg, P.b);
      if (first.extent(0) == 0) first = z;
      CHECK(relative_difference(z, first) == 0);
#ifdef _OPENMP
      omp_set_num_threads(before);
#endif
    }
  }
}

namespace {

/// What Kokkos has allocated since `begin`, and the most at one time.
struct Allocated {
  static inline double now = 0, most = 0;
  static void begin() {
    namespace Tools = Kokkos::Tools::Experimental;
    now = most = 0;
    Tools::set_allocate_data_callback([](auto, const char*, const void*, std::uint64_t size) {
      most = std::max(most, now += double(size));
    });
    Tools::set_deallocate_data_callback(
        [](auto, const char*, const void*, std::uint64_t size) { now -= double(size); });
  }
  static void end() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }
};

}  // namespace

TEST_CASE("multigrid says before a set-up how much memory it takes") {
  Context<> ctx;
  for (const char* problem : {"poisson3d:40", "anisotropic2d:200:0.01", "stencil27:32",
                              "elasticity3d:14", "wathen:60x60"}) {
    INFO(problem);
    const CsrMatrix<double> A = generate_problem(problem);
    const bool has_modes = std::string(problem) == "elasticity3d:14";
    Amg<double> amg({.block_size = has_modes ? 3 : 0});
    if (has_modes) {
      std::vector<Vector<const double>> modes;
      for (const auto& mode : rigid_body_modes<double>(problem_coordinates(problem), 3))
        modes.push_back(mode);
      amg.set_near_null_space(modes);
    }
    const double said = amg.bytes(A.rows, A.blocks());
    const Matrix<double> layout = build_format(A, {"auto", 1});
    Allocated::begin();
    REQUIRE(amg.set_up(ctx, A, layout).ok());
    const double taken = Allocated::most;
    Allocated::end();
    CAPTURE(said, taken);
    CHECK(said > 0.7 * taken);
    CHECK(said < 1.6 * taken);
  }
}
