#include "distributed/device_memory_mpi.hpp"
#include "distributed/solve_checks.hpp"

using namespace cnc;
using namespace cnc::testing;

namespace {

using Device = Kokkos::DefaultExecutionSpace;

/// x by a link, own part, whose name the solver says. prepare(solver, A): what is to be done before.
template <class V, class Prepare>
Vector<V> solved_by(RankLink link, const KnownProblem<V>& problem, const SolveOptions& options,
                    const Prepare& prepare) {
  const LimitedLink limit(link);
  const int before = starts_in_device_memory();
  DistributedSolver<V, Device> solver(context_in<Device>(), options);
  const PartitionedMatrix<V> A = partitioned(problem.A);
  prepare(solver, A);
  CHECK(solver.link() == link);
  const Vector<V, Kokkos::DefaultExecutionSpace::memory_space> b = copy_to<Device::memory_space>(
                                                                   own_part(A, problem.b)),
                                                               x("x", b.extent(0));
  const SolveReport report = solver.solve(b, x);
  const Vector<V> found = copy_to<HostSpace>(x);
  check_solution(problem, {report, whole_of(A, found)});
  const bool sends = link == RankLink::device_mpi && world().size() > 1;
  CHECK((starts_in_device_memory() > before) == sends);
  return found;
}

/// The bits of x are those of messages through the host.
template <class V, class Prepare>
void check_bits_of_x(const char* text, const SolveOptions& options, const Prepare& prepare) {
  INFO(text << " " << method_name(options.method));
  const auto problem = known_problem<V>(text);
  CHECK(same_bits(solved_by(RankLink::device_mpi, problem, options, prepare),
                  solved_by(RankLink::through_host, problem, options, prepare)));
}

template <class V>
void check_solves(double rtol) {
  const auto prepare = [](auto& solver, const PartitionedMatrix<V>& A) { solver.prepare(A); };
  for (const Method method : {Method::pcg, Method::bicgstab, Method::gmres, Method::bicg})
    check_bits_of_x<V>("poisson3d:9", {.method = method, .rtol = rtol}, prepare);
  for (const Method method : {Method::bicgstab, Method::gmres, Method::bicg})
    check_bits_of_x<V>("convection3d:6:2", {.method = method, .rtol = rtol}, prepare);
  check_bits_of_x<V>("poisson2d:40x41", {.rtol = rtol},
                     [](auto& solver, const PartitionedMatrix<V>& A) {
                       solver.set_preconditioner(std::make_shared<DistributedAmg<V, Device>>());
                       solver.prepare(A);
                     });
  check_bits_of_x<V>("poisson2d:20x18", {.rtol = rtol},
                     [](auto& solver, const PartitionedMatrix<V>& A) {
                       const std::vector<int> list = to_others(A.rows());
                       solver.prepare(A, {.kind = Partition::given, .rank_of_row = list});
                     });
}

}  // namespace

TEST_CASE("MPI that sees memory of devices sends from it and receives in it") {
  check_solves<double>(1e-9);
  check_solves<float>(1e-4);
}

TEST_CASE("where it says so it is the way, but for better ones") {
  DistributedSolver<double, Device> solver(context_in<Device>());
  solver.prepare(partitioned(known_problem<double>("poisson2d:9x9").A));
  CHECK(solver.link() >= RankLink::device_mpi);
  const Communicator own;  // the least counts
  own.limit_link(own.rank() == 0 ? RankLink::device_mpi : RankLink::through_host);
  solver.prepare(partitioned(known_problem<double>("poisson2d:9x9").A, own));
  CHECK(solver.link() == (own.size() == 1 ? RankLink::device_mpi : RankLink::through_host));
  DistributedSolver<double> of_host(one_thread());
  of_host.prepare(partitioned(known_problem<double>("poisson2d:9x9").A));
  CHECK(of_host.link() == RankLink::mpi);
}

TEST_CASE(
    "ranks end together where memory of devices is sent, and memory that MPI may write stays") {
  const LimitedLink limit(RankLink::device_mpi);
  const auto problem = known_problem<double>("poisson2d:20x20");
  const Communicator own;  // not to be used afterwards
  own.limit_link(RankLink::device_mpi);
  const int last = own.size() - 1;
  const PartitionedMatrix<double> A = partitioned(problem.A, own);
  const std::string text = thrown_by([&] {
    SolveOptions options{.callback_interval = 1};
    options.callback = [&](const Progress& p) {
      if (own.rank() == last && p.iteration == 5) throw InvalidArgument("told");
      return true;
    };
    solve_in_parts(context_in<Device>(), A, problem, options);
  });
  CHECK(text == (own.rank() == last ? "told" : "rank " + std::to_string(last) + ": told"));
  check_solution(problem, solve_in_parts(context_in<Device>(), problem, {}));
}
