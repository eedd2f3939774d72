#include "solve/backends.hpp"
#include "support/in_blocks.hpp"
#include "support/solve_problem.hpp"

#include <team.hpp>

using namespace cnc;
using namespace cnc::testing;

// The same call gives the same bits: on every run, and for every number of threads of one backend.

namespace {

/// Teams are formed whatever else the machine runs, as these tests are about them.
[[maybe_unused]] const bool teams_are_formed = [] {
  detail::crowd_rule = [](int) { return false; };
  return true;
}();

template <class V>
struct Outcome {
  Vector<V> x;
  std::vector<double> history;
  double true_residual = 0;
};

template <class V>
Outcome<V> solve(Solver<V>& solver, const KnownProblem<V>& P) {
  const Vector<V> x = zeros<V>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  return {x, report.history, report.true_residual};
}

template <class V>
bool same(const Outcome<V>& a, const Outcome<V>& b) {
  return same_bits(a.x, b.x) && a.history == b.history && a.true_residual == b.true_residual;
}

/// The set-up is done again for each number of threads: it must not matter there either.
template <class V>
void check_threads(const std::string& name, const KnownProblem<V>& P, const SolveOptions& options) {
  ThreadedContext alone(name, 1);
  Solver<V> solver(alone, options);
  solver.prepare(P.A);
  const Outcome<V> expected = solve(solver, P);
  REQUIRE(expected.history.size() > 5);
  for (const int threads : {1, 2, 3}) {
    INFO(threads << " threads");
    ThreadedContext ctx(name, threads);
    Solver<V> other(ctx, options);
    other.prepare(P.A);
    for (int run = 0; run < 2; ++run) CHECK(same(solve(other, P), expected));
  }
}

/// More rows than several reduction blocks, and no multiple of anything.
template <class V>
void check_everything(const KnownProblem<V>& P, const std::vector<int>& block_sizes) {
  for (const std::string& name : host_backends())
    for (const Method method : every_method)
      for (const FormatSpec& format : formats_for(P.A, block_sizes))
        for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi,
                                PreconditionerKind::block_jacobi}) {
          INFO(P.name << " " << name << " " << to_string(method) << " " << format.text() << " kind "
                      << int(kind));
          SolveOptions options = options_for(method, format, kind, 3);
          options.max_iterations = 12;
          check_threads(name, P, options);
          if (format.name != "auto" || sizeof(V) == sizeof(float)) continue;
          options.storage = StoragePrecision::f32;
          check_threads(name, P, options);
          options.reordering = Reordering::rcm;
          check_threads(name, P, options);
        }
}

}  // namespace

TEST_CASE("the same bits on every run and for every number of threads") {
  SECTION("double, short rows") { check_everything(known_problem<double>("poisson2d:53x41"), {3}); }
  SECTION("double, blocks") { check_everything(known_problem<double>("elasticity2d:29"), {2}); }
  SECTION("float") { check_everything(known_problem<float>("poisson2d:53x41"), {2}); }
  // Blocks of rows that follow each other, with shares of threads that begin within one.
  const auto lines = in_blocks(generate_problem("poisson2d:110x5"), 3);
  SECTION("double, lines of blocks") { check_everything(with_known_solution("lines", lines), {3}); }
  SECTION("float, lines of blocks") {
    check_everything(with_known_solution("lines", convert_values<float>(lines)), {3});
  }
}

TEST_CASE("a solve does not remember the one before it") {
  const auto P = known_problem<double>("poisson2d:31x29");
  const Vector<double> other = varied_vector<double>(P.rows());
  for (const std::string& name : host_backends())
    for (const Method method : every_method) {
      if (!takes_parts_of_others(find_backend(name, MemorySpace::host), method)) continue;
      INFO(name << " " << to_string(method));
      ThreadedContext ctx(name, 2);
      SolveOptions options;
      options.method = method;
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      const Outcome<double> first = solve(solver, P);
      Vector<double> poisoned = copy_of(other);
      poisoned(5) = std::numeric_limits<double>::quiet_NaN();
      CHECK(solver.solve(poisoned, zeros<double>(P.rows())).status == SolveStatus::not_finite);
      CHECK(solver.solve(other, poisoned).status == SolveStatus::not_finite);
      // This one breaks down in the middle, with NaN in the vectors of the solver.
      solver.set_preconditioner([calls = 0](const auto& r, const auto& z) mutable {
        Kokkos::deep_copy(z, r);
        if (++calls > 3) Kokkos::deep_copy(z, std::numeric_limits<double>::quiet_NaN());
      });
      CHECK(solver.solve(P.b, zeros<double>(P.rows())).status == SolveStatus::not_finite);
      solver.set_preconditioner({});
      CHECK(same(solve(solver, P), first));
    }
}
