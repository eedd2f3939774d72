#include "solve/solver_test.hpp"

#include <cnc/blas1.hpp>
#include <cnc/spmm.hpp>

using namespace cnc;
using namespace cnc::testing;

// Several right-hand sides in one call.

namespace {

bool multiplies_columns(const Backend& backend) {
  return matrix_ops<BcsrOperand<double>, double>(backend).spmm != nullptr;
}

/// Right-hand sides and solutions as columns, of which every one is another multiple and another vector.
template <class Layout>
struct ColumnsOf {
  Kokkos::View<double**, Layout, HostSpace> b, x, solution;
  ColumnsOf(const CsrMatrix<double>& A, int columns)
      : b("b", static_cast<std::size_t>(A.rows), static_cast<std::size_t>(columns)),
        x("x", b.extent(0), b.extent(1)),
        solution("solution", b.extent(0), b.extent(1)) {
    for (std::size_t c = 0; c < b.extent(1); ++c) {
      Random random(77 + c);
      for (std::size_t i = 0; i < b.extent(0); ++i)
        solution(i, c) = (c % 2 == 0 ? 1 : 1e3) * random.value();
      for (index_t i = 0; i < A.rows; ++i)
        for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
          b(static_cast<std::size_t>(i), c) +=
              A.values(k) * solution(static_cast<std::size_t>(A.columns(k)), c);
    }
  }
  Vector<double> column(const Kokkos::View<double**, Layout, HostSpace>& of, std::size_t c) const {
    const Vector<double> one("column", of.extent(0));
    for (std::size_t i = 0; i < of.extent(0); ++i) one(i) = of(i, c);
    return one;
  }
};

/// Solves on the context's backend, whatever its memory.
template <class Exec, class Columns>
std::vector<SolveReport> solve_columns(HostFacingSolver<double, Exec>& solver, Columns& columns) {
  using Base = Solver<double, Exec>;
  using Space = typename Exec::memory_space;
  const auto b = Kokkos::create_mirror_view_and_copy(Space(), columns.b);
  const auto x = Kokkos::create_mirror_view_and_copy(Space(), columns.x);
  auto reports = static_cast<Base&>(solver).solve(b, x);
  Kokkos::deep_copy(columns.x, x);
  return reports;
}

void check_solution(const CsrMatrix<double>& A, const auto& columns,
                    const std::vector<SolveReport>& reports, double rtol, double error = 1e-5) {
  REQUIRE(reports.size() == columns.x.extent(1));
  for (std::size_t c = 0; c < reports.size(); ++c) {
    INFO("column " << c);
    const Vector<double> b = columns.column(columns.b, c), x = columns.column(columns.x, c);
    CHECK(reports[c].converged());
    CHECK(residual_of(A, b, x).norm <= 1.001 * rtol * norm2(b));
    CHECK(reports[c].true_residual <= 1.001 * rtol * norm2(b));
    CHECK(relative_difference(x, columns.column(columns.solution, c)) < error);
  }
}

}  // namespace

CNC_SOLVER_TEST("several right-hand sides are solved as each would be") {
  for (const auto& [problem, method] :
       {std::pair("poisson2d:14x11", Method::pcg), std::pair("convection3d:5:1", Method::bicgstab),
        std::pair("poisson2d:14x11", Method::minres), std::pair("convection3d:5:1", Method::gmres),
        std::pair("poisson2d:14x11", Method::automatic)}) {
    const auto P = known_problem<double>(problem);
    for (const int count : {1, 2, 3, 7, 19}) {
      INFO(problem << " " << to_string(method) << ", " << count << " columns");
      auto solver = solver_on<double>(
          ctx, options_for(method, parse_format("csr"), PreconditionerKind::jacobi));
      solver.prepare(P.A);
      ColumnsOf<Kokkos::LayoutLeft> columns(P.A, count);
      const auto reports = solve_columns(solver, columns);
      check_solution(P.A, columns, reports, 1e-8);
      for (std::size_t c = 0; c < reports.size(); ++c) {
        INFO("column " << c);
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport alone = solver.solve(columns.column(columns.b, c), x);
        // BiCGSTAB and GMRES amplify how sums are ordered.
        CHECK(std::abs(reports[c].iterations - alone.iterations) <= 2 + alone.iterations / 10);
        CHECK(reports[c].history.size() == static_cast<std::size_t>(reports[c].iterations) + 1);
        CHECK(reports[c].initial_residual == Approx(alone.initial_residual));
        CHECK(reports[c].tolerance == Approx(alone.tolerance));
        CHECK(reports[c].method == alone.method);
      }
    }
  }
}

CNC_SOLVER_TEST("columns may lie in any layout, with rows in any order and any format") {
  const auto P = known_problem<double>("elasticity3d:3");
  for (const char* format : {"csr", "bcsr:3", "bsell:1", "bsell:3", "dia", "dia-symmetric"})
    for (const auto reordering : {Reordering::none, Reordering::rcm})
      for (const auto storage : {StoragePrecision::as_vectors, StoragePrecision::f32}) {
        INFO(format << " " << int(reordering) << " " << int(storage));
        SolveOptions options =
            options_for(Method::pcg, parse_format(format), PreconditionerKind::block_jacobi, 3);
        options.reordering = reordering;
        options.storage = storage;
        auto solver = solver_on<double>(ctx, options);
        solver.prepare(P.A);
        ColumnsOf<Kokkos::LayoutRight> columns(P.A, 5);
        const auto reports = solve_columns(solver, columns);
        check_solution(P.A, columns, reports, 1e-8);
        // Side by side where that is cheaper: not by diagonals, which are little beside the vectors.
        if (std::string(format) == "csr" && storage == StoragePrecision::as_vectors &&
            ctx.backend().memory == MemorySpace::host &&
            std::string(ctx.backend().name) != "reference" && !is_emulated(ctx.backend()))
          CHECK(reports[0].form == SolveForm::fused_steps);
      }
}

CNC_SOLVER_TEST("each column ends for its own reason") {
  const auto P = known_problem<double>("poisson2d:14x11");
  auto solver = solver_on<double>(
      ctx, options_for(Method::pcg, parse_format("csr"), PreconditionerKind::jacobi));
  solver.prepare(P.A);
  ColumnsOf<Kokkos::LayoutLeft> columns(P.A, 6);
  const auto n = static_cast<std::size_t>(P.rows());
  for (std::size_t i = 0; i < n; ++i) {
    columns.b(i, 0) = 0;  // exactly solved by 0
    columns.x(i, 0) = 5;
    columns.x(i, 1) = columns.solution(i, 1);  // nothing left to do
    columns.b(i, 2) *= 1e-290;                 // squares vanish
    columns.solution(i, 2) *= 1e-290;
    columns.b(i, 3) *= 1e200;  // squares overflow
  }
  columns.b(3, 4) = std::numeric_limits<double>::quiet_NaN();
  const auto reports = solve_columns(solver, columns);
  REQUIRE(reports.size() == 6);
  for (const std::size_t c : {0, 1, 2, 3, 5}) {
    INFO("column " << c);
    CHECK(reports[c].converged());
    const Vector<double> x = columns.column(columns.x, c);
    if (c == 3)
      for (std::size_t i = 0; i < n; ++i) x(i) *= 1e-200;
    if (c > 0) CHECK(relative_difference(x, columns.column(columns.solution, c)) < 1e-5);
  }
  CHECK(norm2(columns.column(columns.x, 0)) == 0);
  CHECK(reports[1].iterations == 0);
  CHECK(reports[4].status == SolveStatus::not_finite);
  CHECK(norm2(columns.column(columns.x, 4)) == 0);  // as it was
}

CNC_SOLVER_TEST("columns keep to the limits of a solve") {
  const auto P = known_problem<double>("poisson2d:14x11");
  SolveOptions options = options_for(Method::pcg, parse_format("csr"), PreconditionerKind::none);
  options.max_iterations = 5;
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  ColumnsOf<Kokkos::LayoutLeft> columns(P.A, 4);
  for (const SolveReport& report : solve_columns(solver, columns)) {
    CHECK(report.status == SolveStatus::max_iterations);
    CHECK(report.iterations == 5);
    CHECK(report.true_residual <= report.initial_residual);
  }
  options.max_iterations = 1000;
  options.reference = ToleranceReference::initial_residual;
  options.rtol = 1e-3;
  solver.set_options(options);
  for (const SolveReport& report : solve_columns(solver, columns)) {
    CHECK(report.converged());
    CHECK(report.tolerance == Approx(1e-3 * report.initial_residual));
    CHECK(report.relative_residual <= 1.001e-3);
    CHECK(report.relative_residual == Approx(report.true_residual / report.initial_residual));
  }
  options.max_seconds = 0;
  options.rtol = 1e-12;
  solver.set_options(options);
  for (const SolveReport& report : solve_columns(solver, columns))
    CHECK(report.status == SolveStatus::time_limit);
  int calls = 0;
  options.max_seconds = std::numeric_limits<double>::infinity();
  options.rtol = 1e-3;
  options.callback = [&calls](const Progress&) { return ++calls > 0; };
  solver.set_options(options);
  for (const SolveReport& report : solve_columns(solver, columns)) CHECK(report.converged());
  CHECK(calls >= 4);
}

CNC_SOLVER_TEST("a solver takes one number of columns after another, and new values") {
  const auto P = known_problem<double>("poisson2d:14x11");
  auto solver = solver_on<double>(
      ctx, options_for(Method::pcg, parse_format("csr"), PreconditionerKind::jacobi));
  solver.prepare(P.A);
  for (const int count : {5, 8, 16, 4, 5}) {
    INFO(count << " columns");
    ColumnsOf<Kokkos::LayoutLeft> columns(P.A, count);
    const auto reports = solve_columns(solver, columns);
    check_solution(P.A, columns, reports, 1e-8);
    // Some may be solved for themselves, where a batch of all would be filled up with zeros.
    const auto together = std::count_if(reports.begin(), reports.end(), [](const auto& report) {
      return report.form == SolveForm::fused_steps || report.form == SolveForm::graph;
    });
    CHECK((together >= 4) == (std::string(ctx.backend().name) != "reference"));
    for (std::size_t k = 0; k < P.A.values.extent(0); ++k) P.A.values(k) *= 1.5;
    solver.update_values(P.A);
  }
}

CNC_SOLVER_TEST("columns go on where residuals stay on a level for long") {
  // One dimension: the residual of CG falls at the very end.
  const auto P = known_problem<double>(sized(ctx, "poisson2d:1500x1", "poisson2d:40x1"));
  SolveOptions options = options_for(Method::pcg, parse_format("csr"), PreconditionerKind::none);
  options.max_iterations = 2000;
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  ColumnsOf<Kokkos::LayoutLeft> columns(P.A, 4);
  check_solution(P.A, columns, solve_columns(solver, columns), 1e-8, 1e-3);
}

CNC_SOLVER_TEST("columns that a method cannot solve end as they would alone") {
  // Indefinite: pcg breaks down, and automatic goes on with another method.
  CsrMatrix<double> A = known_problem<double>("poisson2d:9x8").A;
  const Vector<double> values("values", A.values.extent(0));
  Kokkos::deep_copy(values, A.values);
  for (index_t i = 0; i < A.rows; i += 3)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      if (A.columns(k) == i) values(k) = -values(k);
  A.values = values;
  for (const Method method : {Method::pcg, Method::automatic}) {
    INFO(to_string(method));
    auto solver =
        solver_on<double>(ctx, options_for(method, parse_format("csr"), PreconditionerKind::none));
    solver.prepare(A);
    ColumnsOf<Kokkos::LayoutLeft> columns(A, 3);
    const auto reports = solve_columns(solver, columns);
    if (method == Method::automatic) {
      check_solution(A, columns, reports, 1e-8);
    } else {
      for (const SolveReport& report : reports)
        CHECK(report.status == SolveStatus::not_positive_definite);
    }
  }
}

TEST_CASE("columns that do not fit are refused") {
  const auto P = known_problem<double>("poisson2d:5x4");
  Context<> ctx("reference");
  Solver<double> solver(ctx);
  const Kokkos::View<double**, HostSpace> b("b", 20, 3), x("x", 20, 2), short_x("x", 19, 3);
  CHECK_THROWS_AS(solver.solve(b, b), InvalidArgument);  // not prepared
  solver.prepare(P.A);
  CHECK_THROWS_AS(solver.solve(b, x), InvalidArgument);
  CHECK_THROWS_AS(solver.solve(b, short_x), InvalidArgument);
  CHECK_THROWS_AS(solver.solve(b, b), InvalidArgument);
  const Kokkos::View<double**, HostSpace> none("none", 20, 0);
  CHECK(solver.solve(none, none).empty());
}

CNC_SOLVER_TEST_WHERE(multiplies_columns, "a product with several vectors is that with each") {
  using Space = typename Exec::memory_space;
  const auto on_host = generate_problem(sized(ctx, "elasticity2d:9", "elasticity2d:4"));
  const auto n = static_cast<std::size_t>(on_host.rows);
  for (const FormatSpec& format : formats_for(on_host, {2})) {
    const Matrix<double, Space> A = build_format(copy_to<Space>(on_host), format);
    for (const std::size_t columns : {1, 2, 4, 8, 16}) {
      INFO(format.text() << ", " << columns);
      using Columns = Kokkos::View<double**, Kokkos::LayoutRight, HostSpace>;
      Columns x("x", n, columns), y("y", n, columns), expected("expected", n, columns);
      Random random(3);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < columns; ++c) x(i, c) = random.value(), y(i, c) = 5;
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t i = 0; i < n; ++i) {
          double sum = 0;
          for (index_t k = on_host.row_offsets(i); k < on_host.row_offsets(i + 1); ++k)
            sum += on_host.values(k) * x(static_cast<std::size_t>(on_host.columns(k)), c);
          expected(i, c) = 2 * sum + 0.5 * y(i, c);
        }
      const auto x_there = Kokkos::create_mirror_view_and_copy(Space(), x);
      const auto y_there = Kokkos::create_mirror_view_and_copy(Space(), y);
      spmm(ctx, 2.0, A, x_there, 0.5, y_there);
      ctx.fence();
      Kokkos::deep_copy(y, y_there);
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < columns; ++c) {
          difference = std::max(difference, std::abs(y(i, c) - expected(i, c)));
          size = std::max(size, std::abs(expected(i, c)));
        }
      CHECK(size > 0);
      CHECK(difference < 1e-13 * size);
    }
  }
}

TEST_CASE("a product with several vectors refuses what it does not take") {
  using Catch::Matchers::ContainsSubstring;
  const auto A = generate_problem("poisson2d:4");
  Context<> ctx("openmp");
  using Rows = Kokkos::View<double**, Kokkos::LayoutRight, HostSpace>;
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, HostSpace>;
  const Rows y("y", 16, 4);
  CHECK_THROWS_WITH(spmm(ctx, 1.0, A, Rows("x", 16, 2), 0.0, y), ContainsSubstring("columns of Y"));
  CHECK_THROWS_WITH(spmm(ctx, 1.0, A, Rows("x", 15, 4), 0.0, y), ContainsSubstring("A.cols"));
  CHECK_THROWS_WITH(spmm(ctx, 1.0, A, Columns("x", 16, 4), 0.0, y),
                    ContainsSubstring("interleaved"));
  CHECK_THROWS_WITH(spmm(ctx, 1.0, A, Rows("x", 16, 3), 0.0, Rows("y", 16, 3)),
                    ContainsSubstring("1, 2, 4, 8 or 16"));
  CHECK_THROWS_WITH(spmm(ctx, 1.0, A, Rows("x", 16, 32), 0.0, Rows("y", 16, 32)),
                    ContainsSubstring("1, 2, 4, 8 or 16"));
  Context<> oracle("reference");
  CHECK_THROWS_AS(spmm(oracle, 1.0, A, Rows("x", 16, 4), 0.0, y), UnsupportedOperation);
}
