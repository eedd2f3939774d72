// As many iterations as another library takes with the same method, preconditioner and tolerance.

#include "support/catch.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/blas1.hpp>
#include <cnc/solver.hpp>
#include <cnc/triplets.hpp>

// g++ 12 takes the "undefined" registers of its own AVX-512 header for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/SparseCore>

#include <Eigen/IterativeLinearSolvers>
#include <unsupported/Eigen/IterativeSolvers>

using namespace cnc;
using namespace cnc::testing;

namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Dense = Eigen::VectorXd;

constexpr double tolerance = 1e-8;

template <class EigenSolver>
int iterations_of_eigen(EigenSolver& solver, const KnownProblem<double>& P) {
  const Sparse A =
      Eigen::Map<const Sparse>(P.A.rows, P.A.cols, P.A.nonzeros, P.A.row_offsets.data(),
                               P.A.columns.data(), P.A.values.data());
  const Dense b = Eigen::Map<const Dense>(P.b.data(), P.A.rows);
  solver.setTolerance(tolerance);
  solver.setMaxIterations(5000);
  solver.compute(A);
  const Dense x = solver.solve(b);
  REQUIRE(solver.info() == Eigen::Success);
  return static_cast<int>(solver.iterations());
}

int iterations_of_ours(Method method, PreconditionerKind kind, int restart,
                       const KnownProblem<double>& P) {
  SolveOptions options;
  options.method = method;
  options.preconditioner = kind;
  options.restart = restart;
  options.rtol = tolerance;
  Context<> ctx("openmp", 2);
  Solver<double> solver(ctx, options);
  solver.prepare(P.A);
  const Vector<double> x("x", P.b.extent(0));
  const SolveReport report = solver.solve(P.b, x);
  REQUIRE(report.converged());
  return report.iterations;
}

/// Within 5 %, or a few iterations: sums are taken in another order.
void compare(const char* what, int ours, int theirs, double few = 2) {
  CAPTURE(what, ours, theirs);
  CHECK(std::abs(ours - theirs) <= std::max(few, 0.05 * theirs));
}

KnownProblem<double> shifted(const char* problem, double shift) {
  return with_known_solution<double>(
      problem,
      with_diagonal(generate_problem(problem), [=](index_t, double a) { return a - shift; }));
}

}  // namespace

TEST_CASE("cg takes as many iterations as Eigen's") {
  for (const char* problem :
       {"poisson2d:60x50", "poisson3d:16", "elasticity2d:20", "wathen:12x10"}) {
    const auto P = known_problem<double>(problem);
    Eigen::ConjugateGradient<Sparse, Eigen::Lower | Eigen::Upper> solver;
    compare(problem, iterations_of_ours(Method::pcg, PreconditionerKind::jacobi, 30, P),
            iterations_of_eigen(solver, P));
  }
}

TEST_CASE("bicgstab takes as many iterations as Eigen's") {
  for (const char* problem : {"convection3d:10:0.5", "convection3d:8:2", "poisson2d:30x20"}) {
    const auto P = known_problem<double>(problem);
    Eigen::BiCGSTAB<Sparse> solver;
    compare(problem, iterations_of_ours(Method::bicgstab, PreconditionerKind::jacobi, 30, P),
            iterations_of_eigen(solver, P), 3);  // its residuals leap
  }
}

TEST_CASE("cgnr takes as many iterations as Eigen's") {
  for (const char* problem : {"convection3d:10:0.5", "poisson2d:12x10"}) {
    const auto P = known_problem<double>(problem);
    const auto At = transpose(P.A);
    Eigen::LeastSquaresConjugateGradient<Sparse> solver;
    const int theirs = iterations_of_eigen(solver, P);
    // Eigen stops by the residual of the normal equations, A^T (b - A x).
    const auto normal_residual = [&](int iterations) {
      SolveOptions options;
      options.method = Method::cgnr;
      options.rtol = 0;
      options.max_iterations = iterations;
      Context<> ctx("openmp", 2);
      Solver<double> ours(ctx, options);
      ours.prepare(P.A);
      const Vector<double> x("x", P.b.extent(0)), r = copy_of(P.b);
      ours.solve(P.b, x);
      axpy(ctx, -1.0, product(P.A, x), r);
      return norm2(product(At, r)) / norm2(product(At, P.b));
    };
    const int few = std::max(2, theirs / 20);
    CAPTURE(problem, theirs);
    CHECK(normal_residual(theirs + few) <= tolerance);
    CHECK(normal_residual(theirs - few) > tolerance);
  }
}

TEST_CASE("lsqr takes as many iterations as Eigen's conjugate gradients of least squares") {
  // Two problems one on top of the other, so that no x solves both: 2 n equations for n unknowns.
  for (const char* problem : {"convection3d:8:0.5", "poisson2d:12x10", "elasticity2d:8"}) {
    const auto P = generate_problem(problem);
    std::vector<Triplet<double>> entries;
    for (index_t i = 0; i < P.rows; ++i) {
      for (index_t k = P.row_offsets(i); k < P.row_offsets(i + 1); ++k)
        entries.push_back({i, P.columns(k), P.values(k)});
      entries.push_back({P.rows + i, i, 1 + i % 3 * 0.5});
      entries.push_back({P.rows + i, (i * 7 + 1) % P.rows, -0.5});
    }
    const auto A = csr_from_triplets<double>(2 * P.rows, P.rows, entries);
    KnownProblem<double> stacked{problem, A, {}, varied_vector<double>(A.rows)};
    Eigen::LeastSquaresConjugateGradient<Sparse> solver;
    const int theirs = iterations_of_eigen(solver, stacked);
    SolveOptions options;
    options.method = Method::lsqr;
    options.rtol = tolerance;
    Context<> ctx("openmp", 2);
    Solver<double> ours(ctx, options);
    ours.prepare(A);
    const Vector<double> x("x", static_cast<std::size_t>(A.cols));
    const SolveReport report = ours.solve(stacked.b, x);
    REQUIRE(report.converged());
    compare(problem, report.iterations, theirs);
  }
}

TEST_CASE("gmres takes as many steps as Eigen's") {
  for (const char* problem : {"convection3d:10:0.5", "convection3d:8:2"})
    for (const int restart : {10, 30}) {
      const auto P = known_problem<double>(problem);
      Eigen::GMRES<Sparse, Eigen::IdentityPreconditioner> solver;
      solver.set_restart(restart);
      compare(problem, iterations_of_ours(Method::gmres, PreconditionerKind::none, restart, P),
              iterations_of_eigen(solver, P));
    }
}

TEST_CASE("smoothed cg takes as many iterations as minres, and one more") {
  for (const char* problem : {"poisson2d:60x50", "elasticity2d:20", "wathen:12x10"}) {
    const auto P = known_problem<double>(problem);
    const auto of = [&](Method method) {
      return iterations_of_ours(method, PreconditionerKind::jacobi, 30, P);
    };
    compare(problem, of(Method::pcg_smoothed), of(Method::minres));
  }
}

TEST_CASE("minres takes as many iterations as Eigen's") {
  for (const double shift : {0.0, 1.3}) {
    const auto P = shifted("poisson2d:23x17", shift);
    Eigen::MINRES<Sparse, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> solver;
    compare("poisson2d:23x17", iterations_of_ours(Method::minres, PreconditionerKind::none, 30, P),
            iterations_of_eigen(solver, P));
  }
}
