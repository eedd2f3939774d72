#include "distributed/solve_checks.hpp"

// Partitions of a whole matrix that renumber its rows.

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const int ranks = world().size();

/// Vectors come and go in the order of the matrix, and every rank knows which rows it has.
void check_vectors(const CsrMatrix<double>& A, const PartitionedMatrix<double>& parts) {
  const Vector<double> x = varied_vector<double>(A.rows);
  const Vector<double> own = parts.scatter(of_first(x));
  CHECK(same_bits(own, own_part(parts, x)));
  CHECK(same_bits(whole_of(parts, own), x));
  const std::vector<offset_t> rows = parts.original_rows();
  CHECK(rows.size() == static_cast<std::size_t>(parts.rows()));
  CHECK(std::is_sorted(rows.begin(), rows.end()));
}

/// A rank for each row: one after the other, and none for the last where there are several.
std::vector<int> in_turn(index_t rows) {
  std::vector<int> list(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = static_cast<int>(i) % std::max(1, ranks - 1);
  return list;
}

#ifdef CNC_HAVE_METIS
/// Points anywhere in a square, each coupled with those that are near.
CsrMatrix<double> near_points(int points) {
  Random random(3);
  const auto next = [&] { return double(random.below(100000)) / 100000; };
  std::vector<double> x, y;
  for (int i = 0; i < points; ++i) x.push_back(next()), y.push_back(next());
  std::vector<index_t> offsets = {0}, columns;
  std::vector<double> values;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (std::hypot(x[i] - x[j], y[i] - y[j]) > 1.6 / std::sqrt(double(points))) continue;
      columns.push_back(static_cast<index_t>(j));
      values.push_back(i == j ? 20 : -1);
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  const auto vector = [](const auto& from) {
    Vector<typename std::decay_t<decltype(from)>::value_type> to("array", from.size());
    std::copy(from.begin(), from.end(), to.data());
    return to;
  };
  return CsrMatrix<double>(points, points, 1, vector(offsets), vector(columns), vector(values));
}

/// Of all ranks: entries in columns of others, and the most entries of one.
struct Cut {
  long long between = 0, most = 0;
  explicit Cut(const PartitionedMatrix<double>& A) {
    const long long mine[] = {A.facts().halo_entries, A.facts().entries};
    MPI_Allreduce(&mine[0], &between, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine[1], &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  }
};

const PartitionOptions by_graph = {.kind = Partition::graph};

bool keeps_groups(const PartitionedMatrix<double>& parts, offset_t group) {
  const std::vector<offset_t> rows = parts.original_rows();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] % group == 0 ? i % static_cast<std::size_t>(group) != 0
                             : i == 0 || rows[i - 1] != rows[i] - 1)
      return false;
  return true;
}
#endif

}  // namespace

#ifdef CNC_HAVE_METIS
TEST_CASE("a partition by the graph cuts less than segments, into as equal parts") {
  for (const auto& [text, A] :
       {std::pair("poisson2d", shuffled(generate_problem("poisson2d:40x30"))),
        std::pair("poisson3d", shuffled(generate_problem("poisson3d:10"))),
        std::pair("not symmetric", shuffled(generate_problem("convection3d:9:2"))),
        std::pair("near points", near_points(1500))}) {
    INFO(text);
    const PartitionedMatrix<double> parts = scattered(A, by_graph);
    check_vectors(A, parts);
    check_products(A, parts);
    const Cut graph(parts), segments(scattered(A));
    CHECK(graph.between <= segments.between / 2);
    CHECK(double(graph.most) <= 1.1 * A.nonzeros / ranks);
    CHECK(scattered(A, by_graph).original_rows() == parts.original_rows());
  }
}

TEST_CASE("a partition by the graph keeps groups of rows together") {
  const CsrMatrix<double> A = shuffled(generate_problem("elasticity3d:4"), 3);
  const auto nodes = scattered(A, {.kind = Partition::graph, .block_size = 3});
  CHECK(keeps_groups(nodes, 3));
  CHECK(nodes.rows() % 3 == 0);
  check_products(A, nodes);
  const CsrMatrix<double> odd = shuffled(generate_problem("poisson2d:19x17"));
  const auto parts = scattered(odd, {.kind = Partition::graph, .block_size = 4});  // the last has 3
  CHECK(keeps_groups(parts, 4));
  check_vectors(odd, parts);
  check_products(odd, parts);
}

TEST_CASE("a partition by the graph of matrices that leave no choice") {
  const CsrMatrix<double> few = generate_problem("trefethen:3"),
                          one_group = generate_problem("poisson2d:3x3"),
                          uncoupled = generate_problem("poisson2d:1x1"),
                          none(0, 0, 1, Vector<index_t>("offsets", 1), Vector<index_t>(),
                               Vector<double>());
  for (const CsrMatrix<double>* A : {&few, &one_group, &uncoupled, &none}) {
    INFO(A->rows);
    check_products(*A, scattered(*A, by_graph));
    check_products(*A, scattered(*A, {.kind = Partition::graph, .block_size = 9}));
  }
  for (index_t n = 2; n < 80; n += 3) {
    const CsrMatrix<double> A = generate_problem("trefethen:" + std::to_string(n));
    check_products(A, scattered(A, by_graph));
  }
}

TEST_CASE("a partition by the graph solves what one process does, in its order") {
  const auto problem =
      with_known_solution("shuffled", shuffled(generate_problem("poisson2d:20x18")));
  const SolveReport one = solve_as_one(problem, {});
  const Outcome<double> outcome =
      solve_in_parts(one_thread(), scattered(problem.A, by_graph), problem, {});
  check_solution(problem, outcome);
  CHECK(relative_difference(outcome.x, problem.solution) < 1e-6);
  CHECK(std::abs(outcome.report.iterations - one.iterations) <= 4 + one.iterations / 10);
  const auto blocks =
      with_known_solution("blocks", shuffled(generate_problem("elasticity3d:3"), 3));
  const SolveOptions options{.preconditioner = PreconditionerKind::block_jacobi,
                             .preconditioner_block_size = 3,
                             .components = 3};
  const Outcome<double> of_blocks =
      solve_in_parts(one_thread(), scattered(blocks.A, {.kind = Partition::graph, .block_size = 3}),
                     blocks, options);
  check_solution(blocks, of_blocks);
  CHECK(of_blocks.report.component_tolerances.size() == 3);
  const SolveReport tolerances = solve_as_one(blocks, options);
  for (std::size_t c = 0; c < tolerances.component_tolerances.size(); ++c)
    CHECK(of_blocks.report.component_tolerances[c] == Approx(tolerances.component_tolerances[c]));
}

TEST_CASE("new values of a matrix that is cut by its graph") {
  const CsrMatrix<double> A = shuffled(generate_problem("poisson2d:16x16"));
  DistributedSolver<double> solver(one_thread());
  solver.prepare(scattered(A, by_graph));
  for (std::size_t k = 0; k < A.values.extent(0); ++k) A.values(k) *= 3;
  const auto tripled = with_known_solution("tripled", A);
  const PartitionedMatrix<double> parts = scattered(A, by_graph);
  solver.update_values(parts);
  const Vector<double> x("x", static_cast<std::size_t>(parts.rows()));
  const SolveReport report = solver.solve(parts.scatter(of_first(tripled.b)), x);
  check_solution(tripled, {report, whole_of(parts, x)});
  const std::string text = thrown_by([&] { solver.update_values(scattered(A)); });
  CHECK((text != "") == (ranks > 1));
}
#else
TEST_CASE("a partition by the graph needs METIS") {
  const std::string text =
      thrown_by([] { scattered(generate_problem("poisson2d:4x4"), {.kind = Partition::graph}); });
  CHECK_THAT(text, ContainsSubstring("built with METIS"));
  CHECK(same_on_all(text));
}
#endif

TEST_CASE("a caller says which rank has which rows") {
  const auto problem = known_problem<double>("poisson2d:13x9");
  const CsrMatrix<double>& A = problem.A;
  const std::vector<int> list = in_turn(A.rows);
  const PartitionedMatrix<double> parts =
      scattered(A, {.kind = Partition::given, .rank_of_row = list});
  std::vector<offset_t> wanted;
  for (index_t i = 0; i < A.rows; ++i)
    if (list[static_cast<std::size_t>(i)] == world().rank()) wanted.push_back(i);
  CHECK(parts.original_rows() == wanted);
  check_vectors(A, parts);
  check_products(A, parts);
  check_solution(problem, solve_in_parts(one_thread(), parts, problem, {}));
  const CsrMatrix<float> in_float = convert_values<float>(A);
  check_products(in_float, scattered(in_float, {.kind = Partition::given, .rank_of_row = list}));
  // Rows in their order are segments.
  std::vector<int> ascending(list.size(), ranks - 1);
  std::fill_n(ascending.begin(), 7, 0);
  const auto segments = scattered(A, {.kind = Partition::given, .rank_of_row = ascending});
  CHECK(segments.original_rows().size() == static_cast<std::size_t>(segments.rows()));
  CHECK((world().rank() != 0 || segments.rows() == (ranks == 1 ? A.rows : 7)));
  check_products(A, segments);
}

TEST_CASE("lists of ranks that do not fit are refused on all of them") {
  const CsrMatrix<double> A = generate_problem("poisson2d:5x4");
  const auto refusal = [&](const std::vector<int>& list) {
    return thrown_by([&] { scattered(A, {.kind = Partition::given, .rank_of_row = list}); });
  };
  const std::string by = world().rank() == 0 ? "" : "rank 0: ";
  CHECK(refusal({}) == by + "PartitionedMatrix: rank_of_row has 0 entries, the matrix 20 rows");
  std::vector<int> list = in_turn(20);
  list[17] = ranks;
  const std::string count = std::to_string(ranks);
  CHECK(refusal(list) ==
        by + "PartitionedMatrix: row 17 is for rank " + count + "; there are " + count + " ranks");
  list[3] = -1;
  CHECK_THAT(refusal(list), ContainsSubstring("row 3 is for rank -1"));
  check_products(A, scattered(A));  // and the ranks are still together
}

TEST_CASE("reports name rows by the numbers of the matrix that was scattered") {
  auto problem = known_problem<double>("poisson2d:6x6");
  for (index_t k = problem.A.row_offsets(29); k < problem.A.row_offsets(30); ++k)
    if (problem.A.columns(k) == 29) problem.A.values(k) = 0;
  const std::vector<int> list = in_turn(36);
  const auto parts = scattered(problem.A, {.kind = Partition::given, .rank_of_row = list});
  const SolveReport report = solve_in_parts(one_thread(), parts, problem, {}).report;
  CHECK(report.status == SolveStatus::breakdown);
  CHECK_THAT(report.detail, ContainsSubstring("row 29 "));
}

TEST_CASE("components that a partition tears apart are refused") {
  const auto problem = known_problem<double>("elasticity3d:2");
  std::vector<int> list(static_cast<std::size_t>(problem.rows()));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int>(i) % ranks;
  const auto parts = scattered(problem.A, {.kind = Partition::given, .rank_of_row = list});
  const std::string text =
      thrown_by([&] { solve_in_parts(one_thread(), parts, problem, {.components = 4}); });
  if (ranks == 1)
    CHECK(text == "");
  else
    CHECK_THAT(text, ContainsSubstring("4 components need a partition that keeps"));
}

TEST_CASE("ranks may have any rows, by their numbers") {
  const auto problem = known_problem<double>("convection3d:6:2");
  const Dealt mine(problem.A);
  const PartitionedMatrix<double> parts(world(), mine.rows());
  CHECK(parts.original_rows() == mine.numbers);
  const Vector<double> own = parts.scatter(of_first(problem.b));
  CHECK(same_bits(own, own_part(parts, problem.b)));
  CHECK(same_bits(whole_of(parts, own), problem.b));
  DistributedSolver<double> solver(one_thread(), {.method = Method::bicgstab, .rtol = 1e-9});
  solver.prepare(parts);
  const Vector<double> x("x", own.extent(0));
  const SolveReport report = solver.solve(own, x);
  check_solution(problem, {report, whole_of(parts, x)});
}

TEST_CASE("numbers of rows that do not make a matrix are refused on all ranks") {
  const CsrMatrix<double> A = generate_problem("poisson2d:6x6");
  const auto refusal = [](const OwnRows<double>& rows) {
    return thrown_by([&] { PartitionedMatrix<double>(world(), rows); });
  };
  Dealt twice(A), outside(A), far(A), column_twice(A);
  if (world().rank() == 0) {
    twice.numbers[1] = twice.numbers[0];
    outside.numbers[0] = 36;
    far.columns[0] = 40;
    column_twice.columns[1] = column_twice.columns[0];
  }
  CHECK_THAT(refusal(twice.rows()), ContainsSubstring(" is there twice, once on rank 0"));
  CHECK_THAT(refusal(outside.rows()), ContainsSubstring("row 36 is outside the 36 rows"));
  CHECK_THAT(refusal(far.rows()), ContainsSubstring("column 40 is outside the 36 rows"));
  CHECK_THAT(
      refusal(column_twice.rows()),
      ContainsSubstring("a column of row " +
                        std::to_string(35 / std::max(1, ranks - 1) * std::max(1, ranks - 1)) +
                        " comes twice"));
  const Dealt good(A);
  OwnRows<double> short_list = good.rows();
  short_list.numbers = short_list.numbers.subspan(0, short_list.numbers.size() / 2);
  CHECK_THAT(refusal(short_list), ContainsSubstring("as many numbers as rows"));
  if (ranks > 2) {
    OwnRows<double> mixed = good.rows();
    if (world().rank() == 1) mixed.numbers = {};
    CHECK(refusal(mixed) ==
          "PartitionedMatrix: some ranks give numbers of their rows, others a first row");
  }
}
