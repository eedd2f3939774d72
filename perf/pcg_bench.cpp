// What does one iteration of Jacobi-PCG cost, beside other libraries?
//  Everyone starts from x = 0 with the same right-hand side and does the same number of iterations.
// An iteration's time is the difference between a long and a short solve over the difference of
// their iteration counts: what a solve does once (first residual, last residual, allocations) drops
// out.

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/pcg_solves.hpp"
#include "peers/peers.hpp"

#include <cnc/blas1.hpp>
#include <cnc/solver.hpp>
#include <cnc/spmv.hpp>

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

/// A solver that is ready, with the form in which it iterates. `csr` is the matrix, `layout` the
/// same in the candidate's format when it can be shared.
template <class V>
std::pair<Iterate<V>, SolveForm> ready_solver(Context<>& ctx, const Candidate<V>& candidate,
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
  return {iterate, solver->solve(Vector<const V>(b), x).form};
}

/// || b - A x || in double, with the right-hand side of all solves.
template <class V>
double residual_norm(const CsrMatrix<double>& A, const Vector<V>& x) {
  Context<> ctx("reference");
  const Vector<double> wide("x", x.extent(0));
  for (std::size_t i = 0; i < x.extent(0); ++i) wide(i) = static_cast<double>(x(i));
  const Vector<double> r = random_vector<double>(A.rows, 2);
  spmv(ctx, -1.0, A, wide, 1.0, r);
  return nrm2(ctx, r);
}

/// The long solve's iterations: about a tenth of a second's worth, and before anyone converges; 0
/// when that is too few to time.
index_t long_solve(const CsrMatrix<double>& A, const BenchOptions& options) {
  Context<> ctx("auto", options.threads);
  SolveOptions solve = endless(Method::pcg, PreconditionerKind::jacobi, 0);
  // Far above the smallest float when squared: nobody computes with denormals.
  solve.rtol = 1e-10;
  solve.max_iterations = shorter + most;
  Solver<double> solver(ctx, solve);
  solver.prepare(A);
  const Vector<double> x("x", static_cast<std::size_t>(A.rows));
  const SolveReport report =
      solver.solve(Vector<const double>(random_vector<double>(A.rows, 2)), x);
  if (report.iterations < shorter + fewest) return 0;
  const double per_iteration = report.seconds / report.iterations;
  const double share = options.quick ? 0.002 : 0.1;
  const auto affordable = static_cast<index_t>(std::min(share / per_iteration, double(most)));
  return std::min(report.iterations, shorter + std::max(affordable, fewest + 4));
}

/// Everything that the contestants of a group share.
template <class V>
struct Operands {
  const TestMatrix& matrix;
  CsrMatrix<V> A;
  Vector<V> b;
  index_t longer;
  double tolerance;  ///< of the residual norm after the short solve
  MeasureOptions measure;
  std::map<int, double>& expected;
  std::vector<Contestant> contestants = {};

  void add(Entry entry, int block_size, const Iterate<V>& iterate) {
    if (expected.count(block_size) == 0)
      expected[block_size] = expected_residual(matrix.A, block_size);
    const Vector<V> x("x", b.extent(0));
    double residual = iterate(b, x, shorter);
    if (std::isnan(residual)) residual = residual_norm(matrix.A, x);
    entry.error = check_number(expected[block_size], residual, tolerance, entry.contestant);
    const auto time = [iterate, x, rhs = b](index_t iterations) {
      const double start = now();
      (void)iterate(rhs, x, iterations);
      return now() - start;
    };
    contestants.push_back({std::move(entry), iteration_turn(time, longer, measure)});
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
  entry.cost = product + cost::iteration(candidate.method, operands.A.rows, sizeof(V));
  try {
    auto [iterate, form] = ready_solver(ctx, candidate, operands.A, layout);
    entry.form = to_string(form);
    operands.add(std::move(entry), 1, iterate);
  } catch (const UnsupportedOperation&) {
    // Not offered: nothing to time.
  }
}

/// The automatic backend in every format, and in the automatic format also by single reduction; the
/// other backends in CSR and in the automatic format.
template <class V>
void add_backends(const std::vector<std::unique_ptr<Context<>>>& contexts, StoragePrecision storage,
                  Operands<V>& operands, double& automatic_bytes) {
  const bool narrow = storage == StoragePrecision::f32;
  const FormatsToTime formats =
      formats_to_time(operands.matrix.structure, narrow ? int(sizeof(float)) : int(sizeof(V)));
  for (const FormatSpec& format : formats.all) {
    const bool automatic = format == formats.automatic;
    // Float storage beside a double matrix is built by the solver itself and so cannot be shared.
    if (narrow && !automatic && format.name != "csr") continue;
    const Matrix<V> layout = narrow ? Matrix<V>(operands.A) : build_format(operands.A, format);
    const Cost product =
        narrow ? spmv_cost(build_format(convert_values<float>(operands.A), format), sizeof(V))
               : spmv_cost(layout, sizeof(V));
    for (const auto& ctx : contexts) {
      if (!is_automatic(ctx->backend()) && !automatic && format.name != "csr") continue;
      Candidate<V> candidate{Method::pcg, format, storage};
      const Matrix<V>* shared = narrow ? nullptr : &layout;
      add_backend(*ctx, candidate, automatic, shared, product, operands);
      if (!automatic || !is_automatic(ctx->backend())) continue;
      candidate.method = Method::pcg_single_reduction;
      add_backend(*ctx, candidate, automatic, shared, product, operands);
    }
    if (automatic)
      automatic_bytes = (product + cost::iteration(Method::pcg, operands.A.rows, sizeof(V))).bytes;
  }
}

template <class V>
void add_peers(const BenchOptions& options, Operands<V>& operands) {
  const CsrMatrix<V>& A = operands.A;
  const CsrArrays<V> arrays{A.rows, A.cols, A.row_offsets.data(), A.columns.data(),
                            A.values.data()};
  for (const PcgPeer<V>& peer :
       pcg_peers(arrays, peer_block_size(operands.matrix.structure), options.threads)) {
    Entry entry;
    entry.contestant = peer.name;
    entry.peer = true;
    entry.cost = A.spmv_cost(sizeof(V)) + cost::iteration(Method::pcg, A.rows, sizeof(V));
    operands.add(std::move(entry), peer.block_size,
                 [run = peer.run](const Vector<V>& b, const Vector<V>& x, index_t iterations) {
                   run(b.data(), x.data(), iterations);
                   return std::numeric_limits<double>::quiet_NaN();
                 });
  }
}

template <class V>
void measure(const TestMatrix& matrix, const CsrMatrix<V>& A, const std::string& precision,
             StoragePrecision storage, index_t longer, std::map<int, double>& expected,
             const BenchOptions& options, Record& record) {
  tell(matrix.name + " " + precision + ", " + std::to_string(longer - shorter) + " iterations");
  const bool all_double = std::is_same_v<V, double> && storage == StoragePrecision::as_vectors;
  Operands<V> operands{
      matrix,          A,       random_vector<V>(A.rows, 2), longer, all_double ? 1e-6 : 1e-2,
      options.measure, expected};
  const auto contexts = contexts_to_time(options);
  double bytes = 0;
  add_backends(contexts, storage, operands, bytes);
  add_peers(options, operands);  // under a float matrix with double vectors: in double
  Group group{matrix.name, precision, double(A.rows), double(A.nonzeros), 0, false, {}};
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
  // Some files hold symmetric matrices whose halves differ in the last digits.
  if (!matrix.structure.pattern_symmetric || matrix.structure.asymmetry > 1e-12)
    return leave_out("not symmetric");
  const index_t longer = long_solve(matrix.A, options);
  if (longer == 0) return leave_out("the iteration ends before it is long enough to time");
  std::map<int, double> expected;
  if (options.wants("f64"))
    measure(matrix, matrix.A, "f64", StoragePrecision::as_vectors, longer, expected, options,
            record);
  try {
    if (options.wants("f32"))
      measure(matrix, convert_values<float>(matrix.A), "f32", StoragePrecision::as_vectors, longer,
              expected, options, record);
    if (options.wants("f32/f64"))
      measure(matrix, matrix.A, "f32/f64", StoragePrecision::f32, longer, expected, options,
              record);
  } catch (const InvalidArgument& e) {
    leave_out(std::string("in f32: ") + e.what());
  }
}

void run(const BenchOptions& options, Record& record) {
  for (const std::string& source : matrix_sources(options.matrices))
    measure_matrix(load_matrix(source), options, record);
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  return cnc::perf::run_bench(argc, argv,
                              {"pcg",
                               "time of one Jacobi-PCG iteration, beside other libraries",
                               true,
                               {},
                               cnc::perf::run});
}
