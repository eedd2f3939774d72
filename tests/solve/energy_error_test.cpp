#include "solve/energy.hpp"

#include "solve/solver_test.hpp"

#include <numeric>

using namespace cnc;
using namespace cnc::testing;

// The energy norm of the error, from below.

namespace {

/// sqrt(e . A e) of e = x - y
template <class V>
double energy_distance(const CsrMatrix<V>& A, const Vector<V>& x, const Vector<V>& y) {
  Vector<double> e("e", x.extent(0));
  for (std::size_t i = 0; i < e.extent(0); ++i) e(i) = double(x(i)) - double(y(i));
  double sum = 0;
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      sum += e(row) * double(A.values(k)) * e(A.columns(k));
  return std::sqrt(sum);
}

template <class Body>
void for_each_energy_method(const Body& body) {
  for_each_of(std::vector<Method>{Method::pcg, Method::pcg_single_reduction, Method::pcg_pipelined},
              body);
}

}  // namespace

TEST_CASE("the estimate is close where iterations converge linearly") {
  for (const double rate : {0.01, 0.3, 0.9, 0.99, 0.999}) {  // of the square
    INFO(rate);
    std::vector<double> gains;
    for (int k = 0; k < 4000; ++k) gains.push_back(std::pow(rate, k) * (1 - rate));
    for (const std::size_t n : {std::size_t(2), std::size_t(40), gains.size()}) {
      const auto some = std::vector<double>(gains.begin(), gains.begin() + std::ptrdiff_t(n));
      const detail::EnergyEstimate estimate = detail::estimate_energy_error(some);
      const double truth = std::pow(rate, double(estimate.iteration) / 2);
      CHECK(estimate.iteration < n);
      CHECK(estimate.error <= 1.0000001 * truth);
      if (estimate.close) CHECK(estimate.error >= 0.93 * truth);
      CHECK(estimate.close == (estimate.iteration > 0 || std::pow(rate, n / 2) <= 1.0 / 3));
    }
  }
  CHECK(detail::estimate_energy_error({4}).error == 2);
  CHECK(detail::estimate_energy_error({4}).iteration == 0);
}

CNC_SOLVER_TEST("the energy norm of the error is estimated from below, and closely") {
  for (const char* problem : {sized(ctx, "poisson2d:30x23", "poisson2d:13x11"),
                              sized(ctx, "trefethen:500", "trefethen:90")})
    for_each_energy_method([&](SolveOptions options) {
      const auto P = known_problem<double>(problem);
      for (const auto form :
           {SolveForm::automatic, SolveForm::fused_steps, SolveForm::plain_operations})
        for (const double rtol : {1e-3, 1e-9}) {
          const bool offered =
              form == SolveForm::automatic ||
              (form == SolveForm::fused_steps ? std::string(ctx.backend().name) != "reference"
                                              : detail::has_plain_form(options.method));
          if (!offered) continue;
          INFO(problem << ", " << cnc::to_string(form) << ", " << rtol);
          options.form = form;
          options.rtol = rtol;
          options.max_iterations = 10000;
          const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
          CHECK(report.converged());
          REQUIRE(report.energy_iteration >= 0);
          CHECK(report.energy_iteration < report.iterations);
          // All of the energy norm is gained from x0 = 0 on, which is b . x at the solution.
          if (report.restarts == 0) {
            CHECK(report.energy_gains.size() == static_cast<std::size_t>(report.iterations));
            const double whole = energy_distance(P.A, P.solution, zeros<double>(P.rows()));
            const double all =
                std::accumulate(report.energy_gains.begin(), report.energy_gains.end(), 0.0);
            CHECK(all == Approx(whole * whole).epsilon(rtol == 1e-9 ? 1e-6 : 1e-2));
          }
          options.max_iterations = report.energy_iteration;
          const Vector<double> x = zeros<double>(P.rows());
          solve_once(ctx, options, P.A, P.b, x);
          const double truth = energy_distance(P.A, P.solution, x);
          CHECK(report.energy_error <= 1.001 * truth);
          CHECK(report.energy_error >= 0.7 * truth);
          // Not far behind: most of the residual's way is done by then.
          if (rtol == 1e-9)
            CHECK(report.history[static_cast<std::size_t>(report.energy_iteration)] <=
                  1e-3 * report.history[0]);
        }
    });
}

CNC_SOLVER_TEST("callbacks see the estimate, and it scales with the right-hand side") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x23", "poisson2d:13x11"));
  for_each_energy_method([&](SolveOptions options) {
    const double plain = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).energy_error;
    CHECK(plain > 0);
    const Vector<double> b = copy_of(P.b);
    for (index_t i = 0; i < P.rows(); ++i) b(i) = std::ldexp(P.b(i), -700);
    const SolveReport small = solve_once(ctx, options, P.A, b, zeros<double>(P.rows()));
    CHECK(std::ldexp(small.energy_error, 700) == Approx(plain).epsilon(0.1));
    double last = 0;
    int lower = 0, calls = 0;
    options.callback_interval = 4;
    options.callback = [&](const Progress& progress) {
      CHECK(progress.energy_error > 0);
      lower += progress.energy_error < last;
      last = progress.energy_error;
      return ++calls > 0;
    };
    const SolveReport shown = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    CHECK(shown.energy_error <= last);
    CHECK(lower > calls / 2);
  });
}

CNC_SOLVER_TEST("gains are those since the recurrence last began, callbacks or not") {
  const auto P = known_problem<double>("poisson2d:9x8");
  const auto gains = [&](SolveOptions options) {
    return solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).energy_gains;
  };
  SolveOptions options;
  options.max_iterations = 7;
  const std::vector<double> seven = gains(options);
  CHECK(seven.size() == 7);
  options.callback_interval = 2;
  options.callback = [](const Progress&) { return true; };
  CHECK(gains(options).size() == 7);
  options.record_history = false;
  CHECK(gains(options).empty());
  options = {};
  options.method = Method::richardson;
  options.max_iterations = 7;
  CHECK(gains(options).empty());
}

CNC_SOLVER_TEST("where the energy norm is not estimated it is NaN") {
  const auto P = known_problem<double>("poisson2d:9x8");
  const auto estimate = [&](const SolveOptions& options) {
    return solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).energy_error;
  };
  SolveOptions options;
  CHECK(estimate(options) > 0);
  options.record_history = false;
  CHECK(std::isnan(estimate(options)));
  options = {};
  options.max_iterations = 0;
  CHECK(std::isnan(estimate(options)));
  options = {};
  options.storage = StoragePrecision::f32;
  CHECK(std::isnan(estimate(options)));
  options = {};
  options.method = Method::minres;
  CHECK(std::isnan(estimate(options)));
}

TEST_CASE("gains begin anew where the true residual has replaced that of the recurrence") {
  Context<> ctx("reference");
  const auto P = known_problem<double>("poisson2d:60");
  SolveOptions options;
  options.rtol = 1e-16;
  const SolveReport report = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  REQUIRE(report.restarts > 0);
  CHECK(!report.energy_gains.empty());
  CHECK(report.energy_gains.size() < static_cast<std::size_t>(report.iterations));
  // Little was left to gain then.
  const double whole = energy_distance(P.A, P.solution, zeros<double>(P.rows()));
  CHECK(std::accumulate(report.energy_gains.begin(), report.energy_gains.end(), 0.0) <
        1e-12 * whole * whole);
}
