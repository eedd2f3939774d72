#include "distributed/solve_checks.hpp"
#include "support/plate_problem.hpp"

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
  const auto large = chosen("poisson2d:90", Method::pcg, 1000);
  CHECK(large.object->name() == "amg");
  CHECK(large.outcome.report.preconditioner == "amg");
  CHECK(large.outcome.report.iterations <= 20);
  CHECK_THAT(large.object->choice(), ContainsSubstring("amg: jacobi takes some"));

  const auto flow = chosen("convection3d:12:50", Method::bicgstab);
  CHECK_THAT(flow.object->choice(), !ContainsSubstring("ic0"));
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

TEST_CASE(
    "ranks keep their choice for other values, or choose again where one has another layout") {
  const auto problem = known_problem<double>("poisson2d:60x50");
  const PartitionedMatrix<double> A = partitioned(problem.A);
  const auto object = std::make_shared<DistributedAutomaticPreconditioner<double>>();
  DistributedSolver<double> solver(one_thread(), {.method = Method::gmres, .rtol = 1e-9});
  solver.set_preconditioner(object);
  solver.prepare(A);
  const auto taken = object->taken();
  CHECK(object->name() != "amg");  // whose object is the same for another choice
  const auto check_update = [&](const CsrMatrix<double>& values) {
    const auto other = with_known_solution<double>("other", values);
    solver.update_values(partitioned(other.A));
    CHECK(same_on_all(object->choice()));
    Outcome<double> outcome;
    const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
    outcome.report = solver.solve(own_part(A, other.b), x);
    outcome.x = whole_of(A, x);
    check_solution(other, outcome);
  };
  const CsrMatrix<double> twice = convert_values<double>(problem.A);
  for (std::size_t k = 0; k < twice.values.extent(0); ++k) twice.values(k) *= 2;
  check_update(twice);
  CHECK(object->taken() == taken);
  // The first rank has a layout for symmetric matrices no more: all choose again, though others have theirs still.
  twice.values(1) *= 1.5;
  check_update(twice);
  CHECK(object->taken() != taken);
}

TEST_CASE("ranks see together that a matrix is not symmetric") {
  // Too small for levels, and too hard for Jacobi: factors are tried, which are those of symmetric matrices or others.
  const auto choice_for = [](const CsrMatrix<double>& A) {
    const auto object = std::make_shared<DistributedAutomaticPreconditioner<double>>();
    DistributedSolver<double> solver(one_thread(), {.method = Method::gmres});
    solver.set_preconditioner(object);
    solver.prepare(partitioned(A));
    CHECK(same_on_all(object->choice()));
    return object->choice();
  };
  const CsrMatrix<double> plate = plate_problem("poisson2d:20x18").A;
  CHECK_THAT(choice_for(plate), ContainsSubstring("ic0 takes"));
  // An entry between two ranks, with the row above in the grid.
  const index_t cut = world().size() > 1 ? bound(plate.rows, 1) : plate.rows / 2;
  for (index_t k = plate.row_offsets(cut); k < plate.row_offsets(cut + 1); ++k)
    if (plate.columns(k) == cut - 20) plate.values(k) *= 1.01;
  const std::string choice = choice_for(plate);
  CHECK_THAT(choice, ContainsSubstring("ilu0 takes"));
  CHECK_THAT(choice, !ContainsSubstring("ic0"));
}

TEST_CASE("ranks see together that a matrix is indefinite, or that nothing can be set up for it") {
  auto shifted = known_problem<double>("poisson2d:30x20");
  for (index_t i = 0; i < shifted.rows(); ++i)
    for (index_t k = shifted.A.row_offsets(i); k < shifted.A.row_offsets(i + 1); ++k)
      if (shifted.A.columns(k) == i) shifted.A.values(k) -= 0.3;
  shifted = with_known_solution<double>("shifted", shifted.A);
  const auto other = solve_chosen(one_thread(), partitioned(shifted.A), shifted, Method::gmres);
  CHECK_THAT(other.object->choice(), !ContainsSubstring("ic0"));
  CHECK_THAT(other.object->choice(), !ContainsSubstring("gets nowhere"));

  // The last entry, on the diagonal, is not a number: the last rank alone sees it.
  auto broken = known_problem<double>("poisson2d:30x20");
  broken.A.values(broken.A.values.extent(0) - 1) = std::numeric_limits<double>::quiet_NaN();
  DistributedSolver<double> solver(one_thread(), {.method = Method::gmres});
  const auto object = std::make_shared<DistributedAutomaticPreconditioner<double>>();
  solver.set_preconditioner(object);
  const PartitionedMatrix<double> A = partitioned(broken.A);
  solver.prepare(A);
  CHECK(object->taken() == nullptr);
  CHECK(object->name() == "auto");
  const Vector<double> x("x", static_cast<std::size_t>(A.rows()));
  CHECK(solver.solve(own_part(A, broken.b), x).status == SolveStatus::not_finite);
  // The object is as good as new.
  const auto sound = known_problem<double>("poisson2d:30x20");
  const PartitionedMatrix<double> B = partitioned(sound.A);
  solver.prepare(B);
  CHECK(object->name() == "jacobi");
  CHECK(solver.solve(own_part(B, sound.b), x).converged());
}

TEST_CASE("ranks choose for nodes of several unknowns, in float, and after prepare") {
  const auto problem = known_problem<float>("elasticity3d:6");
  DistributedSolver<float> solver(one_thread(), {.method = Method::pcg, .rtol = 1e-4});
  const PartitionedMatrix<float> A = partitioned(problem.A);
  solver.prepare(A);
  const auto amg = std::make_shared<DistributedAmg<float>>();
  const auto object =
      std::make_shared<DistributedAutomaticPreconditioner<float>>(AutomaticOptions{1000}, amg);
  solver.set_preconditioner(object);
  INFO(object->choice());
  CHECK(same_on_all(object->choice()));
  CHECK_THAT(object->choice(), ContainsSubstring("amg takes"));
  const Vector<float> x("x", static_cast<std::size_t>(A.rows()));
  const SolveReport report = solver.solve(own_part(A, problem.b), x);
  CHECK(report.converged());
  CHECK(report.preconditioner == object->name());
  CHECK((object->taken() == amg) == (object->name() == "amg"));
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
