#include "distributed/solve_checks.hpp"

#include <cnc/distributed_automatic.hpp>

#include <limits>
#include <memory>
#include <string>

// All ranks take the preconditioner that the trials of all promise most of.

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class Exec>
struct Chosen {
  std::shared_ptr<DistributedAutomaticPreconditioner<double, Exec>> object;
  Outcome<double> outcome;
};

template <class Exec>
Chosen<Exec> solve_chosen(Context<Exec>& ctx, const PartitionedMatrix<double>& A,
                          const KnownProblem<double>& problem, Method method, int solves = 1) {
  const auto object =
      std::make_shared<DistributedAutomaticPreconditioner<double, Exec>>(AutomaticOptions{solves});
  CHECK(object->name() == "auto");
  const Outcome<double> outcome =
      solve_in_parts<double, Exec>(ctx, A, problem, {.method = method, .rtol = 1e-9}, object);
  INFO(object->choice());
  CHECK(same_on_all(object->choice()));
  CHECK(object->taken() != nullptr);
  check_solution(problem, outcome);
  return {object, outcome};
}

template <class Exec>
void check_choices(Context<Exec>& ctx) {
  const auto chosen = [&](const char* text, Method method, int solves = 1) {
    INFO(text);
    const auto problem = known_problem<double>(text);
    return solve_chosen(ctx, partitioned(problem.A), problem, method, solves);
  };
  const auto easy = chosen("wathen:12x10", Method::pcg);
  CHECK(easy.object->name() == "jacobi");
  CHECK(easy.object->local().has_value());  // passes apply it on the way

  // Products are so fast that a set-up of so little is worth it for many solves only.
  const auto large = chosen("poisson2d:90", Method::pcg, 100);
  CHECK(large.object->name() == "amg");
  CHECK(large.outcome.report.preconditioner == "amg");
  CHECK(large.outcome.report.iterations <= 14);
  CHECK_THAT(large.object->choice(), ContainsSubstring("amg: jacobi takes some"));

  chosen("convection3d:12:50", Method::bicgstab);
}

}  // namespace

TEST_CASE("ranks choose a preconditioner together") { check_choices(one_thread()); }

#ifdef CNC_KOKKOS_HAS_DEVICE
TEST_CASE("ranks with devices choose a preconditioner together") {
  for (const RankLink best : {RankLink::devices, RankLink::messages, RankLink::through_host}) {
    const LimitedLink limited(best);
    check_choices(context_in<Kokkos::DefaultExecutionSpace>());
  }
}
#endif

TEST_CASE("one rank chooses as one process does, and ranks without rows take part") {
  const auto problem = known_problem<double>("poisson2d:60x50");
  // Some ranks have more rows than others, the last of several none.
  const PartitionedMatrix<double> A(world(), Dealt(problem.A).rows());
  const auto chosen = solve_chosen(one_thread(), A, problem, Method::pcg);
  if (world().size() > 1) return;
  Solver<double> alone(one_thread());
  const auto object = std::make_shared<AutomaticPreconditioner<double>>();
  alone.set_preconditioner(object);
  alone.prepare(problem.A);
  CHECK(object->name() == chosen.object->name());
}

TEST_CASE("ranks keep their choice for other values") {
  const auto problem = known_problem<double>("poisson2d:60x50");
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const auto object = std::make_shared<DistributedAutomaticPreconditioner<double>>();
  DistributedSolver<double> solver(one_thread(), {.rtol = 1e-9});
  solver.set_preconditioner(object);
  solver.prepare(A);
  const auto taken = object->taken();
  auto twice = known_problem<double>("poisson2d:60x50");
  for (std::size_t k = 0; k < twice.A.values.extent(0); ++k) twice.A.values(k) *= 2;
  solver.update_values(partitioned(twice.A));
  CHECK(object->taken() == taken);
  const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
  CHECK(solver.solve(own_part(A, problem.b), x).converged());
}

TEST_CASE("ranks see together that a matrix is not symmetric, indefinite or no number") {
  // Entries between two ranks that are mirrored on one alone: CG would go wrong.
  auto skew = known_problem<double>("poisson2d:20x18");
  const index_t cut = bound(skew.rows(), world().size() / 2);
  for (index_t i = 0; i < skew.rows(); ++i)
    for (index_t k = skew.A.row_offsets(i); k < skew.A.row_offsets(i + 1); ++k)
      if (i < cut && skew.A.columns(k) >= cut) skew.A.values(k) *= -0.5;
  skew = with_known_solution<double>("skew", skew.A);
  const auto chosen = solve_chosen(one_thread(), partitioned(skew.A), skew, Method::gmres);
  CHECK_THAT(chosen.object->choice(), !ContainsSubstring("ic0"));

  auto shifted = known_problem<double>("poisson2d:30x20");
  for (index_t i = 0; i < shifted.rows(); ++i)
    for (index_t k = shifted.A.row_offsets(i); k < shifted.A.row_offsets(i + 1); ++k)
      if (shifted.A.columns(k) == i) shifted.A.values(k) -= 0.3;
  shifted = with_known_solution<double>("shifted", shifted.A);
  const auto other = solve_chosen(one_thread(), partitioned(shifted.A), shifted, Method::gmres);
  CHECK_THAT(other.object->choice(), !ContainsSubstring("ic0"));

  // A row that is not a number, on the last rank.
  auto broken = known_problem<double>("poisson2d:30x20");
  broken.A.values(broken.A.values.extent(0) - 1) = std::numeric_limits<double>::quiet_NaN();
  DistributedSolver<double> solver(one_thread(), {.method = Method::gmres});
  const auto object = std::make_shared<DistributedAutomaticPreconditioner<double>>();
  solver.set_preconditioner(object);
  const PartitionedMatrix<double> A = partitioned(broken.A);
  std::string text = thrown_by([&] { solver.prepare(A); });
  if (text.empty()) {
    const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
    const SolveReport report = solver.solve(own_part(A, broken.b), x);
    CHECK(!report.converged());
    text = to_string(report.status);
  }
  CHECK(same_on_all(text));
}

TEST_CASE("ranks agree on what a choice of a preconditioner is for") {
  const auto problem = known_problem<double>("poisson2d:20x20");
  const bool is_last = world().rank() + 1 == world().size();
  DistributedSolver<double> solver(one_thread());
  solver.set_preconditioner(std::make_shared<DistributedAutomaticPreconditioner<double>>(
      AutomaticOptions{is_last ? 3 : 2}));
  const std::string text = thrown_by([&] { solver.prepare(partitioned(problem.A)); });
  CHECK(same_on_all(text));
  if (world().size() > 1) CHECK_THAT(text, ContainsSubstring("ranks must agree on solves"));
  CHECK_THAT(thrown_by([] { DistributedAutomaticPreconditioner<double>({0}); }),
             ContainsSubstring("one solve at least"));
  const Vector<double> r("r", 3), z("z", 3);
  CHECK(thrown_by(
            [&] { DistributedAutomaticPreconditioner<double>().apply(one_thread(), r, z); }) != "");
}
