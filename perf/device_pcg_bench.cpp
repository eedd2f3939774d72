// What does one iteration of Jacobi-PCG cost on a device, in each form, beside other libraries? The forms of
// one backend side by side show what each step of fusing them gains.

#include "harness/on_device.hpp"
#include "harness/pcg_solves.hpp"

#include <cnc/preconditioner.hpp>
#ifdef CNC_PERF_CUSPARSE
#include "peers/cusparse_pcg.hpp"
#endif

#include <algorithm>
#include <cmath>

namespace cnc::perf {
namespace {

constexpr index_t most = 400;  ///< iterations of a long solve

constexpr SolveForm all_forms[] = {SolveForm::automatic,   SolveForm::plain_operations,
                                   SolveForm::fused_steps, SolveForm::streamed,
                                   SolveForm::graph,       SolveForm::resident};

/// Forms to time, as --forms names them; empty: all.
std::vector<std::string>& chosen_forms() {
  static std::vector<std::string> forms;
  return forms;
}

bool wants_form(SolveForm form) {
  const auto& chosen = chosen_forms();
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), to_string(form)) != chosen.end();
}

/// Iterations of the long solve: before anybody converges; 0 when that is too few to time.
index_t long_solve(const CsrMatrix<double, DeviceSpace>& A, const BenchOptions& options) {
  DeviceContext ctx("auto");
  SolveOptions solve = endless(Method::pcg, PreconditionerKind::jacobi, 0);
  // Far above the smallest float when squared: nobody computes with denormals.
  solve.rtol = 1e-10;
  solve.max_iterations = shorter + (options.quick ? most / 10 : most);
  Solver<double, Device> solver(ctx, solve);
  solver.prepare(A);
  const Vector<const double, DeviceSpace> b =
      copy_to<DeviceSpace>(random_vector<double>(A.rows, 2));
  const SolveReport report = solver.solve(b, zeroed<double, DeviceSpace>("x", b.extent(0)));
  return report.iterations < shorter + fewest ? 0 : report.iterations;
}

/// Everything that the contestants of a group share.
template <class V>
struct Operands {
  const TestMatrix& matrix;
  CsrMatrix<V, DeviceSpace> A;
  Vector<const V, DeviceSpace> b;
  StoragePrecision storage;
  index_t longer;
  double expected;   ///< residual norm after the short solve
  double tolerance;  ///< of the same
  const BenchOptions& options;
  std::vector<Contestant> contestants = {};

  /// solve(iterations) returns the seconds that it took.
  template <class Solve>
  void add(Entry entry, double residual, const Solve& solve) {
    entry.error = check_number(expected, residual, tolerance, entry.contestant);
    contestants.push_back({std::move(entry), iteration_turn(solve, longer, options.measure)});
  }
};

template <class V>
Entry entry_of(const DeviceContext& ctx, const FormatSpec& format, bool automatic, Method method,
               SolveForm form, const SolveReport& report) {
  const Backend& backend = ctx.backend();
  Entry entry;
  entry.peer = backend.baseline;
  entry.automatic =
      automatic && is_automatic(backend) && method == Method::pcg && form == SolveForm::automatic;
  entry.backend = backend.name;
  entry.format = format.text();
  entry.form = to_string(report.form);
  entry.contestant = std::string(backend.name) + " " + entry.format + " " + to_string(form) +
                     (method == Method::pcg ? "" : " C-G");
  entry.cost = {report.bytes / report.iterations, report.flops / report.iterations};
  return entry;
}

/// One backend in one format: every form that it offers, of both recurrences.
template <class V>
void add_forms(DeviceContext& ctx, const FormatSpec& format, bool automatic,
               Operands<V>& operands) {
  for (const Method method : {Method::pcg, Method::pcg_single_reduction})
    for (const SolveForm form : all_forms) try {
        if (!wants_form(form)) continue;
        if (ctx.backend().baseline && form != SolveForm::automatic) continue;
        SolveOptions options = endless(method, PreconditionerKind::jacobi, 0);
        options.form = form;
        options.format = format;
        options.storage = operands.storage;
        options.max_iterations = shorter;
        auto solver = std::make_shared<Solver<V, Device>>(ctx, options);
        solver->prepare(operands.A);
        const auto x = zeroed<V, DeviceSpace>("x", operands.b.extent(0));
        const SolveReport report = solver->solve(operands.b, x);
        const auto solve = [solver, options, x, b = operands.b](index_t iterations) {
          SolveOptions limited = options;
          limited.max_iterations = iterations;
          solver->set_options(limited);
          Kokkos::deep_copy(x, V(0));
          const double start = now();
          if (solver->solve(b, x).iterations != iterations)
            throw Error("device_pcg_bench: a solve ended before its limit");
          return now() - start;
        };
        operands.add(entry_of<V>(ctx, format, automatic, method, form, report),
                     report.recurrence_residual, solve);
      } catch (const UnsupportedOperation&) {
        // Not offered: nothing to time.
      }
}

#ifdef CNC_PERF_CUSPARSE
/// The same iteration as one writes it on NVIDIA's libraries.
template <class V>
void add_peers(Operands<V>& operands) {
  using namespace cusparse_peer;
  const CsrMatrix<V, DeviceSpace>& A = operands.A;
  auto jacobi = std::make_shared<Preconditioner<V, DeviceSpace>>();
  set_up_preconditioner(A, PreconditionerKind::jacobi, 1, *jacobi);
  const DeviceSystem<V> system{
      A.rows,          static_cast<int>(A.blocks()), A.row_offsets.data(), A.columns.data(),
      A.values.data(), jacobi->inverse.data()};
  for (const Scalars scalars : {Scalars::host, Scalars::device}) {
    auto peer = std::make_shared<Pcg<V>>(pcg(system, scalars));
    const auto x = zeroed<V, DeviceSpace>("x", operands.b.extent(0));
    Entry entry;
    entry.peer = true;
    entry.contestant = peer->name;
    entry.cost = A.spmv_cost(sizeof(V)) + cost::iteration(Method::pcg, A.rows, sizeof(V));
    const double residual = peer->run(operands.b.data(), x.data(), shorter).residual;
    operands.add(std::move(entry), residual, [peer, jacobi, x, b = operands.b](index_t iterations) {
      return peer->run(b.data(), x.data(), iterations).seconds_per_iteration * iterations;
    });
  }
}
#endif

template <class V>
void measure(const TestMatrix& matrix, const CsrMatrix<V>& A, const std::string& precision,
             StoragePrecision storage, index_t longer, double expected, const BenchOptions& options,
             Record& record) {
  tell(matrix.name + " " + precision + ", " + std::to_string(longer - shorter) + " iterations");
  const bool all_double = std::is_same_v<V, double> && storage == StoragePrecision::as_vectors;
  Operands<V> operands{matrix,
                       copy_to<DeviceSpace>(A),
                       copy_to<DeviceSpace>(random_vector<V>(A.rows, 2)),
                       storage,
                       longer,
                       expected,
                       all_double ? 1e-6 : 1e-2,
                       options};
  const int value_bytes = storage == StoragePrecision::f32 ? 4 : int(sizeof(V));
  const FormatsToTime formats = formats_to_time(matrix.structure, value_bytes, MemorySpace::device);
  const auto contexts = device_contexts(options);
  for (const FormatSpec& format : formats.all)
    for (const auto& ctx : contexts)
      if (takes(ctx->backend(), format) &&
          (is_automatic(ctx->backend()) || format.name == "csr" || format == formats.automatic))
        add_forms(*ctx, format, format == formats.automatic, operands);
#ifdef CNC_PERF_CUSPARSE
  add_peers(operands);
#endif
  double bytes = 0;
  for (const Contestant& contestant : operands.contestants)
    if (contestant.entry.automatic) bytes = contestant.entry.cost.bytes;
  Group group{matrix.name, precision, double(A.rows), double(A.nonzeros), 0, false, {}};
  group.out_of_cache = bytes > beyond_device_caches;
  const double before = bandwidth_at(bytes, options, MemorySpace::device);
  measure_group(std::move(operands.contestants), options.measure, group);
  group.bandwidth = std::max(before, bandwidth_at(bytes, options, MemorySpace::device));
  record.groups.push_back(std::move(group));
}

void measure_matrix(const TestMatrix& matrix, const BenchOptions& options, Record& record) {
  // Some files hold symmetric matrices whose halves differ in the last digits.
  if (!matrix.structure.pattern_symmetric || matrix.structure.asymmetry > 1e-12)
    return record.notes.push_back(matrix.name + " left out: not symmetric");
  const index_t longer = long_solve(copy_to<DeviceSpace>(matrix.A), options);
  if (longer == 0)
    return record.notes.push_back(matrix.name +
                                  " left out: it ends before it is long enough to time");
  const double expected = expected_residual(matrix.A, 1);
  if (options.wants("f64"))
    measure(matrix, matrix.A, "f64", StoragePrecision::as_vectors, longer, expected, options,
            record);
  if (options.wants("f32"))
    measure(matrix, convert_values<float>(matrix.A), "f32", StoragePrecision::as_vectors, longer,
            expected, options, record);
  if (options.wants("f32/f64"))
    measure(matrix, matrix.A, "f32/f64", StoragePrecision::f32, longer, expected, options, record);
}

void run(const BenchOptions& options, Record& record) {
  for (const std::string& source : matrix_sources(options.matrices))
    measure_matrix(load_matrix(source), options, record);
}

void add_options(CLI::App& app) {
  app.add_option("--forms", chosen_forms(),
                 "automatic, plain operations, fused steps, run, streamed, graph, resident")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  return cnc::perf::run_bench(
      argc, argv,
      {"device_pcg",
       "time of one Jacobi-PCG iteration on a device in each form, beside "
       "other libraries",
       true, cnc::perf::add_options, cnc::perf::run, cnc::MemorySpace::device});
}
