#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <cnc/incomplete.hpp>
#include <cnc/options.hpp>
#include <cnc/relaxation.hpp>

#include <algorithm>
#include <memory>

using namespace cnc;
using namespace cnc::testing;

// The stationary iterations: Richardson's with a relaxation for its preconditioner; and relaxations under other methods.

namespace {

using Catch::Matchers::ContainsSubstring;

/// x after k of the sweeps of a textbook, from x = 0, in the order of the rows given.
struct Textbook {
  const KnownProblem<double>& P;
  double omega;
  std::vector<index_t> rows;

  void relax(const Vector<double>& x, const Vector<double>& from, index_t i) const {
    double diagonal = 0, rest = P.b(i);
    for (index_t k = P.A.row_offsets(i); k < P.A.row_offsets(i + 1); ++k) {
      const index_t j = P.A.columns(k);
      if (j == i)
        diagonal = P.A.values(k);
      else
        rest -= P.A.values(k) * from(j);
    }
    x(i) = (1 - omega) * x(i) + omega * rest / diagonal;
  }
  Vector<double> solve(RelaxationKind kind, int sweeps) const {
    const Vector<double> x = zeros<double>(P.rows());
    for (int k = 0; k < sweeps; ++k) {
      if (kind == RelaxationKind::jacobi) {
        const Vector<double> before = copy_of(x);
        for (const index_t i : rows) relax(x, before, i);
        continue;
      }
      for (const index_t i : rows) relax(x, x, i);
      if (kind == RelaxationKind::ssor)
        for (auto i = rows.rbegin(); i != rows.rend(); ++i) relax(x, x, *i);
    }
    return x;
  }
};

std::vector<index_t> natural_order(index_t n) {
  std::vector<index_t> rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = i;
  return rows;
}
/// Red points of a grid, then black ones.
std::vector<index_t> red_black_order(index_t width, index_t height) {
  std::vector<index_t> rows = natural_order(width * height);
  std::stable_sort(rows.begin(), rows.end(), [=](index_t i, index_t j) {
    return (i % width + i / width) % 2 < (j % width + j / width) % 2;
  });
  return rows;
}

template <class Exec>
SolveReport solve_relaxed(Context<Exec>& ctx, SolveOptions options,
                          const RelaxationOptions& relaxation, const KnownProblem<double>& P,
                          const Vector<double>& x) {
  options.preconditioner = PreconditionerKind::none;
  auto solver = solver_on<double>(ctx, options);
  solver.set_preconditioner(std::make_shared<Relaxation<double, Exec>>(relaxation));
  solver.prepare(P.A);
  return solver.solve(P.b, x);
}

SolveOptions richardson(index_t iterations = 10000) {
  SolveOptions options = options_for(Method::richardson, {}, PreconditionerKind::none);
  options.max_iterations = iterations;
  return options;
}

/// Whether a backend executes a method with a preconditioner that passes do not apply.
bool takes_relaxations(const Backend& backend) {
  return solves(backend) && takes_parts_of_others(backend, Method::richardson);
}

constexpr RelaxationKind kinds[] = {RelaxationKind::jacobi, RelaxationKind::sor,
                                    RelaxationKind::ssor};

}  // namespace

CNC_SOLVER_TEST_WHERE(takes_relaxations, "relaxations have the iterates of the textbook's sweeps") {
  const auto P = known_problem<double>("poisson2d:9x7");
  const auto flow = known_problem<double>("convection3d:4:1");
  for (const RelaxationKind kind : kinds)
    for (const SweepOrder order : {SweepOrder::natural, SweepOrder::colours}) {
      if (order == SweepOrder::natural && !detail::is_host_space<typename Exec::memory_space>)
        continue;
      for (const double omega : {1.0, 0.7, 1.6})
        for (const int sweeps : {1, 2, 7}) {
          INFO(int(kind) << " " << int(order) << " " << omega << " " << sweeps);
          if (kind == RelaxationKind::jacobi && omega > 1) continue;  // diverges
          const bool by_colours = order == SweepOrder::colours;
          const Textbook textbook{P, omega,
                                  by_colours ? red_black_order(9, 7) : natural_order(P.rows())};
          const Vector<double> x = zeros<double>(P.rows());
          solve_relaxed(ctx, richardson(sweeps), {kind, omega, order}, P, x);
          CHECK(relative_difference(x, textbook.solve(kind, sweeps)) < 1e-12);
          if (by_colours) continue;
          const Vector<double> y = zeros<double>(flow.rows());
          solve_relaxed(ctx, richardson(sweeps), {kind, omega, order}, flow, y);
          const Textbook its{flow, omega, natural_order(flow.rows())};
          CHECK(relative_difference(y, its.solve(kind, sweeps)) < 1e-12);
        }
    }
}

CNC_SOLVER_TEST_WHERE(takes_relaxations, "stationary iterations converge as theory says") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:15x15", "poisson2d:7x7"));
  const Vector<double> x = zeros<double>(P.rows());
  index_t iterations[3] = {};
  for (int k = 0; k < 3; ++k) {
    Kokkos::deep_copy(x, 0.0);
    const double pi = std::acos(-1.0), points = std::sqrt(P.rows());
    const double omega = k == 2 ? 2 / (1 + std::sin(pi / (points + 1))) : 1;
    const SolveReport report = solve_relaxed(
        ctx, richardson(), {k == 0 ? RelaxationKind::jacobi : RelaxationKind::sor, omega}, P, x);
    CHECK(report.converged());
    CHECK(residual_of(P.A, P.b, x).norm <= 1.001 * report.tolerance);
    iterations[k] = report.iterations;
  }
  // Young: the rate of Gauss-Seidel is that of Jacobi squared, and the best factor saves far more.
  CHECK(std::abs(2 * iterations[1] - iterations[0]) <= 0.1 * iterations[0]);
  CHECK(3 * iterations[2] < iterations[1]);
}

CNC_SOLVER_TEST_WHERE(takes_relaxations, "ssor preconditions methods for symmetric matrices") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x25", "poisson2d:9x8"));
  for (const Method method : {Method::pcg, Method::pcg_single_reduction, Method::minres}) {
    INFO(to_string(method));
    const Vector<double> x = zeros<double>(P.rows());
    const SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
    const SolveReport jacobi = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    const SolveReport ssor = solve_relaxed(ctx, options, {RelaxationKind::ssor}, P, x);
    CHECK(ssor.converged());
    CHECK(ssor.preconditioner == "ssor:1");
    CHECK(2 * ssor.iterations < jacobi.iterations + 8);
    CHECK(relative_difference(x, P.solution) < 1e-6);
  }
  const auto flow = known_problem<double>("convection3d:5:1");
  for (const Method method : {Method::bicgstab, Method::gmres, Method::fgmres}) {
    INFO(to_string(method));
    const Vector<double> x = zeros<double>(flow.rows());
    const SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
    const SolveReport jacobi = solve_once(ctx, options, flow.A, flow.b, zeros<double>(flow.rows()));
    const SolveReport swept = solve_relaxed(ctx, options, {}, flow, x);
    CHECK(swept.converged());
    CHECK_THAT(swept.preconditioner, ContainsSubstring("gauss-seidel"));
    CHECK(swept.iterations < jacobi.iterations);
    CHECK(relative_difference(x, flow.solution) < 1e-6);
  }
}

CNC_SOLVER_TEST_WHERE(takes_relaxations,
                      "one sweep is no preconditioner of methods for symmetric matrices") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x25", "poisson2d:9x8"));
  const Vector<double> x = zeros<double>(P.rows());
  SolveOptions options = options_for(Method::automatic, {}, PreconditionerKind::none);
  const SolveReport chosen = solve_relaxed(ctx, options, {}, P, x);
  CHECK(chosen.converged());
  CHECK_FALSE(method_facts(chosen.method).symmetric);
  CHECK_THAT(chosen.choice, ContainsSubstring("its preconditioner is not symmetric"));
  CHECK(relative_difference(x, P.solution) < 1e-6);
  const SolveReport swept_twice =
      solve_relaxed(ctx, options, {RelaxationKind::ssor}, P, zeros<double>(P.rows()));
  CHECK(swept_twice.converged());
  CHECK(method_facts(swept_twice.method).symmetric);
  options.max_iterations = 50;
  for (const Method method : {Method::pcg, Method::pcg_single_reduction, Method::minres}) {
    INFO(to_string(method));
    options.method = method;
    const SolveReport named = solve_relaxed(ctx, options, {}, P, zeros<double>(P.rows()));
    CHECK_THAT(named.choice, ContainsSubstring("the preconditioner is not symmetric"));
    CHECK_THAT(named.detail, !ContainsSubstring("the matrix is not positive definite"));
  }
}

CNC_SOLVER_TEST_WHERE(takes_relaxations, "a relaxation follows new values and reports faults") {
  const auto P = known_problem<double>("poisson2d:9x7");
  const auto other = with_known_solution(
      "other", with_diagonal(P.A, [](index_t row, double a) { return a + 1 + row % 3; }));
  for (const RelaxationKind kind : kinds) {
    INFO(int(kind));
    SolveOptions options = richardson();
    auto solver = solver_on<double>(ctx, options);
    const auto relaxation = std::make_shared<Relaxation<double, Exec>>(RelaxationOptions{kind});
    solver.set_preconditioner(relaxation);
    solver.prepare(P.A);
    const Vector<double> x = zeros<double>(P.rows());
    CHECK(solver.solve(P.b, x).converged());
    solver.update_values(other.A);
    Kokkos::deep_copy(x, 0.0);
    CHECK(solver.solve(other.b, x).converged());
    CHECK(relative_difference(x, other.solution) < 1e-6);

    solver.prepare(with_diagonal(P.A, [](index_t row, double a) { return row == 5 ? 0 : a; }));
    const SolveReport report = solver.solve(P.b, x);
    CHECK(std::string(cnc::to_string(report.status)) == "breakdown");
    CHECK_THAT(report.detail, ContainsSubstring("row 5"));
  }
}

TEST_CASE("sweeps by colours have the same bits whatever the number of threads") {
  const auto P = known_problem<double>("elasticity2d:12");
  Vector<double> first;
  for (const int threads : {1, 2, 3}) {
    Context<> ctx("openmp", threads);
    const Vector<double> x = zeros<double>(P.rows());
    solve_relaxed(ctx, options_for(Method::pcg, {}, PreconditionerKind::none),
                  {RelaxationKind::ssor, 1.2, SweepOrder::colours}, P, x);
    if (threads == 1) first = x;
    CHECK(same_bits(x, first));
  }
}

TEST_CASE("no two neighbours have one colour") {
  for (const char* text : {"poisson2d:12x9", "poisson3d:5", "convection3d:4:1"}) {
    const auto A = generate_problem(text);
    Context<> ctx("reference");
    Relaxation<double> relaxation({RelaxationKind::sor, 1, SweepOrder::colours});
    CHECK(relaxation.set_up(ctx, A, A).ok());
    CHECK(relaxation.colours() == 2);
  }
}

TEST_CASE("a relaxation that was not set up for the matrix is refused") {
  const auto P = known_problem<double>("poisson2d:5x4");
  Context<> ctx("reference");
  Solver<double> solver(ctx, options_for(Method::pcg, {}, PreconditionerKind::none));
  solver.set_preconditioner(std::make_shared<Relaxation<double>>());
  solver.prepare(LinearOperator<double>{P.rows(), [&](const auto& x, const auto& y) {
                                          Kokkos::deep_copy(y, product(P.A, copy_of(x)));
                                        }});
  CHECK_THROWS_AS(solver.solve(P.b, zeros<double>(P.rows())), InvalidArgument);
}

TEST_CASE("relaxations out of range are refused") {
  CHECK_THROWS_AS(Relaxation<double>({RelaxationKind::sor, 2}), InvalidArgument);
  CHECK_THROWS_AS(Relaxation<double>({RelaxationKind::ssor, 0}), InvalidArgument);
  CHECK_THROWS_AS(Relaxation<double>({RelaxationKind::jacobi, -1}), InvalidArgument);
  CHECK_NOTHROW(Relaxation<double>({RelaxationKind::jacobi, 2.5}));
  for (const RelaxationKind kind : kinds)
    CHECK(Relaxation<double>({kind}).keeps_symmetry() == (kind != RelaxationKind::sor));
  for (const IncompleteKind kind :
       {IncompleteKind::ic0, IncompleteKind::ict, IncompleteKind::ilu0, IncompleteKind::ilut})
    CHECK(IncompleteFactorization<double>({kind}).keeps_symmetry() ==
          (kind != IncompleteKind::ilut));
}

TEST_CASE("relaxations are read from text") {
  const auto read = [](const char* text) {
    return std::get<RelaxationOptions>(parse_preconditioner(text).object);
  };
  CHECK(!parse_preconditioner("jacobi").is_object());
  CHECK(read("jacobi:0.8").kind == RelaxationKind::jacobi);
  CHECK(read("jacobi:0.8").omega == 0.8);
  CHECK(read("gauss-seidel").kind == RelaxationKind::sor);
  CHECK(read("sor:1.5").omega == 1.5);
  CHECK(read("ssor").kind == RelaxationKind::ssor);
  CHECK(read("ssor-colours:1.2").order == SweepOrder::colours);
  for (const char* text : {"sor:2", "sor:", "sor:x", "ssor:-1", "gauss-seidel:1", "jacobi:0",
                           "jacobi-colours", "sorr", "sor:nan"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_preconditioner(text), InvalidArgument);
  }
}
