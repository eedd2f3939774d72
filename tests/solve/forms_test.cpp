// The forms in which a solver can run its iterations: every one that a backend offers gives the same
// solution through the public door, says what it did, and says it again with the same bits.

#include "solve/solver_test.hpp"
#include "support/solve_problem.hpp"

#include <cnc/error.hpp>

namespace cnc::testing {
namespace {

template <class V>
struct Solved {
  SolveReport report;
  Vector<V> x;
};

template <class V, class Exec>
Solved<V> solve(Solver<V, Exec>& solver, const KnownProblem<V>& P) {
  using Space = typename Exec::memory_space;
  const Vector<const V, Space> b = copy_to<Space>(P.b);
  const Vector<V, Space> x = zeroed<V, Space>("x", b.extent(0));
  const SolveReport report = solver.solve(b, x);
  return {report, copy_to<HostSpace>(x)};
}

bool asked_and_done(SolveForm asked, SolveForm done) {
  return asked == SolveForm::automatic || done == asked;
}

template <class V, class Exec>
void check_form(Context<Exec>& ctx, const KnownProblem<V>& P, const SolveOptions& options,
                Findings& findings) {
  using Space = typename Exec::memory_space;
  const std::string name = P.name + " " + to_string(options.method) + " " +
                           cnc::to_string(options.form) + (sizeof(V) == 4 ? " f32" : " f64") +
                           (options.storage == StoragePrecision::f32 ? " stored as f32" : "") +
                           (options.reordering == Reordering::rcm ? " rcm" : "");
  const auto check = [&](bool good, const char* text) {
    findings.compare(unless(good, text), [&] { return name; });
  };
  Solver<V, Exec> solver(ctx, options);
  const CsrMatrix<V, Space> A = copy_to<Space>(P.A);
  solver.prepare(A);
  Solved<V> first;
  try {
    first = solve(solver, P);
  } catch (const UnsupportedOperation&) {
    return findings.not_offered(name);
  }
  const double tolerance = 1e4 * options.rtol;
  check(first.report.converged(), "did not converge");
  check(asked_and_done(options.form, first.report.form), "another form");
  check(relative_difference(first.x, P.solution) < tolerance, "x is not the solution");
  const Solved<V> again = solve(solver, P);
  check(same_bits(first.x, again.x) && first.report.history == again.report.history,
        "other bits on another run");
  // New values, in other arrays: a plan must not hold on to the old ones.
  const CsrMatrix<V, Space> twice(A.rows, A.cols, 1, A.row_offsets, A.columns,
                                  zeroed<V, Space>("twice", A.values.extent(0)));
  const Vector<V> values("values", P.A.values.extent(0));
  for (std::size_t k = 0; k < values.extent(0); ++k) values(k) = 2 * P.A.values(k);
  Kokkos::deep_copy(twice.values, values);
  solver.update_values(twice);
  Solved<V> halved = solve(solver, P);
  for (std::size_t i = 0; i < halved.x.extent(0); ++i) halved.x(i) *= 2;
  check(halved.report.converged() && relative_difference(halved.x, P.solution) < tolerance,
        "wrong after update_values");
}

template <class V, class Exec>
void check_forms(const Backend& backend, const char* problem, Findings& findings) {
  const auto P = known_problem<V>(problem);
  SharingContext<Exec> ctx(backend);
  for (const Method method : every_method)
    for (const SolveForm form : every_form) {
      SolveOptions options;
      options.method = method;
      options.form = form;
      options.rtol = sizeof(V) == 4 ? 1e-4 : 1e-9;
      check_form<V>(ctx, P, options, findings);
      if (sizeof(V) == 4) continue;
      options.reordering = Reordering::rcm;
      if (!is_emulated(backend)) check_form<V>(ctx, P, options, findings);
      options.storage = StoragePrecision::f32;
      check_form<V>(ctx, P, options, findings);
    }
}

void forms(const Backend& backend, Findings& findings) {
  try {
    in_memory_of(backend, [&]<class Exec>(std::type_identity<Exec>) {
      check_forms<double, Exec>(backend, "elasticity2d:5", findings);
      if (is_emulated(backend)) return;
      check_forms<double, Exec>(backend, "poisson2d:31x29", findings);
      check_forms<float, Exec>(backend, "poisson2d:19x17", findings);
    });
  } catch (const UnsupportedOperation&) {
    findings.not_offered("what a solver needs");  // baselines and variants
  }
}

CNC_CONFORMANCE_TEST("every form of a solve", forms);

/// Iterations enough for batches of more than one size; limits hold in each form.
void limits(const Backend& backend, Findings& findings) {
  const auto P = known_problem<double>("poisson2d:70x60");
  in_memory_of(backend, [&]<class Exec>(std::type_identity<Exec>) {
    using Space = typename Exec::memory_space;
    SharingContext<Exec> ctx(backend);
    if (!findings.offered(ctx.template vectors<double>().dot, "dot")) return;
    const Vector<const double, Space> b = copy_to<Space>(P.b);
    for (const SolveForm form : every_form) try {
        SolveOptions options;
        options.form = form;
        options.rtol = 0;
        options.max_iterations = 150;
        int calls = 0;
        options.callback_interval = 7;
        options.callback = [&](const Progress& progress) {
          ++calls;
          return progress.iteration < 140;
        };
        Solver<double, Exec> solver(ctx, options);
        solver.prepare(copy_to<Space>(P.A));
        const auto x = zeroed<double, Space>("x", b.extent(0));
        const SolveReport report = solver.solve(b, x);
        const auto label = [&] { return std::string(cnc::to_string(form)); };
        findings.compare(unless(report.status == SolveStatus::stopped && report.iterations == 140,
                                "not stopped by the callback"),
                         label);
        findings.compare(unless(calls == 20, "callback not called every 7 iterations"), label);
        options.callback = {};
        solver.set_options(options);
        const SolveReport limited = solver.solve(b, zeroed<double, Space>("x", b.extent(0)));
        findings.compare(unless(limited.status == SolveStatus::max_iterations &&
                                    limited.iterations == 150 && limited.history.size() == 151,
                                "not stopped by the limit"),
                         label);
      } catch (const UnsupportedOperation&) {
        findings.not_offered(cnc::to_string(form));
      }
  });
}

CNC_CONFORMANCE_TEST("limits of a solve in every form", limits);

}  // namespace

CNC_SOLVER_TEST("the form run is what automatic takes where the backend has runs") {
  const auto P = known_problem<double>("poisson2d:9x8");
  SolveOptions options = options_for(Method::pcg, {"csr", 1}, PreconditionerKind::jacobi);
  const auto form = [&] {
    return solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).form;
  };
  const SolveForm best = form();
  options.form = SolveForm::run;
  if (is_run(best))
    CHECK(form() == best);
  else
    CHECK_THROWS_AS(form(), UnsupportedOperation);
}

TEST_CASE("a form that the backend lacks is refused with the form's name") {
  const auto P = known_problem<double>("poisson2d:5x4");
  Context<> ctx("reference");
  for (const SolveForm form : {SolveForm::streamed, SolveForm::graph, SolveForm::resident}) {
    SolveOptions options;
    options.form = form;
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    const Vector<double> x = zeros<double>(P.rows());
    CHECK_THROWS_WITH(solver.solve(P.b, x), Catch::Matchers::ContainsSubstring(to_string(form)));
    options.form = SolveForm::automatic;
    solver.set_options(options);
    CHECK(solver.solve(P.b, x).converged());
  }
}

}  // namespace cnc::testing
