#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// Matrices that PCG is not for: the report says so, and which entry shows it.

namespace {

template <class Exec>
SolveReport solve(Context<Exec>& ctx, const SolveOptions& options, const CsrMatrix<double>& A,
                  const Vector<double>& b) {
  return solve_once(ctx, options, A, b, zeros<double>(A.rows));
}

/// The tridiagonal matrix with 2 on the diagonal, `above` and `below` beside it.
CsrMatrix<double> tridiagonal(index_t n, double above, double below) {
  const auto A = deep_copy_of(generate_problem("poisson2d:" + std::to_string(n) + "x1"));
  for (index_t row = 0; row < n; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      A.values(k) = A.columns(k) == row ? 2 : A.columns(k) > row ? above : below;
  return A;
}

}  // namespace

CNC_SOLVER_TEST("a nonsymmetric matrix ends early and is named") {
  // Advection without diffusion to speak of: CG makes nothing of it.
  const auto A = tridiagonal(700, 1.0, -1.0);
  A.values(static_cast<std::size_t>(A.row_offsets(8)) - 1) = 1.5;  // a(7, 8)
  const Vector<double> b = varied_vector<double>(A.rows);
  for (const char* format : {"auto", "csr", "bsell"})
    for (const auto reordering : {Reordering::none, Reordering::rcm}) {
      INFO(format << " rcm " << int(reordering));
      SolveOptions options;
      options.format.name = format;
      options.reordering = reordering;
      options.divergence = 1e300;
      const SolveReport report = solve(ctx, options, A, b);
      CHECK(report.iterations == 0);
      CHECK(report.status == SolveStatus::unsuitable);
      CHECK_THAT(report.detail, ContainsSubstring("not symmetric") &&
                                    ContainsSubstring("a(7, 8) = 1.5") &&
                                    ContainsSubstring("a(8, 7) = -1"));
      options.allow_nonsymmetric = true;
      options.max_iterations = is_emulated(ctx.backend()) ? 100 : 600;
      const SolveReport insisted = solve(ctx, options, A, b);
      CHECK(insisted.status != SolveStatus::stagnated);
      CHECK(insisted.iterations > 0);
      CHECK_THAT(insisted.detail, ContainsSubstring("not symmetric"));
    }
}

CNC_SOLVER_TEST("a nonsymmetric matrix that nobody has looked at ends when it gains nothing") {
  const auto A = tridiagonal(700, 1.0, -1.0);
  const Vector<double> b = varied_vector<double>(A.rows);
  for (const bool as_layout : {false, true}) {
    INFO(as_layout);
    SolveOptions options;
    options.divergence = 1e300;
    options.trusted = true;
    options.format.name = as_layout ? "auto" : "csr";
    auto solver = solver_on<double>(ctx, options);
    if (as_layout)
      solver.prepare(Matrix<double>(to_bsell(A)));
    else
      solver.prepare(A);
    const SolveReport report = solver.solve(b, zeros<double>(A.rows));
    CHECK(report.status == SolveStatus::stagnated);
    CHECK(report.iterations <= 1000);
    CHECK_THAT(report.detail, ContainsSubstring("not symmetric"));
    // What this solve has found out does not make another of the next.
    CHECK(solver.solve(b, zeros<double>(A.rows)).iterations == report.iterations);
  }
}

CNC_SOLVER_TEST("halves that differ in their last digits are no reason to refuse a matrix") {
  SolveOptions options;
  options.rtol = 1e-3;
  const auto A = tridiagonal(50, -1, -1 + 1e-5);
  CHECK(solve(ctx, options, A, varied_vector<double>(50)).converged());
}

CNC_SOLVER_TEST("a limit that comes first names the asymmetry too, and rounding is none") {
  SolveOptions options;
  options.max_iterations = 5;
  options.allow_nonsymmetric = true;
  const auto report = [&](double below) {
    return solve(ctx, options, tridiagonal(50, -1, below), varied_vector<double>(50));
  };
  CHECK(report(-0.5).status == SolveStatus::max_iterations);
  CHECK_THAT(report(-0.5).detail, ContainsSubstring("a(0, 1) = -1, a(1, 0) = -0.5"));
  CHECK(report(-1 - 1e-15).detail.empty());
  CHECK(report(-1).detail.empty());
}

CNC_SOLVER_TEST("rows with their diagonal first are judged like others") {
  SolveOptions options = options_for(Method::pcg, {"csr", 1}, PreconditionerKind::none);
  options.max_iterations = 1;
  const auto detail = [&](double last) {
    const auto A =
        literal_csr<double>(3, 3, {0, 2, 5, 7}, {0, 1, 1, 0, 2, 2, 1}, {2, -1, 2, -1, -1, 2, last});
    return solve(ctx, options, A, varied_vector<double>(3)).detail;
  };
  CHECK(detail(-1).empty());
  CHECK_THAT(detail(-0.5), ContainsSubstring("a(1, 2) = -1, a(2, 1) = -0.5"));
}

CNC_SOLVER_TEST("new values are looked at anew") {
  const auto symmetric = tridiagonal(50, -1, -1), not_symmetric = tridiagonal(50, -1, -0.5);
  SolveOptions options;
  options.max_iterations = 5;
  options.format.name = "csr";
  auto solver = solver_on<double>(ctx, options);
  const auto detail = [&] {
    return solver.solve(varied_vector<double>(50), zeros<double>(50)).detail;
  };
  solver.prepare(symmetric);
  CHECK(detail().empty());
  solver.update_values(not_symmetric);
  CHECK_THAT(detail(), ContainsSubstring("not symmetric"));
  solver.update_values(symmetric);
  CHECK(detail().empty());
}

CNC_SOLVER_TEST("a negative diagonal entry is named, whatever the preconditioner") {
  for (const auto kind :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
    for (const auto reordering : {Reordering::none, Reordering::rcm})
      for (const char* format : {"auto", "csr", "dia"}) {
        INFO(int(kind) << " " << format << " rcm " << int(reordering));
        SolveOptions options = options_for(Method::pcg, {format, 1}, kind, 2);
        options.reordering = reordering;
        const auto A = deep_copy_of(generate_problem("poisson2d:7x1"));
        const index_t row = 4;
        for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
          if (A.columns(k) == row) A.values(k) = -3;
        Vector<double> b("b", 7);
        b(4) = 1;
        const SolveReport report = solve(ctx, options, A, b);
        CHECK(report.status == SolveStatus::not_positive_definite);
        CHECK_THAT(report.detail, ContainsSubstring("the matrix is not positive definite") &&
                                      ContainsSubstring("row 4"));
      }
}
