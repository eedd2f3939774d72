// How fast are the operations of the Concurrent Number Cruncher, and how much of the machine do they use? SAXPY, SDOT, SNRM2,
// SpMV and an iteration of Jacobi-PCG in every format by every backend, in GFLOP/s and GB/s, over what memory and a dense
// product reach; how much of a whole solve is not iterations; and the residuals of host and device, iteration by iteration.

#include "harness/bench.hpp"
#include "harness/diagonal_system.hpp"
#include "harness/machine.hpp"
#include "harness/operations_output.hpp"
#include "harness/record.hpp"
#include "harness/table.hpp"
#include "peers/gemm.hpp"

#include <cnc/error.hpp>
#include <cnc/model.hpp>
#include <cnc/options.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <vendor/baselines.hpp>

#include <cstdlib>
#include <iostream>

namespace cnc::perf {
namespace {

struct Options {
  OperationOptions operations;
  std::vector<std::string> sources;
  std::vector<std::string> formats = {"csr", "bcsr:2", "bcsr:4", "bsell", "bsell:2", "dia", "auto"};
  std::vector<std::string> memories = {"host", "device"};
  MeshOptions mesh;
  std::vector<std::string> solve_formats = {"csr", "bcsr:2", "auto"};
  WholeSolveOptions solve;
  std::string csv, solves, residuals;
  std::string write, suffix = "mtx.gz";
};

/// Layouts with so many times the bytes of CSR are left out: they lose everywhere.
constexpr double most_bytes = 4;

FormatSpec resolved(const std::string& format, const MeasuredSystem& system, MemorySpace memory) {
  if (format == "auto") return choose_format(system.structure, sizeof(double), memory).format;
  return parse_format(format);
}

/// Those of a list that the matrix fits, each once; notes say what is left out.
std::vector<FormatSpec> fitting_formats(const std::vector<std::string>& list,
                                        const MeasuredSystem& system, MemorySpace memory,
                                        std::vector<std::string>& notes) {
  const auto bytes_of = [&](const FormatSpec& format) {
    for (const auto& info : formats<double>())
      if (info.name == format.name)
        return info.predicted_bytes(system.structure, format, sizeof(double), memory);
    return -1.0;
  };
  const double csr = bytes_of({"csr", 1});
  std::vector<FormatSpec> fitting;
  for (const std::string& text : list) {
    const FormatSpec format = resolved(text, system, memory);
    const double bytes = bytes_of(format);
    if (bytes < 0 || bytes > most_bytes * csr)
      notes.push_back(
          system.name + ": " + text + " left out, " +
          (bytes < 0 ? "it cannot hold the matrix" : times(bytes / csr) + " the bytes of CSR"));
    else if (std::find(fitting.begin(), fitting.end(), format) == fitting.end())
      fitting.push_back(format);
  }
  return fitting;
}

/// The rate of the fastest library, over two sizes of matrices, for the memory's processor.
template <class V>
void add_peak_flops(MemorySpace memory, const char* precision, const Options& options,
                    Peaks& peaks) {
  const bool on_device = memory == MemorySpace::device;
  const BenchOptions& bench = options.operations.bench;
  for (const GemmPeer<V>& peer : gemm_peers<V>(bench.threads)) {
    if (peer.on_device != on_device) continue;
    tell(std::string("peak of ") + peer.name + ", " + precision);
    double best = 0;
    for (const int n : on_device ? std::vector{4096, 8192} : std::vector{384, 1024}) {
      const int size = bench.quick ? 128 : n;
      const auto multiply = peer.prepare(size);
      require(multiply() == static_cast<V>(size), [&] { return peer.name + ": wrong product"; });
      const double seconds = detail::fastest_call(
          bench.quick ? 0.01 : 0.5, 1e-3, [&] { (void)multiply(); }, [] {});
      best = std::max(best, 2.0 * size * size * size / seconds);
    }
    const std::string reached =
        peer.name + " " + precision + " " + fixed(best * 1e-9, 1) + " GFLOP/s";
    peaks.flops_by += (peaks.flops_by.empty() ? "" : "; ") + reached;
    double& peak = peaks.flops[precision];
    peak = std::max(peak, best);
  }
}

template <class Exec>
Peaks measure_peaks(const Options& options) {
  constexpr MemorySpace memory = Context<Exec>::memory;
  const BenchOptions& bench = options.operations.bench;
  Peaks peaks;
  tell("memory bandwidth");
  Context<Exec> ctx("auto", memory == MemorySpace::host ? bench.threads : 0);
  const Bandwidth bandwidth =
      measure_bandwidth(ctx, bench.quick ? std::size_t{1} << 22 : 0, bench.quick ? 0.01 : 0.3);
  peaks.read = bandwidth.read;
  peaks.triad = bandwidth.triad;
  add_peak_flops<float>(memory, "f32", options, peaks);
  add_peak_flops<double>(memory, "f64", options, peaks);
  return peaks;
}

/// As soon as there is something: a run that is cut off keeps what it has found.
void write_files(const Options& options, const OperationFindings& findings) {
  if (!options.csv.empty()) write_operations_csv(options.csv, findings);
  if (!options.solves.empty()) write_solves_csv(options.solves, findings);
  if (!options.residuals.empty()) write_residuals_csv(options.residuals, findings);
}

template <class V, class Exec>
void measure_in(const std::vector<std::unique_ptr<Context<Exec>>>& contexts,
                const MeasuredSystem& system, const Options& options, OperationFindings& findings) {
  OperationOptions operations = options.operations;
  constexpr MemorySpace memory = Context<Exec>::memory;
  operations.formats = fitting_formats(options.formats, system, memory, findings.notes);
  std::vector<std::string> said;  // the same again
  const std::vector<FormatSpec> formats =
      fitting_formats(options.solve_formats, system, memory, said);
  for (OperationLine& line : OperationMeasurement<V, Exec>(contexts, system, operations).measure())
    findings.operations.push_back(std::move(line));
  write_files(options, findings);
  for (SolveLine& line : whole_solves<V, Exec>(contexts, system, formats, options.solve))
    findings.solves.push_back(std::move(line));
  write_files(options, findings);
}

template <class Exec>
void measure_memory(const std::vector<MeasuredSystem>& systems, const Options& options,
                    OperationFindings& findings) {
  const std::string memory = name_of(Context<Exec>::memory);
  if (!has(options.memories, memory)) return;
  const auto contexts = usable_contexts<Exec>(options.operations.bench);
  if (contexts.empty()) {
    findings.notes.push_back("nothing on the " + memory + ": no backend that is usable and wanted");
    return;
  }
  findings.peaks[memory] = measure_peaks<Exec>(options);
  for (const MeasuredSystem& system : systems) {
    if (options.operations.bench.wants("f32"))
      measure_in<float, Exec>(contexts, system, options, findings);
    if (options.operations.bench.wants("f64"))
      measure_in<double, Exec>(contexts, system, options, findings);
  }
}

/// How long the solves are whose difference is the time of an iteration, and what the short one leaves.
void plan_iterations(MeasuredSystem& system, const Options& options, OperationFindings& findings) {
  const BenchOptions& bench = options.operations.bench;
  const index_t most = 100;
  Context<> ctx("auto", bench.threads);
  Solver<double> solver(ctx, trial(Method::pcg, most));
  solver.prepare(system.A);
  const Vector<double> x("x", static_cast<std::size_t>(system.A.rows));
  const SolveReport report =
      solver.solve(Vector<const double>(random_vector<double>(system.A.rows, 2)), x);
  const double one = report.seconds / std::max<index_t>(report.iterations, 1);
  const double wanted = std::min((bench.quick ? 0.002 : 0.1) / one, static_cast<double>(most));
  system.lengths = lengths_of(Method::pcg, report.iterations, static_cast<index_t>(wanted));
  system.short_residual = expected_residual(system.A, Method::pcg, {});
  if (system.lengths.longer == 0)
    findings.notes.push_back(system.name +
                             ": no iterations timed, it is solved before they are long enough");
}

std::vector<MeasuredSystem> all_systems(const Options& options) {
  std::vector<MeasuredSystem> systems;
  for (const std::string& source : options.sources) {
    tell("nothing yet, making systems of " + source);
    for (MeasuredSystem& system : load_systems(source, options.mesh))
      systems.push_back(std::move(system));
  }
  return systems;
}

Record heading(const Options& options) {
  const BenchOptions& bench = options.operations.bench;
  Record record;
  record.bench = "operations";
  record.question =
      "operations of the Concurrent Number Cruncher, and how much of the machine they use";
  record.machine = describe_machine(bench.threads);
  record.build = describe_build(bench.commit);
  record.settings = {{"turns", bench.measure.turns},
                     {"seconds", bench.measure.seconds},
                     {"rtol", options.solve.rtol},
                     {"iterations", options.solve.iterations}};
  return record;
}

void run(Options& options) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  BenchOptions& bench = options.operations.bench;
  if (bench.threads == 0) bench.threads = default_threads();
  if (bench.quick) {
    bench.measure = {3, 0.01};
    options.solve.repeats = 1;
  }
  if (options.sources.empty()) options.sources = {bench.quick ? "terrain:24" : "terrain:512"};
  warm_up_threads(bench.threads);
  const Kokkos::ScopeGuard kokkos;
  const Record record = heading(options);
  std::vector<MeasuredSystem> systems = all_systems(options);
  if (!options.write.empty()) {
    for (const MeasuredSystem& system : systems)
      std::cout << write_system(options.write, options.suffix, system) << '\n';
    return;
  }
  OperationFindings findings;
  for (MeasuredSystem& system : systems) plan_iterations(system, options, findings);
  measure_memory<Kokkos::DefaultHostExecutionSpace>(systems, options, findings);
#ifdef CNC_KOKKOS_HAS_DEVICE
  measure_memory<Kokkos::DefaultExecutionSpace>(systems, options, findings);
#endif
  tell("");
  record.print_heading(std::cout);
  print_operations(std::cout, findings, bench.all);
}

void add_options(CLI::App& app, Options& o) {
  BenchOptions& bench = o.operations.bench;
  bench.precisions = {"f32", "f64"};
  bench.measure.turns = 5;
  const auto list = [&](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->delimiter(',')->allow_extra_args(false);
  };
  app.add_option("SOURCE", o.sources,
                 "Matrix files, built-in problems, meshes: terrain:N is one of N x N vertices "
                 "(default: terrain:512)");
  list("--systems", o.mesh.systems, "Of a mesh: smooth, lscm")
      ->check(CLI::IsMember({"smooth", "lscm"}));
  app.add_option("--unknowns", o.mesh.unknowns, "To a vertex, of smoothing: 1 or 3")
      ->check(CLI::IsMember({1, 3}));
  app.add_option("--fit", o.mesh.fit, "Weight of a vertex' place in smoothing")
      ->check(CLI::PositiveNumber);
  list("--formats", o.formats,
       "Formats to time (default: csr,bcsr:2,bcsr:4,bsell,bsell:2,dia,auto)");
  list("--solve-formats", o.solve_formats, "Formats of whole solves (default: csr,bcsr:2,auto)");
  list("--memory", o.memories, "host, device (where there is one)")
      ->check(CLI::IsMember({"host", "device"}));
  list("--precisions", bench.precisions, "f32, f64")->check(CLI::IsMember({"f32", "f64"}));
  list("--backends", bench.backends, "Only these");
  app.add_flag("--variants", bench.variants, "Also variants of backends");
  app.add_option("--threads", bench.threads, "Threads of the host (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--turns", bench.measure.turns, "Turns of each contestant")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", bench.measure.seconds, "Timed seconds of each contestant, at least")
      ->check(CLI::PositiveNumber);
  app.add_option("--rtol", o.solve.rtol, "Of the whole solves, over ||b||")
      ->check(CLI::PositiveNumber);
  app.add_option("--iterations", o.solve.iterations, "Limit of the whole solves")
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", o.solve.repeats, "Timed solves of each, at most")
      ->check(CLI::Range(1, 1000));
  app.add_option("--csv", o.csv, "Write every operation to this file");
  app.add_option("--solves", o.solves, "Write every whole solve to this file");
  app.add_option("--residuals", o.residuals, "Write the residual of every iteration to this file");
  app.add_option("--write-matrix", o.write,
                 "Write the systems into this directory, with their right-hand sides, and end")
      ->check(CLI::ExistingDirectory);
  app.add_option("--suffix", o.suffix, "Of what is written: mtx, mtx.gz, cnc")
      ->check(CLI::IsMember({"mtx", "mtx.gz", "cnc"}));
  app.add_option("--commit", bench.commit, "Commit to name (default: the configured one)");
  app.add_flag("--all", bench.all, "Print every backend in every format");
  app.add_flag("--quick", bench.quick, "A small mesh, short times: only to see that it runs");
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  cnc::perf::Options options;
  CLI::App app(
      "operations of the Concurrent Number Cruncher, and how much of the machine they use");
  cnc::perf::add_options(app, options);
  return cnc::perf::parse_and_run(argc, argv, app, "operations", [&] {
    cnc::add_backends(cnc::baselines());
    cnc::perf::run(options);
  });
}
