#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// Norms at the ends of the range, tolerances that nothing can meet, and what the report says of both.

namespace {

/// v times 2^exponent, exact as long as nothing leaves the range.
template <class V>
Vector<V> scaled(const Vector<V>& v, int exponent) {
  const Vector<V> result = copy_of(v);
  for (std::size_t i = 0; i < v.extent(0); ++i) result(i) = std::ldexp(v(i), exponent);
  return result;
}

}  // namespace

CNC_SOLVER_TEST("a residual whose norm underflows is not taken for zero") {
  const auto A = literal_csr<double>(1, 1, {0, 1}, {0}, {1});
  for_each_method([&](const SolveOptions& options) {
    const Vector<double> b("b", 1), x("x", 1);
    b(0) = 1e-156;
    x(0) = b(0) - 1.4e-162;
    const SolveReport report = solve_once(ctx, options, A, b, x);
    CHECK(std::abs(b(0) - x(0)) <= 1e-8 * b(0));
    CHECK(report.converged());
    CHECK(report.initial_residual == Approx(1.4e-162).epsilon(1e-5));
    CHECK(report.rhs_norm == Approx(1e-156));
    CHECK(report.tolerance == Approx(1e-164));
  });
}

CNC_SOLVER_TEST("a solve does not depend on the size of its right-hand side") {
  const auto P = known_problem<double>(sized(ctx, "trefethen:200", "trefethen:50"));
  for_each_method([&](const SolveOptions& options) {
    const Vector<double> expected = zeros<double>(P.rows());
    const SolveReport plain = solve_once(ctx, options, P.A, P.b, expected);
    for (const int exponent : {-900, -560, -530, -500, 480, 530, 900}) {
      INFO("2^" << exponent);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, scaled(P.b, exponent), x);
      CHECK(report.converged());
      CHECK(relative_difference(scaled(x, -exponent), P.solution) < 1e-6);
      CHECK(std::ldexp(report.true_residual, -exponent) <= 1e-8 * norm2(P.b));
      CHECK(std::ldexp(report.rhs_norm, -exponent) == Approx(norm2(P.b)));
      CHECK(std::ldexp(report.history.front(), -exponent) == Approx(plain.history.front()));
      CHECK(std::ldexp(report.history.back(), -exponent) <= 1e-8 * norm2(P.b));
    }
  });
}

CNC_SOLVER_TEST("float vectors near the ends of their range are solved as well") {
  const auto P = known_problem<float>("poisson2d:9x8");
  for_each_method([&](SolveOptions options) {
    options.rtol = 1e-5;
    for (const int exponent : {-120, -90, 90, 115}) {
      const Vector<float> x = zeros<float>(P.rows());
      CHECK(solve_once(ctx, options, P.A, scaled(P.b, exponent), x).converged());
      CHECK(relative_difference(scaled(x, -exponent), P.solution) < 1e-3);
    }
  });
}

template <class V, class Exec>
void check_tolerance_of_zero(Context<Exec>& ctx) {
  for (const char* text : {"poisson2d:6x5", "poisson2d:30x20", "wathen:5x5", "trefethen:100"}) {
    if (is_emulated(ctx.backend()) && std::string(text) == "poisson2d:30x20") continue;
    const auto P = known_problem<V>(text);
    for_each_cg([&](SolveOptions options) {
      INFO(text);
      options.rtol = 0;
      const Vector<V> x = zeros<V>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      // A residual of zero is what was asked for.
      if (report.true_residual == 0) return;
      CHECK(std::string(to_string(report.status)) == "stagnated");
      CHECK(report.true_residual < (sizeof(V) == 4 ? 1e-5 : 1e-13) * norm2(P.b));
    });
  }
}

CNC_SOLVER_TEST("a tolerance of zero ends as stagnated in float") {
  check_tolerance_of_zero<float>(ctx);
}
CNC_SOLVER_TEST("a tolerance of zero ends as stagnated in double") {
  check_tolerance_of_zero<double>(ctx);
}

CNC_SOLVER_TEST("what was not computed is NaN") {
  const auto A = generate_problem("poisson2d:5x4");
  CHECK(std::isnan(SolveReport{}.true_residual));
  for_each_method([&](const SolveOptions& options) {
    const Vector<double> b = varied_vector<double>(A.rows), x = zeros<double>(A.rows);
    b(3) = std::numeric_limits<double>::infinity();
    const SolveReport report = solve_once(ctx, options, A, b, x);
    CHECK(report.status == SolveStatus::not_finite);
    for (const double norm : {report.initial_residual, report.recurrence_residual,
                              report.true_residual, report.relative_residual, report.tolerance})
      CHECK(std::isnan(norm));
  });
}

CNC_SOLVER_TEST("the true residual of float vectors is accumulated in double") {
  // Entries that cancel: in float b - A x is off by more than the tolerance of the check.
  const auto P = known_problem<float>(sized(ctx, "trefethen:500", "trefethen:90"));
  for_each_method([&](SolveOptions options) {
    options.rtol = 1e-6;
    for (const FormatSpec& format : formats_for(P.A, {2})) {
      INFO(format.text());
      options.format = format;
      const Vector<float> x = zeros<float>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      CHECK(std::abs(residual_of(P.A, P.b, x).norm - report.true_residual) <=
            1e-10 * report.true_residual);
    }
  });
}
