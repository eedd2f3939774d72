#include "solve/spectrum.hpp"

#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <numbers>

using namespace cnc;
using namespace cnc::testing;

// Chebyshev's iteration, and where it has the spectrum from.

namespace {

CsrMatrix<double> diagonal(const std::vector<double>& values) {
  const auto n = static_cast<index_t>(values.size());
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) columns.push_back(i), offsets.push_back(i + 1);
  return literal_csr<double>(n, n, offsets, columns, values);
}

/// 1, 2, ... 40, and one far above.
std::vector<double> with_one_above() {
  std::vector<double> values;
  for (int i = 1; i <= 40; ++i) values.push_back(i);
  values.push_back(1000);
  return values;
}

/// T_k(s) for s > 1
double chebyshev_polynomial(double k, double s) { return std::cosh(k * std::acosh(s)); }

SolveOptions options_with(PreconditionerKind kind = PreconditionerKind::none) {
  return options_for(Method::chebyshev, {}, kind, 3);
}

}  // namespace

TEST_CASE("the ends of the spectrum of a tridiagonal matrix") {
  // 2 on the diagonal and -1 beside it: its factors D, L D L^T, are what CG would leave.
  for (const double unit : {1.0, 1e-160, 1e160})
    for (const int n : {1, 2, 3, 10, 160}) {
      INFO(n << " " << unit);
      detail::LanczosMatrix T;
      double pivot = 2;
      for (int k = 0; k < n; ++k) {
        const double alpha = 1 / pivot, beta = alpha * alpha;
        T.add(alpha / unit, 1, beta);
        pivot = 2 - beta / alpha;
      }
      const double angle = std::numbers::pi / (n + 1);
      CHECK(T.ends().smallest / unit == Approx(2 - 2 * std::cos(angle)).epsilon(1e-3));
      CHECK(T.ends().largest / unit == Approx(2 + 2 * std::cos(angle)).epsilon(1e-3));
    }
}

CNC_SOLVER_TEST("residuals of chebyshev are bounded by its polynomials") {
  const index_t n = is_emulated(ctx.backend()) ? 40 : 120;
  std::vector<index_t> offsets{0}, columns;
  std::vector<double> values;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = std::max(i - 1, 0); j < std::min(i + 2, n); ++j)
      columns.push_back(j), values.push_back(j == i ? 2 : -1);
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  const auto P = with_known_solution("second differences",
                                     literal_csr<double>(n, n, offsets, columns, values));
  const double angle = std::numbers::pi / (2 * (n + 1));
  SolveOptions options = options_with();
  options.spectrum = {4 * std::pow(std::sin(angle), 2), 4 * std::pow(std::cos(angle), 2)};
  options.rtol = 1e-10;
  const Vector<double> x = zeros<double>(n);
  const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
  CHECK(report.converged());
  CHECK(report.restarts == 0);
  CHECK(report.spectrum.smallest == options.spectrum.smallest);
  CHECK(report.spectrum.largest == options.spectrum.largest);
  const auto [smallest, largest] = options.spectrum;
  for (std::size_t k = 0; k < report.history.size(); ++k) {
    const double bound =
        report.history[0] /
        chebyshev_polynomial(double(k), (largest + smallest) / (largest - smallest));
    CHECK(report.history[k] <= bound * (1 + 1e-6) + 1e-13 * report.history[0]);
  }
  // And it is no better than that for long.
  const double rate = detail::chebyshev_rate(options.spectrum);
  CHECK(double(report.iterations) > 0.8 * std::log(1e10) / rate);
  CHECK(relative_difference(x, P.solution) < 1e-6);
}

CNC_SOLVER_TEST("chebyshev finds the spectrum by itself") {
  for (const auto kind :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
    for (const char* text : {sized(ctx, "poisson2d:40x31", "poisson2d:13x11"),
                             sized(ctx, "trefethen:500", "trefethen:90")}) {
      INFO(text << " " << int(kind));
      const auto P = known_problem<double>(text);
      const SolveOptions options = options_with(kind);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      CHECK(report.converged());
      CHECK(report.method == Method::chebyshev);
      CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
      CHECK(residual_of(P.A, P.b, x).norm <= 1.001e-8 * norm2(P.b));
      CHECK(relative_difference(x, P.solution) < 1e-5);
    }
}

CNC_SOLVER_TEST("the spectrum that chebyshev finds is about right") {
  const auto P = known_problem<double>("poisson2d:20x20");
  const double angle = std::numbers::pi / 21;
  auto solver = solver_on<double>(ctx, options_with());
  solver.prepare(P.A);
  Vector<double> b("b", static_cast<std::size_t>(P.rows()));
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = std::sin(double(7 * i * i));
  const SolveReport report = solver.solve(b, zeros<double>(P.rows()));
  CHECK(report.converged());
  CHECK(report.spectrum.smallest > 0.99 * (4 - 4 * std::cos(angle)));
  CHECK(report.spectrum.smallest < 1.3 * (4 - 4 * std::cos(angle)));
  CHECK(report.spectrum.largest > 4 + 4 * std::cos(angle));
  CHECK(report.spectrum.largest < 1.06 * (4 + 4 * std::cos(angle)));

  // A later solve may be given it, without another prepare.
  SolveOptions options = options_with();
  options.spectrum = report.spectrum;
  solver.set_options(options);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport next = solver.solve(P.b, x);
  CHECK(next.converged());
  CHECK(next.restarts == 0);
  CHECK(relative_difference(x, P.solution) < 1e-6);
}

CNC_SOLVER_TEST("chebyshev learns of eigenvalues that its right-hand side has hardly shown") {
  // The first iterations see no part of the eigenvectors of 1e-3 and 1000.
  std::vector<double> values = with_one_above();
  values.push_back(1e-3);
  const CsrMatrix<double> A = diagonal(values);
  Vector<double> b("b", values.size());
  Kokkos::deep_copy(b, 1.0);
  b(40) = 1e-13;
  b(41) = 1e-8;
  SolveOptions options = options_with();
  options.rtol = 1e-12;
  const Vector<double> x = zeros<double>(A.rows);
  const SolveReport report = solve_once(ctx, options, A, b, x);
  CHECK(report.converged());
  CHECK(x(0) == Approx(1));
  CHECK(x(41) == Approx(1e-5));
}

CNC_SOLVER_TEST("chebyshev goes back where an eigenvalue shows that CG had not seen") {
  for (const double above : {80.0, 1e4}) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(1 + 9 * std::pow(std::sin(0.37 * i + 0.1), 2));
    values.push_back(above);
    const CsrMatrix<double> A = diagonal(values);
    for (const double part : {1e-30, 1e-17, 1e-12}) {
      INFO(above << " " << part);
      Vector<double> b("b", values.size());
      Kokkos::deep_copy(b, 1.0);
      b(40) = part;
      SolveOptions options = options_with();
      options.rtol = 1e-10;
      const Vector<double> x = zeros<double>(A.rows);
      const SolveReport report = solve_once(ctx, options, A, b, x);
      CHECK(report.converged());
      CHECK(report.iterations < (above > 100 ? 1000 : 150));
    }
  }
}

CNC_SOLVER_TEST("a spectrum that is given is believed") {
  const CsrMatrix<double> A = diagonal(with_one_above());
  Vector<double> b("b", 41);
  Kokkos::deep_copy(b, 1.0);
  SolveOptions options = options_with();
  options.spectrum = {1, 41};
  const SolveReport report = solve_once(ctx, options, A, b, zeros<double>(41));
  // A device looks after so many iterations that they may have overflowed.
  CHECK((report.status == SolveStatus::diverged || report.status == SolveStatus::not_finite));
}

CNC_SOLVER_TEST("chebyshev says what is not positive definite") {
  std::vector<double> values = with_one_above();
  values[7] = -3;
  Vector<double> b("b", 41);
  Kokkos::deep_copy(b, 1.0);
  const SolveReport report =
      solve_once(ctx, options_with(), diagonal(values), b, zeros<double>(41));
  CHECK(report.status == SolveStatus::not_positive_definite);
}

CNC_SOLVER_TEST("chebyshev with a float matrix, and in float") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:40x31", "poisson2d:13x11"));
  SolveOptions options = options_with(PreconditionerKind::jacobi);
  options.storage = StoragePrecision::f32;
  options.rtol = 1e-12;
  const SolveReport mixed = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  CHECK(mixed.converged());
  CHECK(mixed.relative_residual <= 1e-12);

  const auto F = known_problem<float>(sized(ctx, "poisson2d:40x31", "poisson2d:13x11"));
  options.storage = StoragePrecision::as_vectors;
  options.rtol = 1e-4;
  CHECK(solve_once(ctx, options, F.A, F.b, zeros<float>(F.rows())).converged());
}

TEST_CASE("a spectrum that cannot be is refused") {
  Context<> ctx;
  for (const Spectrum spectrum : {Spectrum{-1, 2}, Spectrum{2, 1}, Spectrum{0, 1}, Spectrum{1, 0},
                                  Spectrum{1, std::numeric_limits<double>::infinity()},
                                  Spectrum{std::numeric_limits<double>::quiet_NaN(), 1}}) {
    SolveOptions options;
    options.spectrum = spectrum;
    CHECK_THROWS_AS(Solver<double>(ctx, options), InvalidArgument);
  }
}
