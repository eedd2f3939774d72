#include "distributed/multigrid_checks.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

#ifdef CNC_KOKKOS_HAS_DEVICE
Context<Kokkos::DefaultExecutionSpace>& device() {
  return context_in<Kokkos::DefaultExecutionSpace>();
}

/// check(link) with each way of exchanging that these ranks have.
template <class Check>
void by_each_link(const Check& check) {
  std::string before;
  for (const RankLink best :
       {RankLink::through_host, RankLink::device_mpi, RankLink::messages, RankLink::devices}) {
    world().limit_link(best);
    DistributedSolver<double, Kokkos::DefaultExecutionSpace> solver(device());
    solver.prepare(partitioned(known_problem<double>("poisson2d:9x9").A));
    const std::string link = to_string(solver.link());
    CHECK(same_on_all(link));
    if (link == before) continue;  // there is no better one
    INFO("by " << link);
    WARN("exchanges go by " << link);
    check(best);
    before = link;
  }
}
#endif

}  // namespace

TEST_CASE("every method has the residuals that it has on one process") {
  check_methods(one_thread());
}
TEST_CASE("preconditioners of the own block") { check_preconditioners(one_thread()); }
TEST_CASE("multigrid of the whole matrix") { check_multigrid(one_thread()); }
TEST_CASE("multigrid has its coarse levels on fewer ranks") { check_gathered(one_thread()); }
TEST_CASE("multigrid on ranks has the first prolongation in factors, as on one") {
  const auto problem = known_problem<double>("poisson2d:150x150");
  const SolveOptions options{.rtol = 1e-9};
  const auto on_one = std::make_shared<Amg<double>>();
  Solver<double> alone(one_thread(), options);
  alone.set_preconditioner(on_one);
  alone.prepare(problem.A);
  const SolveReport report = alone.solve(problem.b, zeros<double>(problem.rows()));
  const auto on_ranks = std::make_shared<DistributedAmg<double>>();
  DistributedSolver<double> solver(one_thread(), options);
  solver.set_preconditioner(on_ranks);
  const PartitionedMatrix<double> A = partitioned(problem.A);
  for (int k = 0; k < 2; ++k) {  // the second time in memory that is there
    solver.prepare(A);
    const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
    const Outcome<double> outcome{solver.solve(own_part(A, problem.b), x), whole_of(A, x)};
    check_solution(problem, outcome);
    CHECK(outcome.report.iterations <= report.iterations + 3);
    CHECK(on_ranks->hierarchy().in_factors == on_one->hierarchy().in_factors);
  }
}
TEST_CASE("multigrid that was cleared is set up again by a prepare") {
  const auto problem = known_problem<double>("poisson2d:40x41");
  const auto parts = partitioned(problem.A);
  const auto M = std::make_shared<DistributedAmg<double>>();
  DistributedSolver<double> solver(one_thread());
  solver.set_preconditioner(M);
  solver.prepare(parts);
  const auto solution = [&] {
    const Vector<double> x("x", static_cast<std::size_t>(parts.rows()));
    const SolveReport report = solver.solve(own_part(parts, problem.b), x);  // which may throw
    CHECK(report.converged());
    return whole_of(parts, x);
  };
  const Vector<double> before = solution();
  M->clear();
  CHECK_THAT(thrown_by([&] { solution(); }), ContainsSubstring("apply without a set_up"));
  solver.prepare(parts);
  CHECK(same_bits(solution(), before));
}
TEST_CASE("multigrid sees asymmetry between ranks") {
  const CsrMatrix<double> A = generate_problem("poisson2d:20x20");
  const auto own = rows_of_rank(A.rows, 1, false);
  const auto symmetric_by = [&](double above, double below) {
    const CsrMatrix<double> changed = deep_copy_of(A);
    const auto [begin, end] = own;
    for (index_t i = begin; i < end; ++i)
      for (index_t k = changed.row_offsets(i); k < changed.row_offsets(i + 1); ++k) {
        const index_t j = changed.columns(k);
        if (j < begin || j >= end) changed.values(k) *= j > i ? above : below;
      }
    const auto M = std::make_shared<DistributedAmg<double>>();
    DistributedSolver<double> solver(one_thread());
    solver.set_preconditioner(M);
    solver.prepare(PartitionedMatrix<double>(world(), Slice<double>(changed, begin, end).rows()));
    return M->hierarchy().symmetric;
  };
  CHECK(symmetric_by(0.5, 0.5));
  CHECK(symmetric_by(2, 0.01) == (world().size() == 1));
}
TEST_CASE("singular systems have the x without a part in the null space") {
  check_null_spaces(one_thread());
}
TEST_CASE("float vectors know a null space") {
  const auto P = neumann_problem(neumann_laplacian("poisson2d:9x7"));
  const CsrMatrix<float> in_float = convert_values<float>(P.A);
  const auto A = partitioned(in_float);
  DistributedSolver<float> solver(one_thread(), {.rtol = 1e-5, .null_space = NullSpace::constant});
  solver.prepare(A);
  Vector<float> b("b", P.b.extent(0)), x("x", static_cast<std::size_t>(A.rows()));
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = static_cast<float>(P.b(i));
  CHECK(solver.solve(own_part(A, b), x).converged());
  CHECK(relative_difference(whole_of(A, x), P.solution) < 1e-3);
}
TEST_CASE("null spaces that are none, or not the same on all ranks, are refused on all") {
  const auto P = neumann_problem(neumann_laplacian("poisson2d:9x7"));
  const auto A = partitioned(P.A);
  DistributedSolver<double> solver(one_thread());
  const auto refusal = [&](const std::vector<Vector<const double>>& vectors) {
    solver.set_null_space(vectors);
    return thrown_by([&] { solver.prepare(A); });
  };
  const bool is_last = world().rank() + 1 == world().size();
  const auto ones = [&](std::size_t rows, double value = 1) {
    const Vector<double> v("ones", rows);
    Kokkos::deep_copy(v, value);
    return v;
  };
  const auto rows = static_cast<std::size_t>(A.rows());
  CHECK_THAT(refusal({ones(is_last ? rows + 1 : rows)}),
             ContainsSubstring("a vector of the null space has "));
  const std::string dependent = refusal({ones(rows), ones(rows, 2)});
  CHECK_THAT(dependent, ContainsSubstring("finite and independent"));
  CHECK_THAT(refusal({ones(rows, is_last ? std::nan("") : 1)}),
             ContainsSubstring("finite and independent"));
  if (world().size() > 1)
    CHECK_THAT(refusal(is_last ? std::vector<Vector<const double>>{}
                               : std::vector<Vector<const double>>{ones(rows)}),
               ContainsSubstring("ranks must agree on the number of vectors of the null space"));
  CHECK(refusal({ones(rows)}) == "");  // and the ranks are still together
  const Vector<double> x("x", rows);
  check_solution(P, {solver.solve(own_part(A, P.b), x), whole_of(A, x)});
}
TEST_CASE("values in float under double vectors") { check_storage_in_float(one_thread()); }
#ifdef CNC_KOKKOS_HAS_DEVICE
TEST_CASE("ranks with devices store values in float under double vectors") {
  check_storage_in_float(context_in<Kokkos::DefaultExecutionSpace>());
}
TEST_CASE("ranks with devices solve singular systems") {
  check_null_spaces(context_in<Kokkos::DefaultExecutionSpace>());
}
#endif
TEST_CASE("the same bits on every run") { check_bits(one_thread()); }
TEST_CASE("methods with the transpose are chosen on all ranks") {
  check_choice_with_transpose(one_thread());
}

#ifdef CNC_KOKKOS_HAS_DEVICE
TEST_CASE("ranks with devices have the residuals of hosts") {
  by_each_link([](RankLink) {
    check_methods(device());
    const auto in_float = known_problem<float>("poisson2d:16x16");
    check_solution(in_float, solve_in_parts(device(), in_float, {.rtol = 1e-5}));
    const auto few = known_problem<double>("trefethen:2");  // not a row for each
    CHECK(solve_in_parts(device(), few, {}).report.converged());
    for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity}) {
      const auto problem = known_problem<double>("elasticity3d:3");
      const SolveOptions options{.norm = norm, .components = 3};
      CHECK(solve_in_parts(device(), problem, options).report.converged());
    }
  });
}
TEST_CASE("ranks with devices have preconditioners of their blocks") {
  by_each_link([](RankLink) { check_preconditioners(device()); });
}
TEST_CASE("ranks with devices have multigrid of the whole matrix") {
  by_each_link([](RankLink) {
    check_multigrid(device());
    check_gathered(device());
  });
}
TEST_CASE("ranks with devices multiply rows with many entries in columns of others") {
  by_each_link([](RankLink) { check_long_row(device()); });
}
TEST_CASE("ranks with devices have the same bits on every run") {
  by_each_link([](RankLink) { check_bits(device()); });
}
TEST_CASE("ranks with devices end together when a callback throws on one") {
  const auto problem = known_problem<double>("poisson2d:20x20");
  by_each_link([&](RankLink best) {
    const Communicator own;  // not to be used afterwards
    own.limit_link(best);
    const PartitionedMatrix<double> A = partitioned(problem.A, own);
    const int last = own.size() - 1;
    const std::string text = thrown_by([&] {
      SolveOptions options{.callback_interval = 1};
      options.callback = [&](const Progress& p) {
        if (own.rank() == last && p.iteration == 5) throw InvalidArgument("told");
        return true;
      };
      solve_in_parts(device(), A, problem, options);
    });
    CHECK(text == (own.rank() == last ? "told" : "rank " + std::to_string(last) + ": told"));
    check_solution(problem, solve_in_parts(device(), problem, {}));
  });
}
#endif

TEST_CASE("float vectors, other norms, a guess, and an automatic method") {
  const auto in_float = known_problem<float>("poisson2d:16x16");
  check_solution(in_float, solve_in_parts(one_thread(), in_float, {.rtol = 1e-5}));
  const auto problem = known_problem<double>("elasticity3d:3");
  for (const int components : {1, 3})
    for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity}) {
      const SolveOptions options{.norm = norm, .components = components};
      const SolveReport report = solve_in_parts(one_thread(), problem, options).report;
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
    check_solution(any, solve_in_parts(one_thread(), any, {.method = Method::automatic}));
  }
}

TEST_CASE("ranks without rows solve along") {
  const auto problem = known_problem<double>("trefethen:2");
  for (int m = 0; m < all_method_count; ++m) {
    const MethodFacts& facts = method_facts(Method(m));
    INFO(facts.name);
    const Outcome<double> outcome = solve_in_parts(one_thread(), problem, {.method = Method(m)});
    CHECK(relative_difference(outcome.x, problem.solution) < 1e-6);
  }
  for (const std::shared_ptr<PreconditionerBase<double>>& M :
       {std::shared_ptr<PreconditionerBase<double>>(std::make_shared<Amg<double>>()),
        std::shared_ptr<PreconditionerBase<double>>(
            std::make_shared<IncompleteFactorization<double>>())})
    check_solution(problem, solve_in_parts(one_thread(), problem, {}, M));
  KnownProblem<double> none = problem;
  none.A = CsrMatrix<double>(0, 0, 1, Vector<index_t>("offsets", 1), Vector<index_t>(),
                             Vector<double>());
  none.b = none.solution = Vector<double>();
  CHECK(solve_in_parts(one_thread(), none, {}).report.converged());
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
  const SolveReport report = solve_in_parts(one_thread(), problem, {.format = {"csr"}}).report;
  CHECK(report.converged());
  if (world().size() == 1) return;  // a run stores less than the steps below
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

TEST_CASE("multigrid whose options differ, or that a rank cannot set up") {
  const auto problem = known_problem<double>("poisson2d:20x20");
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const bool is_last = world().rank() + 1 == world().size();
  const auto refusal = [&](const std::shared_ptr<PreconditionerBase<double>>& M) {
    DistributedSolver<double> solver(one_thread());
    solver.set_preconditioner(M);
    return thrown_by([&] { solver.prepare(A); });
  };
  const std::string differs = refusal(std::make_shared<DistributedAmg<double>>(
      AmgOptions{.smoother_degree = is_last ? 3 : 2}, is_last ? 50 : 60));
  const std::string other_rows =
      refusal(std::make_shared<DistributedAmg<double>>(AmgOptions{}, 0, is_last ? 50 : 60));
  std::shared_ptr<PreconditionerBase<double>> mixed = std::make_shared<DistributedAmg<double>>();
  if (is_last) mixed = std::make_shared<Amg<double>>();
  const std::string of_two_kinds = refusal(mixed);
  CHECK_THAT(thrown_by([] { DistributedAmg<double>({}, 0, -1); }),
             ContainsSubstring("rank_rows must not be negative"));
  if (world().size() > 1) {
    CHECK_THAT(differs, Catch::Matchers::ContainsSubstring(
                            "DistributedAmg: ranks must agree on smoother_degree"));
    CHECK_THAT(other_rows, ContainsSubstring("ranks must agree on rank_rows"));
    CHECK(same_on_all(differs));
    CHECK_THAT(of_two_kinds, ContainsSubstring("whether that is of the whole matrix"));
  }
  // One that fails leaves the one before, and the solver not prepared.
  DistributedSolver<double> solver(one_thread(), {.rtol = 1e-9});
  solver.set_preconditioner(std::make_shared<DistributedAmg<double>>());
  solver.prepare(A);
  const auto bad = std::make_shared<DistributedAmg<double>>(AmgOptions{.block_size = 7});
  CHECK(thrown_by([&] { solver.set_preconditioner(bad); }) != "");
  const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
  CHECK_THAT(thrown_by([&] { solver.solve(b, x); }),
             ContainsSubstring("call prepare before solve"));
  auto other = known_problem<double>("poisson2d:25x16");
  const PartitionedMatrix<double> B = partitioned(other.A);
  solver.prepare(B);
  const Vector<double> y("y", static_cast<std::size_t>(B.rows()));
  const SolveReport report = solver.solve(own_part(B, other.b), y);
  check_solution(other, {report, whole_of(B, y)});
  CHECK(report.iterations < 20);
  solver.set_preconditioner(std::make_shared<DistributedAmg<double>>());
  Kokkos::deep_copy(y, 0.0);
  CHECK(solver.solve(own_part(B, other.b), y).iterations == report.iterations);

  // A zero on the diagonal is a row of the matrix, also where a rank has none.
  for (const char* text : {"poisson2d:20x20", "trefethen:2"}) {
    auto faulty = known_problem<double>(text);
    const index_t row = faulty.rows() - 1;
    for (index_t k = faulty.A.row_offsets(row); k < faulty.A.row_offsets(row + 1); ++k)
      if (faulty.A.columns(k) == row) faulty.A.values(k) = 0;
    const SolveReport broken =
        solve_in_parts(
            one_thread(), faulty, {},
            std::shared_ptr<PreconditionerBase<double>>(std::make_shared<DistributedAmg<double>>()))
            .report;
    CHECK(broken.status == SolveStatus::breakdown);
    CHECK_THAT(broken.detail, ContainsSubstring("row " + std::to_string(row)));
  }
}
