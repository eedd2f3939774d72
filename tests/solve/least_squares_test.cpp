#include "solve/least_squares.hpp"

using namespace cnc;
using namespace cnc::testing;

// lsqr, and matrices that are not square. Solutions are those of the dense normal equations.

namespace {

SolveOptions lsqr_options(const FormatSpec& format = {},
                          PreconditionerKind kind = PreconditionerKind::jacobi, int block = 0) {
  SolveOptions options = options_for(Method::lsqr, format, kind, block);
  options.rtol = 1e-10;
  return options;
}

}  // namespace

CNC_SOLVER_TEST("lsqr finds the least squares of tall, wide and square matrices in every layout") {
  struct Shape {
    index_t rows, cols;
  };
  for (const Shape shape :
       {Shape{60, 23}, Shape{23, 60}, Shape{31, 31}, Shape{1, 4}, Shape{4, 1}}) {
    const auto A = shape.rows >= shape.cols ? tall(shape.rows, shape.cols)
                                            : transpose(tall(shape.cols, shape.rows));
    const auto b = varied_vector<double>(A.rows);
    const auto expected = least_squares(A, b);
    for (const FormatSpec& format : every_format({3}))
      for (const auto kind :
           {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
        for (const StoragePrecision storage :
             {StoragePrecision::as_vectors, StoragePrecision::f32}) {
          if (format.name == "dia-symmetric") continue;
          // Diagonal blocks of A^T A that a single equation fills are singular.
          if (shape.rows == 1 && kind == PreconditionerKind::block_jacobi) continue;
          if (is_emulated(ctx.backend()) &&
              (storage == StoragePrecision::f32) != (kind == PreconditionerKind::jacobi))
            continue;
          INFO(shape.rows << " x " << shape.cols << " " << format.text() << " " << int(kind) << " "
                          << int(storage));
          SolveOptions options = lsqr_options(format, kind, 2);
          options.storage = storage;
          const Vector<double> x = zeros<double>(A.cols);
          const SolveReport report = solve_once(ctx, options, A, b, x);
          check_least_squares(report, A, b, x);
          // A wide system has many solutions: M chooses among them.
          if (A.rows >= A.cols || kind == PreconditionerKind::none)
            CHECK(relative_difference(x, expected) < 1e-7);
        }
  }
}

CNC_SOLVER_TEST("lsqr in every form, with the same bits every time") {
  const auto A = tall(90, 40);
  const auto b = varied_vector<double>(90);
  const auto expected = least_squares(A, b);
  for (const SolveForm form : every_form) {
    SolveOptions options = lsqr_options();
    options.form = form;
    INFO(cnc::to_string(form));
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(A);
    const Vector<double> x = zeros<double>(40), again = zeros<double>(40);
    try {
      check_least_squares(solver.solve(b, x), A, b, x);
    } catch (const UnsupportedOperation&) {
      continue;
    }
    CHECK(relative_difference(x, expected) < 1e-7);
    CHECK(solver.solve(b, again).converged());
    CHECK(same_bits(x, again));
    // From the solution nothing is left to do.
    CHECK(solver.solve(b, again).iterations == 0);
  }
}

CNC_SOLVER_TEST("lsqr goes on from a guess, follows new values and the order of rows") {
  const auto A = tall(70, 31);
  const auto other = [&] {
    CsrMatrix<double> B = A;
    B.values = Vector<double>("values", A.values.extent(0));
    for (std::size_t k = 0; k < B.values.extent(0); ++k) B.values(k) = A.values(k) * (1 + k % 3);
    return B;
  }();
  const auto b = varied_vector<double>(70);
  for (const Reordering reordering : {Reordering::none, Reordering::rcm})
    for (const bool wide : {false, true}) {
      const auto first = wide ? transpose(A) : A, second = wide ? transpose(other) : other;
      const Vector<double> rhs = wide ? varied_vector<double>(31) : b;
      SolveOptions options = lsqr_options();
      options.reordering = reordering;
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(first);
      const Vector<double> x = varied_vector<double>(first.cols);
      check_least_squares(solver.solve(rhs, x), first, rhs, x);
      solver.update_values(second);
      check_least_squares(solver.solve(rhs, x), second, rhs, x);
      CHECK_THROWS_AS(solver.update_values(transpose(second)), InvalidArgument);
      check_least_squares(solver.solve(rhs, x), second, rhs, x);
    }
}

CNC_SOLVER_TEST("what is not square is solved by lsqr, if the method is to be chosen, or cgnr") {
  const auto A = tall(50, 20);
  const auto b = varied_vector<double>(50);
  SolveOptions options = lsqr_options();
  options.method = Method::automatic;
  const Vector<double> x = zeros<double>(20);
  const SolveReport report = solve_once(ctx, options, A, b, x);
  check_least_squares(report, A, b, x);
  CHECK(report.method == Method::lsqr);
  CHECK(report.choice == "lsqr: the matrix is not square");

  options.method = Method::cgnr;
  const auto solution = varied_vector<double>(20);
  const Vector<double> found = zeros<double>(20);
  const SolveReport consistent = solve_once(ctx, options, A, product(A, solution), found);
  CHECK(consistent.converged());
  CHECK(std::isnan(consistent.least_squares_residual));
  CHECK(relative_difference(found, solution) < 1e-7);

  options.method = Method::bicgstab;
  auto solver = solver_on<double>(ctx, options);
  CHECK_THROWS_WITH(solver.prepare(A), Catch::Matchers::EndsWith("lsqr or cgnr; it is 50 x 20"));
}

CNC_SOLVER_TEST("lsqr leaves out what no equation speaks of") {
  // Columns 1 and 4 are empty, and row 3: blocks of the preconditioner would be singular.
  const std::vector<Triplet<double>> entries = {{0, 0, 1}, {1, 2, 2}, {2, 3, 3},
                                                {4, 0, 1}, {5, 3, 1}, {5, 2, 1}};
  const auto A = csr_from_triplets<double>(6, 5, entries);
  const auto b = varied_vector<double>(6);
  for (const auto kind :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
    const Vector<double> x = zeros<double>(5);
    check_least_squares(solve_once(ctx, lsqr_options({}, kind, 2), A, b, x), A, b, x);
    CHECK(x(1) == 0);
    CHECK(x(4) == 0);
    CHECK(x(0) == Approx((b(0) + b(4)) / 2));
  }
}

CNC_SOLVER_TEST("lsqr with right-hand sides that say little") {
  const auto A = tall(40, 15);
  auto solver = solver_on<double>(ctx, lsqr_options());
  solver.prepare(A);
  Vector<double> b("b", 40);
  Vector<double> x = varied_vector<double>(15);
  SolveReport report = solver.solve(b, x);
  CHECK(report.converged());
  CHECK(norm2(x) == 0);
  CHECK(report.least_squares_residual == 0);

  for (const double size : {1e-200, 1e200}) {  // whose squares are out of range
    INFO(size);
    for (std::size_t i = 0; i < 40; ++i) b(i) = size * (1.0 + double(i % 7));
    Kokkos::deep_copy(x, 0.0);
    report = solver.solve(b, x);
    CHECK(report.converged());
    Vector<double> unit_b("b", 40), unit_x("x", 15);
    for (std::size_t i = 0; i < 40; ++i) unit_b(i) = b(i) / size;
    for (std::size_t i = 0; i < 15; ++i) unit_x(i) = x(i) / size;
    CHECK(normal_residual(A, unit_b, unit_x) <= 1.01e-10 * norm2(product(transpose(A), unit_b)));
    CHECK(report.least_squares_residual / size == Approx(data_residual(A, unit_b, unit_x)));
  }

  // A^T b is below what a float holds, b and A are not.
  const auto small = literal_csr<float>(2, 1, {0, 1, 2}, {0, 0}, {1e-12f, 1e-12f});
  auto float_solver = solver_on<float>(ctx, [] {
    SolveOptions options = lsqr_options({"csr", 1}, PreconditionerKind::none);
    options.rtol = 1e-5;
    return options;
  }());
  float_solver.prepare(small);
  Vector<float> small_b("b", 2), small_x("x", 1);
  small_b(0) = 3e-35f;
  small_b(1) = 1e-35f;
  CHECK(float_solver.solve(small_b, small_x).converged());
  CHECK(small_x(0) == Approx(2e-23).epsilon(1e-4));

  b(7) = std::numeric_limits<double>::quiet_NaN();
  report = solver.solve(b, x);
  CHECK(report.status == SolveStatus::not_finite);
}

CNC_SOLVER_TEST("a callback sees x and r of a least squares solve in their own lengths") {
  using Space = typename Exec::memory_space;
  const auto A = tall(40, 15);
  const auto b = varied_vector<double>(40);
  for (const bool wide : {false, true}) {
    const auto matrix = wide ? transpose(A) : A;
    const Vector<double> rhs = wide ? varied_vector<double>(15) : b;
    SolveOptions options = lsqr_options();
    int calls = 0;
    options.callback_interval = 3;
    options.callback = [&](const Progress& progress) {
      const Vector<double> x = copy_of(copy_to<HostSpace>(progress.x<double, Space>()));
      const auto r = copy_to<HostSpace>(progress.r<double, Space>());
      CHECK(x.extent(0) == static_cast<std::size_t>(matrix.cols));
      CHECK(r.extent(0) == static_cast<std::size_t>(matrix.rows));
      const auto Ax = product(matrix, x);
      for (std::size_t i = 0; i < r.extent(0); ++i)
        CHECK(r(i) == Approx(rhs(i) - Ax(i)).margin(1e-10));
      ++calls;
      return true;
    };
    const Vector<double> x = zeros<double>(matrix.cols);
    check_least_squares(solve_once(ctx, options, matrix, rhs, x), matrix, rhs, x);
    CHECK(calls > 0);
  }
}

CNC_SOLVER_TEST("several right-hand sides of a least squares problem") {
  using Space = typename Exec::memory_space;
  const auto A = tall(40, 15);
  Solver<double, Exec> solver(ctx, lsqr_options());
  solver.prepare(copy_to<Space>(A));
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
    check_least_squares(reports[c], A, of_b, of_x);
    CHECK(relative_difference(of_x, least_squares(A, of_b)) < 1e-7);
  }
}

CNC_SOLVER_TEST("wrong lengths, and what does not go with least squares") {
  using Catch::Matchers::ContainsSubstring;
  const auto A = tall(40, 15);
  auto solver = solver_on<double>(ctx, lsqr_options());
  solver.prepare(A);
  const Vector<double> b("b", 40), x("x", 15);
  CHECK_THROWS_WITH(solver.solve(x, b), ContainsSubstring("40 rows and 15 columns, b has 15"));
  CHECK_THROWS_WITH(solver.prepare(Matrix<double>(A)), ContainsSubstring("pass CSR"));
  CHECK(solver.solve(b, x).converged());  // as it was prepared
  SolveOptions infinity = lsqr_options();
  infinity.norm = ResidualNorm::infinity;
  solver.set_options(infinity);
  CHECK_THROWS_WITH(solver.solve(b, x), ContainsSubstring("2-norm"));
  solver.set_options(lsqr_options());
  solver.set_preconditioner([](const auto&, const auto&) {});
  CHECK_THROWS_WITH(solver.solve(b, x), ContainsSubstring("not square"));
  CHECK_THROWS_WITH(solver.prepare(A), ContainsSubstring("not square"));
  SolveOptions options = lsqr_options();
  options.null_space = NullSpace::constant;
  auto other = solver_on<double>(ctx, options);
  CHECK_THROWS_WITH(other.prepare(A), ContainsSubstring("null space"));
  options.null_space = NullSpace::none;
  options.norm = ResidualNorm::infinity;
  other.set_options(options);
  CHECK_THROWS_WITH(other.prepare(A), ContainsSubstring("2-norm"));
}
