#include "distributed/channel.hpp"
#include "distributed/distributed_test.hpp"

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A solver for a part of a Poisson problem, whose ranks may be told different things.
struct Parts {
  KnownProblem<double> problem = known_problem<double>("poisson2d:30x30");
  PartitionedMatrix<double> A;
  Vector<double> b, x;

  explicit Parts(const Communicator& ranks = world())
      : A(partitioned(problem.A, ranks)),
        b(own_part(A, problem.b)),
        x("x", static_cast<std::size_t>(A.rows())) {}

  SolveReport solve(const SolveOptions& options) {
    DistributedSolver<double> solver(one_thread(), options);
    solver.prepare(A);
    return solver.solve(b, x);
  }
};

const int last = world().size() - 1;
bool is_last() { return world().rank() == last; }

}  // namespace

TEST_CASE("a rank that waits for a device hears of failures on others") {
  detail::Channel& channel = *world().channel();
  const int rank = world().rank();
  const std::string text = thrown_by([&] {
    world().together([&] {
      if (rank == last) throw InvalidArgument("told");
      channel.hear_failures();
      throw DeviceError("wait", "device", "nobody said a word");
    });
  });
  CHECK(text == (rank == last ? "told" : "rank " + std::to_string(last) + ": told"));
  world().together([&] { channel.hear_failures(); });  // of this call: none
}

TEST_CASE("a rank that waits for all hears of one that does not come") {
  const Communicator ranks;
  ranks.together([&] { ranks.wait_for_all(); });
  const std::string text = thrown_by([&] {
    ranks.together([&] {
      ranks.wait_for_all();
      if (is_last()) throw InvalidArgument("told");
      ranks.wait_for_all();
    });
  });
  CHECK(text == (is_last() ? "told" : "rank " + std::to_string(last) + ": told"));
}

TEST_CASE("options that differ are refused, by name") {
  Parts parts;
  if (last == 0) {  // one rank agrees with itself
    CHECK(parts.solve({}).converged());
    return;
  }
  const auto refusal = [&](const SolveOptions& mine) {
    const std::string text = thrown_by([&] { parts.solve(mine); });
    CHECK(same_on_all(text));
    return text;
  };
  CHECK_THAT(refusal({.rtol = is_last() ? 1e-6 : 1e-8}), ContainsSubstring("agree on rtol"));
  CHECK_THAT(refusal({.method = is_last() ? Method::minres : Method::pcg}),
             ContainsSubstring("agree on the method"));
  CHECK_THAT(refusal({.max_iterations = is_last() ? 3 : 4}),
             ContainsSubstring("agree on max_iterations: rank " + std::to_string(last)));
  {
    INFO("between prepare and solve, and the length of a vector");
    DistributedSolver<double> solver(one_thread());
    solver.prepare(parts.A);
    solver.set_options({.atol = is_last() ? 1e-3 : 0});
    CHECK_THAT(thrown_by([&] { solver.solve(parts.b, parts.x); }),
               ContainsSubstring("agree on atol"));
    solver.set_options({});
    const Vector<double> too_long("b", parts.b.extent(0) + 1);
    CHECK_THAT(thrown_by([&] { solver.solve(is_last() ? too_long : parts.b, parts.x); }),
               ContainsSubstring("b has " + std::to_string(too_long.extent(0))));
    CHECK(solver.solve(parts.b, parts.x).converged());
  }
}

TEST_CASE("a value that float cannot hold on one rank refuses float storage on all") {
  Parts parts;
  double& value = parts.A.own_block().values(0);
  const double before = value;
  if (is_last()) value = 1e60;
  CHECK_THAT(thrown_by([&] { parts.solve({.storage = StoragePrecision::f32}); }),
             ContainsSubstring("too large for storage in float"));
  value = before;
  CHECK(parts.solve({.storage = StoragePrecision::f32}).converged());
}

TEST_CASE("what is not available on several ranks is refused") {
  Parts parts;
  if (last > 0)
    CHECK_THAT(thrown_by([&] { parts.solve({.form = SolveForm::run}); }),
               ContainsSubstring("'fused'"));
  CHECK(parts.solve({}).converged());
  CHECK_THAT(thrown_by([] { PartitionedMatrix<double>().all_rows(); }), ContainsSubstring("empty"));
  DistributedSolver<double> solver(one_thread());
  CHECK_THAT(thrown_by([&] { solver.solve(parts.b, parts.x); }), ContainsSubstring("call prepare"));
}

TEST_CASE("breakdowns come to all ranks at the same iteration") {
  Parts parts;
  auto problem = parts.problem;
  const auto of = [&](const SolveOptions& options) {
    Vector<double> x("x", static_cast<std::size_t>(parts.A.rows()));
    DistributedSolver<double> solver(one_thread(), options);
    solver.prepare(partitioned(problem.A));
    const SolveReport report = solver.solve(parts.b, x);
    CHECK(same_on_all(std::to_string(report.iterations) + to_string(report.status) + report.detail +
                      std::to_string(report.recurrence_residual)));
    return report;
  };
  const auto diagonal = [&](index_t row) -> double& {
    for (index_t k = problem.A.row_offsets(row);; ++k)
      if (problem.A.columns(k) == row) return problem.A.values(k);
  };
  diagonal(899) = -4;  // on the last rank
  const SolveReport indefinite = of({.preconditioner = PreconditionerKind::none});
  CHECK(indefinite.status == SolveStatus::not_positive_definite);
  CHECK_THAT(indefinite.detail, ContainsSubstring("the diagonal entry of row 899"));
  diagonal(899) = 0;
  const SolveReport zero = of({});
  CHECK(zero.status == SolveStatus::breakdown);
  CHECK_THAT(zero.detail, ContainsSubstring("the diagonal entry of row 899"));
  diagonal(899) = std::numeric_limits<double>::quiet_NaN();
  CHECK(of({.preconditioner = PreconditionerKind::none}).status == SolveStatus::not_finite);
  diagonal(899) = 4;
  problem.A.values(problem.A.row_offsets(899)) = 7;  // in the block of the last rank
  CHECK(of({}).status == SolveStatus::unsuitable);
}

TEST_CASE("limits: iterations, and the clock of the first rank") {
  Parts parts;
  CHECK(parts.solve({.max_iterations = 3}).iterations == 3);
  SolveOptions options{.rtol = 0, .max_iterations = 1000000, .max_seconds = 0.05};
  options.callback = [](const Progress&) {
    // Ranks whose clocks are apart.
    std::this_thread::sleep_for(std::chrono::milliseconds(world().rank()));
    return true;
  };
  const SolveReport report = parts.solve(options);
  CHECK((report.status == SolveStatus::time_limit || report.status == SolveStatus::stagnated));
  CHECK(same_on_all(std::to_string(report.iterations)));
}

TEST_CASE("callbacks: one rank stops all, all have to accept, and some may have none") {
  Parts parts;
  SolveOptions options{.callback_interval = 1};
  options.callback = [](const Progress& p) { return !is_last() || p.iteration < 5; };
  SolveReport report = parts.solve(options);
  CHECK(report.status == SolveStatus::stopped);
  CHECK(report.iterations == 5);
  options.callback = [](const Progress& p) {
    CHECK(p.x<double>().extent(0) == p.r<double>().extent(0));
    return p.iteration >= 4 + world().rank() ? CallbackAction::accept : CallbackAction::proceed;
  };
  report = parts.solve(options);
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations == 4 + last);
  if (!is_last()) options.callback = {};
  report = parts.solve(options);
  CHECK(report.iterations == 4 + last);
}

TEST_CASE("a callback that throws on one rank ends the solve on all") {
  Parts parts((Communicator()));  // of its own
  SolveOptions options{.callback_interval = 1};
  options.callback = [](const Progress& p) {
    if (is_last() && p.iteration == 3) throw InvalidArgument("no more of this");
    return true;
  };
  const std::string text = thrown_by([&] { parts.solve(options); });
  CHECK(text == (is_last() ? "" : "rank " + std::to_string(last) + ": ") + "no more of this");
  if (last == 0) return;
  // They were at different operations.
  CHECK_THAT(thrown_by([&] { parts.solve({}); }), ContainsSubstring("a failure before"));
}

TEST_CASE("a preconditioner that throws in the middle of an exchange of sums") {
  struct Throwing final : PreconditionerBase<double> {
    mutable int left = 4;
    std::string name() const override { return "throwing"; }
    double bytes(index_t, offset_t) const override { return 0; }
    PreconditionerSetup set_up(Context<>&, const CsrMatrix<double>&,
                               const Matrix<double>&) override {
      return {};
    }
    void apply(const Context<>&, const Vector<const double>& r,
               const Vector<double>& z) const override {
      if (is_last() && --left == 0) throw std::runtime_error("out of luck");
      Kokkos::deep_copy(z, r);
    }
  };
  Parts parts((Communicator()));  // of its own
  DistributedSolver<double> solver(one_thread());
  solver.set_preconditioner(std::make_shared<Throwing>());
  solver.prepare(parts.A);
  std::string text;
  try {
    solver.solve(parts.b, parts.x);
  } catch (const std::exception& error) {
    text = error.what();
  }
  CHECK_THAT(text, ContainsSubstring("out of luck"));
}

// Run by itself, by a test that expects the ranks to be ended: nobody else can tell them.
TEST_CASE("a rank is killed", "[.killed]") {
  Parts parts;
  SolveOptions options{.rtol = 0, .divergence = 1e300, .callback_interval = 1};
  options.callback = [](const Progress& p) {
    if (is_last() && p.iteration == 3) std::raise(SIGKILL);
    return true;
  };
  parts.solve(options);
  CHECK(last == 0);
}
