// Conjugate gradients one kernel after the other on a matrix scaled to a unit diagonal: when, with what outcome, and that nobody
// sees the scaled vectors.

#include "support/catch.hpp"
#include "support/gpu_host/backends.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/preconditioner.hpp>
#include <cnc/solver.hpp>
#include <cnc/spmv.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace cnc::testing {
namespace {

const std::vector<const Backend*> emulated = emulated_devices();

/// S A S with an S that varies: values that float does not hold, no two rows alike, and in problems of some size more than 256 values,
/// for which there is no table.
template <class V>
CsrMatrix<V> rescaled(const CsrMatrix<V>& A, double spread) {
  const auto factor = [&](index_t i) { return 1 + spread * std::abs(std::sin(1.0 + i)); };
  Vector<V> values("values", A.values.extent(0));
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      values(k) = static_cast<V>(double(A.values(k)) * (factor(row) * factor(A.columns(k))));
  return {A.rows, A.cols, 1, A.row_offsets, A.columns, values};
}

template <class V>
KnownProblem<V> rescaled_problem(const std::string& text, double spread = 2) {
  const auto A = convert_values<V>(generate_problem(text));
  return with_known_solution(text, rescaled(A, spread));
}

SolveOptions options_in(const char* format, SolveForm form) {
  SolveOptions options;
  options.method = Method::pcg;
  options.preconditioner = PreconditionerKind::jacobi;
  options.format = parse_format(format);
  options.form = form;
  options.record_history = true;
  return options;
}

/// 1 / (2 diag A): of the kind Jacobi, but another matrix's.
class HalfInverse final : public PreconditionerBase<double> {
 public:
  std::string name() const override { return "half"; }
  double bytes(index_t rows, offset_t) const override { return double(rows) * sizeof(double); }
  PreconditionerSetup set_up(Context<>&, const CsrMatrix<double>& A,
                             const Matrix<double>&) override {
    inverse_ = Vector<double>("inverse", static_cast<std::size_t>(A.rows));
    for (index_t row = 0; row < A.rows; ++row)
      for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
        if (A.columns(k) == row) inverse_(row) = 0.5 / A.values(k);
    return {};
  }
  std::optional<PreconditionerOperand<double>> local() const override {
    return PreconditionerOperand<double>{PreconditionerKind::jacobi, 1, inverse_.data()};
  }

 private:
  Vector<double> inverse_;
};

}  // namespace

TEMPLATE_TEST_CASE("iterations on a unit diagonal are those of the system as given", "", double,
                   float) {
  using V = TestType;
  const bool wide = sizeof(V) == 8;
  for (const Backend* backend : emulated)
    for (const char* problem : {"poisson2d:13x11", "wathen:5x4", "poisson3d:6"})
      for (const char* format : {"csr", "bsell:1", "dia", "dia-symmetric"})
        for (const SolveForm form : {SolveForm::streamed, SolveForm::graph}) {
          INFO(backend->name << " " << problem << " " << format << " " << to_string(form));
          const auto P = rescaled_problem<V>(problem);
          Context<> ctx(*backend);
          SolveOptions options = options_in(format, form);
          options.rtol = wide ? 1e-10 : 1e-5;
          const auto solve = [&](Solver<V>& solver) {
            const Vector<V> x = zeros<V>(P.rows());
            SolveReport report = solver.solve(P.b, x);
            CHECK(report.converged());
            CHECK(relative_difference(x, P.solution) < (wide ? 1e-7 : 1e-2));
            return report;
          };
          Solver<V> solver(ctx, options);
          solver.prepare(P.A);
          options.form = SolveForm::fused_steps;
          Solver<V> plain(ctx, options);
          plain.prepare(P.A);
          const SolveReport as_given = solve(plain);
          CHECK(!as_given.unit_diagonal);
          // The first time some iterations come before; the second time all are scaled.
          for (int time = 0; time < 2; ++time) {
            const SolveReport report = solve(solver);
            CHECK(report.form == form);
            CHECK(report.unit_diagonal);
            CHECK(report.restarts == 0);
            CHECK(std::abs(report.iterations - as_given.iterations) <= 1);
            CHECK(report.bytes / report.iterations < as_given.bytes / as_given.iterations);
            const std::size_t count = std::min(report.history.size(), as_given.history.size());
            for (std::size_t k = 0; k < std::min<std::size_t>(count, 13); ++k)
              CHECK(report.history[k] == Approx(as_given.history[k]).epsilon(wide ? 1e-9 : 1e-3));
          }
          options.form = form;
          options.storage = StoragePrecision::as_vectors;
          Solver<V> as_vectors(ctx, options);
          as_vectors.prepare(P.A);
          CHECK(!solve(as_vectors).unit_diagonal);
        }
}

TEST_CASE("runs on a unit diagonal may end and go on anywhere") {
  const auto P = rescaled_problem<double>("poisson2d:13x11");
  for (const Backend* backend : emulated)
    for (const char* format : {"csr", "dia-symmetric"}) {
      Context<> ctx(*backend);
      index_t iterations = 0;
      for (const int of_run : {0, 1, 2, 5}) {
        INFO(backend->name << " " << format << " " << of_run);
        SolveOptions options = options_in(format, SolveForm::graph);
        options.callback_interval = of_run;
        if (of_run > 0) options.callback = [](const Progress&) { return true; };
        Solver<double> solver(ctx, options);
        solver.prepare(P.A);
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        CHECK(relative_difference(x, P.solution) < 1e-6);
        if (of_run == 0) iterations = report.iterations;
        CHECK(std::abs(report.iterations - iterations) <= 1);
        if (of_run == 1) CHECK(!report.unit_diagonal);  // there and back costs an iteration
      }
    }
}

TEST_CASE("new values are scaled anew") {
  const auto first = rescaled_problem<double>("wathen:5x4"),
             second = rescaled_problem<double>("wathen:5x4", 30);
  for (const Backend* backend : emulated)
    for (const char* format : {"csr", "bsell:1", "dia"}) {
      INFO(backend->name << " " << format);
      Context<> ctx(*backend);
      Solver<double> solver(ctx, options_in(format, SolveForm::graph));
      solver.prepare(first.A);
      const auto check = [&](const KnownProblem<double>& P) {
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        CHECK(report.unit_diagonal);
        CHECK(report.restarts == 0);
        CHECK(relative_difference(x, P.solution) < 1e-6);
      };
      check(first);
      solver.update_values(second.A);
      check(second);
      solver.update_values(first.A);
      check(first);
      const auto other = rescaled_problem<double>("poisson2d:15x13");
      solver.prepare(other.A);
      check(other);
    }
}

TEST_CASE("rows in any order, and columns too far apart for 16 bits, are scaled too") {
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    SECTION("diagonal last") {
      const auto P = rescaled_problem<double>("poisson2d:15x13");
      const auto A = deep_copy_of(P.A);
      for (index_t row = 0; row < A.rows; ++row)
        for (index_t k = A.row_offsets(row); k + 1 < A.row_offsets(row + 1); ++k)
          if (A.columns(k) == row) {
            const index_t last = A.row_offsets(row + 1) - 1;
            auto* const columns = const_cast<index_t*>(A.columns.data());
            std::swap(columns[k], columns[last]);
            std::swap(A.values(k), A.values(last));
          }
      Solver<double> solver(ctx, options_in("csr", SolveForm::graph));
      solver.prepare(A);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.converged());
      CHECK(report.unit_diagonal);
      CHECK(relative_difference(x, P.solution) < 1e-6);
    }
    SECTION("far apart") {
      constexpr index_t n = 33000;  // a diagonal and two corners
      Vector<index_t> offsets("offsets", n + 1), columns("columns", n + 2);
      Vector<double> values("values", n + 2);
      index_t k = 0;
      for (index_t row = 0; row < n; ++row) {
        for (const index_t column : {index_t(0), row, n - 1})
          if (column == row ? k == offsets(row) || columns(k - 1) != row
                            : row + column == n - 1 && (row == 0 || column == 0)) {
            columns(k) = column;
            values(k++) = column == row ? 2 + std::sin(double(row)) : 0.1;
          }
        offsets(row + 1) = k;
      }
      const auto P =
          with_known_solution("far", CsrMatrix<double>(n, n, 1, offsets, columns, values));
      for (const char* format : {"csr", "bsell:1"}) {
        Solver<double> solver(ctx, options_in(format, SolveForm::graph));
        solver.prepare(P.A);
        for (int time = 0; time < 2; ++time) {
          const Vector<double> x = zeros<double>(n);
          const SolveReport report = solver.solve(P.b, x);
          CHECK(report.converged());
          CHECK(!report.short_columns);
          if (time == 1) CHECK(report.unit_diagonal);
          CHECK(relative_difference(x, P.solution) < 1e-6);
        }
      }
    }
  }
}

TEST_CASE("what has no unit diagonal is left as it is") {
  const auto P = rescaled_problem<double>("poisson2d:15x13");
  for (const Backend* backend : emulated)
    for (const char* format : {"csr", "dia"}) {
      INFO(backend->name << " " << format);
      Context<> ctx(*backend);
      SECTION("a preconditioner of the caller's") {
        Solver<double> solver(ctx, options_in(format, SolveForm::graph));
        solver.set_preconditioner(std::make_shared<HalfInverse>());
        solver.prepare(P.A);
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        CHECK(!report.unit_diagonal);
        CHECK(relative_difference(x, P.solution) < 1e-6);
      }
      SECTION("an entry of the diagonal that has no root, among new values") {
        const auto A = deep_copy_of(P.A);
        for (index_t k = A.row_offsets(7); k < A.row_offsets(8); ++k)
          if (A.columns(k) == 7) A.values(k) = -A.values(k);
        const auto outcome = [&](SolveForm form) {
          Solver<double> solver(ctx, options_in(format, form));
          solver.prepare(P.A);
          const auto solve = [&] { return solver.solve(P.b, zeros<double>(P.rows())); };
          CHECK(solve().unit_diagonal == (form == SolveForm::graph));
          solver.update_values(A);
          const SolveReport report = solve();
          CHECK(!report.unit_diagonal);
          solver.update_values(P.A);  // where copies have to pay again
          CHECK(solve().converged());
          CHECK(solve().unit_diagonal == (form == SolveForm::graph));
          return report.status;
        };
        CHECK(outcome(SolveForm::graph) == outcome(SolveForm::fused_steps));
      }
    }
}

TEST_CASE("a table of the caller's is left as it is, and not read after new values") {
  const auto P = known_problem<double>("trefethen:60"),
             Q = rescaled_problem<double>("trefethen:60");
  for (const Backend* backend : emulated)
    for (const StoragePrecision storage :
         {StoragePrecision::as_vectors, StoragePrecision::f32, StoragePrecision::lossless}) {
      INFO(backend->name << " " << int(storage));
      Context<> ctx(*backend);
      Matrix<double> with_table = deep_copy_of(P.A);
      REQUIRE(find_value_table(with_table));
      const auto& A = std::get<BcsrMatrix<double>>(with_table);
      SolveOptions options = options_in("csr", SolveForm::graph);
      options.storage = storage;
      Solver<double> solver(ctx, options);
      solver.prepare(A);
      for (const auto* problem : {&P, &Q, &P}) {
        solver.update_values(problem->A);
        const Vector<double> x = zeros<double>(60), y = zeros<double>(60);
        CHECK(solver.solve(problem->b, x).converged());
        CHECK(relative_difference(x, problem->solution) < 1e-6);
        spmv(ctx, 1.0, A, Vector<const double>(P.solution), 0.0, y);
        ctx.fence();
        CHECK(relative_difference(y, P.b) < 1e-14);
      }
    }
}

}  // namespace cnc::testing
