#include "solve/least_squares.hpp"

#include <cnc/least_squares.hpp>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// LeastSquaresSolver, and A^T A. Solutions are those of the dense normal equations.

namespace {

constexpr LeastSquaresMethod every_least_squares_method[] = {
    LeastSquaresMethod::automatic, LeastSquaresMethod::lsqr, LeastSquaresMethod::cgnr,
    LeastSquaresMethod::normal_equations};

SolveOptions precise(PreconditionerKind kind = PreconditionerKind::jacobi, int block = 0) {
  SolveOptions options;
  options.rtol = 1e-10;
  options.preconditioner = kind;
  options.preconditioner_block_size = block;
  return options;
}

/// A LeastSquaresSolver whose caller lives in host memory.
template <class Exec>
struct HostFacing {
  using Space = typename Exec::memory_space;
  LeastSquaresSolver<double, Exec> solver;
  CsrMatrix<double, Space> kept;

  HostFacing(Context<Exec>& ctx, const SolveOptions& options, LeastSquaresMethod method)
      : solver(ctx, options, method) {}
  void prepare(const CsrMatrix<double>& A) { solver.prepare(kept = copy_to<Space>(A)); }
  void update_values(const CsrMatrix<double>& A) { solver.update_values(kept = copy_to<Space>(A)); }
  SolveReport solve(const Vector<double>& b, const Vector<double>& x) {
    const auto there = copy_to<Space>(x);
    const SolveReport report = solver.solve(copy_to<Space>(b), there);
    Kokkos::deep_copy(x, there);
    return report;
  }
};

void check_normal_matrix(const CsrMatrix<double>& A) {
  INFO(A.rows << " x " << A.cols);
  const auto N = normal_matrix(A);
  CHECK(N.validate() == Checked::ascending);
  const Dense expected = gram(in_full(transpose(A))), found = in_full(N);
  double largest = 0;
  for (const auto& row : expected)
    for (const long double value : row) largest = std::max(largest, double(std::abs(value)));
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected.size(); ++j) {
      CHECK(std::abs(double(found[i][j] - expected[i][j])) <= 1e-14 * largest);
      CHECK(found[i][j] == found[j][i]);
    }
}

/// Rows in descending order of columns.
CsrMatrix<double> turned(const CsrMatrix<double>& A) {
  Vector<index_t> columns("columns", A.values.extent(0));
  Vector<double> values("values", A.values.extent(0));
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      const index_t from = A.row_offsets(i) + A.row_offsets(i + 1) - 1 - k;
      columns(k) = A.columns(from);
      values(k) = A.values(from);
    }
  return {A.rows, A.cols, 1, A.row_offsets, columns, values};
}

CsrMatrix<double> with_a_dense_row(index_t rows, index_t cols) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < rows; ++i) {
    entries.push_back({i, i % cols, 2.0});
    entries.push_back({i, (i + 1) % cols, -0.5});
  }
  for (index_t j = 0; j < cols; ++j) entries.push_back({rows / 2, j, 0.01});
  return csr_from_triplets<double>(rows, cols, entries);
}

}  // namespace

TEST_CASE("A^T A is the dense product, symmetric to the bit") {
  check_normal_matrix(tall(50, 17));
  check_normal_matrix(transpose(tall(50, 17)));
  check_normal_matrix(with_a_dense_row(40, 13));
  check_normal_matrix(turned(tall(40, 13)));
  check_normal_matrix(csr_from_triplets<double>(4, 3, {}));
  check_normal_matrix(csr_from_triplets<double>(0, 3, {}));
  // A row whose parts are too many for insertion: column 0 is in every row.
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < 900; ++i)
    for (index_t j : {index_t(0), 1 + i * 7 % 60, 1 + (i * 7 + 11) % 60})
      entries.push_back({i, j, 1.0 + i % 5 - 0.25 * j});
  check_normal_matrix(csr_from_triplets<double>(900, 61, entries));
  CHECK(normal_matrix(csr_from_triplets<double>(5, 0, {})).rows == 0);
  CHECK_THROWS_AS(normal_matrix(literal_csr<double>(1, 1, {0, 1}, {3}, {1.0})), InvalidArgument);
}

TEST_CASE("the names of least squares methods") {
  for (const LeastSquaresMethod method : every_least_squares_method)
    CHECK(parse_least_squares_method(to_string(method)) == method);
  CHECK(parse_least_squares_method("normal_equations") == LeastSquaresMethod::normal_equations);
  CHECK_THROWS_WITH(
      parse_least_squares_method("qr"),
      "unknown least squares method 'qr' (known: auto, lsqr, cgnr, normal-equations)");
}

CNC_SOLVER_TEST("each least squares method finds the least squares") {
  struct Shape {
    index_t rows, cols;
  };
  for (const Shape shape : {Shape{60, 23}, Shape{23, 60}, Shape{31, 31}, Shape{4, 1}}) {
    const auto A = shape.rows >= shape.cols ? tall(shape.rows, shape.cols)
                                            : transpose(tall(shape.cols, shape.rows));
    const auto b = varied_vector<double>(A.rows);
    const auto expected = least_squares(A, b);
    for (const LeastSquaresMethod method : every_least_squares_method)
      for (const auto kind :
           {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
        for (const StoragePrecision storage :
             {StoragePrecision::as_vectors, StoragePrecision::f32}) {
          if (shape.cols == 1 && kind == PreconditionerKind::block_jacobi) continue;
          if (storage == StoragePrecision::f32 && kind != PreconditionerKind::jacobi) continue;
          INFO(shape.rows << " x " << shape.cols << " " << to_string(method) << " " << int(kind)
                          << " " << int(storage));
          SolveOptions options = precise(kind, 2);
          options.storage = storage;
          HostFacing<Exec> solver(ctx, options, method);
          solver.prepare(A);
          const Vector<double> x = zeros<double>(A.cols), again = zeros<double>(A.cols);
          const SolveReport report = solver.solve(b, x);
          check_least_squares(report, A, b, x);
          if (method != LeastSquaresMethod::automatic) CHECK(solver.solver.method() == method);
          if (A.rows >= A.cols || kind == PreconditionerKind::none)
            CHECK(relative_difference(x, expected) < 1e-7);
          if (storage == StoragePrecision::f32)
            continue;  // where float failed, later solves do without
          solver.solve(b, again);
          CHECK(same_bits(x, again));
        }
  }
}

CNC_SOLVER_TEST("the automatic method forms A^T A where it is small") {
  const auto A = tall(300, 40);
  const auto b = varied_vector<double>(300);
  HostFacing<Exec> solver(ctx, precise(), LeastSquaresMethod::automatic);
  solver.prepare(A);
  CHECK(solver.solver.method() == LeastSquaresMethod::normal_equations);
  Vector<double> x = zeros<double>(40);
  SolveReport report = solver.solve(b, x);
  check_least_squares(report, A, b, x);
  CHECK(report.method == Method::pcg);
  CHECK_THAT(report.choice, ContainsSubstring("normal equations: A^T A has"));
  CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);

  const auto dense_row = with_a_dense_row(400, 300);
  solver.prepare(dense_row);
  CHECK(solver.solver.method() == LeastSquaresMethod::lsqr);
  x = zeros<double>(300);
  const auto long_b = varied_vector<double>(400);
  report = solver.solve(long_b, x);
  check_least_squares(report, dense_row, long_b, x);
  CHECK_THAT(report.choice, ContainsSubstring("lsqr: A^T A would take"));
}

CNC_SOLVER_TEST("least squares solvers follow new values, in rows of any order") {
  const auto A = tall(70, 31);
  CsrMatrix<double> other = A;
  other.values = Vector<double>("values", A.values.extent(0));
  for (std::size_t k = 0; k < other.values.extent(0); ++k)
    other.values(k) = A.values(k) * (1 + k % 3);
  const auto b = varied_vector<double>(70);
  for (const LeastSquaresMethod method : every_least_squares_method)
    for (const bool in_order : {true, false})
      for (const bool copies : {false, true}) {
        INFO(to_string(method) << " " << in_order << " " << copies);
        const auto first = in_order ? A : turned(A), second = in_order ? other : turned(other);
        SolveOptions options = precise();
        options.copy_matrix = copies;
        HostFacing<Exec> solver(ctx, options, method);
        const Vector<double> x = varied_vector<double>(31);
        CHECK_THROWS_WITH(solver.solve(b, x), ContainsSubstring("call prepare before solve"));
        solver.prepare(first);
        check_least_squares(solver.solve(b, x), first, b, x);
        solver.update_values(second);
        check_least_squares(solver.solve(b, x), second, b, x);
        CHECK_THROWS_WITH(solver.update_values(transpose(A)), ContainsSubstring("pattern"));
        check_least_squares(solver.solve(b, x), second, b, x);
        CHECK(solver.solve(b, x).iterations == 0);
      }
}

CNC_SOLVER_TEST("several right-hand sides of the normal equations") {
  using Space = typename Exec::memory_space;
  const auto A = copy_to<Space>(tall(40, 15));
  for (const LeastSquaresMethod method : every_least_squares_method) {
    INFO(to_string(method));
    LeastSquaresSolver<double, Exec> solver(ctx, precise(), method);
    solver.prepare(A);
    const Kokkos::View<double**, Kokkos::LayoutRight, Space> b("b", 40, 3), x("x", 15, 3);
    const auto host_b = Kokkos::create_mirror_view(b);
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t c = 0; c < 3; ++c) host_b(i, c) = 1.0 + double((i * (c + 2)) % 11);
    Kokkos::deep_copy(b, host_b);
    const auto reports = solver.solve(b, x);
    REQUIRE(reports.size() == 3);
    const auto host_x = Kokkos::create_mirror_view_and_copy(HostSpace(), x);
    for (std::size_t c = 0; c < 3; ++c) {
      Vector<double> of_b("b", 40), of_x("x", 15);
      for (std::size_t i = 0; i < 40; ++i) of_b(i) = host_b(i, c);
      for (std::size_t i = 0; i < 15; ++i) of_x(i) = host_x(i, c);
      check_least_squares(reports[c], tall(40, 15), of_b, of_x);
    }
  }
}

CNC_SOLVER_TEST("lsqr goes on where the normal equations break down") {
  // Columns 1 and 4 are empty: the diagonal of A^T A has zeros.
  const std::vector<Triplet<double>> entries = {{0, 0, 1}, {1, 2, 2}, {2, 3, 3},
                                                {4, 0, 1}, {5, 3, 1}, {5, 2, 1}};
  const auto A = csr_from_triplets<double>(6, 5, entries);
  const auto b = varied_vector<double>(6);
  HostFacing<Exec> solver(ctx, precise(), LeastSquaresMethod::normal_equations);
  solver.prepare(A);
  const Vector<double> x = zeros<double>(5);
  const SolveReport report = solver.solve(b, x);
  check_least_squares(report, A, b, x);
  CHECK(report.method == Method::lsqr);
  CHECK_THAT(report.choice, ContainsSubstring("then lsqr"));
  CHECK(x(1) == 0);
  CHECK(x(4) == 0);
}

CNC_SOLVER_TEST("limits and callbacks end least squares solves") {
  const auto A = tall(120, 60);
  const auto b = varied_vector<double>(120);
  for (const LeastSquaresMethod method : every_least_squares_method) {
    INFO(to_string(method));
    SolveOptions options = precise();
    options.max_iterations = 3;
    HostFacing<Exec> limited(ctx, options, method);
    limited.prepare(A);
    const Vector<double> x = zeros<double>(60);
    SolveReport report = limited.solve(b, x);
    CHECK(report.status == SolveStatus::max_iterations);
    CHECK(report.iterations == 3);
    CHECK(report.true_residual == Approx(normal_residual(A, b, x)).epsilon(1e-8));
    CHECK(report.least_squares_residual == Approx(data_residual(A, b, x)));

    options.max_iterations = 1000;
    options.callback_interval = 1;
    options.callback = [](const Progress& progress) { return progress.iteration < 2; };
    HostFacing<Exec> stopped(ctx, options, method);
    stopped.prepare(A);
    Kokkos::deep_copy(x, 0.0);
    report = stopped.solve(b, x);
    CHECK(report.status == SolveStatus::stopped);
    CHECK(report.iterations == 2);
    CHECK(report.true_residual == Approx(normal_residual(A, b, x)).epsilon(1e-8));
  }
}

CNC_SOLVER_TEST("what a least squares solver refuses") {
  using Space = typename Exec::memory_space;
  SolveOptions options;
  options.norm = ResidualNorm::infinity;
  CHECK_THROWS_WITH((LeastSquaresSolver<double, Exec>(ctx, options)), ContainsSubstring("2-norm"));
  options = {};
  options.rtol = -1;
  CHECK_THROWS_AS((LeastSquaresSolver<double, Exec>(ctx, options)), InvalidArgument);
  LeastSquaresSolver<double, Exec> solver(ctx);
  const auto A = copy_to<Space>(tall(40, 15));
  CHECK_THROWS_WITH(solver.update_values(A), ContainsSubstring("call prepare"));
  solver.prepare(A);
  const Vector<double, Space> b("b", 40), x("x", 15);
  CHECK_THROWS_WITH(solver.solve(x, b), ContainsSubstring("the matrix is 40 x 15, b is 15 x 1"));
  CHECK(solver.solve(b, x).converged());
  const Vector<double> bad = varied_vector<double>(40);
  bad(3) = std::numeric_limits<double>::quiet_NaN();
  CHECK(solver.solve(copy_to<Space>(bad), x).status == SolveStatus::not_finite);
}
