#include "solve/criterion.hpp"

#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// Other norms than the 2-norm of the whole residual: what they decide, what that costs, and what the report says.

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The norm of each component, by nothing of the library.
template <class View>
std::vector<double> norms_of(const View& v, ResidualNorm norm, int components = 1) {
  std::vector<double> result(static_cast<std::size_t>(components), 0);
  for (std::size_t i = 0; i < v.extent(0); ++i) {
    double& of = result[i % static_cast<std::size_t>(components)];
    const double size = std::abs(double(v(i)));
    of = norm == ResidualNorm::two ? std::hypot(of, size) : std::max(of, size);
  }
  return result;
}

/// b - A x in double.
template <class V>
Vector<double> residual_vector(const CsrMatrix<V>& A, const Vector<V>& b, const Vector<V>& x) {
  const Vector<double> r("r", b.extent(0));
  for (index_t row = 0; row < A.rows; ++row) {
    double sum = b(row);
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      sum -= double(A.values(k)) * double(x(A.columns(k)));
    r(row) = sum;
  }
  return r;
}

/// That what the report says is so, and that a solve that says it has converged has.
template <class V>
void check_report(const SolveReport& report, const SolveOptions& options, const CsrMatrix<V>& A,
                  const Vector<V>& b, const Vector<V>& x) {
  const auto whole = [&](const auto& v) { return norms_of(v, options.norm)[0]; };
  const Vector<double> r = residual_vector(A, b, x);
  const double rounding = residual_of(A, b, x).rounding;
  CHECK(report.norm == options.norm);
  CHECK(report.rhs_norm == Approx(whole(b)));
  CHECK(std::abs(report.true_residual - whole(r)) <= 1e-9 * whole(r) + rounding);
  CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
  if (options.reference == ToleranceReference::rhs) {
    CHECK(report.tolerance == Approx(std::max(options.rtol * whole(b), options.atol)));
    CHECK(report.relative_residual == Approx(report.true_residual / whole(b)));
  }
  if (options.components == 1) {
    CHECK(report.component_residuals.empty());
    if (report.converged()) CHECK(whole(r) <= 1.0001 * report.tolerance + rounding);
    return;
  }
  const auto of_r = norms_of(r, options.norm, options.components);
  REQUIRE(report.component_residuals.size() == of_r.size());
  REQUIRE(report.component_tolerances.size() == of_r.size());
  for (std::size_t c = 0; c < of_r.size(); ++c) {
    INFO("component " << c);
    CHECK(std::abs(report.component_residuals[c] - of_r[c]) <= 1e-9 * of_r[c] + rounding);
    if (report.converged()) CHECK(of_r[c] <= 1.0001 * report.component_tolerances[c] + rounding);
  }
}

/// Even unknowns are those of the identity, odd ones those of a chain: the first are done after an iteration. An odd number
/// of rows leaves the last block without its second unknown.
CsrMatrix<double> two_components(index_t n) {
  std::vector<index_t> offsets = {0}, columns;
  std::vector<double> values;
  const auto add = [&](index_t j, double value) {
    if (j < 0 || j >= n) return;
    columns.push_back(j);
    values.push_back(value);
  };
  for (index_t i = 0; i < n; ++i) {
    if (i % 2 == 1) add(i - 2, -1);
    add(i, i % 2 == 0 ? 1 : 2.01);
    if (i % 2 == 1) add(i + 2, -1);
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  return literal_csr<double>(n, n, offsets, columns, values);
}
/// Entries of the second component are smaller by this factor.
Vector<double> two_scales(index_t n, double factor) {
  const Vector<double> b = varied_vector<double>(n);
  for (index_t i = 1; i < n; i += 2) b(i) *= factor;
  return b;
}

Vector<double> unit_vector(index_t n, index_t at) {
  const Vector<double> b = zeros<double>(n);
  b(at) = 1;
  return b;
}

const std::vector<std::pair<ResidualNorm, int>> all_criteria = {
    {ResidualNorm::infinity, 1}, {ResidualNorm::two, 3}, {ResidualNorm::infinity, 2}};

}  // namespace

CNC_SOLVER_TEST("norms of components, with what is not finite") {
  using Space = typename Exec::memory_space;
  for (const index_t n : {1, 2, 5, 4097, 30001})
    for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity})
      for (const int components : {1, 2, 3, 16}) {
        INFO(n << " rows, " << components << " components, " << cnc::to_string(norm));
        SolveOptions options;
        options.norm = norm;
        options.components = components;
        detail::Workspace<double, Space> work;
        detail::Tally tally;
        detail::Criterion<double, Exec> criterion(ctx, work, options, {}, n, tally);
        const auto check = [&](const Vector<double>& v) {
          const auto actual = criterion.norms(copy_to<Space>(v));
          const auto expected = norms_of(v, norm, components);
          for (std::size_t c = 0; c < expected.size(); ++c)
            CHECK(std::abs(actual[c] - expected[c]) <= 1e-12 * expected[c]);
          CHECK(criterion.norms(copy_to<Space>(v)) == actual);  // to the bit
        };
        const Vector<double> v = varied_vector<double>(n);
        for (index_t i = 0; i < n; i += 3) v(i) = -v(i);
        check(v);
        for (const int exponent : {-1000, -700, 700, 1000}) {  // each component its own
          const Vector<double> scaled = copy_of(v);
          for (index_t i = 0; i < n; ++i)
            scaled(i) = std::ldexp(v(i), i % components == 0 ? exponent : 0);
          if (components > 1 || exponent < 1000) check(scaled);
        }
        for (const double bad : {not_a_number, infinity, -infinity})
          for (const index_t at : {0, n / 2, n - 1}) {
            const Vector<double> w = copy_of(v);
            w(at) = bad;
            const auto actual = criterion.norms(copy_to<Space>(w));
            CHECK_FALSE(std::isfinite(actual[static_cast<std::size_t>(at % components)]));
            criterion.refer_to(criterion.norms(copy_to<Space>(v)), 1);
            CHECK_FALSE(criterion.worst(actual) <= 1);
            if (std::isnan(bad)) CHECK(std::isnan(criterion.worst(actual)));
          }
      }
}

CNC_SOLVER_TEST("each norm decides for itself") {
  const auto P = known_problem<double>("poisson2d:14x11");
  for_each_method([&](SolveOptions options) {
    // A residual in one place under a right-hand side that is everywhere, and the other way round.
    SolveOptions exact = options;
    exact.rtol = 1e-13;
    const Vector<double> single = unit_vector(P.rows(), 70), solution = zeros<double>(P.rows());
    solve_once(ctx, exact, P.A, single, solution);
    const Vector<double> spike = copy_of(P.solution), spread = copy_of(solution);
    options.rtol = 1e-6;
    spike(70) += 0.5 * options.rtol * norm2(P.b) / std::sqrt(20.0);
    for (index_t i = 0; i < P.rows(); ++i) spread(i) += (i % 2 == 0 ? 1 : -1) * 0.1 * options.rtol;
    for (const bool local : {true, false})
      for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity}) {
        INFO((local ? "local " : "everywhere ") << cnc::to_string(norm));
        options.norm = norm;
        const Vector<double> b = local ? P.b : single, x = copy_of(local ? spike : spread);
        const SolveReport report = solve_once(ctx, options, P.A, b, x);
        CHECK(report.converged());
        CHECK((report.iterations == 0) == (local == (norm == ResidualNorm::two)));
        check_report(report, options, P.A, b, x);
      }
  });
}

CNC_SOLVER_TEST("a recurrence is stopped soon after its residual is small enough") {
  using Space = typename Exec::memory_space;
  for (const char* problem : {"poisson2d:40x31", "elasticity3d:3"})
    for_each_method([&](SolveOptions options) {
      const auto A = generate_problem(problem);
      if (A.rows > 1000 && is_emulated(ctx.backend())) return;
      for (const bool local : {true, false})
        for (const auto& [norm, components] : all_criteria) {
          INFO(problem << (local ? ", local, " : ", everywhere, ") << cnc::to_string(norm) << " of "
                       << components);
          const Vector<double> b =
              local ? unit_vector(A.rows, A.rows / 2) : varied_vector<double>(A.rows);
          options.norm = norm;
          options.components = components;
          const Vector<double> x = zeros<double>(A.rows);
          const SolveReport report = solve_once(ctx, options, A, b, x);
          CHECK(report.converged());
          check_report(report, options, A, b, x);
          // The first iteration that would do, by a solve that looks at each.
          SolveOptions looking;
          looking.method = options.method;
          looking.rtol = 1e-14;
          looking.callback_interval = 1;
          index_t least = 0;
          const auto tolerances = report.component_tolerances.empty()
                                      ? std::vector<double>{report.tolerance}
                                      : report.component_tolerances;
          looking.callback = [&](const Progress& progress) {
            const auto r = copy_to<HostSpace>(progress.r<double, Space>());
            const auto norms = norms_of(r, norm, components);
            bool met = true;
            for (std::size_t c = 0; c < norms.size(); ++c) met &= norms[c] <= tolerances[c];
            if (met) least = progress.iteration;
            return !met;
          };
          solve_once(ctx, looking, A, b, zeros<double>(A.rows));
          CHECK(least > 0);
          CHECK(report.iterations <= least + 2 + least / 10);
          if (method_facts(options.method).symmetric) CHECK(report.restarts == 0);
        }
    });
}

template <class V, class Exec>
void check_precision(Context<Exec>& ctx, StoragePrecision storage) {
  const auto P = known_problem<V>(sized(ctx, "trefethen:200", "trefethen:60"));
  for_each_method([&](SolveOptions options) {
    options.rtol = sizeof(V) == 4 ? 1e-5 : 1e-9;
    options.storage = storage;
    for (const auto reordering : {Reordering::none, Reordering::rcm})
      for (const auto reference : {ToleranceReference::rhs, ToleranceReference::initial_residual})
        for (const auto& [norm, components] : all_criteria) {
          INFO(cnc::to_string(norm) << " of " << components << ", rcm " << int(reordering));
          options.norm = norm;
          options.components = components;
          options.reordering = reordering;
          options.reference = reference;
          const Vector<V> x = zeros<V>(P.rows());
          for (index_t i = 0; i < P.rows(); i += 3) x(i) = 2;
          const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
          CHECK(report.converged());
          check_report(report, options, P.A, P.b, x);
        }
  });
}
CNC_SOLVER_TEST("criteria with double vectors") {
  check_precision<double>(ctx, StoragePrecision::as_vectors);
}
CNC_SOLVER_TEST("criteria with float vectors") {
  check_precision<float>(ctx, StoragePrecision::as_vectors);
}
CNC_SOLVER_TEST("criteria with a float matrix under double vectors") {
  check_precision<double>(ctx, StoragePrecision::f32);
}

CNC_SOLVER_TEST("a component that is small is solved as well as the others") {
  for (const index_t n : {80, 81})
    for (const auto reordering : {Reordering::none, Reordering::rcm})
      for_each_method([&](SolveOptions options) {
        INFO(n << " rows, rcm " << int(reordering));
        const auto A = two_components(n);
        const Vector<double> b = two_scales(n, 1e-8), x = zeros<double>(n);
        options.rtol = 1e-6;
        options.reordering = reordering;
        const SolveReport whole = solve_once(ctx, options, A, b, x);
        CHECK(whole.converged());
        const double small = norms_of(b, ResidualNorm::two, 2)[1];
        CHECK(norms_of(residual_vector(A, b, x), ResidualNorm::two, 2)[1] > 1e-3 * small);
        for (const auto norm : {ResidualNorm::two, ResidualNorm::infinity}) {
          INFO(cnc::to_string(norm));
          Kokkos::deep_copy(x, 0.0);
          options.components = 2;
          options.norm = norm;
          const SolveReport report = solve_once(ctx, options, A, b, x);
          CHECK(report.converged());
          CHECK(report.iterations > whole.iterations);
          check_report(report, options, A, b, x);
          CHECK(report.component_tolerances[1] == Approx(1e-6 * norms_of(b, norm, 2)[1]));
        }
      });
}

CNC_SOLVER_TEST("a component without a right-hand side is measured by the largest") {
  const auto A = two_components(40);
  for_each_method([&](SolveOptions options) {
    options.components = 2;
    const Vector<double> b = two_scales(40, 0), x = varied_vector<double>(40);
    const SolveReport report = solve_once(ctx, options, A, b, x);
    CHECK(report.converged());
    CHECK(report.component_tolerances[1] == report.component_tolerances[0]);
    check_report(report, options, A, b, x);
    options.components = 16;  // more than there are rows in some
    options.norm = ResidualNorm::infinity;
    const auto few = two_components(5);
    const Vector<double> c = varied_vector<double>(5), y = zeros<double>(5);
    const SolveReport of_few = solve_once(ctx, options, few, c, y);
    CHECK(of_few.converged());
    check_report(of_few, options, few, c, y);
  });
}

CNC_SOLVER_TEST("a criterion does not depend on the size of the right-hand side") {
  const auto P = known_problem<double>(sized(ctx, "trefethen:200", "trefethen:50"));
  for_each_method([&](SolveOptions options) {
    for (const auto& [norm, components] : all_criteria)
      for (const int exponent : {-900, -665, 0, 665, 900}) {
        INFO("2^" << exponent << ", " << cnc::to_string(norm) << " of " << components);
        options.norm = norm;
        options.components = components;
        const Vector<double> b = copy_of(P.b), x = zeros<double>(P.rows());
        for (index_t i = 0; i < P.rows(); ++i) b(i) = std::ldexp(P.b(i), exponent);
        const SolveReport report = solve_once(ctx, options, P.A, b, x);
        CHECK(report.converged());
        for (index_t i = 0; i < P.rows(); ++i) x(i) = std::ldexp(x(i), -exponent);
        const auto of_b = norms_of(P.b, norm, components);
        const auto of_r = norms_of(residual_vector(P.A, P.b, x), norm, components);
        for (std::size_t c = 0; c < of_b.size(); ++c) CHECK(of_r[c] <= 1.0001e-8 * of_b[c]);
        CHECK(std::ldexp(report.rhs_norm, -exponent) == Approx(norms_of(P.b, norm)[0]));
        CHECK(std::ldexp(report.tolerance, -exponent) == Approx(1e-8 * norms_of(P.b, norm)[0]));
        CHECK(std::ldexp(report.history.front(), -exponent) == Approx(norm2(P.b)));
      }
  });
}

CNC_SOLVER_TEST("nothing, and what is not finite, under a criterion") {
  const auto A = generate_problem("poisson2d:5x4");
  for_each_method([&](SolveOptions options) {
    for (const auto& [norm, components] : all_criteria) {
      options.norm = norm;
      options.components = components;
      const Vector<double> b = zeros<double>(A.rows), x = varied_vector<double>(A.rows);
      const SolveReport nothing = solve_once(ctx, options, A, b, x);
      CHECK(nothing.converged());
      CHECK(norm2(x) == 0);
      CHECK(nothing.true_residual == 0);
      CHECK(nothing.component_residuals ==
            std::vector<double>(components > 1 ? static_cast<std::size_t>(components) : 0, 0.0));
      for (const double bad : {not_a_number, infinity}) {
        b(7) = bad;
        CHECK(solve_once(ctx, options, A, b, x).status == SolveStatus::not_finite);
        b(7) = 1;
        x(3) = bad;
        CHECK(solve_once(ctx, options, A, b, x).status == SolveStatus::not_finite);
        x(3) = 0;
      }
    }
  });
}

CNC_SOLVER_TEST("limits and stagnation end a solve under a criterion") {
  const auto P = known_problem<double>("poisson2d:9x8");
  for_each_cg([&](SolveOptions options) {
    for (const auto& [norm, components] : all_criteria) {
      INFO(cnc::to_string(norm) << " of " << components);
      options.norm = norm;
      options.components = components;
      for (const double rtol : {0.0, 1e-18, 1e-17}) {
        options.rtol = rtol;
        options.max_iterations = 10000;
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
        if (report.true_residual > 0) CHECK(report.status == SolveStatus::stagnated);
        CHECK(report.iterations < 1000);
        CHECK(relative_difference(x, P.solution) < 1e-12);
        check_report(report, options, P.A, P.b, x);
      }
      for (const index_t limit : {0, 1, 7}) {
        options.rtol = 1e-10;
        options.max_iterations = limit;
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
        CHECK(report.status == SolveStatus::max_iterations);
        CHECK(report.iterations == limit);
        check_report(report, options, P.A, P.b, x);
      }
    }
  });
}

CNC_SOLVER_TEST("callbacks during a solve under a criterion") {
  using Space = typename Exec::memory_space;
  const auto P = known_problem<double>("poisson2d:14x11");
  for_each_method([&](SolveOptions options) {
    options.norm = ResidualNorm::infinity;
    const SolveReport without = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    for (const index_t interval : {0, 3}) {
      options.callback_interval = interval;
      index_t last = 0;
      options.callback = [&](const Progress& progress) {
        CHECK(progress.iteration >= last);
        last = progress.iteration;
        // A recurrence that is shown goes on undisturbed.
        const double norm = norm2(copy_to<HostSpace>(progress.r<double, Space>()));
        CHECK(std::abs(norm - progress.residual) <= 1e-6 * norm);
        CHECK(progress.relative_residual == Approx(progress.residual / norm2(P.b)));
        return true;
      };
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solve_once(ctx, options, P.A, P.b, x);
      CHECK(report.converged());
      CHECK(std::abs(report.iterations - without.iterations) <= 2);
      check_report(report, options, P.A, P.b, x);
    }
    options.callback = [](const Progress& progress) {
      return progress.iteration < 5 ? CallbackAction::proceed : CallbackAction::accept;
    };
    options.callback_interval = 1;
    const SolveReport accepted = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
    CHECK(accepted.converged());
    CHECK_THAT(accepted.detail, ContainsSubstring("callback"));
    CHECK(accepted.true_residual > accepted.tolerance);
  });
}

CNC_SOLVER_TEST("several right-hand sides under a criterion are solved one by one") {
  using Space = typename Exec::memory_space;
  const auto P = known_problem<double>("poisson2d:14x11");
  SolveOptions options;
  options.norm = ResidualNorm::infinity;
  options.components = 2;
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(P.A);
  const Kokkos::View<double**, Kokkos::LayoutLeft, HostSpace> b("b", P.b.extent(0), 6),
      x("x", P.b.extent(0), 6);
  for (std::size_t c = 0; c < 6; ++c)
    for (std::size_t i = 0; i < b.extent(0); ++i) b(i, c) = P.b((i * (c + 1)) % b.extent(0));
  const auto there = Kokkos::create_mirror_view_and_copy(Space(), x);
  const auto reports = static_cast<Solver<double, Exec>&>(solver).solve(
      Kokkos::create_mirror_view_and_copy(Space(), b), there);
  Kokkos::deep_copy(x, there);
  for (std::size_t c = 0; c < 6; ++c) {
    const Vector<double> of_b("b", b.extent(0)), of_x("x", b.extent(0));
    for (std::size_t i = 0; i < b.extent(0); ++i) of_b(i) = b(i, c), of_x(i) = x(i, c);
    CHECK(reports[c].converged());
    check_report(reports[c], options, P.A, of_b, of_x);
    const Vector<double> alone = zeros<double>(P.rows());
    CHECK(solver.solve(of_b, alone).iterations == reports[c].iterations);
    CHECK(same_bits(alone, of_x));
  }
}

TEST_CASE("criteria that cannot be are refused") {
  Context<> ctx("reference");
  for (const int components : {-1, 0, 17}) {
    SolveOptions options;
    options.components = components;
    CHECK_THROWS_WITH(Solver<double>(ctx, options),
                      ContainsSubstring("components must be 1 to 16"));
  }
  SolveOptions options;
  options.norm = ResidualNorm::infinity;
  options.null_space = NullSpace::constant;
  CHECK_THROWS_WITH(Solver<double>(ctx, options), ContainsSubstring("null space"));
  options.null_space = NullSpace::none;
  Solver<double> solver(ctx, options);
  const auto P = known_problem<double>("poisson2d:5x4");
  solver.set_null_space({varied_vector<double>(P.rows())});
  solver.prepare(P.A);
  CHECK_THROWS_WITH(solver.solve(P.b, zeros<double>(P.rows())), ContainsSubstring("null space"));
}
