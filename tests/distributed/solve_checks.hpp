#pragma once

#include "distributed/distributed_test.hpp"
#include "support/same_matrix.hpp"
#include "support/singular_problem.hpp"

#include <cnc/distributed_amg.hpp>

#include <cmath>
#include <cstring>

// What solves of several ranks are checked for, in any memory.

namespace cnc::testing {

/// What all ranks together have found.
template <class V>
struct Outcome {
  SolveReport report;
  Vector<V> x;
};

/// For a partition of the problem's matrix.
template <class V, class Exec>
Outcome<V> solve_in_parts(Context<Exec>& ctx, const PartitionedMatrix<V>& A,
                          const KnownProblem<V>& problem, const SolveOptions& options,
                          std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner = nullptr) {
  using Space = typename Exec::memory_space;
  DistributedSolver<V, Exec> solver(ctx, options);
  if (preconditioner) solver.set_preconditioner(preconditioner);
  solver.prepare(A);
  const Vector<V, Space> x("x", static_cast<std::size_t>(A.rows()));
  Outcome<V> outcome;
  outcome.report = solver.solve(copy_to<Space>(own_part(A, problem.b)), x);
  outcome.x = whole_of(A, copy_to<HostSpace>(x));
  return outcome;
}
template <class V, class Exec>
Outcome<V> solve_in_parts(Context<Exec>& ctx, const KnownProblem<V>& problem,
                          const SolveOptions& options,
                          std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner = nullptr) {
  return solve_in_parts(ctx, partitioned(problem.A), problem, options, std::move(preconditioner));
}

template <class V>
SolveReport solve_as_one(const KnownProblem<V>& problem, SolveOptions options) {
  options.form = is_phased(options.method) ? SolveForm::fused_steps : SolveForm::automatic;
  Solver<V> solver(one_thread(), options);
  solver.prepare(problem.A);
  return solver.solve(problem.b, zeros<V>(problem.rows()));
}

/// The true residual is that of the whole matrix, and the solution the known one.
template <class V>
void check_solution(const KnownProblem<V>& problem, const Outcome<V>& outcome) {
  const SolveReport& report = outcome.report;
  CHECK(report.status == SolveStatus::converged);
  const Residual residual = residual_of(problem.A, problem.b, outcome.x);
  const bool normal = method_facts(report.method).least_squares;
  const double computed = normal ? report.least_squares_residual : report.true_residual;
  CHECK(std::abs(residual.norm - computed) <= residual.rounding + 1e-6 * residual.norm);
  if (!normal) CHECK(residual.norm <= report.tolerance + residual.rounding);
  CHECK(same_on_all(std::to_string(report.iterations) + " " + std::to_string(report.true_residual) +
                    " " + to_string(report.status) + " " + report.choice));
}

/// Histories are the same within rounding, which grows on the way: compared are `count` iterations at most, to a hundredth.
inline void check_histories(const std::vector<double>& history, const std::vector<double>& expected,
                            std::size_t count) {
  const std::size_t both = std::min({history.size(), expected.size(), count});
  CHECK(both > 2);
  for (std::size_t k = 0; k < both && expected[k] > 1e-2 * expected[0]; ++k) {
    INFO("iteration " << k);
    CHECK(std::abs(history[k] - expected[k]) <= 1e-6 * expected[k]);
  }
}

/// Solves by every method, without a preconditioner and with Jacobi.
template <class Exec>
void check_methods(Context<Exec>& ctx) {
  struct Case {
    const char* text;
    bool symmetric;
  };
  for (const Case& c :
       {Case{"poisson2d:15x14", true}, {"elasticity3d:2", true}, {"convection3d:6:2", false}}) {
    const auto problem = known_problem<double>(c.text);
    for (int m = 0; m < all_method_count; ++m) {
      const MethodFacts& facts = method_facts(Method(m));
      if (facts.stationary || (facts.symmetric && !c.symmetric)) continue;
      for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        // That of A^T A is one of the own block, and another one on one process.
        if (kind == PreconditionerKind::jacobi && facts.normal_equations) continue;
        INFO(c.text << " " << facts.name << " " << int(kind));
        const SolveOptions options{.method = Method(m), .preconditioner = kind, .rtol = 1e-9};
        const Outcome<double> outcome = solve_in_parts(ctx, problem, options);
        const SolveReport one = solve_as_one(problem, options);
        check_solution(problem, outcome);
        CHECK(std::abs(outcome.report.iterations - one.iterations) <= 4 + one.iterations / 10);
        check_histories(outcome.report.history, one.history,
                        facts.normal_equations ? 10 : 1000);  // their condition is squared
        CHECK(std::abs(outcome.report.initial_residual - one.initial_residual) <=
              1e-12 * one.initial_residual);
      }
    }
  }
}

/// The automatic choice comes to a method with products with A^T within a solve: a cyclic shift stops all others. Once more, with
/// other values, and over another communicator.
template <class Exec>
void check_choice_with_transpose(Context<Exec>& ctx) {
  using Space = typename Exec::memory_space;
  constexpr index_t n = 24;
  KnownProblem<double> problem{"shift", {}, zeros<double>(n), zeros<double>(n)};
  problem.b(0) = 1;
  const Communicator other;
  DistributedSolver<double, Exec> solver(ctx, {.method = Method::automatic, .restart = 2});
  for (const double value : {2.0, 4.0, 8.0}) {
    INFO(value);
    problem.A = cyclic_shift(n, value);
    problem.solution(1) = 1 / value;
    const PartitionedMatrix<double> A = partitioned(problem.A, value == 8 ? other : world());
    value == 2 ? solver.prepare(A) : solver.update_values(A);
    for (int k = 0; k < 2; ++k) {
      const Vector<double, Space> x("x", static_cast<std::size_t>(A.rows()));
      const SolveReport report = solver.solve(copy_to<Space>(own_part(A, problem.b)), x);
      CHECK(report.method == Method::cgnr);
      check_solution(problem, {report, whole_of(A, copy_to<HostSpace>(x))});
    }
  }
}

template <class Exec>
void check_preconditioners(Context<Exec>& ctx) {
  const auto problem = known_problem<double>("poisson2d:24x20");
  const auto check = [&](std::shared_ptr<PreconditionerBase<double, Exec>> M, Method method) {
    INFO(M->name() << " " << method_name(method));
    check_solution(problem, solve_in_parts(ctx, problem, {.method = method}, M));
  };
  check(std::make_shared<IncompleteFactorization<double, Exec>>(
            IncompleteOptions{.kind = IncompleteKind::ic0}),
        Method::pcg);
  check(std::make_shared<IncompleteFactorization<double, Exec>>(
            IncompleteOptions{.kind = IncompleteKind::ilu0}),
        Method::gmres);
  check(std::make_shared<Amg<double, Exec>>(), Method::pcg);
  check(std::make_shared<Amg<double, Exec>>(), Method::bicgstab);
  const auto blocks = known_problem<double>("elasticity3d:3");
  check_solution(blocks, solve_in_parts(ctx, blocks,
                                        {.preconditioner = PreconditionerKind::block_jacobi,
                                         .preconditioner_block_size = 3}));
}

/// A rank for each of so many own rows: the rows of a rank go to all, but for the first where there are several.
inline std::vector<int> to_others(index_t rows) {
  const int first = world().size() > 1 ? 1 : 0, receivers = world().size() - first;
  std::vector<int> list;
  for (index_t i = 0; i < rows; ++i)
    list.push_back(first + (static_cast<int>(i) + world().rank()) % receivers);
  return list;
}

/// Rows that prepare moves: b and x are those of the caller's rows. `part` makes what he has of a matrix.
template <class Exec, class Part>
void check_moved(Context<Exec>& ctx, const CsrMatrix<double>& matrix, const Part& part,
                 const PartitionOptions& partition, SolveOptions options) {
  using Space = typename Exec::memory_space;
  INFO(to_string(partition.kind) << " " << int(options.reordering));
  options.rtol = 1e-9;
  DistributedSolver<double, Exec> solver(ctx, options);
  auto problem = with_known_solution("moved", matrix);
  for (const double factor : {1.0, 1.5, 0.5}) {  // of the values above the diagonal
    problem.A.values = Vector<double>("values", matrix.values.extent(0));
    for (index_t i = 0; i < matrix.rows; ++i)
      for (index_t k = matrix.row_offsets(i); k < matrix.row_offsets(i + 1); ++k)
        problem.A.values(k) = matrix.values(k) * (matrix.columns(k) > i ? factor : 1);
    problem.b = product(problem.A, problem.solution);
    const PartitionedMatrix<double> A = part(problem.A);
    factor == 1 ? solver.prepare(A, partition) : solver.update_values(A);
    const Vector<double, Space> b = copy_to<Space>(own_part(A, problem.b)), x("x", b.extent(0));
    const SolveReport report = solver.solve(b, x);
    const Vector<double> found = whole_of(A, copy_to<HostSpace>(x));
    check_solution(problem, {report, found});
    CHECK(relative_difference(found, problem.solution) < 1e-6);
    CHECK(solver.solve(b, x).iterations == 0);  // what it begins with goes there, too
  }
}
template <class Exec>
void check_moved(Context<Exec>& ctx) {
  const CsrMatrix<double> A = shuffled(generate_problem("poisson2d:20x18"));
  const auto own = [](const CsrMatrix<double>& of) { return partitioned(of); };
  const auto numbered = [](const CsrMatrix<double>& of) {
    return PartitionedMatrix<double>(world(), Dealt(of).rows());
  };
  SolveOptions options{.method = Method::bicgstab};
  for (const auto within : {Reordering::none, Reordering::rcm}) {
    options.reordering = within;
    check_moved(ctx, A, own, {}, options);
    check_moved(ctx, A, numbered, {}, options);
    const std::vector<int> list = to_others(numbered(A).rows());
    check_moved(ctx, A, numbered, {.kind = Partition::given, .rank_of_row = list}, options);
  }
#ifdef CNC_HAVE_METIS
  check_moved(ctx, A, own, {.kind = Partition::graph}, options);
  options.method = Method::bicg;  // with the transpose, too
  check_moved(ctx, A, numbered, {.kind = Partition::graph}, options);
#endif
}

/// Singular systems, as on one process.
template <class Exec>
void check_null_spaces(Context<Exec>& ctx) {
  using Space = typename Exec::memory_space;
  const auto P = neumann_problem(neumann_laplacian("poisson2d:19x17"));
  const auto A = partitioned(P.A);
  const auto start = [](const PartitionedMatrix<double>& of) {
    const Vector<double, Space> x("x", static_cast<std::size_t>(of.rows()));
    Kokkos::deep_copy(x, 3.0);  // a constant in the guess goes, too
    return x;
  };
  SolveOptions options{.rtol = 1e-9, .null_space = NullSpace::constant};
  for (const Method method : {Method::pcg, Method::pcg_single_reduction, Method::minres,
                              Method::bicgstab, Method::gmres}) {
    INFO(method_name(method));
    options.method = method;
    DistributedSolver<double, Exec> solver(ctx, options);
    solver.prepare(A);
    const Vector<double, Space> b = copy_to<Space>(own_part(A, P.b)), x = start(A);
    const SolveReport report = solver.solve(b, x);
    const Vector<double> found = whole_of(A, copy_to<HostSpace>(x));
    check_solution(P, {report, found});
    CHECK(std::abs(sum_of(found, 0, P.rows())) < 1e-9 * P.rows());
    CHECK(relative_difference(found, P.solution) < 1e-5);
    CHECK(std::abs(report.iterations - solve_as_one(P, options).iterations) <= 4);

    const Vector<double> more = own_part(A, P.b);
    for (std::size_t i = 0; i < more.extent(0); ++i) more(i) += 0.25;
    const SolveReport inside = solver.solve(copy_to<Space>(more), start(A));
    CHECK(inside.status == SolveStatus::inconsistent);
    CHECK(inside.true_residual == Approx(0.25 * std::sqrt(double(P.rows()))));
    CHECK(same_on_all(inside.detail));
  }

  // New values of the last rank alone: such as float does not hold, and such as are not symmetric. It lays out anew.
  for (const char* format : {"auto", "bsell:1"}) {
    INFO(format);
    options.method = Method::bicgstab;
    options.format = parse_format(format);
    DistributedSolver<double, Exec> solver(ctx, options);
    solver.prepare(A);
    auto changed = P;
    changed.A.values = Vector<double>("values", P.A.values.extent(0));
    Kokkos::deep_copy(changed.A.values, P.A.values);
    const auto add = [&](index_t row, index_t column, double value) {
      for (index_t k = P.A.row_offsets(row); k < P.A.row_offsets(row + 1); ++k)
        if (P.A.columns(k) == column) changed.A.values(k) += value;
    };
    const index_t corner[] = {P.rows() - 1, P.rows() - 2, P.rows() - 21, P.rows() - 20};
    for (const bool flows : {false, true}) {
      INFO(flows);
      for (int k = 0; k < (flows ? 4 : 1);
           ++k) {  // around a cell, or along one edge: rows and columns still add up to zero
        const index_t i = corner[k], j = corner[(k + 1) % 4];
        const double value = flows ? 0.25 : -1 / 3.0;
        add(i, j, value);
        add(j, i, flows ? -value : value);
        if (!flows) add(i, i, -value);
        if (!flows) add(j, j, -value);
      }
      changed.b = product(changed.A, changed.solution);
      const PartitionedMatrix<double> now = partitioned(changed.A);
      solver.update_values(now);
      const Vector<double, Space> x = start(now);
      const SolveReport report = solver.solve(copy_to<Space>(own_part(now, changed.b)), x);
      check_solution(changed, {report, whole_of(now, copy_to<HostSpace>(x))});
    }
  }
  options.format = {};

  // Multigrid; and rows that prepare moves, with vectors of the caller's rows.
  const auto two = with_known_solution("two", twice(neumann_laplacian("poisson2d:14x15")));
  const index_t half = two.rows() / 2;
  const PartitionedMatrix<double> rows(world(), Dealt(two.A).rows());
  std::vector<Vector<const double, Space>> parts;
  for (const bool second : {false, true}) {
    const Vector<double> part("part", static_cast<std::size_t>(two.rows()));
    for (index_t i = 0; i < half; ++i) part(i + (second ? half : 0)) = 2;
    parts.push_back(copy_to<Space>(own_part(rows, part)));
  }
  for (const bool with_multigrid : {false, true}) {
    options = {.rtol = 1e-9};
    if (!with_multigrid) options.reordering = Reordering::rcm;
    DistributedSolver<double, Exec> solver(ctx, options);
    if (with_multigrid) solver.set_preconditioner(std::make_shared<DistributedAmg<double, Exec>>());
    solver.set_null_space(parts);
    solver.prepare(rows, {});
    if (world().rank() == 0) solver.set_null_space({});  // of the next prepare
    const Vector<double, Space> x = start(rows);
    const SolveReport report = solver.solve(copy_to<Space>(own_part(rows, two.b)), x);
    const Vector<double> found = whole_of(rows, copy_to<HostSpace>(x));
    check_solution(two, {report, found});
    CHECK(std::abs(sum_of(found, 0, half)) < 1e-9 * half);
    CHECK(std::abs(sum_of(found, half, two.rows())) < 1e-9 * half);
  }
}

/// A float matrix under double vectors, which the true residual is not of.
template <class Exec>
void check_storage_in_float(Context<Exec>& ctx) {
  auto P = known_problem<double>("poisson2d:15x14");
  for (index_t i = 0; i < P.rows(); ++i)  // D A D with values that float does not hold
    for (index_t k = P.A.row_offsets(i); k < P.A.row_offsets(i + 1); ++k)
      P.A.values(k) *= (1 + i % 7 / 10.0) * (1 + P.A.columns(k) % 7 / 10.0);
  P.b = product(P.A, P.solution);
  SolveOptions options{.storage = StoragePrecision::f32, .rtol = 1e-12};
  for (const Method method :
       {Method::pcg, Method::pcg_single_reduction, Method::bicgstab, Method::gmres, Method::cgnr})
    for (const char* format : {"auto", "bsell:1"}) {
      INFO(method_name(method) << " " << format);
      options.method = method;
      options.format = parse_format(format);
      options.preconditioner = method_facts(method).normal_equations ? PreconditionerKind::none
                                                                     : PreconditionerKind::jacobi;
      const Outcome<double> outcome = solve_in_parts(ctx, P, options);
      check_solution(P, outcome);
      CHECK(outcome.report.restarts > 0);
      CHECK(outcome.report.values_in_float);
      const SolveReport one = solve_as_one(P, options);
      CHECK(std::abs(outcome.report.iterations - one.iterations) <= 8 + one.iterations / 5);
    }

  // In float 2 x 2 blocks are singular, on all ranks or on the last one alone: then all go on in double.
  for (const bool on_all : {true, false}) {
    INFO(on_all);
    constexpr index_t n = 48;
    std::vector<Triplet<double>> entries;
    for (index_t i = 0; i < n; i += 2)
      for (const index_t j : {i, i + 1}) {
        entries.push_back({j, j, 1.0});
        entries.push_back({j, i + i + 1 - j, on_all || i > n - 4 ? 1 - 1e-9 : 0.5});
      }
    const auto pairs = with_known_solution("pairs", csr_from_triplets<double>(n, n, entries));
    const auto A = scattered(pairs.A, {.block_size = 2});
    const SolveOptions of_pairs{.preconditioner = PreconditionerKind::none,
                                .storage = StoragePrecision::f32,
                                .rtol = 1e-11};
    const Outcome<double> outcome = solve_in_parts(ctx, A, pairs, of_pairs);
    check_solution(pairs, outcome);
    CHECK(!outcome.report.values_in_float);
    CHECK_THAT(outcome.report.choice,
               Catch::Matchers::ContainsSubstring("with the matrix in float"));
  }
}

/// A first row so long that a thread by itself would take long over its entries in columns of others, who have it in short rows:
/// each kind takes a way of its own through a product, in the same run.
template <class Exec>
void check_long_row(Context<Exec>& ctx) {
  constexpr index_t n = 300;
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < n; ++i) entries.push_back({i, i, i == 0 ? 90.0 : 3.0 + i % 5});
  for (index_t i = 1; i < n; ++i) {
    entries.push_back({0, i, -0.5 / (1 + i % 3)});
    entries.push_back({i, 0, -0.5 / (1 + i % 3)});
  }
  const auto problem =
      with_known_solution<double>("arrow", csr_from_triplets<double>(n, n, entries));
  for (const Method method :
       {Method::pcg, Method::pcg_pipelined, Method::bicgstab, Method::bicg, Method::cgnr}) {
    INFO(method_name(method));
    const SolveOptions options{
        .method = method, .preconditioner = PreconditionerKind::none, .rtol = 1e-9};
    const Outcome<double> outcome = solve_in_parts(ctx, problem, options);
    check_solution(problem, outcome);
    check_histories(outcome.report.history, solve_as_one(problem, options).history,
                    method == Method::cgnr ? 5 : 10);
  }
}

template <class Exec>
void check_bits(Context<Exec>& ctx) {
  const auto problem = known_problem<double>("poisson3d:7");
  for (const Method method : {Method::pcg, Method::bicgstab, Method::gmres}) {
    INFO(method_name(method));
    const Outcome<double> first = solve_in_parts(ctx, problem, {.method = method}),
                          second = solve_in_parts(ctx, problem, {.method = method});
    CHECK(same_bits(first.x, second.x));
    CHECK(first.report.history == second.report.history);
  }
}

}  // namespace cnc::testing
