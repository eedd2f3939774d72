// What does one iteration of Jacobi-PCG cost, or of BiCGSTAB or GMRES with --solver, beside other libraries?
//  Everyone starts from x = 0 with the same right-hand side and does the same number of iterations.
// An iteration's time is the difference between a long and a short solve over the difference of
// their iteration counts: what a solve does once (first residual, last residual, allocations) drops
// out.

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/krylov_solves.hpp"
#include "peers/peers.hpp"

#include <cnc/solver.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace cnc::perf {
namespace {

constexpr index_t most = 100;

/// Solves with a given number of iterations from x = 0. Returns the 2-norm of the last residual, or
/// NaN when it is to be computed from x. (Ours gives it: in x it may leave an earlier, better
/// iterate.)
template <class V>
using Iterate = std::function<double(const Vector<V>& b, const Vector<V>& x, index_t iterations)>;

template <class V>
struct Candidate {
  Method method = Method::pcg;
  FormatSpec format;
  StoragePrecision storage = StoragePrecision::as_vectors;
};

/// A solver that is ready, with the report of its first iteration. `csr` is the matrix, `layout` the
/// same in the candidate's format when it can be shared.
template <class V>
std::pair<Iterate<V>, SolveReport> ready_solver(Context<>& ctx, const Candidate<V>& candidate,
                                                const CsrMatrix<V>& csr, const Matrix<V>* layout) {
  SolveOptions options = endless(candidate.method, PreconditionerKind::jacobi, 0);
  options.storage = candidate.storage;
  if (layout == nullptr) options.format = candidate.format;
  auto solver = std::make_shared<Solver<V>>(ctx, options);
  if (layout != nullptr)
    solver->prepare(*layout);
  else
    solver->prepare(csr);
  Iterate<V> iterate = [solver, options](const Vector<V>& b, const Vector<V>& x,
                                         index_t iterations) {
    SolveOptions limited = options;
    limited.max_iterations = iterations;
    solver->set_options(limited);
    Kokkos::deep_copy(x, V(0));
    const SolveReport report = solver->solve(Vector<const V>(b), x);
    if (report.iterations != iterations)
      throw Error("pcg_bench: the solve ended after " + std::to_string(report.iterations) + " of " +
                  std::to_string(iterations) + " iterations: " + to_string(report.status));
    return report.recurrence_residual;
  };
  const Vector<V> b = random_vector<V>(csr.rows, 2);
  const Vector<V> x("x", b.extent(0));
  solver->set_options(options);
  SolveOptions one = options;
  one.max_iterations = 1;
  solver->set_options(one);
  return {iterate, solver->solve(Vector<const V>(b), x)};
}

/// The long solve is about a tenth of a second's worth, and ends before anyone converges.
Lengths lengths_on(const CsrMatrix<double>& A, Method method, const BenchOptions& options) {
  Context<> ctx("auto", options.threads);
  Solver<double> solver(ctx, trial(method, most));
  solver.prepare(A);
  const Vector<double> x("x", static_cast<std::size_t>(A.rows));
  const SolveReport report =
      solver.solve(Vector<const double>(random_vector<double>(A.rows, 2)), x);
  const double per_iteration = report.seconds / std::max<index_t>(report.iterations, 1);
  const double share = options.quick ? 0.002 : 0.1;
  const auto affordable = static_cast<index_t>(std::min(share / per_iteration, double(most)));
  return lengths_of(method, report.iterations, affordable);
}

/// One matrix, what iterates on it, and what comes of it.
struct Contest {
  const TestMatrix& matrix;
  Method method;
  Lengths lengths;
  std::map<Preconditioned, double> expected = {};  ///< residual norms after the short solve
};

/// Everything that the contestants of a group share.
template <class V>
struct Operands {
  Contest& contest;
  CsrMatrix<V> A;
  Vector<V> b;
  double tolerance;  ///< of the residual norm after the short solve
  MeasureOptions measure;
  std::vector<Contestant> contestants = {};

  Cost iteration_cost(Method method, const Cost& product) const {
    return perf::iteration_cost(method, product, A.rows, sizeof(V));
  }
  void add(Entry entry, Preconditioned by, const Iterate<V>& iterate) {
    auto& expected = contest.expected;
    if (expected.count(by) == 0)
      expected[by] = expected_residual(contest.matrix.A, contest.method, by);
    const Vector<V> x("x", b.extent(0));
    double residual = iterate(b, x, contest.lengths.shorter);
    if (std::isnan(residual)) residual = residual_norm(contest.matrix.A, x);
    entry.error = check_number(expected[by], residual, tolerance, entry.contestant);
    const auto time = [iterate, x, rhs = b](index_t iterations) {
      const double start = now();
      (void)iterate(rhs, x, iterations);
      return now() - start;
    };
    contestants.push_back({std::move(entry), iteration_turn(time, contest.lengths, measure)});
  }
};

/// Adds one of our backends, unless it does not offer what is asked.
template <class V>
void add_backend(Context<>& ctx, const Candidate<V>& candidate, bool automatic,
                 const Matrix<V>* layout, const Cost& product, Operands<V>& operands) {
  const Backend& backend = ctx.backend();
  if (backend.baseline && candidate.format.name != "csr") return;
  const bool single = candidate.method == Method::pcg_single_reduction;
  Entry entry;
  entry.peer = backend.baseline;
  entry.automatic = automatic && is_automatic(backend) && !single;
  entry.backend = backend.name;
  entry.format = candidate.format.text();
  entry.contestant =
      backend.baseline ? backend.name
                       : backend.name + (" " + entry.format) + (single ? " single-reduction" : "");
  entry.cost = operands.iteration_cost(candidate.method, product);
  try {
    auto [iterate, report] = ready_solver(ctx, candidate, operands.A, layout);
    entry.form = to_string(report.form);
    operands.add(std::move(entry), {}, iterate);
  } catch (const UnsupportedOperation&) {
    // Not offered: nothing to time.
  }
}

/// What a solver does that nobody has told anything, where that is more than to choose a format: values in float without loss,
/// rows that repeat. Its bytes of an iteration; 0 where it is no more.
template <class V>
double add_automatic(Context<>& ctx, Operands<V>& operands) {
  const Candidate<V> candidate{operands.contest.method, {}, StoragePrecision::lossless};
  auto [iterate, report] = ready_solver<V>(ctx, candidate, operands.A, nullptr);
  if (report.row_kinds == 0 && !report.values_in_float) return 0;
  Entry entry;
  entry.automatic = true;
  entry.backend = ctx.backend().name;
  entry.format = report.format + (report.values_in_float ? " in float" : "") +
                 (report.row_kinds > 0 ? " rows" : "");
  entry.contestant = entry.backend + " " + entry.format;
  entry.form = to_string(report.form);
  entry.cost = {report.bytes / report.iterations, report.flops / report.iterations};
  const double bytes = entry.cost.bytes;
  operands.add(std::move(entry), {}, iterate);
  return bytes;
}

/// PCG on the automatic backend in every format, and in the automatic format also by single reduction; the
/// other backends, and other methods, in CSR and in the automatic format.
template <class V>
void add_backends(const std::vector<std::unique_ptr<Context<>>>& contexts, StoragePrecision storage,
                  Operands<V>& operands, double& automatic_bytes) {
  const bool narrow = storage == StoragePrecision::f32;
  const Method method = operands.contest.method;
  const FormatsToTime formats = formats_to_time(operands.contest.matrix.structure,
                                                narrow ? int(sizeof(float)) : int(sizeof(V)));
  double bytes_of_all = 0;
  if (storage == StoragePrecision::as_vectors)
    for (const auto& ctx : contexts)
      if (is_automatic(ctx->backend())) bytes_of_all = add_automatic(*ctx, operands);
  for (const FormatSpec& format : formats.all) {
    const bool automatic = format == formats.automatic;
    // Float storage beside a double matrix is built by the solver itself and so cannot be shared.
    const bool only_main = narrow || method != Method::pcg;
    if (only_main && !automatic && format.name != "csr") continue;
    const Matrix<V> layout = narrow ? Matrix<V>(operands.A) : build_format(operands.A, format);
    const Cost product =
        narrow ? spmv_cost(build_format(convert_values<float>(operands.A), format), sizeof(V))
               : spmv_cost(layout, sizeof(V));
    for (const auto& ctx : contexts) {
      if (!is_automatic(ctx->backend()) && !automatic && format.name != "csr") continue;
      Candidate<V> candidate{method, format, storage};
      const Matrix<V>* shared = narrow ? nullptr : &layout;
      add_backend(*ctx, candidate, automatic && bytes_of_all == 0, shared, product, operands);
      if (!automatic || !is_automatic(ctx->backend()) || method != Method::pcg) continue;
      candidate.method = Method::pcg_single_reduction;
      add_backend(*ctx, candidate, automatic, shared, product, operands);
    }
    if (automatic)
      automatic_bytes =
          bytes_of_all > 0 ? bytes_of_all : operands.iteration_cost(method, product).bytes;
  }
}

template <class V>
void add_peers(const BenchOptions& options, Operands<V>& operands) {
  const CsrMatrix<V>& A = operands.A;
  const Contest& contest = operands.contest;
  const CsrArrays<V> arrays{A.rows, A.cols, A.row_offsets.data(), A.columns.data(),
                            A.values.data()};
  const int block_size = peer_block_size(contest.matrix.structure);
  for (const SolverPeer<V>& peer :
       solver_peers(arrays, peers_method(contest.method), block_size, options.threads)) {
    Entry entry;
    entry.contestant = peer.name;
    entry.peer = true;
    entry.cost = operands.iteration_cost(contest.method, A.spmv_cost(sizeof(V)));
    operands.add(std::move(entry), {peer.block_size, peer.left},
                 [run = peer.run](const Vector<V>& b, const Vector<V>& x, index_t iterations) {
                   run(b.data(), x.data(), iterations);
                   return std::numeric_limits<double>::quiet_NaN();
                 });
  }
}

template <class V>
void measure(Contest& contest, const CsrMatrix<V>& A, const std::string& precision,
             StoragePrecision storage, const BenchOptions& options, Record& record) {
  const std::string& name = contest.matrix.name;
  tell(name + " " + precision + ", " + std::to_string(contest.lengths.difference()) +
       " iterations");
  const bool all_double = std::is_same_v<V, double> && storage == StoragePrecision::as_vectors;
  Operands<V> operands{contest, A, random_vector<V>(A.rows, 2), all_double ? 1e-6 : 1e-2,
                       options.measure};
  const auto contexts = contexts_to_time(options);
  double bytes = 0;
  add_backends(contexts, storage, operands, bytes);
  add_peers(options, operands);  // under a float matrix with double vectors: in double
  Group group{name, precision, double(A.rows), double(A.nonzeros), 0, false, {}};
  group.out_of_cache = bytes > static_cast<double>(last_level_cache_bytes());
  const double before = bandwidth_at(bytes, options);
  measure_group(std::move(operands.contestants), options.measure, group);
  group.bandwidth = std::max(before, bandwidth_at(bytes, options));
  record.groups.push_back(std::move(group));
}

void measure_matrix(const TestMatrix& matrix, const BenchOptions& options, Record& record) {
  const auto leave_out = [&](const std::string& why) {
    record.notes.push_back(matrix.name + " left out: " + why);
  };
  const Method method = chosen_method();
  if (const std::string why = unfit(method, matrix.structure); !why.empty()) return leave_out(why);
  Contest contest{matrix, method, lengths_on(matrix.A, method, options)};
  if (contest.lengths.longer == 0)
    return leave_out("the iteration ends before it is long enough to time");
  if (options.wants("f64"))
    measure(contest, matrix.A, "f64", StoragePrecision::as_vectors, options, record);
  try {
    if (options.wants("f32"))
      measure(contest, convert_values<float>(matrix.A), "f32", StoragePrecision::as_vectors,
              options, record);
    if (options.wants("f32/f64"))
      measure(contest, matrix.A, "f32/f64", StoragePrecision::f32, options, record);
  } catch (const InvalidArgument& e) {
    leave_out(std::string("in f32: ") + e.what());
  }
}

void run(const BenchOptions& options, Record& record) {
  name_record(chosen_method(), record);
  for (const std::string& source : solver_sources(options.matrices, chosen_method()))
    measure_matrix(load_matrix(source), options, record);
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  return cnc::perf::run_bench(argc, argv,
                              {"pcg", "time of one Jacobi-PCG iteration, beside other libraries",
                               true, cnc::perf::add_solver_option, cnc::perf::run});
}
