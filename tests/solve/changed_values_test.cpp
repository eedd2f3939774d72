#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <limits>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// New values that a layout may not be able to hold, and arrays that change behind the solver's back.

namespace {

/// A with its last entry above the diagonal multiplied by `factor`: no longer symmetric.
CsrMatrix<double> with_changed_corner(const CsrMatrix<double>& A, double factor) {
  const auto B = deep_copy_of(A);
  for (index_t row = A.rows; row-- > 0;)
    for (index_t k = B.row_offsets(row + 1); k-- > B.row_offsets(row);)
      if (B.columns(k) > row) return B.values(k) *= factor, B;
  return B;
}

/// Solves if the solver lets itself be used; then what it says must be true of A.
template <class HostSolver>
void check_honest(HostSolver& solver, const CsrMatrix<double>& A) {
  const Vector<double> b = varied_vector<double>(A.rows), x = zeros<double>(A.rows);
  SolveReport report;
  try {
    report = solver.solve(b, x);
  } catch (const InvalidArgument& refusal) {
    CHECK_THAT(refusal.what(), ContainsSubstring("prepare"));
    return;
  }
  const Residual own = residual_of(A, b, x);
  CHECK(std::abs(own.norm - report.true_residual) <= own.rounding);
}

}  // namespace

CNC_SOLVER_TEST("after a refused update a solver has its old matrix or none") {
  const auto A = generate_problem(sized(ctx, "poisson2d:30x30", "poisson2d:9x9"));
  const auto crooked = with_changed_corner(A, 1.5);
  const auto huge = with_changed_corner(A, 1e300);
  const auto other_pattern = generate_problem(sized(ctx, "poisson2d:30x29", "poisson2d:9x8"));
  for (const auto reordering : {Reordering::none, Reordering::rcm})
    for (const auto storage : {StoragePrecision::as_vectors, StoragePrecision::f32})
      for (const char* format : {"auto", "csr", "bsell", "dia", "dia-symmetric"}) {
        INFO(format << " rcm " << int(reordering) << " f32 " << int(storage));
        SolveOptions options;
        options.format.name = format;
        options.reordering = reordering;
        options.storage = storage;
        options.max_iterations = 300;
        if (std::string_view(format).starts_with("dia") && reordering == Reordering::rcm)
          continue;  // too many diagonals
        auto solver = solver_on<double>(ctx, options);
        for (const auto& values : {crooked, huge}) {
          solver.prepare(A);
          bool refused = false;
          try {
            solver.update_values(values);
          } catch (const InvalidArgument&) {
            refused = true;
          }
          check_honest(solver, refused ? A : values);
        }
        solver.prepare(A);
        CHECK_THROWS_AS(solver.update_values(other_pattern), InvalidArgument);
        const Vector<double> x = zeros<double>(A.rows);
        CHECK(solver.solve(varied_vector<double>(A.rows), x).converged());
      }
}

TEST_CASE("after a refused layout a solver has its old matrix or none") {
  const auto A = generate_problem("poisson2d:20x20");
  Context<> ctx;
  Solver<double> solver(ctx);
  const auto symmetric = to_dia(A, true), broken = to_dia(A, true);
  solver.prepare(Matrix<double>(symmetric));
  // A value outside the matrix, at the end of the outermost diagonal.
  broken.values(broken.values.extent(0) - 1) = 7;
  CHECK_THROWS_AS(solver.update_values(Matrix<double>(broken)), InvalidArgument);
  check_honest(solver, A);
}

CNC_SOLVER_TEST("what auto chose takes every update on its pattern") {
  const auto A = generate_problem(sized(ctx, "poisson2d:60x60", "poisson2d:20x20"));
  const auto nearly = with_changed_corner(A, 1 + 1e-15);
  const Vector<double> b = varied_vector<double>(A.rows);
  for (const auto storage : {StoragePrecision::as_vectors, StoragePrecision::f32})
    for (const Method method : every_method) {
      INFO(to_string(method) << " f32 " << int(storage));
      SolveOptions options;
      options.method = method;
      options.storage = storage;
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(A);
      const Vector<double> x = zeros<double>(A.rows);
      const SolveReport before = solver.solve(b, x);
      // A device may be better off with another layout, which then stays.
      const bool by_half = before.format == "dia-symmetric";
      CHECK((by_half || Context<Exec>::memory == MemorySpace::device));
      const std::size_t reasons = solver.advice().size();
      // Twice as unlike, so that rounding to float does not hide it.
      const auto values =
          storage == StoragePrecision::f32 ? with_changed_corner(A, 1 + 1e-5) : nearly;
      for (int step = 0; step < 3; ++step) {
        REQUIRE_NOTHROW(solver.update_values(values));
        Kokkos::deep_copy(x, 0);
        const SolveReport after = solver.solve(b, x);
        CHECK(after.converged());
        CHECK(after.format == (by_half ? "dia" : before.format));
        const Residual own = residual_of(values, b, x);
        CHECK(std::abs(own.norm - after.true_residual) <= own.rounding);
        // Said once.
        if (step == 0 && by_half)
          CHECK_THAT(after.detail, ContainsSubstring("dia-symmetric"));
        else
          CHECK(after.detail.empty());
      }
      REQUIRE(solver.advice().size() >= reasons);
      if (by_half) CHECK_THAT(solver.advice().back(), ContainsSubstring("dia-symmetric"));
      solver.prepare(A);
      CHECK(solver.solve(b, x).format == before.format);
    }
}

TEST_CASE("a solver that copies does not read the arrays given again") {
  const auto A = generate_problem("elasticity2d:7");
  const Vector<double> b = varied_vector<double>(A.rows);
  for (const FormatSpec& format : formats_for(A, {2, 3}))
    for (const auto storage : {StoragePrecision::as_vectors, StoragePrecision::f32})
      for (const auto reordering : {Reordering::none, Reordering::rcm}) {
        INFO(format.text() << " f32 " << int(storage) << " rcm " << int(reordering));
        ThreadedContext ctx("auto", 2);
        SolveOptions options;
        options.format = format;
        options.storage = storage;
        options.reordering = reordering;
        Solver<double> shares(ctx, options);
        shares.prepare(A);
        const Vector<double> expected = zeros<double>(A.rows), x = zeros<double>(A.rows);
        CHECK(shares.solve(b, expected).converged());

        options.copy_matrix = true;
        Solver<double> copies(ctx, options);
        for (const bool update : {false, true}) {
          const auto given = deep_copy_of(A);
          update ? copies.update_values(given) : copies.prepare(given);
          Kokkos::deep_copy(given.values, std::numeric_limits<double>::quiet_NaN());
          std::fill_n(const_cast<index_t*>(given.columns.data()), given.columns.extent(0), -1);
          std::fill_n(const_cast<index_t*>(given.row_offsets.data()), given.row_offsets.extent(0),
                      -1);
          Kokkos::deep_copy(x, 0);
          CHECK(copies.solve(b, x).converged());
          CHECK(same_bits(x, expected));
        }
        if (format.name == "auto" || storage == StoragePrecision::f32 ||
            reordering == Reordering::rcm)
          continue;
        const Matrix<double> layout = build_format(deep_copy_of(A), format);
        options.format = {};
        Solver<double> by_layout(ctx, options);
        by_layout.prepare(layout);
        by_layout.update_values(layout);
        std::visit([](const auto& a) { Kokkos::deep_copy(a.values, 0.0); }, layout);
        CHECK(by_layout.solve(b, x).converged());
      }
}
