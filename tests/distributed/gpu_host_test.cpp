#include "distributed/solve_checks.hpp"

#include "support/gpu_host/backends.hpp"

#include <target/tuning.hpp>

#include <chrono>
#include <thread>
#include <utility>

// Ranks whose devices reach each other's memory, without devices: kernels of backends/gpu on the host, each process a device of
// its own, and memory that processes share.

using namespace cnc;
using namespace cnc::testing;

namespace {

Context<>& emulated() {
  static std::unique_ptr<Context<>> ctx;
  if (!ctx) {
    ctx = std::make_unique<Context<>>(gpu_host_32_backend);
    Kokkos::push_finalize_hook([] { ctx.reset(); });
  }
  return *ctx;
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
  // Runs go on without the host, but where a product is with the transpose.
  CHECK(form_of({}) == to_string(SolveForm::graph));
  CHECK(form_of({.form = SolveForm::streamed}) == to_string(SolveForm::streamed));
  CHECK(form_of({.form = SolveForm::fused_steps}) == to_string(SolveForm::fused_steps));
  CHECK(form_of({.method = Method::bicg}) == to_string(SolveForm::fused_steps));
  CHECK_THAT(thrown_by([] { form_of({.form = SolveForm::resident}); }),
             Catch::Matchers::Contains("not 'resident'"));
}
TEST_CASE("ranks of emulated devices have the residuals of hosts") { check_methods(emulated()); }
TEST_CASE("ranks of emulated devices have preconditioners of their blocks") {
  check_preconditioners(emulated());
}
TEST_CASE("ranks of emulated devices have multigrid of the whole matrix") {
  check_multigrid(emulated());
}
TEST_CASE("ranks of emulated devices have the same bits on every run") { check_bits(emulated()); }

TEST_CASE("emulated devices: float vectors, and ranks without rows") {
  const auto in_float = known_problem<float>("poisson2d:16x16");
  check_solution(in_float, solve_in_parts(emulated(), in_float, {.rtol = 1e-5}));
  const auto few = known_problem<double>("trefethen:2");
  for (const Method method : {Method::pcg, Method::bicgstab, Method::gmres})
    CHECK(solve_in_parts(emulated(), few, {.method = method}).report.converged());
}

namespace {

/// Devices soon give up waiting for each other.
class FewPolls {
 public:
  ~FewPolls() { gpu::tuning::most_polls = before_; }

 private:
  std::uint32_t before_ = std::exchange(gpu::tuning::most_polls, 20000u);
};

/// Does nothing to a vector, once late on the last rank.
class LateIdentity final : public PreconditionerBase<double> {
 public:
  std::string name() const override { return "late"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<>&, const CsrMatrix<double>&, const Matrix<double>&) override {
    return {};
  }
  bool only_enqueues() const override { return true; }
  void apply(const Context<>&, const Vector<const double>& r,
             const Vector<double>& z) const override {
    if (++calls_ == 5 && world().rank() + 1 == world().size())
      std::this_thread::sleep_for(std::chrono::seconds(3));
    Kokkos::deep_copy(z, r);
  }

 private:
  mutable int calls_ = 0;
};

}  // namespace

TEST_CASE("emulated devices: one that is not heard of ends the solve on all") {
  const auto problem = known_problem<double>("poisson2d:15x14");
  DistributedSolver<double> solver(emulated(), {.form = SolveForm::streamed});
  solver.set_preconditioner(std::make_shared<LateIdentity>());
  const Communicator
      ranks;  // which cannot be used any more where one is found missing and others are not
  solver.prepare(partitioned(problem.A, ranks));
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const Vector<double> b = own_part(A, problem.b), x("x", b.extent(0));
  {
    const FewPolls few;
    CHECK_THAT(thrown_by([&] { solver.solve(b, x); }),
               Catch::Matchers::Contains("was not heard of any more"));
  }
  CHECK_THAT(thrown_by([&] { solver.solve(b, x); }),
             Catch::Matchers::Contains("call prepare before solve"));
  SolveOptions options = solver.options();
  options.form = SolveForm::automatic;
  solver.set_options(options);
  solver.set_preconditioner(std::make_shared<DistributedAmg<double>>());
  solver.prepare(A);
  Kokkos::deep_copy(x, 0.0);
  check_solution(problem, {solver.solve(b, x), whole_of(A, x)});
}
