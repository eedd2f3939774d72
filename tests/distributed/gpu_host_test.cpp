#include "distributed/multigrid_checks.hpp"

#include "support/gpu_host/backends.hpp"
#include "support/scoped_value.hpp"

#include <cnc/distributed_automatic.hpp>

#include <target/tuning.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

// Ranks with a device each, without devices: kernels of backends/gpu on the host, each process a device of its own, which reach each
// other's memory, as memory that processes share, or exchange by messages, of MPI.

using namespace cnc;
using namespace cnc::testing;

namespace {

Context<>& emulated() {
  static std::unique_ptr<Context<>> ctx;
  if (!ctx) {
    ctx = std::make_unique<Context<>>(*gpu_host_backends().front().whole);
    Kokkos::push_finalize_hook([] { ctx.reset(); });
  }
  return *ctx;
}

struct ByMessages : LimitedLink {
  ByMessages() : LimitedLink(RankLink::messages) {}
};

/// In each other's memory, and by messages.
template <class Check>
void check_both_ways(const Check& check) {
  check();
  const ByMessages scope;
  check();
}

/// How a solve was done, in words.
std::string form_of(const SolveOptions& options, const char* problem = "poisson2d:15x14") {
  return to_string(solve_in_parts(emulated(), known_problem<double>(problem), options).report.form);
}

}  // namespace

TEST_CASE("emulated devices write into each other's memory") {
  DistributedSolver<double> solver(emulated());
  solver.prepare(partitioned(known_problem<double>("poisson2d:9x9").A));
  CHECK(solver.link() == RankLink::devices);
  // Runs go on without the host, in one launch where rows fit on chip.
  CHECK(form_of({}) == to_string(SolveForm::one_meeting));
  CHECK(form_of({.method = Method::minres}) == to_string(SolveForm::graph));
  CHECK(form_of({.form = SolveForm::streamed}) == to_string(SolveForm::streamed));
  CHECK(form_of({.form = SolveForm::fused_steps}) == to_string(SolveForm::fused_steps));
  for (const Method method : {Method::bicg, Method::cgnr, Method::lsqr})
    CHECK(form_of({.method = method}) == to_string(SolveForm::graph));
  CHECK_THAT(
      thrown_by([] { form_of({.form = SolveForm::resident}); }),
      Catch::Matchers::ContainsSubstring(
          "the forms 'fused', 'run', 'streamed', 'graph', 'one-meeting' of pcg, not 'resident'"));
}
TEST_CASE("emulated devices exchange in a lesser way if asked") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  const Communicator own;
  own.limit_link(own.rank() == 0 ? RankLink::devices : RankLink::mpi);  // the least counts
  const PartitionedMatrix<double> A = partitioned(problem.A, own);
  DistributedSolver<double> solver(emulated());
  solver.prepare(A);
  CHECK(solver.link() == RankLink::mpi);
  const Outcome<double> outcome = solve_in_parts(emulated(), A, problem, {});
  CHECK(outcome.report.form == SolveForm::fused_steps);
  check_solution(problem, outcome);
  own.limit_link(RankLink::devices);
  solver.prepare(A);
  CHECK(solver.link() == RankLink::devices);
}
TEST_CASE("emulated devices exchange by messages") {
  const ByMessages scope;
  DistributedSolver<double> solver(emulated());
  solver.prepare(partitioned(known_problem<double>("poisson2d:9x9").A));
  CHECK(solver.link() == RankLink::messages);
  CHECK(form_of({}) == to_string(SolveForm::graph));
  for (const SolveForm form : {SolveForm::streamed, SolveForm::graph, SolveForm::fused_steps})
    CHECK(form_of({.form = form}) == to_string(form));
  for (const Method method : {Method::bicg, Method::cgnr, Method::lsqr})
    CHECK(form_of({.method = method}) == to_string(SolveForm::graph));
  CHECK_THAT(thrown_by([] { form_of({.form = SolveForm::one_meeting}); }),
             Catch::Matchers::ContainsSubstring("one-meeting"));
}
TEST_CASE("ranks of emulated devices have the residuals of hosts") { check_methods(emulated()); }
TEST_CASE("ranks of emulated devices have the residuals of hosts by messages") {
  const ByMessages scope;
  check_methods(emulated());
}
TEST_CASE("ranks of emulated devices choose methods with the transpose") {
  check_both_ways([] { check_choice_with_transpose(emulated()); });
}
TEST_CASE("ranks of emulated devices have preconditioners of their blocks") {
  check_both_ways([] { check_preconditioners(emulated()); });
}
TEST_CASE("ranks of emulated devices have multigrid of the whole matrix") {
  check_both_ways([] { check_multigrid(emulated()); });
}
TEST_CASE("ranks of emulated devices choose a preconditioner together") {
  check_both_ways([] {
    const auto problem = known_problem<double>("poisson2d:30x20");
    const auto object =
        std::make_shared<DistributedAutomaticPreconditioner<double>>(AutomaticOptions{1000});
    const std::shared_ptr<PreconditionerBase<double>> given = object;
    check_solution(problem, solve_in_parts(emulated(), problem, {.rtol = 1e-9}, given));
    CHECK(object->name() == "amg");
    CHECK(same_on_all(object->choice()));
  });
}
TEST_CASE("ranks of emulated devices have coarse levels of multigrid on fewer ranks") {
  check_both_ways([] { check_gathered(emulated()); });
}
TEST_CASE("ranks of emulated devices store values in float under double vectors") {
  check_both_ways([] { check_storage_in_float(emulated()); });
}
TEST_CASE("ranks of emulated devices solve singular systems") {
  check_both_ways([] { check_null_spaces(emulated()); });
}
TEST_CASE("ranks of emulated devices solve where prepare has moved the rows to") {
  check_both_ways([] { check_moved(emulated()); });
}
TEST_CASE("ranks of emulated devices have the same bits on every run") {
  check_both_ways([] { check_bits(emulated()); });
}
TEST_CASE("ranks of emulated devices multiply rows with many entries in columns of others") {
  check_both_ways([] { check_long_row(emulated()); });
}
TEST_CASE(
    "ranks of emulated devices have the residuals by messages that they have in each other's "
    "memory") {
  const auto problem = known_problem<double>("poisson3d:7");
  for (const Method method : {Method::pcg, Method::pcg_pipelined, Method::bicgstab}) {
    INFO(method_name(method));
    SolveOptions options{.method = method, .form = SolveForm::graph};
    if (method == Method::pcg) {  // runs shorter than a graph
      options.callback_interval = 3;
      options.callback = [](const Progress&) { return true; };
    }
    const Outcome<double> in_memory = solve_in_parts(emulated(), problem, options);
    const ByMessages scope;
    const Outcome<double> by_messages = solve_in_parts(emulated(), problem, options);
    check_solution(problem, by_messages);
    CHECK(in_memory.report.iterations == by_messages.report.iterations);
    check_histories(in_memory.report.history, by_messages.report.history, 1000);
  }
}
TEST_CASE("emulated devices with messages end together when a callback throws on one") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  const int last = world().size() - 1;
  const Communicator own;  // not to be used afterwards
  own.limit_link(RankLink::messages);
  const std::string text = thrown_by([&] {
    SolveOptions options{.callback_interval = 1};
    options.callback = [&](const Progress& p) {
      if (own.rank() == last && p.iteration == 5) throw InvalidArgument("told");
      return true;
    };
    solve_in_parts(emulated(), partitioned(problem.A, own), problem, options);
  });
  CHECK(text == (own.rank() == last ? "told" : "rank " + std::to_string(last) + ": told"));
}

TEST_CASE("emulated devices meet once for each product") {
  for (const char* const text : {"poisson2d:15x14", "poisson3d:8", "elasticity3d:2", "wathen:4x5",
                                 "poisson2d:3x40", "convection3d:7:2"}) {
    const auto problem = known_problem<double>(text);
    for (const Method method : {Method::pcg, Method::pcg_single_reduction, Method::bicgstab})
      for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        INFO(text << " " << method_name(method) << " " << int(kind));
        if (problem.A.rows == 343 && method_facts(method).symmetric) continue;
        const SolveOptions options{
            .method = method, .form = SolveForm::one_meeting, .preconditioner = kind, .rtol = 1e-9};
        const Outcome<double> outcome = solve_in_parts(emulated(), problem, options);
        check_solution(problem, outcome);
        CHECK(outcome.report.form == SolveForm::one_meeting);
        check_histories(outcome.report.history, solve_as_one(problem, options).history, 1000);
        CHECK(same_bits(solve_in_parts(emulated(), problem, options).x, outcome.x));
      }
  }
}

TEST_CASE("emulated devices: runs of few iterations go on where the last one was") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const Vector<double> b = own_part(A, problem.b);
  for (const Method method : {Method::pcg, Method::pcg_single_reduction, Method::bicgstab}) {
    SolveOptions options{.method = method, .rtol = 1e-9};
    const SolveReport one = solve_as_one(problem, options);
    int calls = 0;
    options.callback_interval = 3;
    options.callback = [&](const Progress&) {
      ++calls;
      return true;
    };
    for (const bool at_once : {true, false}) {
      INFO(method_name(method) << " " << at_once);
      std::optional<ScopedValue<double>> parts_later;
      if (!at_once) parts_later.emplace(gpu::tuning::seconds_of_parts_at_once, 0.0);
      // Some ranks have another format, so that grids are made as others are.
      options.format = parse_format(world().rank() == 0 ? "dia-symmetric" : "csr");
      DistributedSolver<double> solver(emulated(), options);
      solver.prepare(A);
      const Vector<double> x("x", b.extent(0));
      const SolveReport report = solver.solve(b, x);
      check_solution(problem, {report, whole_of(A, x)});
      CHECK(report.form == SolveForm::one_meeting);
      CHECK(std::abs(report.iterations - one.iterations) <= 2);
      check_histories(report.history, one.history, 1000);
    }
    CHECK(calls > 10);
  }
}

TEST_CASE("emulated devices: values that change, and such as one meeting is not for") {
  auto problem = known_problem<double>("poisson2d:15x14");
  DistributedSolver<double> solver(emulated(), {.method = Method::pcg, .rtol = 1e-9});
  solver.prepare(partitioned(problem.A));
  const auto solve = [&] {
    const PartitionedMatrix<double> A = partitioned(problem.A);
    const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
    const SolveReport report = solver.solve(b, x);
    check_solution(problem, {report, whole_of(A, x)});
    return report.form;
  };
  CHECK(solve() == SolveForm::one_meeting);
  // Of D A D another diagonal for each row.
  for (index_t i = 0; i < problem.rows(); ++i)
    for (index_t k = problem.A.row_offsets(i); k < problem.A.row_offsets(i + 1); ++k)
      problem.A.values(k) *= (1 + i % 3) * (1 + problem.A.columns(k) % 3);
  problem.b = product(problem.A, varied_vector<double>(problem.rows()));
  solver.update_values(partitioned(problem.A));
  CHECK(solve() == SolveForm::one_meeting);
  // Values that float does not hold, on one rank: the matrix is laid out anew there.
  const index_t last = problem.rows() - 1;
  problem.A.values(problem.A.row_offsets(last + 1) - 1) += 0.1;
  problem.b = product(problem.A, varied_vector<double>(problem.rows()));
  solver.update_values(partitioned(problem.A));
  CHECK(solve() == SolveForm::one_meeting);
  CHECK(solve() == SolveForm::one_meeting);
}

TEST_CASE("emulated devices multiply with the transpose of other values") {
  const auto check = [] {
    auto problem = known_problem<double>("convection3d:5:2");
    for (const Method method : {Method::bicg, Method::cgnr, Method::lsqr}) {
      INFO(method_name(method));
      DistributedSolver<double> solver(
          emulated(), {.method = method, .preconditioner = PreconditionerKind::none, .rtol = 1e-9});
      solver.prepare(partitioned(problem.A));
      // Not the same in rows and in columns; lsqr and bicg would stall with the old ones.
      const double factors[] = {1, 1.25, 0.75};
      for (const double factor : factors) {
        for (index_t i = 0; i < problem.rows(); ++i)
          for (index_t k = problem.A.row_offsets(i); k < problem.A.row_offsets(i + 1); ++k)
            if (problem.A.columns(k) > i) problem.A.values(k) *= factor;
        problem.b = product(problem.A, varied_vector<double>(problem.rows()));
        const PartitionedMatrix<double> changed = partitioned(problem.A);
        solver.update_values(changed);
        const Vector<double> b = own_part(changed, problem.b), x("x", b.extent(0));
        const SolveReport report = solver.solve(b, x);
        CHECK(report.form == SolveForm::graph);
        check_solution(problem, {report, whole_of(changed, x)});
      }
    }
  };
  check_both_ways(check);
}

TEST_CASE("emulated devices: float vectors, and ranks without rows") {
  const auto check = [] {
    const auto in_float = known_problem<float>("poisson2d:16x16");
    for (const Method method : {Method::pcg, Method::bicg})
      check_solution(in_float,
                     solve_in_parts(emulated(), in_float, {.method = method, .rtol = 1e-5}));
    const auto few = known_problem<double>("trefethen:2");
    for (const Method method : {Method::pcg, Method::bicgstab, Method::bicg, Method::gmres})
      CHECK(solve_in_parts(emulated(), few, {.method = method}).report.converged());
  };
  check_both_ways(check);
}

namespace {

/// Devices soon give up waiting for each other.
auto few_polls(std::uint32_t polls = 20000) {
  return ScopedValue<std::uint32_t>(gpu::tuning::most_polls, polls);
}

/// z := r between passes, after something that may take its time.
class Identity final : public PreconditionerBase<double> {
 public:
  explicit Identity(std::function<void(int call)> before, bool only_enqueues = true)
      : before_(std::move(before)), only_enqueues_(only_enqueues) {}
  std::string name() const override { return "identity"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<>&, const CsrMatrix<double>&, const Matrix<double>&) override {
    return {};
  }
  bool only_enqueues() const override { return only_enqueues_; }
  void apply(const Context<>&, const Vector<const double>& r,
             const Vector<double>& z) const override {
    before_(++calls_);
    Kokkos::deep_copy(z, r);
  }
  int calls() const { return calls_; }

 private:
  std::function<void(int)> before_;
  bool only_enqueues_;
  mutable int calls_ = 0;
};

}  // namespace

TEST_CASE(
    "emulated devices: a preconditioner that does not only enqueue on one rank keeps all from "
    "runs") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  const std::shared_ptr<PreconditionerBase<double>> identity =
      std::make_shared<Identity>([](int) {}, world().rank() != 0);
  const Outcome<double> outcome = solve_in_parts(emulated(), problem, {.rtol = 1e-9}, identity);
  check_solution(problem, outcome);
  CHECK(outcome.report.form == SolveForm::fused_steps);
}

TEST_CASE("emulated devices: what is between passes is enqueued equally often on all ranks") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  std::optional<ByMessages> scope;
  if (GENERATE(false, true)) scope.emplace();
  DistributedSolver<double> solver(emulated(), {.form = SolveForm::streamed, .rtol = 1e-12});
  const auto identity = std::make_shared<Identity>([](int call) {
    if (world().rank() == 0 && call % 3 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  solver.set_preconditioner(identity);
  const PartitionedMatrix<double> A = partitioned(problem.A);
  solver.prepare(A);
  const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
  const SolveReport report = solver.solve(b, x);
  CHECK(report.converged());
  CHECK(report.iterations > 32);
  CHECK(identity->calls() >= report.iterations);
  CHECK(same_on_all(std::to_string(identity->calls())));
}

namespace {

/// Multigrid of the whole matrix whose exchanges are enqueued between passes.
class EnqueuedAmg final : public PartitionedPreconditioner<double> {
 public:
  explicit EnqueuedAmg(offset_t rank_rows) : amg_({}, 60, rank_rows) {}
  std::string name() const override { return amg_.name(); }
  double bytes(index_t rows, offset_t nonzeros) const override {
    return amg_.bytes(rows, nonzeros);
  }
  void take(const PartitionedMatrix<double>& A) override { amg_.take(A); }
  void require_all() const override { amg_.require_all(); }
  PreconditionerSetup set_up(Context<>& ctx, const CsrMatrix<double>& A,
                             const Matrix<double>& layout) override {
    return amg_.set_up(ctx, A, layout);
  }
  bool only_enqueues() const override { return true; }
  void apply(const Context<>& ctx, const Vector<const double>& r,
             const Vector<double>& z) const override {
    amg_.apply(ctx, r, z);
  }

 private:
  DistributedAmg<double> amg_;
};

}  // namespace

TEST_CASE("emulated devices: multigrid of the whole matrix between passes of a run") {
  const auto problem = known_problem<double>("poisson2d:40x40");
  std::optional<ByMessages> scope;
  if (GENERATE(false, true)) scope.emplace();
  const offset_t rank_rows = GENERATE(1, 1000);
  for (const SolveForm form : {SolveForm::streamed, SolveForm::fused_steps}) {
    const auto multigrid = std::make_shared<EnqueuedAmg>(rank_rows);
    const Outcome<double> outcome = solve_in_parts<double, Kokkos::DefaultHostExecutionSpace>(
        emulated(), problem, {.form = form, .rtol = 1e-9}, multigrid);
    check_solution(problem, outcome);
    CHECK(outcome.report.form == form);
    CHECK(outcome.report.iterations < 20);
  }
}
TEST_CASE("emulated devices with messages end together when what is between passes throws on one") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  const int last = world().size() - 1;
  const Communicator own;  // not to be used afterwards
  own.limit_link(RankLink::messages);
  DistributedSolver<double> solver(emulated(), {.form = SolveForm::streamed});
  solver.set_preconditioner(std::make_shared<Identity>([&](int call) {
    if (call == 5 && own.rank() == last) throw InvalidArgument("told");
  }));
  const PartitionedMatrix<double> A = partitioned(problem.A, own);
  solver.prepare(A);
  const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
  CHECK(thrown_by([&] { solver.solve(b, x); }) ==
        (own.rank() == last ? "told" : "rank " + std::to_string(last) + ": told"));
}

TEST_CASE("emulated devices: one that is not heard of ends the solve on all") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  DistributedSolver<double> solver(emulated(), {.form = SolveForm::streamed});
  solver.set_preconditioner(std::make_shared<Identity>([](int call) {
    if (call == 5 && world().rank() + 1 == world().size())
      std::this_thread::sleep_for(std::chrono::seconds(3));
  }));
  const Communicator
      ranks;  // which cannot be used any more where one is found missing and others are not
  solver.prepare(partitioned(problem.A, ranks));
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
  {
    const auto few = few_polls();
    CHECK_THAT(thrown_by([&] { solver.solve(b, x); }),
               Catch::Matchers::ContainsSubstring("was not heard of any more"));
  }
  CHECK_THAT(thrown_by([&] { solver.solve(b, x); }),
             Catch::Matchers::ContainsSubstring("call prepare before solve"));
  SolveOptions options = solver.options();
  options.form = SolveForm::automatic;
  solver.set_options(options);
  solver.set_preconditioner(std::make_shared<DistributedAmg<double>>());
  solver.prepare(A);
  Kokkos::deep_copy(x, 0.0);
  check_solution(problem, {solver.solve(b, x), whole_of(A, x)});
}

TEST_CASE("emulated devices: one not heard of within a launch ends the solve on all") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  DistributedSolver<double> solver(emulated(), {.form = SolveForm::one_meeting});
  REQUIRE(world().size() > 1);
  const Communicator ranks;  // which cannot be used any more afterwards
  solver.prepare(partitioned(problem.A, ranks));
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
  {
    const auto hardly_any = few_polls(4);
    std::string thrown;  // now and then everybody is in time
    for (int k = 0; k < 50 && thrown.empty(); ++k) thrown = thrown_by([&] { solver.solve(b, x); });
    CHECK_THAT(thrown, Catch::Matchers::ContainsSubstring("not heard of any more") ||
                           Catch::Matchers::ContainsSubstring("lost each other"));
  }
  solver.prepare(A);
  Kokkos::deep_copy(x, 0.0);
  check_solution(problem, {solver.solve(b, x), whole_of(A, x)});
}
