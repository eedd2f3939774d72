#include "distributed/solve_checks.hpp"

#include <algorithm>

// Rows that move between ranks, or within them.

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const int ranks = world().size();

PartitionedMatrix<double> numbered(const CsrMatrix<double>& A) {
  return PartitionedMatrix<double>(world(), Dealt(A).rows());
}

/// Vectors of the whole come and go as the caller knows them, and products are those of the matrix.
void check_whole(const CsrMatrix<double>& A, const PartitionedMatrix<double>& parts) {
  const Vector<double> x = varied_vector<double>(A.rows);
  const Vector<double> own = parts.scatter(of_first(x));
  CHECK(same_bits(own, own_part(parts, x)));
  CHECK(same_bits(whole_of(parts, own), x));
  check_products(A, parts);
}

index_t bandwidth(const CsrMatrix<double>& A) {
  const Structure structure = analyze(A);
  return std::max(structure.lower_bandwidth, structure.upper_bandwidth);
}

}  // namespace

TEST_CASE("rows that were moved are those of a matrix that was cut so") {
  const CsrMatrix<double> A = shuffled(generate_problem("convection3d:9:2"));
  const auto segments = scattered(A);
  std::vector<PartitionOptions> kinds(1);
#ifdef CNC_HAVE_METIS
  kinds.push_back({.kind = Partition::graph});
  kinds.push_back({.kind = Partition::graph, .block_size = 3});
#endif
  for (const PartitionOptions& kind : kinds) {
    INFO(to_string(kind.kind) << " " << kind.block_size);
    check_same_parts(partitioned(A).repartitioned(kind), scattered(A, kind));
    check_whole(A, scattered(A, kind).repartitioned({}).repartitioned(kind));
    const auto parts = numbered(A).repartitioned(kind);
    CHECK(parts.partition() == (ranks > 1 ? kind.kind : Partition::segments));
    check_whole(A, parts);
  }
  check_same_parts(partitioned(A).repartitioned({}), segments);
  const std::vector<int> list = to_others(partitioned(A).rows());
  const auto given = partitioned(A).repartitioned({.kind = Partition::given, .rank_of_row = list});
  check_whole(A, given);
  CHECK((ranks == 1 || world().rank() > 0 || given.rows() == 0));
  const std::vector<offset_t> rows = given.original_rows();
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  const auto in_float = convert_values<float>(A);
  check_products(in_float, partitioned(in_float).repartitioned({}));
}

TEST_CASE("rows of a rank are reordered, groups of them together") {
  const CsrMatrix<double> A = shuffled(generate_problem("poisson2d:30x20"));
  const auto parts = partitioned(A);
  const std::vector<int> here(static_cast<std::size_t>(parts.rows()), world().rank());
  const auto within =
      parts.repartitioned({.kind = Partition::given, .rank_of_row = here}, Reordering::rcm);
  check_whole(A, within);
  auto before = parts.original_rows(), after = within.original_rows();
  CHECK(before != after);
  std::sort(after.begin(), after.end());
  CHECK(before == after);
  CHECK(bandwidth(within.own_block()) < bandwidth(parts.own_block()));

  const CsrMatrix<double> nodes = shuffled(generate_problem("elasticity3d:4"), 3);
  const auto of_nodes =
      scattered(nodes, {.block_size = 3}).repartitioned({.block_size = 3}, Reordering::rcm);
  check_whole(nodes, of_nodes);
  const std::vector<offset_t> rows = of_nodes.original_rows();
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK(rows[i] == rows[i - i % 3] + static_cast<offset_t>(i % 3));
}

TEST_CASE("rows of matrices that have few, or none, are moved") {
  const CsrMatrix<double> none(0, 0, 1, Vector<index_t>("offsets", 1), Vector<index_t>(),
                               Vector<double>()),
      one = generate_problem("poisson2d:1x1"), few = generate_problem("trefethen:5");
  for (const CsrMatrix<double>* A : {&none, &one, &few})
    for (const auto within : {Reordering::none, Reordering::rcm}) {
      INFO(A->rows);
      check_whole(*A, partitioned(*A).repartitioned({}, within));
      check_whole(*A, numbered(*A).repartitioned({.block_size = 2}, within));
#ifdef CNC_HAVE_METIS
      check_whole(*A, numbered(*A).repartitioned({.kind = Partition::graph}, within));
#endif
    }
}

TEST_CASE("solves go where prepare has moved the rows to") { check_moved(one_thread()); }
#ifdef CNC_KOKKOS_HAS_DEVICE
TEST_CASE("ranks with devices solve where prepare has moved the rows to") {
  check_moved(context_in<Kokkos::DefaultExecutionSpace>());
}
#endif

TEST_CASE("a solver reorders the rows of each rank as one process does all of them") {
  const auto problem =
      with_known_solution("shuffled", shuffled(generate_problem("poisson2d:24x20")));
  const SolveOptions options{.reordering = Reordering::rcm, .rtol = 1e-9};
  const auto parts = partitioned(problem.A);
  DistributedSolver<double> solver(one_thread(), options);
  CHECK(solver.options().reordering == Reordering::rcm);
  solver.prepare(parts);
  CHECK(bandwidth(solver.matrix().own_block()) < bandwidth(parts.own_block()));
  const Vector<double> x("x", static_cast<std::size_t>(parts.rows()));
  const SolveReport report = solver.solve(own_part(parts, problem.b), x);
  check_solution(problem, {report, whole_of(parts, x)});
  CHECK(std::abs(report.iterations - solve_as_one(problem, options).iterations) <= 4);

  // Blocks of the layout and components stay together, in whatever order nodes come.
  const auto nodes = with_known_solution("nodes", shuffled(generate_problem("elasticity3d:3"), 3));
  SolveOptions of_nodes = options;
  of_nodes.preconditioner = PreconditionerKind::block_jacobi;
  of_nodes.preconditioner_block_size = 3;
  of_nodes.components = 3;
  const auto whole_nodes = scattered(nodes.A, {.block_size = 3});
  const Outcome<double> outcome = solve_in_parts(one_thread(), whole_nodes, nodes, of_nodes);
  check_solution(nodes, outcome);
  const SolveReport one = solve_as_one(nodes, of_nodes);
  REQUIRE(outcome.report.component_tolerances.size() == 3);
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(outcome.report.component_tolerances[c] == Approx(one.component_tolerances[c]));
}

TEST_CASE("near-null vectors go with the rows that prepare moves") {
  const CsrMatrix<double> A = generate_problem("elasticity3d:7");
  const auto problem = with_known_solution("elasticity", A);
  const auto segments = scattered(A, {.block_size = 3});
  const auto iterations = [&](const PartitionOptions* partition) {
    const auto M = std::make_shared<DistributedAmg<double>>(AmgOptions{.block_size = 3}, 100);
    std::vector<Vector<const double>> own;
    for (const auto& mode : rigid_body_modes<double>(problem_coordinates("elasticity3d:7"), 3))
      own.push_back(own_part(segments, mode));
    M->set_near_null_space(own);
    DistributedSolver<double> solver(one_thread(), {.rtol = 1e-9});
    solver.set_preconditioner(M);
    partition ? solver.prepare(segments, *partition) : solver.prepare(segments);
    const Vector<double> x("x", static_cast<std::size_t>(segments.rows()));
    const SolveReport report = solver.solve(own_part(segments, problem.b), x);
    check_solution(problem, {report, whole_of(segments, x)});
    return report.iterations;
  };
  // The node that begins a group of three goes with it.
  std::vector<int> list;
  for (index_t i = 0; i < segments.rows(); ++i)
    list.push_back((static_cast<int>(i) / 3 / 40 + world().rank()) % ranks);
  const PartitionOptions chunks{.kind = Partition::given, .rank_of_row = list};
  CHECK(iterations(&chunks) <= iterations(nullptr) + 4);
  // A vector that is not of the rows given is refused on all ranks.
  const auto M = std::make_shared<DistributedAmg<double>>(AmgOptions{.block_size = 3}, 100);
  M->set_near_null_space({Vector<double>(
      "short", world().rank() == ranks - 1 ? 2u : static_cast<std::size_t>(segments.rows()))});
  DistributedSolver<double> solver(one_thread());
  solver.set_preconditioner(M);
  CHECK_THAT(thrown_by([&] { solver.prepare(segments, chunks); }),
             ContainsSubstring("near-null vector has 2 entries"));
}

namespace {

/// Solves for the vectors of A's rows, and checks the solution.
template <class V>
void check_solve(DistributedSolver<V>& solver, const PartitionedMatrix<V>& A,
                 const KnownProblem<V>& problem) {
  const Vector<V> x("x", static_cast<std::size_t>(A.rows()));
  const SolveReport report = solver.solve(own_part(A, problem.b), x);
  check_solution(problem, {report, whole_of(A, x)});
}

}  // namespace

TEST_CASE("a moved matrix is one like any other for another solver, and for its own") {
  const auto problem =
      with_known_solution("shuffled", shuffled(generate_problem("poisson2d:15x14")));
  const auto A = partitioned(problem.A);
  const std::vector<int> list = to_others(A.rows());
  DistributedSolver<double> solver(one_thread(), {.reordering = Reordering::rcm, .rtol = 1e-9});
  CHECK_THAT(thrown_by([&] { solver.matrix().facts(); }), ContainsSubstring("it is empty"));
  solver.prepare(A, {.kind = Partition::given, .rank_of_row = list});
  const PartitionedMatrix<double> moved = solver.matrix();
  DistributedSolver<double> other(one_thread(), {.rtol = 1e-9});
  other.prepare(moved);
  check_solve(other, moved, problem);
  const auto multigrid = std::make_shared<DistributedAmg<double>>();
  multigrid->set_near_null_space({own_part(moved, varied_vector<double>(problem.rows()))});
  other.set_preconditioner(multigrid);
  check_solve(other, moved, problem);
  solver.prepare(solver.matrix(), {});
  check_solve(solver, moved, problem);
  other.update_values(other.matrix());
  check_solve(other, moved, problem);
}

TEST_CASE("a solver that has moved rows is prepared again, fails, and has other preconditioners") {
  const auto problem =
      with_known_solution("shuffled", shuffled(generate_problem("poisson2d:15x14")));
  const auto A = partitioned(problem.A);
  DistributedSolver<double> solver(one_thread(), {.rtol = 1e-9});
  solver.prepare(A, {});
  const auto segments = solver.matrix();
  solver.set_preconditioner(std::make_shared<IncompleteFactorization<double>>());
  check_solve(solver, A, problem);
  solver.set_preconditioner(std::make_shared<DistributedAmg<double>>());
  check_solve(solver, A, problem);
  const std::vector<int> list(1, ranks);
  CHECK(thrown_by([&] { solver.prepare(A, {.kind = Partition::given, .rank_of_row = list}); }) !=
        "");
  CHECK_THAT(thrown_by([&] { check_solve(solver, A, problem); }),
             ContainsSubstring("call prepare before solve"));
  solver.prepare(A);
  check_solve(solver, A, problem);
  check_same_parts(solver.matrix(), A);
  solver.prepare(A, {.kind = Partition::given, .rank_of_row = to_others(A.rows())});
  check_solve(solver, A, problem);

  const auto in_float = with_known_solution("float", convert_values<float>(problem.A));
  const auto of_float = partitioned(in_float.A);
  DistributedSolver<float> narrow(one_thread(), {.reordering = Reordering::rcm, .rtol = 1e-4});
  narrow.prepare(of_float, {});
  check_solve(narrow, of_float, in_float);
  CHECK(segments.partition() == Partition::segments);
  DistributedSolver<double> within(one_thread(), {.reordering = Reordering::rcm});
  within.prepare(segments);
  CHECK(within.matrix().partition() == Partition::segments);
}

TEST_CASE("values move on the ranks of the matrix whose rows were moved, and on no others") {
  auto problem = with_known_solution("shuffled", shuffled(generate_problem("poisson2d:15x14")));
  DistributedSolver<double> solver(one_thread(), {.rtol = 1e-9});
  solver.prepare(partitioned(problem.A), {});
  for (std::size_t k = 0; k < problem.A.values.extent(0); ++k) problem.A.values(k) *= 3;
  problem.b = product(problem.A, problem.solution);
  const Communicator duplicate;
  const auto A = partitioned(problem.A, duplicate);
  solver.update_values(A);
  check_solve(solver, A, problem);
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - world().rank(), &backwards);
  {
    const Communicator others(backwards);
    const auto B = partitioned(problem.A, others);
    const std::string text = thrown_by([&] { solver.update_values(B); });
    CHECK((text != "") == (ranks > 1));
  }
  MPI_Comm_free(&backwards);
}

TEST_CASE(
    "values that a layout refuses on one rank are refused on all, also over another communicator") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  DistributedSolver<double> solver(one_thread(), {.format = {"dia-symmetric", 1}, .rtol = 1e-9});
  solver.prepare(partitioned(problem.A), {});
  const Communicator duplicate;
  auto broken = problem;
  broken.A.values = Vector<double>("values", problem.A.values.extent(0));
  Kokkos::deep_copy(broken.A.values, problem.A.values);
  broken.A.values(problem.A.nonzeros - 2) = 0.5;
  CHECK(thrown_by([&] { solver.update_values(partitioned(broken.A, duplicate)); }) != "");
  const Communicator another;
  const auto A = partitioned(problem.A, another);
  solver.prepare(A, {});
  check_solve(solver, A, problem);
  for (int k = 0; k < 2; ++k) {
    const Communicator next;
    const auto again = partitioned(problem.A, next);
    solver.update_values(again);
    CHECK(&*solver.matrix().ranks().channel() == &*next.channel());
    check_solve(solver, again, problem);
  }
}

TEST_CASE("float stores the block that rows have moved to") {
  const auto P = known_problem<double>("poisson2d:8x8");
  const auto A = partitioned(P.A);
  SolveOptions options{
      .storage = StoragePrecision::f32, .reordering = Reordering::rcm, .rtol = 1e-12};
  DistributedSolver<double> solver(one_thread(), options);
  solver.prepare(A, {});
  check_solve(solver, A, P);
  // A coupling of the first two ranks' rows which comes to be in one block, and then is too large.
  auto large = P;
  const index_t row = bound(P.rows(), 1) - 1;
  index_t at = P.A.row_offsets(row);
  while (P.A.columns(at) <= row && at + 1 < P.A.row_offsets(row + 1)) ++at;
  large.A.values = Vector<double>("values", P.A.values.extent(0));
  Kokkos::deep_copy(large.A.values, P.A.values);
  large.A.values(at) = 1e50;
  const auto with_large = partitioned(large.A);
  const std::vector<int> to_first(static_cast<std::size_t>(A.rows()), 0);
  const PartitionOptions all_on_first{.kind = Partition::given, .rank_of_row = to_first};
  CHECK_THAT(
      thrown_by([&] { solver.prepare(with_large, all_on_first); }),
      ContainsSubstring("row " + std::to_string(row) + " is too large for storage in float"));
  solver.prepare(A, all_on_first);
  CHECK_THAT(thrown_by([&] { solver.update_values(with_large); }),
             ContainsSubstring("is too large for storage in float"));
  check_solve(solver, A, P);  // with what there was
  if (ranks > 1)
    CHECK(thrown_by([&] { solver.prepare(with_large); }).find("too large") == std::string::npos);
}

TEST_CASE("what stays together when rows are moved and reordered") {
  const auto nodes = with_known_solution("nodes", shuffled(generate_problem("elasticity3d:3"), 3));
  const auto A = scattered(nodes.A, {.block_size = 3});
  SolveOptions options{.reordering = Reordering::rcm, .rtol = 1e-9, .components = 3};
  DistributedSolver<double> solver(one_thread(), options);
  solver.prepare(A, {.block_size = 3});
  check_solve(solver, A, nodes);
  const std::vector<int> here(static_cast<std::size_t>(A.rows()), world().rank());
  solver.prepare(A, {.kind = Partition::given, .rank_of_row = here});
  check_solve(solver, A, nodes);
  // A block that does not go with the components need not stay.
  options.preconditioner = PreconditionerKind::block_jacobi;
  options.preconditioner_block_size = 8;
  solver.set_options(options);
  solver.prepare(A);
  check_solve(solver, A, nodes);
  CHECK_THAT(thrown_by([&] { solver.prepare(A, {.block_size = 8}); }),
             ContainsSubstring("block_size 8 and 3 components need 24"));
  CHECK_THAT(thrown_by([&] { solver.prepare(A, {.block_size = 715827883}); }),
             ContainsSubstring("block_size 715827883"));
}

TEST_CASE("a rank without rows may say that any is its first when rows are moved") {
  const CsrMatrix<double> A = generate_problem("poisson2d:9x8");
  const int all = std::max(1, ranks - 1), rank = world().rank();
  const auto cut = [&](int part) {
    return static_cast<index_t>(A.rows * std::min(part, all) / all);
  };
  Slice<double> mine(A, cut(rank), cut(rank + 1));
  if (rank >= all) mine.first = offset_t(1) << 40;
  const PartitionedMatrix<double> parts(world(), mine.rows());
  check_whole(A, parts.repartitioned({}));
  check_whole(A, parts.repartitioned({}, Reordering::rcm));
}

TEST_CASE("partitions that do not fit are refused on all ranks") {
  const CsrMatrix<double> A = generate_problem("poisson2d:6x5");
  const auto parts = partitioned(A);
  const auto refusal = [&](const PartitionOptions& options, Reordering within = Reordering::none) {
    return thrown_by([&] { parts.repartitioned(options, within); });
  };
  std::vector<int> list(static_cast<std::size_t>(parts.rows()), 0);
  const bool is_last = world().rank() == ranks - 1;
  if (is_last) list.push_back(0);
  CHECK_THAT(refusal({.kind = Partition::given, .rank_of_row = list}),
             ContainsSubstring("PartitionedMatrix: rank_of_row has"));
  if (is_last) list.pop_back();
  if (is_last) list.back() = ranks;
  CHECK_THAT(refusal({.kind = Partition::given, .rank_of_row = list}),
             ContainsSubstring("row 29 is for rank " + std::to_string(ranks) + "; there are"));
  CHECK(refusal({.block_size = 0}) == "PartitionedMatrix: block_size must be at least 1");
  CHECK_THAT(refusal({.block_size = 17}, Reordering::rcm), ContainsSubstring("block size"));
  if (ranks > 1) {
    CHECK_THAT(refusal({.block_size = is_last ? 2 : 1}),
               ContainsSubstring("PartitionedMatrix: ranks must agree on block_size"));
    DistributedSolver<double> solver(one_thread());
    CHECK_THAT(thrown_by([&] { is_last ? solver.prepare(parts, {}) : solver.prepare(parts); }),
               ContainsSubstring("ranks must agree on what is called"));
  }
#ifndef CNC_HAVE_METIS
  CHECK_THAT(refusal({.kind = Partition::graph}), ContainsSubstring("built with METIS"));
#endif
  const auto nothing = PartitionedMatrix<double>();
  CHECK_THAT(thrown_by([&] { nothing.repartitioned({}); }), ContainsSubstring("it is empty"));
  check_whole(A, parts.repartitioned({}));  // and the ranks are still together
}
