// What does one iteration of Jacobi-PCG cost on a device, or of BiCGSTAB or GMRES with --solver, in each
// form, beside other libraries? The forms of one backend side by side show what each step of fusing them
// gains.

#include "harness/krylov_solves.hpp"
#include "harness/on_device.hpp"

#include <cnc/preconditioner.hpp>
#ifdef CNC_PERF_CUSPARSE
#include "peers/cusparse_solvers.hpp"
#endif

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

namespace cnc::perf {
namespace {

constexpr index_t most = 400;  ///< iterations of a long solve

/// For so long a solver iterates before its automatic form is timed: iterations pay for the set-up of the one it comes to.
constexpr double settling_seconds = 0.5;

constexpr SolveForm all_forms[] = {
    SolveForm::automatic, SolveForm::plain_operations, SolveForm::fused_steps, SolveForm::streamed,
    SolveForm::graph,     SolveForm::resident,         SolveForm::one_meeting};

/// Forms to time, as --forms names them; empty: all.
std::vector<std::string>& chosen_forms() {
  static std::vector<std::string> forms;
  return forms;
}

bool wants_form(SolveForm form) {
  const auto& chosen = chosen_forms();
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), to_string(form)) != chosen.end();
}

/// A method's recurrences: PCG has two.
std::vector<Method> recurrences(Method method) {
  if (method == Method::pcg) return {method, Method::pcg_single_reduction};
  return {method};
}

/// The long solve ends before anybody converges.
Lengths lengths_on(const CsrMatrix<double, DeviceSpace>& A, Method method,
                   const BenchOptions& options) {
  DeviceContext ctx("auto");
  Solver<double, Device> solver(ctx, trial(method, options.quick ? most / 10 : most));
  solver.prepare(A);
  const Vector<const double, DeviceSpace> b =
      copy_to<DeviceSpace>(random_vector<double>(A.rows, 2));
  const SolveReport report = solver.solve(b, zeroed<double, DeviceSpace>("x", b.extent(0)));
  return lengths_of(method, report.iterations, most);
}

/// Everything that the contestants of a group share.
template <class V>
struct Operands {
  const TestMatrix& matrix;
  CsrMatrix<V, DeviceSpace> A;
  Vector<const V, DeviceSpace> b;
  StoragePrecision storage;
  Method method;
  Lengths lengths;
  double expected;   ///< residual norm after the short solve
  double tolerance;  ///< of the same
  const BenchOptions& options;
  std::vector<Contestant> contestants = {};

  /// solve(iterations) returns the seconds that it took.
  template <class Solve>
  void add(Entry entry, double residual, const Solve& solve) {
    entry.error = check_number(expected, residual, tolerance, entry.contestant);
    contestants.push_back({std::move(entry), iteration_turn(solve, lengths, options.measure)});
  }
};

template <class V>
Entry entry_of(const DeviceContext& ctx, const FormatSpec& format, bool automatic, Method method,
               SolveForm form, const SolveReport& report) {
  const Backend& backend = ctx.backend();
  Entry entry;
  entry.peer = backend.baseline;
  const bool single = method == Method::pcg_single_reduction;
  entry.automatic = automatic && is_automatic(backend) && !single && form == SolveForm::automatic;
  entry.backend = backend.name;
  entry.format = format.text();
  entry.form = to_string(report.form);
  if (report.row_kinds > 0) entry.format += " rows";
  if (report.short_columns) entry.format += " short";
  if (report.value_kinds > 0) entry.format += " table";
  if (report.unit_diagonal) entry.format += " unit";
  entry.contestant = std::string(backend.name) + " " + entry.format + " " + to_string(form) +
                     (single ? " C-G" : "");
  entry.cost = {report.bytes / report.iterations, report.flops / report.iterations};
  return entry;
}

template <class V>
using SharedSolver = std::shared_ptr<Solver<V, Device>>;

/// One backend in one format: every form that it offers, of every recurrence. With StoragePrecision::lossless only where
/// products then read something else, and whether those of the automatic form do.
template <class V>
bool add_forms(DeviceContext& ctx, const FormatSpec& format, StoragePrecision storage,
               bool automatic, Operands<V>& operands) {
  bool automatic_reads_less = false;
  for (const Method method : recurrences(operands.method)) {
    // Of all forms asked for by name, as a layout for each would not fit beside the others. The plan is that of the first.
    SharedSolver<V> named;
    for (const SolveForm form : all_forms) try {
        if (!wants_form(form)) continue;
        if (ctx.backend().baseline && form != SolveForm::automatic) continue;
        SolveOptions options = endless(method, PreconditionerKind::jacobi, 0);
        options.form = form;
        options.format = format;
        options.storage = storage;
        options.max_iterations = operands.lengths.shorter;
        SharedSolver<V> solver = form == SolveForm::automatic ? nullptr : named;
        if (!solver) {
          solver = std::make_shared<Solver<V, Device>>(ctx, options);
          solver->prepare(operands.A);
          if (form != SolveForm::automatic) named = solver;
        }
        solver->set_options(options);
        const auto x = zeroed<V, DeviceSpace>("x", operands.b.extent(0));
        const double settled = now() + (form == SolveForm::automatic ? settling_seconds : 0);
        while (now() < settled) {
          solver->solve(operands.b, x);
          Kokkos::deep_copy(x, V(0));
        }
        const double residual = solver->solve(operands.b, x).recurrence_residual;
        const auto solve = [solver, options, x, b = operands.b](index_t iterations,
                                                                SolveReport* report = nullptr) {
          SolveOptions limited = options;
          limited.max_iterations = iterations;
          solver->set_options(limited);
          Kokkos::deep_copy(x, V(0));
          const double start = now();
          SolveReport of_solve = solver->solve(b, x);
          const double seconds = now() - start;
          if (of_solve.iterations != iterations)
            throw Error("device_pcg_bench: a solve ended before its limit");
          if (report != nullptr) *report = std::move(of_solve);
          return seconds;
        };
        SolveReport report;  // what short solves do without may be there in long ones
        solve(operands.lengths.longer, &report);
        const bool reads_less = report.row_kinds > 0 || report.short_columns ||
                                report.value_kinds > 0 || report.unit_diagonal;
        if (form == SolveForm::automatic) automatic_reads_less = reads_less;
        if (storage == StoragePrecision::lossless && !reads_less) continue;
        operands.add(entry_of<V>(ctx, format, automatic, method, form, report), residual, solve);
      } catch (const UnsupportedOperation&) {
        // Not offered: nothing to time.
      }
  }
  return automatic_reads_less;
}

#ifdef CNC_PERF_CUSPARSE
/// The same iterations as one writes them on NVIDIA's libraries.
template <class V>
void add_peers(Operands<V>& operands) {
  using namespace cusparse_peer;
  const CsrMatrix<V, DeviceSpace>& A = operands.A;
  auto jacobi = std::make_shared<Preconditioner<V, DeviceSpace>>();
  set_up_preconditioner(A, PreconditionerKind::jacobi, 1, *jacobi);
  const DeviceSystem<V> system{
      A.rows,          static_cast<int>(A.blocks()), A.row_offsets.data(), A.columns.data(),
      A.values.data(), jacobi->inverse.data()};
  for (const cusparse_peer::Solver<V>& peer : solvers(system, peers_method(operands.method))) {
    const auto x = zeroed<V, DeviceSpace>("x", operands.b.extent(0));
    Entry entry;
    entry.peer = true;
    entry.contestant = peer.name;
    entry.cost = iteration_cost(operands.method, A.spmv_cost(sizeof(V)), A.rows, sizeof(V));
    const double residual =
        peer.run(operands.b.data(), x.data(), operands.lengths.shorter).residual;
    operands.add(std::move(entry), residual,
                 [run = peer.run, jacobi, x, b = operands.b](index_t iterations) {
                   return run(b.data(), x.data(), iterations).seconds_per_iteration * iterations;
                 });
  }
}
#endif

template <class V>
void measure(const TestMatrix& matrix, const CsrMatrix<V>& A, const std::string& precision,
             StoragePrecision storage, Method method, const Lengths& lengths, double expected,
             const BenchOptions& options, Record& record) {
  tell(matrix.name + " " + precision + ", " + std::to_string(lengths.difference()) + " iterations");
  const bool all_double = std::is_same_v<V, double> && storage == StoragePrecision::as_vectors;
  Operands<V> operands{matrix,
                       copy_to<DeviceSpace>(A),
                       copy_to<DeviceSpace>(random_vector<V>(A.rows, 2)),
                       storage,
                       method,
                       lengths,
                       expected,
                       all_double ? 1e-6 : 1e-2,
                       options};
  const int value_bytes = storage == StoragePrecision::f32 ? 4 : int(sizeof(V));
  const FormatsToTime formats = formats_to_time(matrix.structure, value_bytes, MemorySpace::device);
  const auto contexts = device_contexts(options);
  for (const FormatSpec& format : formats.all)
    for (const auto& ctx : contexts) {
      const bool in_every_format = is_automatic(ctx->backend()) && method == Method::pcg;
      if (takes(ctx->backend(), format) &&
          (in_every_format || format.name == "csr" || format == formats.automatic)) {
        bool automatic = format == formats.automatic;
        if (automatic && storage == StoragePrecision::as_vectors)
          automatic = !add_forms(*ctx, format, StoragePrecision::lossless, true, operands);
        add_forms(*ctx, format, storage, automatic, operands);
      }
    }
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
  const Method method = chosen_method();
  if (const std::string why = unfit(method, matrix.structure); !why.empty())
    return record.notes.push_back(matrix.name + " left out: " + why);
  const Lengths lengths = lengths_on(copy_to<DeviceSpace>(matrix.A), method, options);
  if (lengths.longer == 0)
    return record.notes.push_back(matrix.name +
                                  " left out: it ends before it is long enough to time");
  const double expected = expected_residual(matrix.A, method, {});
  const auto in = [&](const char* precision, const auto& A, StoragePrecision storage) {
    measure(matrix, A, precision, storage, method, lengths, expected, options, record);
  };
  if (options.wants("f64")) in("f64", matrix.A, StoragePrecision::as_vectors);
  if (options.wants("f32"))
    in("f32", convert_values<float>(matrix.A), StoragePrecision::as_vectors);
  if (options.wants("f32/f64")) in("f32/f64", matrix.A, StoragePrecision::f32);
}

void run(const BenchOptions& options, Record& record) {
  name_record(chosen_method(), record);
  for (const std::string& source : solver_sources(options.matrices, chosen_method()))
    measure_matrix(load_matrix(source), options, record);
}

void add_options(CLI::App& app) {
  add_solver_option(app);
  app.add_option(
         "--forms", chosen_forms(),
         "automatic, plain operations, fused steps, run, streamed, graph, resident, one meeting")
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
