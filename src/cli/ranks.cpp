#include "ranks.hpp"

#ifndef CNC_CLI_HAS_MPI

namespace cnc::cli {

struct Ranks::State {};
Ranks::Ranks() = default;
Ranks::~Ranks() = default;
int Ranks::size() const { return 1; }
bool Ranks::is_first() const { return true; }
int Ranks::threads(int asked) const { return asked; }
int Ranks::together(const std::function<int()>& work) const { return work(); }
LoadedMatrix Ranks::load(const std::string& source, const SolveRequest&,
                         const FurtherBytes& further_bytes) const {
  return load_matrix(source, further_bytes);
}
CutMatrix Ranks::cut(const std::string&, const std::string&) const { return {}; }
std::vector<RanksTiming> Ranks::compare(const ContextRequest&, const LoadedMatrix&,
                                        const SolveRequest&, const Effort&) const {
  return {};
}
LoadedMatrix Ranks::load_for_some(const std::string& source, const SolveRequest&,
                                  const FurtherBytes& further_bytes) const {
  return load_matrix(source, further_bytes);
}
SolveOutcome Ranks::solve(const ContextRequest& where, const LoadedMatrix& matrix,
                          const SolveRequest& request) const {
  return run_solve(where, matrix, request);
}

}  // namespace cnc::cli

#else

#include "interrupt.hpp"
#include "iteration_progress.hpp"
#include "iteration_timing.hpp"
#include "multigrid.hpp"
#include "solve_vectors.hpp"

#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/distributed_automatic.hpp>
#include <cnc/problems.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>
#include <streambuf>
#include <variant>

namespace cnc::cli {
namespace {

/// Takes everything and writes nothing.
struct Silence final : std::streambuf {
  int overflow(int c) override { return traits_type::not_eof(c); }
};

/// Rows that a cut keeps together.
int rows_of_node(const std::string& source, const SolveRequest& request) {
  int rows = std::max(request.options.format.block_size, request.options.preconditioner_block_size);
  if (is_problem(source))
    for (const ProblemInfo& family : problem_families())
      if (source.rfind(family.name + ":", 0) == 0) rows = std::max(rows, family.natural_block_size);
  if (const auto* amg = std::get_if<AmgOptions>(&request.preconditioner.object))
    rows = std::max(rows, amg->block_size);
  return std::max(rows, 1);
}

/// Multigrid, with the rigid motions of nodes whose coordinates are known.
template <class V, class Exec>
std::shared_ptr<DistributedAmg<V, Exec>> multigrid_on_ranks(AmgOptions options,
                                                            const std::string& source,
                                                            const NodesOfUnknowns& nodes,
                                                            const PartitionedMatrix<V>& A) {
  const Vector<double> coordinates = node_coordinates(options, source, A.all_rows(), nodes);
  const auto amg = std::make_shared<DistributedAmg<V, Exec>>(options);
  if (coordinates.extent(0) == 0) return amg;
  const std::vector<offset_t> rows = A.original_rows();
  std::vector<Vector<const V>> modes;
  for (const Vector<V>& mode : rigid_body_modes<V>(coordinates, options.block_size)) {
    const auto own = uninitialized<V>("mode", rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) own(i) = mode(static_cast<std::size_t>(rows[i]));
    modes.push_back(own);
  }
  amg->set_near_null_space(std::move(modes));
  return amg;
}

template <class V>
RowsOnRanks rows_on_ranks(const PartitionedMatrix<V>& A, std::string link,
                          MPI_Comm comm = MPI_COMM_WORLD) {
  const PartitionFacts& mine = A.facts();
  double sums[] = {double(mine.entries), double(mine.halo_entries)}, all[2];
  double most[] = {double(mine.entries), double(mine.neighbours)}, largest[2];
  MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(most, largest, 2, MPI_DOUBLE, MPI_MAX, comm);
  const int ranks = A.ranks().size();
  return {ranks,
          all[0] > 0 ? largest[0] * ranks / all[0] : 1,
          all[0] > 0 ? all[1] / all[0] : 0,
          int(largest[1]),
          to_string(A.partition()),
          std::move(link)};
}

/// The solves after the first, each with one of a quarter of its iterations, and later calls of prepare: as many as were asked
/// for, whatever the clock of a rank says. Leaves x as the last whole one does.
template <class V, class Exec, class X>
void repeat_solves(DistributedSolver<V, Exec>& solver, const PartitionedMatrix<V>& A, const X& b,
                   const X& x, const X& x0, int count, SolveOutcome& outcome) {
  const SolveOptions given = solver.options();
  const index_t iterations = outcome.report.iterations, quarter = iterations / 4;
  const auto seconds_of = [&](index_t most) {
    SolveOptions options = given;
    options.max_iterations = most;
    solver.set_options(std::move(options));
    return time_solve(solver, b, x, [&] { Kokkos::deep_copy(x, x0); }).seconds;
  };
  std::vector<double> later, of_one, prepare;
  for (int k = 1; k < count; ++k) {
    const double shorter = quarter > 0 ? seconds_of(quarter) : 0;
    later.push_back(seconds_of(given.max_iterations));
    if (quarter > 0) of_one.push_back((later.back() - shorter) / (iterations - quarter));
  }
  solver.set_options(given);
  // Afterwards: what a solver learns of its solves is then gone.
  for (int k = 1; k < count; ++k) {
    const double start = now();
    solver.prepare(A);
    prepare.push_back(now() - start);
  }
  Repeats& repeats = outcome.repeats;
  repeats.solves = count;
  repeats.later = summarize(std::move(later));
  repeats.iteration = summarize(std::move(of_one));
  repeats.prepare = summarize(std::move(prepare));
}

/// The rows of a node and the components of norms, which a cut keeps together.
int rows_together(const std::string& source, const SolveRequest& request) {
  return std::lcm(rows_of_node(source, request), request.options.components);
}
/// Errors   InvalidArgument.
void require_square_on_ranks(const std::string& name, index_t rows, index_t cols) {
  require(rows == cols, [&] {
    return name + ": several ranks need a square matrix, this one is " + std::to_string(rows) +
           " x " + std::to_string(cols) + "; without mpirun --solver lsqr finds the least squares";
  });
}
/// Before it is read, as far as it has a header.
void require_square_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  MatrixMarketHeader header;
  try {
    header = read_matrix_market_header(path);
  } catch (const IoError&) {
    return;  // whoever reads it says what is wrong
  }
  require_square_on_ranks(path, header.rows, header.cols);
}

/// Each rank reads or makes its own segment; for `graph` the rows are then moved.
template <class V>
PartitionedMatrix<V> rows_of_rank(const Communicator& ranks, const std::string& source,
                                  const SolveRequest& request) {
  const int together = rows_together(source, request);
  auto A = is_problem(source) ? PartitionedMatrix<V>::generated(ranks, source, together)
                              : PartitionedMatrix<V>::read(ranks, source, together);
  if (request.partition != "graph") return A;
  return A.repartitioned({.kind = Partition::graph, .block_size = together});
}

/// The same, and on the first rank the size of the whole.
template <class V>
PartitionedMatrix<V> load_part(const Communicator& ranks, const SolveRequest& request,
                               LoadedMatrix& matrix) {
  const auto A = rows_of_rank<V>(ranks, matrix.name, request);
  offset_t mine = A.facts().entries, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (ranks.rank() != 0) return A;
  matrix.A.rows = matrix.A.cols = static_cast<index_t>(A.all_rows());
  matrix.A.nonzeros = all;
  return A;
}

/// What A does to ones.
template <class V>
Vector<V> row_sums(const PartitionedMatrix<V>& A) {
  Context<> ctx("auto", 1);
  const auto n = static_cast<std::size_t>(A.rows());
  const auto ones = uninitialized<V>("ones", n), sums = uninitialized<V>("b", n);
  Kokkos::deep_copy(ones, V(1));
  A.multiply(ctx, ones, sums);
  return sums;
}

template <class V, class Exec>
SolveOutcome solve_in_parts(const PartitionedMatrix<V>& A, Context<Exec>& ctx,
                            const std::string& source, SolveRequest request, double start) {
  using Space = typename Exec::memory_space;
  const Communicator& ranks = A.ranks();
  const bool first = ranks.rank() == 0;
  ProgressLine line(request.show_progress && first);
  const double rtol = request.options.rtol;
  line.show("  preparing ...");
  request.options.callback_interval = callback_interval(ctx, A.all_rows());
  request.options.callback = [&line, rtol](const Progress& progress) {
    if (line.due()) line.show(progress_text(progress, rtol));
    return !Interrupt::requested();
  };
  DistributedSolver<V, Exec> solver(ctx, request.options);
  std::shared_ptr<DistributedAmg<V, Exec>> amg;
  std::shared_ptr<DistributedAutomaticPreconditioner<V, Exec>> automatic;
  const auto& object = request.preconditioner.object;
  const NodesOfUnknowns nodes{request.coordinates, request.options.format.block_size};
  if (const auto* options = std::get_if<AmgOptions>(&object)) {
    solver.set_preconditioner(amg = multigrid_on_ranks<V, Exec>(*options, source, nodes, A));
  } else if (const auto* choice = std::get_if<AutomaticOptions>(&object)) {
    amg = multigrid_on_ranks<V, Exec>({}, source, nodes, A);
    automatic = std::make_shared<DistributedAutomaticPreconditioner<V, Exec>>(*choice, amg);
    solver.set_preconditioner(automatic);
  } else if (auto made = make_preconditioner<V, Exec>(request.preconditioner)) {
    solver.set_preconditioner(std::move(made));
  }
  solver.prepare(A);
  SolveOutcome outcome;
  outcome.backend = &ctx.backend();
  outcome.threads = ctx.threads();
  outcome.prepare_seconds = now() - start;
  outcome.on_ranks = rows_on_ranks(A, to_string(solver.link()));
  const auto own_part = [&](const Vector<V>& all) { return copy_to<Space>(A.scatter(all)); };
  CsrMatrix<V> size;
  size.rows = size.cols = static_cast<index_t>(A.all_rows());
  const Vector<V, Space> b =
      request.rhs == "a-times-ones"
          ? copy_to<Space>(row_sums(A))
          : own_part(first ? right_hand_side(request.rhs, size) : Vector<V>());
  const Vector<V, Space> own = own_part(first ? start_vector(request.x0, size) : Vector<V>());
  Vector<V, Space> x0;
  if (request.repeat > 1) {
    x0 = zeroed<V, Space>("x0", own.extent(0));
    Kokkos::deep_copy(x0, own);
  }
  const double solve_start = now();
  outcome.report = solver.solve(b, own);
  outcome.repeats.first_seconds = now() - solve_start;
  if (request.repeat > 1 && outcome.report.status != SolveStatus::stopped)
    repeat_solves(solver, A, b, own, x0, request.repeat, outcome);
  line.clear();
  outcome.advice = solver.advice();
  if (automatic) outcome.preconditioner_choice = automatic->choice();
  if (amg && (!automatic || automatic->taken() == amg)) outcome.hierarchy = amg->hierarchy();
  const Vector<V> x = A.gather(copy_to<HostSpace>(own));
  if (!first) return outcome;
  if (!request.output.empty()) write_solution(request.output, x);
  if (request.solution_is_ones()) outcome.error = distance_from_ones(x);
  return outcome;
}

}  // namespace

struct MatrixParts {
  std::variant<PartitionedMatrix<double>, PartitionedMatrix<float>> of_rank;
};

struct Ranks::State {
  MpiScope scope;
  Communicator world;
  /// mpirun ends all ranks once one has left with an error: the first has said by now what it was.
  ~State() { MPI_Barrier(MPI_COMM_WORLD); }
};

namespace {

RankLink best_link(const SolveRequest& request) {
  if (request.link == "devices") return RankLink::devices;
  if (request.link == "messages") return RankLink::messages;
  return request.link == "mpi" ? RankLink::device_mpi : RankLink::through_host;
}

/// What this rank has of a matrix that was loaded, of which `whole` is there on the first where nobody has parts.
template <class V>
PartitionedMatrix<V> partitioned(const Communicator& world, const LoadedMatrix& matrix,
                                 const CsrMatrix<V>& whole, const SolveRequest& request) {
  if (matrix.parts) return std::get<PartitionedMatrix<V>>(matrix.parts->of_rank);
  if (matrix.generated) return rows_of_rank<V>(world, matrix.name, request);
  const Partition kind = request.partition == "graph" ? Partition::graph : Partition::segments;
  return PartitionedMatrix<V>::scattered(world, whole, {kind, rows_together(matrix.name, request)});
}

/// PCG with Jacobi: iterations as the difference between solves of many and of few, until the first rank has seen enough of them.
template <class Exec>
RanksTiming time_on_ranks(MPI_Comm comm, const Communicator& ranks, Context<Exec>& ctx,
                          const LoadedMatrix& matrix, const SolveRequest& request,
                          const Effort& effort) {
  using Space = typename Exec::memory_space;
  constexpr index_t few = 4, many = 54;
  const auto A = partitioned(ranks, matrix, matrix.A, request);
  SolveOptions options;
  options.rtol = 0;  // never met, so that every solve runs to its limit
  options.divergence = std::numeric_limits<double>::max();
  options.record_history = false;
  DistributedSolver<double, Exec> solver(ctx, options);
  const double start = now();
  solver.prepare(A);
  RanksTiming timing;
  timing.prepare_seconds = now() - start;
  timing.threads = ctx.threads();
  timing.on_ranks = rows_on_ranks(A, to_string(solver.link()), comm);
  const auto b = zeroed<double, Space>("b", static_cast<std::size_t>(A.rows()));
  const auto x = zeroed<double, Space>("x", b.extent(0));
  Kokkos::deep_copy(b, copy_to<Space>(row_sums(A)));
  bool complete = true;
  const auto seconds_of = [&](index_t iterations) {
    SolveOptions limited = options;
    limited.max_iterations = iterations;
    solver.set_options(std::move(limited));
    const TimedSolve solve = time_solve(solver, b, x, [&] { Kokkos::deep_copy(x, 0.0); });
    complete = complete && solve.iterations == iterations;
    return solve.seconds;
  };
  const auto difference = [&] { return seconds_of(many) - seconds_of(few); };
  difference();  // warms up
  std::vector<double> seconds;
  const double begin = now();
  for (int more = 1; more != 0;) {
    seconds.push_back(difference() / (many - few));
    more = static_cast<int>(seconds.size()) < std::max(effort.repeats, 3) ||
           now() - begin < effort.min_seconds;
    MPI_Bcast(&more, 1, MPI_INT, 0, comm);
  }
  if (complete) timing.iteration = summarize(std::move(seconds));
  return timing;
}

}  // namespace

Ranks::Ranks() {
  if (!started_by_mpi()) return;
  state_ = std::make_unique<State>();
  if (is_first()) return;
  static Silence& silence = *new Silence;  // streams outlive everything that is destroyed
  std::cout.rdbuf(&silence);
  std::cerr.rdbuf(&silence);
}
Ranks::~Ranks() = default;

int Ranks::size() const { return state_ ? state_->world.size() : 1; }
bool Ranks::is_first() const { return !state_ || state_->world.rank() == 0; }

int Ranks::threads(int asked) const {
  if (asked > 0 || size() == 1) return asked;
  // Those that mpirun has bound this rank to, unless it has bound several to the same.
  const int share =
      static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)) / state_->world.ranks_of_machine();
  return std::max(1, std::min(default_threads(), share));
}

int Ranks::together(const std::function<int()>& work) const {
  if (!state_) return work();
  int code = 0;
  state_->world.together([&] { code = work(); });
  return code;
}

SolveOutcome Ranks::solve(const ContextRequest& where, const LoadedMatrix& matrix,
                          const SolveRequest& request) const {
  state_->world.limit_link(best_link(request));
  return with_context(where, [&](auto& ctx) {
    const double start = now();
    const auto solve = [&]<class V>(const CsrMatrix<V>& whole) {
      const auto A = partitioned(state_->world, matrix, whole, request);
      return solve_in_parts(A, ctx, matrix.name, request, start);
    };
    if (request.precision != Precision::f32) return solve(matrix.A);
    const bool has_whole = is_first() && !matrix.parts;
    return solve(has_whole ? convert_values<float>(matrix.A) : CsrMatrix<float>());
  });
}

CutMatrix Ranks::cut(const std::string& source, const std::string& partition) const {
  SolveRequest request;
  request.partition = partition;
  CutMatrix cut;
  cut.matrix = load(source, request, [](index_t, offset_t) { return 0.0; });
  const auto A = partitioned<double>(state_->world, cut.matrix, cut.matrix.A, request);
  const PartitionFacts& mine = A.facts();
  const PartOfRank own{mine.rows,          mine.entries, mine.halo_entries,
                       mine.boundary_rows, mine.halo,    mine.neighbours};
  cut.on_ranks = rows_on_ranks(A, "");
  cut.parts.resize(static_cast<std::size_t>(size()));
  MPI_Gather(&own, sizeof own, MPI_BYTE, cut.parts.data(), sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
  return cut;
}

LoadedMatrix Ranks::load_whole(const std::string& source, const FurtherBytes& further_bytes) const {
  if (is_first()) {
    LoadedMatrix matrix = load_matrix(source, further_bytes);
    if (size() > 1) require_square_on_ranks(source, matrix.A.rows, matrix.A.cols);
    return matrix;
  }
  LoadedMatrix none;
  none.name = source;
  none.generated = is_problem(source);
  return none;
}

LoadedMatrix Ranks::load_for_some(const std::string& source, const SolveRequest& request,
                                  const FurtherBytes& further_bytes) const {
  if (!is_problem(source)) return load_whole(source, further_bytes);
  LoadedMatrix matrix = load(source, request, further_bytes);
  matrix.parts = nullptr;
  return matrix;
}

std::vector<RanksTiming> Ranks::compare(const ContextRequest& where, const LoadedMatrix& matrix,
                                        const SolveRequest& request, const Effort& effort) const {
  std::vector<RanksTiming> timings;
  for (int count = 1;; count = std::min(2 * count, size())) {
    state_->world.wait_for_all();  // who does not come here has failed, and MPI would wait for ever
    const bool takes_part = state_->world.rank() < count;
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, 0, &some);
    if (takes_part) {
      const Communicator ranks(some);
      ranks.limit_link(best_link(request));
      with_context(where, [&](auto& ctx) {
        ranks.together(
            [&] { timings.push_back(time_on_ranks(some, ranks, ctx, matrix, request, effort)); });
      });
      MPI_Comm_free(&some);
    }
    if (count == size()) return timings;
  }
}

LoadedMatrix Ranks::load(const std::string& source, const SolveRequest& request,
                         const FurtherBytes& further_bytes) const {
  if (size() == 1) return load_whole(source, further_bytes);
  LoadedMatrix matrix;
  matrix.name = source;
  matrix.generated = is_problem(source);
  if (is_first() && !matrix.generated) {
    const int here = state_->world.ranks_of_machine();
    check_file(source, further_bytes, double(here) / size());
    require_square_file(source);
  }
  const double start = now();
  MatrixParts parts;
  if (request.precision == Precision::f32)
    parts.of_rank = load_part<float>(state_->world, request, matrix);
  else
    parts.of_rank = load_part<double>(state_->world, request, matrix);
  matrix.parts = std::make_shared<MatrixParts>(std::move(parts));
  matrix.seconds = now() - start;
  return matrix;
}

}  // namespace cnc::cli

#endif
