#include "solve/backends.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

using namespace cnc;
using namespace cnc::testing;

// What a callback sees and what it can do.

namespace {

template <class Body>
void for_each_form(const Body& body) {
  for (const std::string& name : host_backends())
    for (const Method method : all_methods)
      for (const auto form : {SolveForm::automatic, SolveForm::plain_operations}) {
        if (form == SolveForm::plain_operations && !detail::has_plain_form(method)) continue;
        for (const auto reordering : {Reordering::none, Reordering::rcm}) {
          INFO(name << " " << to_string(method) << " " << cnc::to_string(form) << " rcm "
                    << int(reordering));
          ThreadedContext ctx(name, 2);
          SolveOptions options;
          options.method = method;
          options.form = form;
          options.reordering = reordering;
          body(ctx, options);
        }
      }
}

template <class V>
SolveReport solve(Context<>& ctx, const SolveOptions& options, const CsrMatrix<V>& A,
                  const Vector<V>& b, const Vector<V>& x) {
  Solver<V> solver(ctx, options);
  solver.prepare(A);
  return solver.solve(b, x);
}

}  // namespace

TEST_CASE("a callback without an interval is called") {
  const auto P = known_problem<double>("poisson2d:30x20");
  const auto small = known_problem<double>("poisson2d:3x2");
  for_each_form([&](Context<>& ctx, SolveOptions options) {
    index_t calls = 0, last = 0;
    options.callback = [&](const Progress& progress) {
      CHECK(progress.iteration > last);
      last = progress.iteration;
      return ++calls > 0;
    };
    const SolveReport report = solve(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    CHECK(report.converged());
    CHECK(calls >= 1);
    CHECK(calls >= report.iterations / 256);
    CHECK(last == report.iterations);
    calls = last = 0;
    CHECK(solve(ctx, options, small.A, small.b, zeros<double>(small.rows())).converged());
    CHECK(calls >= 1);
    options.callback = [](const Progress&) { return false; };
    CHECK(solve(ctx, options, P.A, P.b, zeros<double>(P.rows())).iterations <= 256);
  });
}

TEMPLATE_TEST_CASE("a callback sees x and r in the caller's order", "", float, double) {
  using V = TestType;
  const auto P = known_problem<V>("wathen:6x5");
  for (const int exponent : {0, sizeof(V) == 4 ? -100 : -700}) {
    const Vector<V> b = copy_of(P.b);
    for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = std::ldexp(b(i), exponent);
    for_each_form([&](Context<>& ctx, SolveOptions options) {
      options.rtol = 1e-4;
      const Vector<V> unseen = zeros<V>(P.rows()), x = zeros<V>(P.rows());
      const SolveReport without = solve(ctx, options, P.A, b, unseen);
      int calls = 0;
      options.callback_interval = 2;
      options.callback = [&](const Progress& progress) {
        ++calls;
        const Vector<const V> now = progress.x<V>(), r = progress.r<V>();
        REQUIRE(now.extent(0) == b.extent(0));
        const Vector<V> large_x = copy_of(now), large_b = copy_of(b), large_r = copy_of(r);
        for (const auto& v : {large_x, large_b, large_r})
          for (std::size_t i = 0; i < v.extent(0); ++i) v(i) = std::ldexp(v(i), -exponent);
        const Vector<V> product_x = product(P.A, large_x);
        for (std::size_t i = 0; i < b.extent(0); ++i)
          CHECK(std::abs(large_b(i) - product_x(i) - large_r(i)) <=
                (sizeof(V) == 4 ? 1e-4 : 1e-12) * norm2(large_b));
        CHECK(norm2(large_r) == Approx(std::ldexp(progress.residual, -exponent)).epsilon(1e-3));
        return true;
      };
      const SolveReport with = solve(ctx, options, P.A, b, x);
      CHECK(calls >= 2);
      CHECK(with.converged());
      CHECK(with.iterations == without.iterations);
      CHECK(same_bits(x, unseen));
    });
  }
}

TEST_CASE("x and r have one type and are there during the callback only") {
  const auto P = known_problem<double>("poisson2d:5x4");
  Context<> ctx;
  SolveOptions options;
  Progress kept;
  options.callback = [&](const Progress& progress) {
    CHECK_THROWS_AS(progress.x<float>(), InvalidArgument);
    CHECK_NOTHROW(progress.x<double>());
    return true;
  };
  solve(ctx, options, P.A, P.b, zeros<double>(P.rows()));
  CHECK_THROWS_AS(kept.x<double>(), InvalidArgument);
}

TEST_CASE("a callback ends the solve as converged or not") {
  const auto P = known_problem<double>("poisson2d:30x20");
  for_each_form([&](Context<>& ctx, SolveOptions options) {
    for (const auto action : {CallbackAction::accept, CallbackAction::stop}) {
      options.callback_interval = 1;
      Vector<double> seen = zeros<double>(P.rows());
      options.callback = [&](const Progress& progress) -> CallbackAction {
        if (progress.iteration < 10) return CallbackAction::proceed;
        Kokkos::deep_copy(seen, progress.x<double>());
        return action;
      };
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve(ctx, options, P.A, P.b, x);
      CHECK(report.iterations == 10);
      CHECK(report.true_residual > report.tolerance);
      CHECK(report.converged() == (action == CallbackAction::accept));
      CHECK((report.status == SolveStatus::stopped) == (action == CallbackAction::stop));
      if (action == CallbackAction::accept) {
        CHECK(same_bits(x, seen));
        CHECK(report.detail == "accepted by the callback");
      }
      CHECK(std::abs(residual_of(P.A, P.b, x).norm - report.true_residual) <=
            residual_of(P.A, P.b, x).rounding);
    }
  });
}

TEST_CASE("an exception of a callback leaves x in its own units") {
  const auto P = known_problem<double>("poisson2d:5x4");
  const Vector<double> b = copy_of(P.b), x = zeros<double>(P.rows());
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) *= 1e-200;
  Context<> ctx;
  SolveOptions options;
  options.callback_interval = 1;
  options.callback = [](const Progress& progress) -> bool {
    progress.x<double>();
    throw std::runtime_error("enough");
  };
  CHECK_THROWS_WITH(solve(ctx, options, P.A, b, x), "enough");
  CHECK(norm2(x) == 0);  // squares underflow
  CHECK(std::abs(x(7)) > 0);
  CHECK(std::abs(x(7)) < 1e-198);
}
