#pragma once

#include "distributed/solve_checks.hpp"

#include <cnc/distributed_amg.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// What multigrid of the whole matrix has to do on several ranks, wherever their vectors are.

namespace cnc::testing {

/// Where rows of this rank begin and end: nodes of `block` rows stay together, the last rank has the first rows, and the first rank
/// has none if so desired.
inline std::pair<index_t, index_t> rows_of_rank(index_t rows, int block, bool first_has_none) {
  const int all = world().size() - (first_has_none && world().size() > 1 ? 1 : 0);
  const int place = world().size() - 1 - world().rank();
  const auto cut = [&](int part) {
    return static_cast<index_t>(offset_t(rows / block) * std::min(part, all) / all) * block;
  };
  return {cut(place), cut(place + 1)};
}

struct Multigrid {
  const char* problem;
  AmgOptions options = {};
  offset_t whole_rows = 300;
  Method method = Method::pcg;
  bool first_has_none = false;
  int unknowns = 1;        ///< more: with rigid motions
  offset_t rank_rows = 1;  ///< so that all ranks stay
};

struct SolvedByMultigrid {
  offset_t iterations = 0, of_one = 0;  ///< on one process
  std::vector<int> ranks;               ///< that each level is on
};

/// Multigrid of the whole takes about as many iterations as that of one process.
template <class V, class Exec>
SolvedByMultigrid check_multigrid(Context<Exec>& ctx, const Multigrid& c) {
  using Space = typename Exec::memory_space;
  INFO(c.problem << " " << method_name(c.method) << " " << to_string(c.options.smoother) << ", "
                 << c.rank_rows << " rows to a rank");
  const auto problem = known_problem<V>(c.problem);
  const auto [begin, end] = rows_of_rank(problem.rows(), c.unknowns, c.first_has_none);
  const PartitionedMatrix<V> A(world(), Slice<V>(problem.A, begin, end).rows());
  AmgOptions options = c.options;
  if (c.unknowns > 1) options.block_size = c.unknowns;
  const auto M = std::make_shared<DistributedAmg<V, Exec>>(options, c.whole_rows, c.rank_rows);
  Amg<V> one(options);
  if (c.unknowns > 1) {
    std::vector<Vector<const V>> modes, own;
    for (const auto& mode : rigid_body_modes<V>(problem_coordinates(c.problem), c.unknowns)) {
      modes.push_back(mode);
      own.push_back(own_part(A, mode));
    }
    M->set_near_null_space(own);
    one.set_near_null_space(modes);
  }
  const SolveOptions solve{.method = c.method, .rtol = sizeof(V) < sizeof(double) ? 1e-5 : 1e-9};
  DistributedSolver<V, Exec> solver(ctx, solve);
  solver.set_preconditioner(M);
  solver.prepare(A);
  const Vector<V, Space> x("x", static_cast<std::size_t>(A.rows()));
  Outcome<V> outcome;
  outcome.report = solver.solve(copy_to<Space>(own_part(A, problem.b)), x);
  outcome.x = whole_of(A, copy_to<HostSpace>(x));
  check_solution(problem, outcome);

  Solver<V> alone(one_thread(), solve);
  alone.set_preconditioner(std::shared_ptr<PreconditionerBase<V>>(&one, [](auto*) {}));
  alone.prepare(problem.A);
  const SolveReport report = alone.solve(problem.b, zeros<V>(problem.rows()));
  CHECK(outcome.report.iterations <= report.iterations + 3 + report.iterations / 5);

  const AmgHierarchy& h = M->hierarchy();
  REQUIRE(h.levels.size() > 1);
  CHECK(h.levels[0].rows == problem.rows());
  CHECK(h.levels[0].nonzeros == problem.A.blocks());
  CHECK(h.levels[1].rows < 0.5 * problem.rows());
  CHECK(same_on_all(std::to_string(h.levels[1].rows) + " " + std::to_string(h.levels[1].nonzeros) +
                    " " + std::to_string(h.operator_complexity())));
  // From the levels that ranks have rows of to those that all have.
  std::vector<int> ranks;
  for (const AmgLevel& level : h.levels) {
    const int before =
        ranks.empty() ? std::max(1, world().size() - (c.first_has_none ? 1 : 0)) : ranks.back();
    ranks.push_back(level.ranks);
    if (world().size() == 1 || level.ranks == 0) {
      CHECK(level.ranks == (world().size() == 1 ? 1 : 0));
      continue;
    }
    INFO("level " << ranks.size() << " has " << level.rows << " rows on " << level.ranks
                  << " ranks, the one before is on " << before);
    const bool are_few = ranks.size() > 1 && level.rows < before * c.rank_rows;
    CHECK(level.rows > c.whole_rows);
    CHECK(level.ranks <=
          (are_few ? std::clamp<offset_t>(level.rows / c.rank_rows, 1, (before + 1) / 2) : before));
    CHECK(level.ranks >= (are_few ? 1 : before));
  }

  // The same bits again, also set up anew between solves.
  for (const bool anew : {false, true}) {
    if (anew) solver.update_values(A);
    const Vector<V, Space> again("x", static_cast<std::size_t>(A.rows()));
    CHECK(solver.solve(copy_to<Space>(own_part(A, problem.b)), again).iterations ==
          outcome.report.iterations);
    CHECK(same_bits(whole_of(A, copy_to<HostSpace>(again)), outcome.x));
  }
  return {outcome.report.iterations, report.iterations, ranks};
}

/// Coarse levels on fewer ranks, on `most` of those with rows at most, take about as many iterations: their aggregates are others.
template <class V, class Exec>
void check_gathered(Context<Exec>& ctx, Multigrid c, const std::vector<int>& most) {
  c.options.coarsest_rows = static_cast<index_t>(c.whole_rows);  // on one process, too
  const offset_t rank_rows = std::exchange(c.rank_rows, 1);
  const SolvedByMultigrid on_all = check_multigrid<V>(ctx, c);
  c.rank_rows = rank_rows;
  const SolvedByMultigrid gathered = check_multigrid<V>(ctx, c);
  CHECK(gathered.iterations <= std::max(on_all.iterations, on_all.of_one) + 2);
  const int with_rows = std::max(1, world().size() - (c.first_has_none ? 1 : 0));
  REQUIRE(gathered.ranks.size() > most.size());
  if (world().size() > 4) return;  // whose aggregates are fewer: only what holds for any number
  for (std::size_t l = 0; l < most.size(); ++l) {
    INFO(c.problem << ", level " << l + 1);
    CHECK(gathered.ranks[l + 1] == std::min(with_rows, most[l]));
  }
}
template <class Exec>
void check_gathered(Context<Exec>& ctx) {
  Multigrid c{.problem = "poisson2d:40x40", .whole_rows = 10, .rank_rows = 100};
  check_gathered<double>(ctx, c, {2, 1});
  check_gathered<float>(ctx, c, {2, 1});
  c.first_has_none = true;
  c.options.in_float = false;
  check_gathered<double>(ctx, c, {2, 1});
  c = {.problem = "poisson2d:40x40", .whole_rows = 50, .rank_rows = 100};
  check_gathered<double>(ctx, c, {2});
  c.options.cycle = AmgCycle::w;
  check_gathered<double>(ctx, c, {2});
  c.options = {.cycle = AmgCycle::k, .smoothed = false};
  c.method = Method::pcg_flexible;
  check_gathered<double>(ctx, c, {2});
  c = {.problem = "poisson2d:40x40", .whole_rows = 10, .rank_rows = 160};
  c.options.smoother = AmgSmoother::l1_jacobi;
  check_gathered<double>(ctx, c, {1, 1});
  c = {.problem = "convection3d:12:1", .whole_rows = 20, .method = Method::bicgstab};
  c.rank_rows = 200;
  check_gathered<double>(ctx, c, {1});
  c = {.problem = "elasticity3d:7", .whole_rows = 50, .unknowns = 3, .rank_rows = 120};
  check_gathered<double>(ctx, c, {1});
}

template <class Exec>
void check_multigrid(Context<Exec>& ctx) {
  check_multigrid<double>(ctx, {"poisson3d:16"});
  check_multigrid<double>(ctx, {.problem = "poisson3d:16", .whole_rows = 5000});  // there at once
  check_multigrid<double>(ctx,
                          {.problem = "poisson2d:40x40", .whole_rows = 60, .first_has_none = true});
  check_multigrid<double>(ctx,
                          {.problem = "anisotropic2d:40:0.01", .options = {.in_float = false}});
  check_multigrid<double>(ctx, {.problem = "poisson2d:40x40",
                                .options = {.smoother = AmgSmoother::l1_jacobi},
                                .method = Method::bicgstab});
  check_multigrid<double>(ctx, {.problem = "poisson2d:40x40",
                                .options = {.cycle = AmgCycle::k, .smoothed = false},
                                .method = Method::pcg_flexible});
  check_multigrid<double>(ctx, {.problem = "convection3d:12:1", .method = Method::bicgstab});
  check_multigrid<double>(ctx, {.problem = "elasticity3d:7", .whole_rows = 100, .unknowns = 3});
  check_multigrid<float>(ctx, {"poisson2d:40x40"});
}

}  // namespace cnc::testing
