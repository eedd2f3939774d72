#include "distributed/distributed_test.hpp"

#include <cstring>

using namespace cnc;
using namespace cnc::testing;

namespace {

/// What all ranks together have found.
template <class V>
struct Outcome {
  SolveReport report;
  Vector<V> x;
};

template <class Exec = Kokkos::DefaultHostExecutionSpace, class V>
Outcome<V> solve_in_parts(const KnownProblem<V>& problem, const SolveOptions& options,
                          std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner = nullptr) {
  using Space = typename Exec::memory_space;
  const PartitionedMatrix<V> A = partitioned(problem.A);
  DistributedSolver<V, Exec> solver(context_in<Exec>(), options);
  if (preconditioner) solver.set_preconditioner(preconditioner);
  solver.prepare(A);
  const Vector<V, Space> x("x", static_cast<std::size_t>(A.rows()));
  Outcome<V> outcome;
  outcome.report = solver.solve(copy_to<Space>(own_part(A, problem.b)), x);
  outcome.x = whole_of(A, copy_to<HostSpace>(x));
  return outcome;
}

template <class V>
SolveReport solve_as_one(const KnownProblem<V>& problem, SolveOptions options) {
  options.form = is_phased(options.method) ? SolveForm::fused_steps : SolveForm::automatic;
  Solver<V> solver(one_thread(), options);
  solver.prepare(problem.A);
  return solver.solve(problem.b, zeros<V>(problem.rows()));
}

/// The true residual is that of the whole matrix, and the solution the known one.
template <class V>
void check_solution(const KnownProblem<V>& problem, const Outcome<V>& outcome) {
  const SolveReport& report = outcome.report;
  CHECK(report.status == SolveStatus::converged);
  const Residual residual = residual_of(problem.A, problem.b, outcome.x);
  const bool normal = method_facts(report.method).least_squares;
  const double computed = normal ? report.least_squares_residual : report.true_residual;
  CHECK(std::abs(residual.norm - computed) <= residual.rounding + 1e-6 * residual.norm);
  if (!normal) CHECK(residual.norm <= report.tolerance + residual.rounding);
  CHECK(same_on_all(std::to_string(report.iterations) + " " + std::to_string(report.true_residual) +
                    " " + to_string(report.status) + " " + report.choice));
}

/// Histories are the same within rounding, which grows on the way: compared are `count` iterations at most, to a hundredth.
void check_histories(const std::vector<double>& history, const std::vector<double>& expected,
                     std::size_t count) {
  const std::size_t both = std::min({history.size(), expected.size(), count});
  CHECK(both > 2);
  for (std::size_t k = 0; k < both && expected[k] > 1e-2 * expected[0]; ++k) {
    INFO("iteration " << k);
    CHECK(std::abs(history[k] - expected[k]) <= 1e-6 * expected[k]);
  }
}

/// Solves by every method, without a preconditioner and with Jacobi.
template <class Exec>
void check_methods() {
  struct Case {
    const char* text;
    bool symmetric;
  };
  for (const Case& c :
       {Case{"poisson2d:15x14", true}, {"elasticity3d:2", true}, {"convection3d:6:2", false}}) {
    const auto problem = known_problem<double>(c.text);
    for (int m = 0; m < all_method_count; ++m) {
      const MethodFacts& facts = method_facts(Method(m));
      if (facts.stationary || (facts.symmetric && !c.symmetric)) continue;
      for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        // That of A^T A is one of the own block, and another one on one process.
        if (kind == PreconditionerKind::jacobi && facts.normal_equations) continue;
        INFO(c.text << " " << facts.name << " " << int(kind));
        const SolveOptions options{.method = Method(m), .preconditioner = kind, .rtol = 1e-9};
        const Outcome<double> outcome = solve_in_parts<Exec>(problem, options);
        const SolveReport one = solve_as_one(problem, options);
        check_solution(problem, outcome);
        CHECK(std::abs(outcome.report.iterations - one.iterations) <= 4 + one.iterations / 10);
        check_histories(outcome.report.history, one.history,
                        facts.normal_equations ? 10 : 1000);  // their condition is squared
        CHECK(std::abs(outcome.report.initial_residual - one.initial_residual) <=
              1e-12 * one.initial_residual);
      }
    }
  }
}

template <class Exec>
void check_preconditioners() {
  const auto problem = known_problem<double>("poisson2d:24x20");
  const auto check = [&](std::shared_ptr<PreconditionerBase<double, Exec>> M, Method method) {
    INFO(M->name() << " " << method_name(method));
    check_solution(problem, solve_in_parts<Exec>(problem, {.method = method}, M));
  };
  check(std::make_shared<IncompleteFactorization<double, Exec>>(
            IncompleteOptions{.kind = IncompleteKind::ic0}),
        Method::pcg);
  check(std::make_shared<IncompleteFactorization<double, Exec>>(
            IncompleteOptions{.kind = IncompleteKind::ilu0}),
        Method::gmres);
  check(std::make_shared<Amg<double, Exec>>(), Method::pcg);
  check(std::make_shared<Amg<double, Exec>>(), Method::bicgstab);
  const auto blocks = known_problem<double>("elasticity3d:3");
  check_solution(blocks,
                 solve_in_parts<Exec>(blocks, {.preconditioner = PreconditionerKind::block_jacobi,
                                               .preconditioner_block_size = 3}));
}

template <class Exec>
void check_bits() {
  const auto problem = known_problem<double>("poisson3d:7");
  for (const Method method : {Method::pcg, Method::bicgstab, Method::gmres}) {
    INFO(method_name(method));
    const Outcome<double> first = solve_in_parts<Exec>(problem, {.method = method}),
                          second = solve_in_parts<Exec>(problem, {.method = method});
    CHECK(same_bits(first.x, second.x));
    CHECK(first.report.history == second.report.history);
  }
}

#ifdef CNC_KOKKOS_HAS_DEVICE
std::string link_of_devices() {
  using Device = Kokkos::DefaultExecutionSpace;
  DistributedSolver<double, Device> solver(context_in<Device>());
  solver.prepare(partitioned(known_problem<double>("poisson2d:9x9").A));
  CHECK(same_on_all(to_string(solver.link())));
  return to_string(solver.link());
}
#endif

}  // namespace

TEST_CASE("every method has the residuals that it has on one process") {
  check_methods<Kokkos::DefaultHostExecutionSpace>();
}
TEST_CASE("preconditioners of the own block") {
  check_preconditioners<Kokkos::DefaultHostExecutionSpace>();
}
TEST_CASE("the same bits on every run") { check_bits<Kokkos::DefaultHostExecutionSpace>(); }

#ifdef CNC_KOKKOS_HAS_DEVICE
TEST_CASE("ranks with devices have the residuals of hosts") {
  check_methods<Kokkos::DefaultExecutionSpace>();
  WARN("exchanges go through " << link_of_devices());
  const auto in_float = known_problem<float>("poisson2d:16x16");
  check_solution(in_float, solve_in_parts<Kokkos::DefaultExecutionSpace>(in_float, {.rtol = 1e-5}));
  const auto few = known_problem<double>("trefethen:2");  // not a row for each
  CHECK(solve_in_parts<Kokkos::DefaultExecutionSpace>(few, {}).report.converged());
  for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity}) {
    const auto problem = known_problem<double>("elasticity3d:3");
    const SolveOptions options{.norm = norm, .components = 3};
    CHECK(solve_in_parts<Kokkos::DefaultExecutionSpace>(problem, options).report.converged());
  }
}
TEST_CASE("ranks with devices have preconditioners of their blocks") {
  check_preconditioners<Kokkos::DefaultExecutionSpace>();
}
TEST_CASE("ranks with devices have the same bits on every run") {
  check_bits<Kokkos::DefaultExecutionSpace>();
}
#endif

TEST_CASE("float vectors, other norms, a guess, and an automatic method") {
  const auto in_float = known_problem<float>("poisson2d:16x16");
  check_solution(in_float, solve_in_parts(in_float, {.rtol = 1e-5}));
  const auto problem = known_problem<double>("elasticity3d:3");
  for (const int components : {1, 3})
    for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity}) {
      const SolveOptions options{.norm = norm, .components = components};
      const SolveReport report = solve_in_parts(problem, options).report;
      const SolveReport one = solve_as_one(problem, options);
      CHECK(report.converged());
      CHECK(std::abs(report.tolerance - one.tolerance) <= 1e-12 * one.tolerance);
      CHECK(report.component_tolerances.size() == one.component_tolerances.size());
      CHECK(std::abs(report.iterations - one.iterations) <= 3);
    }
  const PartitionedMatrix<double> A = partitioned(problem.A);
  DistributedSolver<double> solver(one_thread());
  solver.prepare(A);
  const Vector<double> x = own_part(A, problem.solution);
  CHECK(solver.solve(own_part(A, problem.b), x).iterations == 0);
  for (const char* text : {"poisson2d:9x9", "convection3d:5:3"}) {
    INFO(text);
    const auto any = known_problem<double>(text);
    check_solution(any, solve_in_parts(any, {.method = Method::automatic}));
  }
}

TEST_CASE("ranks without rows solve along") {
  const auto problem = known_problem<double>("trefethen:2");
  for (int m = 0; m < all_method_count; ++m) {
    const MethodFacts& facts = method_facts(Method(m));
    INFO(facts.name);
    const Outcome<double> outcome = solve_in_parts(problem, {.method = Method(m)});
    CHECK(relative_difference(outcome.x, problem.solution) < 1e-6);
  }
  for (const std::shared_ptr<PreconditionerBase<double>>& M :
       {std::shared_ptr<PreconditionerBase<double>>(std::make_shared<Amg<double>>()),
        std::shared_ptr<PreconditionerBase<double>>(
            std::make_shared<IncompleteFactorization<double>>())})
    check_solution(problem, solve_in_parts(problem, {}, M));
  KnownProblem<double> none = problem;
  none.A = CsrMatrix<double>(0, 0, 1, Vector<index_t>("offsets", 1), Vector<index_t>(),
                             Vector<double>());
  none.b = none.solution = Vector<double>();
  CHECK(solve_in_parts(none, {}).report.converged());
}

TEST_CASE("new values on the same pattern") {
  auto problem = known_problem<double>("poisson2d:10x10");
  DistributedSolver<double> solver(one_thread());
  solver.prepare(partitioned(problem.A));
  for (std::size_t k = 0; k < problem.A.values.extent(0); ++k) problem.A.values(k) *= 3;
  const auto tripled = with_known_solution("tripled", problem.A);
  const PartitionedMatrix<double> A = partitioned(tripled.A);
  solver.update_values(A);
  const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
  const SolveReport report = solver.solve(own_part(A, tripled.b), x);
  check_solution(tripled, {report, whole_of(A, x)});
  const auto other = known_problem<double>("poisson2d:20x5");
  CHECK(thrown_by([&] { solver.update_values(partitioned(other.A)); }) != "");
}

TEST_CASE("bytes are those of all ranks, more than those of one process by the halo") {
  const auto problem = known_problem<double>("poisson2d:40x40");
  const SolveReport report = solve_in_parts(problem, {.format = {"csr"}}).report;
  const SolveReport one = solve_as_one(problem, {.format = {"csr"}});
  const double of_parts = report.bytes / report.iterations, of_one = one.bytes / one.iterations;
  CHECK(of_parts >= 0.99 * of_one);
  CHECK(of_parts <= 1.2 * of_one);
}

TEST_CASE("ranks of a program that work on systems of their own") {
  const MpiScope again;  // somebody else has initialised MPI
  CHECK(!again.owns_mpi());
  MPI_Comm half = MPI_COMM_NULL;
  const int colour = world().rank() % 2;
  MPI_Comm_split(MPI_COMM_WORLD, colour, 0, &half);
  {
    const Communicator ranks(half);
    MPI_Comm_free(&half);  // the duplicate stays
    const auto problem = known_problem<double>(colour == 0 ? "poisson2d:12x9" : "trefethen:50");
    const auto A = PartitionedMatrix<double>::scattered(
        ranks, ranks.rank() == 0 ? problem.A : CsrMatrix<double>());
    DistributedSolver<double> solver(one_thread());
    solver.prepare(A);
    const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
    const SolveReport report = solver.solve(own_part(A, problem.b), x);
    CHECK(report.converged());
    const Vector<double> whole = A.gather(x);
    if (ranks.rank() == 0) {
      const Residual residual = residual_of(problem.A, problem.b, whole);
      CHECK(std::abs(residual.norm - report.true_residual) <=
            residual.rounding + 1e-6 * residual.norm);
    }
  }
}
