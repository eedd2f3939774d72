#include "solve/solver_test.hpp"
#include "support/plate_problem.hpp"
#include "support/same_matrix.hpp"
#include "support/small_matrix.hpp"

#include <cnc/automatic_preconditioner.hpp>
#include <cnc/options.hpp>

#include <algorithm>
#include <memory>
#include <vector>

using namespace cnc;
using namespace cnc::testing;

namespace {

using Catch::Matchers::ContainsSubstring;

bool takes_trials(const Backend& backend) {
  return solves(backend) && takes_parts_of_others(backend, Method::pcg) && !is_emulated(backend);
}

template <class Exec>
struct Chosen {
  std::shared_ptr<AutomaticPreconditioner<double, Exec>> object;
  SolveReport report;
};

template <class Exec>
Chosen<Exec> solve_chosen(Context<Exec>& ctx, Method method, const KnownProblem<double>& P,
                          int solves = 1) {
  const auto object =
      std::make_shared<AutomaticPreconditioner<double, Exec>>(AutomaticOptions{solves});
  CHECK(object->name() == "auto");
  auto solver = solver_on<double>(ctx, options_for(method, {}, PreconditionerKind::none));
  solver.set_preconditioner(object);
  solver.prepare(P.A);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  if (report.converged()) CHECK(relative_difference(x, P.solution) < 1e-4);
  return {object, report};
}

}  // namespace

CNC_SOLVER_TEST_WHERE(takes_trials, "the preconditioner is chosen by what it promises") {
  const auto easy = solve_chosen(ctx, Method::pcg, known_problem<double>("wathen:12x10"));
  CHECK(easy.object->name() == "jacobi");
  CHECK(easy.report.converged());
  CHECK(easy.object->local().has_value());  // passes apply it on the way

  // On a device a set-up of so little is launches, and worth it for many solves only.
  constexpr int solves = detail::is_host_space<typename Exec::memory_space> ? 1 : 100;
  const auto large = solve_chosen(ctx, Method::pcg, known_problem<double>("poisson2d:90"), solves);
  CHECK(large.object->name() == "amg");
  CHECK(large.report.preconditioner == "amg");
  CHECK(large.report.iterations <= 14);
  CHECK_THAT(large.object->choice(), ContainsSubstring("amg: jacobi takes some"));
  CHECK(large.object->taken() != nullptr);

  if (!takes_parts_of_others(ctx.backend(), Method::bicgstab)) return;
  // A device waits for each of the 34 levels of its solves.
  constexpr bool on_host = detail::is_host_space<typename Exec::memory_space>;
  const auto flow =
      solve_chosen(ctx, Method::bicgstab,
                   known_problem<double>(on_host ? "convection3d:24:50" : "convection3d:12:50"));
  CHECK(flow.report.converged());
  CHECK(flow.object->name() == (on_host ? "ilu0" : "jacobi"));
}

TEST_CASE("products from few rows do not hide that multigrid pays") {
  Context<> ctx;
  for (const auto& [problem, b] : {std::pair{"elasticity2d:100", 2}, {"elasticity3d:24", 3}}) {
    const auto P = known_problem<double>(problem);
    const auto amg = std::make_shared<Amg<double>>(AmgOptions{.block_size = b});
    std::vector<Vector<const double>> modes;
    for (const auto& mode : rigid_body_modes<double>(problem_coordinates(problem), b))
      modes.push_back(mode);
    amg->set_near_null_space(std::move(modes));
    const auto object = std::make_shared<AutomaticPreconditioner<double>>(AutomaticOptions{}, amg);
    Solver<double> solver(ctx, {.method = Method::pcg});
    solver.set_preconditioner(object);
    solver.prepare(P.A);
    const SolveReport report = solver.solve(P.b, zeros<double>(P.rows()));
    INFO(problem << ": " << object->choice());
    CHECK(report.row_kinds > 0);
    CHECK(object->name() == "amg");
    CHECK(report.iterations < 20);
  }
}

TEST_CASE("a fourth-order problem is one for a factorisation") {
  Context<> ctx;
  const auto plate = plate_problem("poisson2d:40");
  const auto chosen = solve_chosen(ctx, Method::pcg, plate);
  INFO(chosen.object->choice());
  CHECK(chosen.object->name() == "ict:0.01");
  CHECK(chosen.report.converged());
  auto jacobi = solver_on<double>(ctx, options_for(Method::pcg, {}, PreconditionerKind::jacobi));
  jacobi.prepare(plate.A);
  CHECK(jacobi.solve(plate.b, zeros<double>(plate.rows())).iterations >
        4 * chosen.report.iterations);
}

TEST_CASE("CG that stands still promises nothing") {
  // Products are so fast that little else is cheap: 25 points a row, of at most 25 kinds of rows.
  constexpr index_t n = 110;
  std::vector<Triplet<double>> entries;
  for (index_t y = 0; y < n; ++y)
    for (index_t x = 0; x < n; ++x)
      for (index_t v = std::max<index_t>(y - 1, 0); v <= std::min(y + 1, n - 1); ++v)
        for (index_t u = std::max<index_t>(x - 1, 0); u <= std::min(x + 1, n - 1); ++u)
          entries.push_back({x + n * y, u + n * v, u == x && v == y ? 8.0 : -1.0});
  const auto plate = plate_problem(csr_from_triplets<double>(n * n, n * n, entries));
  Context<> ctx;
  const auto chosen = solve_chosen(ctx, Method::pcg, plate);
  INFO(chosen.object->choice());
  CHECK(chosen.object->name() != "jacobi");
  CHECK(chosen.report.converged());
  CHECK(chosen.report.iterations < 500);
}

TEST_CASE("a matrix that CG finds to be indefinite is tried with GMRES") {
  Context<> ctx;
  // With 0.3 the first trial of CG finds it, with 0.004 (between the two least eigenvalues) a longer one.
  for (const auto& [problem, shift] :
       {std::pair{"poisson2d:30x20", 0.3}, {"poisson2d:80", 0.004}}) {
    INFO(problem);
    const auto definite = known_problem<double>(problem);
    const CsrMatrix<double> shifted = convert_values<double>(definite.A);
    for (index_t i = 0; i < shifted.rows; ++i)
      for (index_t k = shifted.row_offsets(i); k < shifted.row_offsets(i + 1); ++k)
        if (shifted.columns(k) == i) shifted.values(k) -= shift;
    const auto chosen =
        solve_chosen(ctx, Method::gmres, with_known_solution<double>("shifted", shifted));
    INFO(chosen.object->choice());
    CHECK(chosen.report.converged());
    CHECK_THAT(chosen.object->choice(), !ContainsSubstring("ic0"));
    CHECK_THAT(chosen.object->choice(), !ContainsSubstring("gets nowhere"));
  }
}

CNC_SOLVER_TEST_WHERE(takes_trials, "the choice is the same again, and kept for new values") {
  const auto P = known_problem<double>("poisson2d:60x50");
  const auto first = solve_chosen(ctx, Method::pcg, P), second = solve_chosen(ctx, Method::pcg, P);
  CHECK(first.object->choice() == second.object->choice());
  CHECK(first.report.iterations == second.report.iterations);

  auto solver = solver_on<double>(ctx, options_for(Method::pcg, {}, PreconditionerKind::none));
  solver.set_preconditioner(first.object);
  solver.prepare(P.A);
  const auto taken = first.object->taken();
  const CsrMatrix<double> twice = convert_values<double>(P.A);
  for (std::size_t k = 0; k < twice.values.extent(0); ++k) twice.values(k) *= 2;
  solver.update_values(twice);
  CHECK(first.object->taken() == taken);
  const Vector<double> x = zeros<double>(P.rows());
  CHECK(solver.solve(P.b, x).converged());
}

TEST_CASE("a diagonal with zeros is no end") {
  Context<> ctx;
  const auto empty_row =
      with_known_solution<double>("empty", small_matrix({{2, 1, 0}, {1, 2, 0}, {0, 0, 0}}));
  const auto object = std::make_shared<AutomaticPreconditioner<double>>();
  Solver<double> solver(ctx, options_for(Method::minres, {}, PreconditionerKind::none));
  solver.set_preconditioner(object);
  solver.prepare(empty_row.A);
  CHECK(solver.solve(empty_row.b, zeros<double>(3)).converged());  // a zero equals zero
  // No diagonal at all: a factorisation with something on it does it.
  const auto saddle = with_known_solution<double>("saddle", small_matrix({{0, 1}, {1, 0}}));
  CHECK(solve_chosen(ctx, Method::gmres, saddle).report.converged());
  CHECK_THROWS_AS((AutomaticPreconditioner<double>({0})), InvalidArgument);
  const Vector<double> r = zeros<double>(3);
  CHECK_THROWS_AS(AutomaticPreconditioner<double>().apply(ctx, r, zeros<double>(3)),
                  InvalidArgument);
}

TEST_CASE("preconditioners are read from text, and made") {
  const auto name = [](const char* text) {
    const auto made = make_preconditioner<double, HostExec>(parse_preconditioner(text));
    return made ? made->name() : "none";
  };
  for (const char* text :
       {"auto", "amg", "ic0", "ict:0.02", "ict:0.01,block=9", "ilu0", "ilut:0.01", "chebyshev:3",
        "ssor:1.2", "none", "block-jacobi:17", "block-jacobi:32", "ic0:block=500",
        "ilut:0.01,block=7", "ilu0:colours,sweeps=3", "ilut:0.01,sweeps=100", "ic0:colours"})
    CHECK(name(text) == text);
  CHECK(name("amg:degree=3,strength=0.5,block=2,coarsest=50,levels=4,cycle=w,plain,double") ==
        "amg");
  CHECK(name("auto:20") == "auto");
  CHECK(name("ilut") == "ilut:0.001");
  CHECK(name("ilut:block=7") == "ilut:0.001,block=7");
  CHECK(name("jacobi") == "none");
  CHECK(parse_preconditioner("block-jacobi:16").block_size == 16);
  const auto amg = std::get<AmgOptions>(parse_preconditioner("amg:degree=3,cycle=w,plain").object);
  CHECK(amg.smoother_degree == 3);
  CHECK(amg.cycle == AmgCycle::w);
  CHECK(!amg.smoothed);
  CHECK(amg.in_float);
  CHECK(std::get<AmgOptions>(parse_preconditioner("amg:cycle=k").object).cycle == AmgCycle::k);
  const auto smoother = [](const char* text) {
    return std::get<AmgOptions>(parse_preconditioner(text).object).smoother;
  };
  CHECK(smoother("amg") == AmgSmoother::chebyshev);
  CHECK(smoother("amg:smoother=chebyshev") == AmgSmoother::chebyshev);
  CHECK(smoother("amg:smoother=jacobi") == AmgSmoother::jacobi);
  CHECK(smoother("amg:smoother=l1-jacobi") == AmgSmoother::l1_jacobi);
  CHECK(smoother("amg:smoother=gauss-seidel") == AmgSmoother::gauss_seidel);
  CHECK(smoother("amg:smoother=ilu0") == AmgSmoother::ilu0);
  for (const char* text : {"amgx",
                           "amg:",
                           "amg:degree",
                           "amg:degree=0",
                           "amg:strength=1",
                           "amg:cycle=f",
                           "amg:smoother=",
                           "amg:smoother=ic0",
                           "ic1",
                           "ilu",
                           "ic0:block=0",
                           "ic0:7",
                           "ilut:0.1,7",
                           "ilut:block=",
                           "block-jacobi:33",
                           "block-jacobi:0",
                           "ilut:",
                           "ilut:1",
                           "ict:1",
                           "ilut:-1",
                           "chebyshev:0",
                           "auto:0",
                           "auto:x",
                           "ic0:sweeps=0",
                           "ic0:sweeps=101",
                           "ic0:colour",
                           "ilut:sweeps=2,0.1",
                           "ic0:block=7,colours"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_preconditioner(text), InvalidArgument);
  }
}
