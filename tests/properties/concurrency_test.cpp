#include "solve/backends.hpp"
#include "support/sanitized.hpp"
#include "support/solve_problem.hpp"

#include <team.hpp>

#include <atomic>
#include <thread>

using namespace cnc;
using namespace cnc::testing;

// A context is not shared between threads, but several may be used at once.

namespace {

/// Teams are formed whatever else the machine runs, as these tests are about them.
[[maybe_unused]] const bool teams_are_formed = [] {
  detail::crowd_rule = [](int) { return false; };
  return true;
}();

// The thread sanitizer sees a race whether it shows or not.
constexpr int steps = is_sanitized ? 2 : 4;
constexpr int rounds = is_sanitized ? 1 : 5;

/// Set-up, solve, new values, solve: everything that a time step does.
std::vector<Vector<double>> time_steps(Context<>& ctx, const SolveOptions& options,
                                       const KnownProblem<double>& P) {
  Solver<double> solver(ctx, options);
  solver.prepare(P.A);
  std::vector<Vector<double>> results;
  for (int step = 0; step < steps; ++step) {
    results.push_back(zeros<double>(P.rows()));
    if (!solver.solve(P.b, results.back()).converged()) return {};
    const CsrMatrix<double> later(P.A.rows, P.A.cols, 1, P.A.row_offsets, P.A.columns,
                                  copy_of(P.A.values));
    for (std::size_t k = 0; k < later.values.extent(0); ++k) later.values(k) *= 2 + step;
    solver.update_values(later);
  }
  return results;
}

bool same(const std::vector<Vector<double>>& a, const std::vector<Vector<double>>& b) {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                  [](const auto& x, const auto& y) { return same_bits(x, y); });
}

}  // namespace

TEST_CASE("contexts in several threads at once give the results that each gives alone") {
  const KnownProblem<double> problems[] = {known_problem<double>("poisson2d:37x29"),
                                           known_problem<double>("elasticity2d:17")};
  for (const std::string& name : host_backends())
    for (const Method method : every_method) {
      INFO(name << " " << to_string(method));
      SolveOptions options;
      options.method = method;
      std::vector<Vector<double>> expected[2];
      for (int i = 0; i < 2; ++i) {
        ThreadedContext ctx(name, 2);
        expected[i] = time_steps(ctx, options, problems[i]);
        REQUIRE(!expected[i].empty());
      }
      // Contexts and vectors are made in the threads too. Catch2's macros stay out of them.
      std::atomic<int> waiting{2}, matches{0};
      const auto work = [&](int i) {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        for (int round = 0; round < rounds; ++round) {
          ThreadedContext ctx(name, 2);
          if (same(time_steps(ctx, options, problems[i]), expected[i])) ++matches;
        }
      };
      std::thread first(work, 0), second(work, 1);
      first.join();
      second.join();
      CHECK(matches == 2 * rounds);
    }
}
