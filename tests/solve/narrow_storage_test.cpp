#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <set>

using namespace cnc;
using namespace cnc::testing;

// A float matrix under double vectors: the true residual is that of the matrix given.

namespace {

/// D A D, D(i, i) = scale(i).
template <class Scale>
KnownProblem<double> scaled(const std::string& text, const Scale& scale) {
  const auto A = generate_problem(text);
  Vector<double> values("values", A.values.extent(0));
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      values(k) = A.values(k) * scale(row) * scale(A.columns(k));
  return with_known_solution(
      text, CsrMatrix<double>(A.rows, A.cols, 1, A.row_offsets, A.columns, values));
}
/// A problem with values that float cannot hold: D from 1 to `spread`.
KnownProblem<double> unrepresentable(const std::string& text, double spread = 1.7) {
  return scaled(text, [&](index_t i) { return std::pow(spread, i % 7 / 6.0); });
}

/// Whether values that float holds are stored in it: not where products read less of them in double.
bool stays_in_float(const Backend& backend, const SolveReport& report, bool is_copy) {
  if (backend.value_tables && (report.row_kinds > 0 || report.value_kinds > 0)) return false;
  return is_copy || backend.memory == MemorySpace::device;
}

}  // namespace

CNC_SOLVER_TEST("float storage under double vectors reaches double accuracy by restarts") {
  for (const char* text : {sized(ctx, "poisson2d:20x20", "poisson2d:9x9"),
                           sized(ctx, "elasticity2d:6", "elasticity2d:3")}) {
    const auto P = unrepresentable(text);
    for (const Method method : every_method)
      for (const FormatSpec& format : formats_for(P.A, {2}))
        for (const auto reordering : {Reordering::none, Reordering::rcm}) {
          INFO(text << " " << to_string(method) << " " << format.text());
          SolveOptions options = options_for(method, format, PreconditionerKind::jacobi);
          options.storage = StoragePrecision::f32;
          options.reordering = reordering;
          options.rtol = 1e-12;
          const Vector<double> x = zeros<double>(P.rows());
          const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
          CHECK(report.converged());
          CHECK(report.restarts > 0);
          const Residual own = residual_of(P.A, P.b, x);
          CHECK(own.norm <= 1e-12 * norm2(P.b) + own.rounding);
          CHECK(relative_difference(x, P.solution) < 1e-9);
        }
  }
}

TEST_CASE("float storage moves fewer bytes per iteration") {
  const auto P = unrepresentable("poisson2d:30x30");
  Context<> ctx("reference");
  SolveOptions options;
  options.format = {"csr", 1};
  const auto bytes_per_iteration = [&] {
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    const SolveReport report = solver.solve(P.b, zeros<double>(P.rows()));
    CHECK(report.converged());
    return report.bytes / report.iterations;
  };
  const double wide = bytes_per_iteration();
  options.storage = StoragePrecision::f32;
  const double narrow = bytes_per_iteration();
  CHECK(wide - narrow == Approx(4.0 * static_cast<double>(P.A.stored())));
}

CNC_SOLVER_TEST("where the float matrix is too far off, x is still the best one found") {
  // A condition number beyond 1e8: what the float matrix says about a correction may be all wrong.
  const auto P = unrepresentable(sized(ctx, "poisson2d:30x30", "poisson2d:9x9"), 1e4);
  for (const index_t limit : {20, is_emulated(ctx.backend()) ? 200 : 2000}) {
    SolveOptions options;
    options.storage = StoragePrecision::f32;
    options.preconditioner = PreconditionerKind::none;
    options.rtol = 1e-15;
    options.max_iterations = limit;
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(P.A);
    const Vector<double> x = zeros<double>(P.rows());
    double before = residual_of(P.A, P.b, x).norm;
    for (int step = 0; step < 3; ++step) {
      const SolveReport report = solver.solve(P.b, x);
      const Residual after = residual_of(P.A, P.b, x);
      CHECK(report.true_residual <= report.initial_residual);
      CHECK(after.norm <= before + after.rounding);
      CHECK(std::abs(after.norm - report.true_residual) <= after.rounding);
      before = after.norm;
    }
  }
}

CNC_SOLVER_TEST("values that float holds are stored in float without loss, and without restarts") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:20x20", "poisson2d:9x9"));
  const std::vector<Method> few{Method::pcg, Method::bicg};
  for (const Method method : is_emulated(ctx.backend()) ? few : every_method)
    for (const char* format : {"auto", "dia-symmetric", "bsell:1", "bcsr:2"}) {
      INFO(to_string(method) << " " << format);
      SolveOptions options =
          options_for(method, parse_format(format), PreconditionerKind::block_jacobi, 2);
      options.rtol = 1e-10;
      const auto solved = [&](StoragePrecision storage) {
        options.storage = storage;
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
        CHECK(report.converged());
        CHECK(relative_difference(x, P.solution) < 1e-7);
        return report;
      };
      const SolveReport wide = solved(StoragePrecision::as_vectors),
                        narrow = solved(StoragePrecision::lossless);
      const bool is_copy = wide.format != "csr";
      CHECK(!wide.values_in_float);
      CHECK(narrow.values_in_float == stays_in_float(ctx.backend(), narrow, is_copy));
      CHECK(wide.row_kinds == 0);
      CHECK(wide.value_kinds == 0);
      // Runs of rows are too short for a host.
      const bool reads = ctx.backend().dictionaries == ReadsDictionaries::as_rows;
      CHECK(narrow.row_kinds == (is_copy && reads ? 9 : 0));
      if (method != Method::pcg) continue;
      CHECK(narrow.restarts == 0);
      CHECK(std::abs(narrow.iterations - wide.iterations) <= 1);
      if (narrow.values_in_float)
        CHECK(narrow.bytes / narrow.iterations < wide.bytes / wide.iterations);
    }
}

CNC_SOLVER_TEST("new values that float does not hold are stored in double") {
  const auto P = known_problem<double>("poisson2d:9x8");
  const auto rounded = unrepresentable("poisson2d:9x8");
  for (const Method method : {Method::pcg, Method::bicg}) {
    INFO(to_string(method));
    SolveOptions options = options_for(method, {"bsell", 1}, PreconditionerKind::jacobi);
    options.storage = StoragePrecision::lossless;
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(P.A);
    const auto solve = [&](const KnownProblem<double>& problem) {
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(problem.b, x);
      CHECK(report.converged());
      CHECK(relative_difference(x, problem.solution) < 1e-6);
      return report;
    };
    const SolveReport before = solve(P);
    const bool in_float = before.values_in_float;
    CHECK(in_float == stays_in_float(ctx.backend(), before, true));
    solver.update_values(P.A);
    CHECK(solve(P).values_in_float == in_float);
    solver.update_values(rounded.A);
    const SolveReport after = solve(rounded);
    CHECK(!after.values_in_float);
    CHECK(after.row_kinds == 0);
    CHECK(after.format == "bsell:1");
    if (in_float) {
      CHECK_THAT(after.detail, Catch::Matchers::ContainsSubstring("float does not hold"));
      CHECK(solve(rounded).detail.empty());
    }
    solver.update_values(P.A);  // the layout stays as it is
    const SolveReport back = solve(P);
    CHECK(!back.values_in_float);
    CHECK(back.row_kinds == 0);
  }
}

CNC_SOLVER_TEST("values that float holds in rows that do not repeat") {
  // The product of two numbers of 11 bits.
  const auto P = scaled("poisson2d:20x20", [](index_t i) { return 1 + i / 1024.0; });
  const auto rounded = unrepresentable("poisson2d:20x20");
  const bool on_host = ctx.backend().memory == MemorySpace::host;
  for (const char* format : {"csr", "bsell:1", "bcsr:2", "dia-symmetric"}) {
    INFO(format);
    SolveOptions options =
        options_for(Method::pcg, parse_format(format), PreconditionerKind::jacobi);
    options.storage = StoragePrecision::lossless;
    options.rtol = 1e-10;
    auto solver = solver_on<double>(ctx, options);
    const auto solve = [&](const KnownProblem<double>& problem) {
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(problem.b, x);
      CHECK(report.converged());
      CHECK(report.restarts == 0);
      CHECK((report.row_kinds == 0 || &problem != &P));
      CHECK(relative_difference(x, problem.solution) < 1e-7);
      return report.values_in_float;
    };
    // CSR is the caller's on hosts.
    const bool is_copy = !on_host || parse_format(format).name != "csr";
    solver.prepare(P.A);
    CHECK(solve(P) == is_copy);
    solver.update_values(P.A);
    CHECK(solve(P) == is_copy);
    solver.update_values(rounded.A);
    CHECK(!solve(rounded));
  }
}

TEST_CASE("several columns know of values without loss too") {
  Context<> ctx;
  const auto P = known_problem<double>("poisson2d:9x8");
  SolveOptions options = options_for(Method::pcg, {"bsell", 1}, PreconditionerKind::jacobi);
  options.storage = StoragePrecision::lossless;
  options.rtol = 1e-12;
  Solver<double> solver(ctx, options);
  solver.prepare(P.A);
  const Kokkos::View<double**, Kokkos::LayoutLeft, HostSpace> b("b", P.b.extent(0), 3),
      x("x", P.b.extent(0), 3);
  for (std::size_t i = 0; i < P.b.extent(0); ++i)
    for (int c = 0; c < 3; ++c) b(i, c) = (c + 1) * P.b(i);
  for (const SolveReport& report : solver.solve(b, x)) {
    CHECK(report.converged());
    CHECK(report.restarts == 0);  // a rounded matrix takes some
    CHECK(report.values_in_float);
  }
}

namespace {

/// Looks at the layout, which is then no other one than it says.
struct Looking final : PreconditionerBase<double> {
  std::string seen;
  bool throws = false;
  std::string name() const override { return "looking"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<>&, const CsrMatrix<double>&,
                             const Matrix<double>& layout) override {
    if (throws) throw std::runtime_error("not today");
    seen = std::visit([](const auto& a) { return std::string(a.format_name()); }, layout);
    return {};
  }
  void apply(const Context<>&, const Vector<const double>& r,
             const Vector<double>& z) const override {
    Kokkos::deep_copy(z, r);
  }
  bool has_transpose() const override { return true; }
  void apply_transposed(const Context<>& ctx, const Vector<const double>& r,
                        const Vector<double>& z) const override {
    apply(ctx, r, z);
  }
};

}  // namespace

TEST_CASE("an object sees the layout in the type of the vectors") {
  Context<> ctx;
  const auto P = known_problem<double>("poisson2d:9x8");
  for (const Method method : {Method::pcg, Method::bicg})
    for (const char* format : {"dia", "dia-symmetric"})
      for (const bool before : {false, true}) {
        INFO(to_string(method) << " " << format << before);
        SolveOptions options;
        options.method = method;
        options.format = {format, 1};
        Solver<double> solver(ctx, options);
        const auto looking = std::make_shared<Looking>();
        if (before) solver.set_preconditioner(looking);
        solver.prepare(P.A);
        const auto solve = [&] {
          const Vector<double> x = zeros<double>(P.rows());
          const SolveReport report = solver.solve(P.b, x);
          CHECK(report.converged());
          CHECK(relative_difference(x, P.solution) < 1e-6);
          return report.values_in_float;
        };
        if (!before) {
          CHECK(solve());
          looking->throws = true;
          CHECK_THROWS_WITH(solver.set_preconditioner(looking), "not today");
          CHECK(solve());  // with what was there before
          looking->throws = false;
          solver.set_preconditioner(looking);
        }
        CHECK(looking->seen == format);
        CHECK(!solve());
        solver.set_preconditioner({});
        CHECK(!solve());
        solver.prepare(P.A);
        CHECK(solve());
        // A function looks at nothing.
        const auto copy = [](const auto& r, const auto& z) { Kokkos::deep_copy(z, r); };
        solver.set_preconditioner(copy, EnqueuesOnly::no, copy);
        CHECK(solve());
        solver.prepare(P.A);
        CHECK(solve());
      }
}

TEST_CASE("what is known of symmetry outlives an object") {
  Context<> ctx;
  const auto P = known_problem<double>("poisson2d:30x30");
  Vector<double> values("values", P.A.values.extent(0));
  for (index_t i = 0; i < P.A.rows; ++i)
    for (index_t k = P.A.row_offsets(i); k < P.A.row_offsets(i + 1); ++k)
      values(k) = P.A.columns(k) > i ? 0.5 : P.A.values(k);
  const CsrMatrix<double> A(P.A.rows, P.A.cols, 1, P.A.row_offsets, P.A.columns, values);
  for (const auto storage : {StoragePrecision::lossless, StoragePrecision::as_vectors}) {
    SolveOptions options = options_for(Method::pcg, {"bsell", 1}, PreconditionerKind::jacobi);
    options.storage = storage;
    Solver<double> solver(ctx, options);
    solver.prepare(A);
    const auto looking = std::make_shared<Looking>();
    for (int k = 0; k < 2; ++k) {
      solver.set_preconditioner(looking);  // the same one again too
      const SolveReport report = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(report.status == SolveStatus::unsuitable);
      CHECK(report.iterations == 0);
    }
  }
}

TEST_CASE("what is no number, or too large, is not stored in float") {
  Context<> ctx;
  const auto P = known_problem<double>("poisson2d:9x8");
  for (const double value : {std::nan(""), 1e300, 1e-40 / 3, 0.1}) {
    Vector<double> values("values", P.A.values.extent(0));
    Kokkos::deep_copy(values, P.A.values);
    values(7) = value;
    SolveOptions options = options_for(Method::gmres, {"bsell", 1}, PreconditionerKind::none);
    options.storage = StoragePrecision::lossless;
    options.max_iterations = 3;
    Solver<double> solver(ctx, options);
    solver.prepare(CsrMatrix<double>(P.A.rows, P.A.cols, 1, P.A.row_offsets, P.A.columns, values));
    CHECK(!solver.solve(P.b, zeros<double>(P.rows())).values_in_float);
  }
}

TEST_CASE("CSR shares the caller's values though float holds them") {
  Context<> ctx;
  const auto P = known_problem<double>("poisson2d:9x8");
  SolveOptions options;
  options.format = {"csr", 1};
  Solver<double> solver(ctx, options);
  solver.prepare(P.A);
  CHECK(!solver.solve(P.b, zeros<double>(P.rows())).values_in_float);
}

TEST_CASE("a value that float cannot hold refuses float storage") {
  const auto A = generate_problem("poisson2d:4x4");
  Vector<double> values("values", A.values.extent(0));
  Kokkos::deep_copy(values, A.values);
  values(0) = 1e60;
  Context<> ctx("reference");
  SolveOptions options;
  options.storage = StoragePrecision::f32;
  Solver<double> solver(ctx, options);
  const CsrMatrix<double> large(A.rows, A.cols, 1, A.row_offsets, A.columns, values);
  CHECK_THROWS_AS(solver.prepare(large), InvalidArgument);
}

CNC_SOLVER_TEST("where the float matrix fails, the one given goes on") {
  // H D H with a reflection H: symmetric, eigenvalues from 1 down to 1e-9, which float rounds to either side of zero. (With 1e-10
  // it is the luck of rounding whether double converges.)
  constexpr index_t n = 12;
  std::vector<double> u(n), values;
  double uu = 0;
  for (index_t i = 0; i < n; ++i) uu += (u[i] = 1 + 0.3 * ((i * 5) % 7)) * u[i];
  const auto h = [&](index_t i, index_t j) { return (i == j) - 2 * u[i] * u[j] / uu; };
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t k = 0; k < n; ++k) sum += h(i, k) * std::pow(10.0, -9.0 * k / (n - 1)) * h(j, k);
      columns.push_back(j);
      values.push_back(sum);
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  for (index_t i = 0; i < n; ++i)  // to the last bit
    for (index_t j = 0; j < i; ++j) values[i * n + j] = values[j * n + i];
  const auto P =
      with_known_solution("ill-conditioned", literal_csr<double>(n, n, offsets, columns, values));
  // All of its spectrum is in this right-hand side.
  const Vector<double> b("b", n);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < n; ++k) b(i) += h(i, k);
  SolveOptions options = options_for(Method::pcg, {}, PreconditionerKind::none);
  options.rtol = 1e-7;
  options.max_iterations = 2000;
  const SolveReport wide = solve_once(ctx, options, P.A, b, zeros<double>(n));
  CHECK(wide.converged());
  CHECK(wide.choice.empty());
  options.storage = StoragePrecision::f32;
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  for (int k = 0; k < 2; ++k) {
    const Vector<double> x = zeros<double>(n);
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    const Residual own = residual_of(P.A, b, x);
    CHECK(own.norm <= 1.01e-7 * norm2(b) + own.rounding);
    // It is not tried again before there are other values.
    CHECK_THAT(report.choice, Catch::Matchers::ContainsSubstring(k == 0 ? "after" : "before"));
    CHECK(report.format == "csr");
  }
}

CNC_SOLVER_TEST("columns of 16 bits are found, reported and kept with new values") {
  const auto P = known_problem<double>(sized(ctx, "wathen:9x8", "wathen:4x3"));
  const auto scaled = [&](double factor) {
    Vector<double> values("values", P.A.values.extent(0));
    for (std::size_t k = 0; k < values.extent(0); ++k) values(k) = factor * P.A.values(k);
    return CsrMatrix<double>(P.A.rows, P.A.cols, 1, P.A.row_offsets, P.A.columns, values);
  };
  for (const char* format : {"csr", "bsell:1"}) {
    INFO(format);
    SolveOptions options =
        options_for(Method::pcg, parse_format(format), PreconditionerKind::jacobi);
    options.rtol = 1e-10;
    options.storage = StoragePrecision::lossless;
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(P.A);
    for (const double factor : {1.0, 4.0}) {
      const auto A = scaled(factor);
      solver.update_values(A);
      const auto problem = with_known_solution("scaled", A);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(problem.b, x);
      CHECK(report.converged());
      CHECK(relative_difference(x, problem.solution) < 1e-7);
      CHECK(report.short_columns == ctx.backend().short_columns);
    }
    options.storage = StoragePrecision::as_vectors;
    const Vector<double> x = zeros<double>(P.rows());
    CHECK(!solve_once(ctx, options, P.A, P.b, x).short_columns);
  }
}

namespace {

/// The same pattern with 9 units on the diagonal and what value(i, j) tells, symmetric, elsewhere.
template <class Value>
KnownProblem<double> with_values(const CsrMatrix<double>& pattern, double unit,
                                 const Value& value) {
  Vector<double> values("values", pattern.values.extent(0));
  for (index_t i = 0; i < pattern.rows; ++i)
    for (index_t k = pattern.row_offsets(i); k < pattern.row_offsets(i + 1); ++k) {
      const index_t j = pattern.columns(k);
      values(k) = unit * (i == j ? 9 : value(i, j));
    }
  return with_known_solution("with values",
                             CsrMatrix<double>(pattern.rows, pattern.cols, 1, pattern.row_offsets,
                                               pattern.columns, values));
}
/// Of few values, of which float holds those of unit 1, in rows that do not repeat.
KnownProblem<double> of_few_values(const CsrMatrix<double>& pattern, int most, double unit) {
  return with_values(pattern, unit, [&](index_t i, index_t j) {
    return -1 - (i + 1) * (j + 1) % 101 % most / 1024.0;
  });
}
KnownProblem<double> of_many_values(const CsrMatrix<double>& pattern) {
  return with_values(pattern, 1,
                     [](index_t i, index_t j) { return -1 / std::sqrt(2.0 + i + j + i * j); });
}
int different_values(const CsrMatrix<double>& A) {
  return static_cast<int>(
      std::set<double>(A.values.data(), A.values.data() + A.values.extent(0)).size());
}

}  // namespace

CNC_SOLVER_TEST("few values are found, reported and looked for again in new values") {
  const auto pattern = generate_problem("poisson2d:19x18");
  const std::vector<KnownProblem<double>> problems = {
      of_few_values(pattern, 40, 1), of_few_values(pattern, 7, 2),
      of_few_values(pattern, 40, std::sqrt(2.0)), of_many_values(pattern),
      of_few_values(pattern, 40, 1)};
  const bool reads = ctx.backend().value_tables && ctx.backend().least_table_values == 0;
  for (const std::string format : {"csr", "bsell:1"})
    for (const auto storage :
         {StoragePrecision::lossless, StoragePrecision::f32, StoragePrecision::as_vectors}) {
      INFO(format << " " << static_cast<int>(storage));
      SolveOptions options =
          options_for(Method::pcg, parse_format(format), PreconditionerKind::jacobi);
      options.rtol = 1e-10;
      options.storage = storage;
      if (reads) options.form = SolveForm::graph;  // one meeting reads values
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(problems[0].A);
      bool has = reads && format == "csr" && storage != StoragePrecision::as_vectors;
      for (const auto& problem : problems) {
        if (&problem != &problems[0]) solver.update_values(problem.A);
        const Vector<double> x = zeros<double>(problem.rows());
        const SolveReport report = solver.solve(problem.b, x);
        CHECK(report.converged());
        CHECK(relative_difference(x, problem.solution) < 1e-7);
        // Where values were too many once, nobody looks again.
        const int kinds = different_values(problem.A);
        has = has && kinds <= most_table_values;
        CHECK(report.value_kinds == (has ? kinds : 0));
        if (has) CHECK(report.values_in_float == (storage == StoragePrecision::f32));
      }
      CHECK(!has);
    }
}

CNC_SOLVER_TEST("reports tell whether products read a table of values") {
  const bool reads = ctx.backend().value_tables && ctx.backend().least_table_values == 0;
  const auto P = of_few_values(generate_problem("poisson2d:9x8"), 5, 1);
  SolveOptions options = options_for(Method::pcg, {"csr", 1}, PreconditionerKind::jacobi);
  const auto solved = [&](StoragePrecision storage) {
    options.storage = storage;
    const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    CHECK(report.converged());
    return report;
  };
  std::vector<SolveForm> forms = {SolveForm::automatic};
  if (reads) forms = {SolveForm::streamed, SolveForm::graph, SolveForm::resident};
  for (const SolveForm form : forms) {
    INFO(to_string(form));
    options.form = form;
    const SolveReport wide = solved(StoragePrecision::as_vectors),
                      few = solved(StoragePrecision::lossless);
    CHECK(wide.value_kinds == 0);
    CHECK(few.value_kinds == (reads ? different_values(P.A) : 0));
    // 7 of 8 bytes of a value, and 2 of 4 of a column.
    const double saved = wide.bytes / wide.iterations - few.bytes / few.iterations;
    if (reads) CHECK(saved == Approx(9.0 * static_cast<double>(P.A.stored())));
  }
  if (!reads) return;
  options.form = SolveForm::one_meeting;
  CHECK(solved(StoragePrecision::lossless).value_kinds == 0);
  options.form = SolveForm::automatic;
  options.arithmetic = Arithmetic::separate;
  CHECK(solved(StoragePrecision::lossless).value_kinds == 0);
}
