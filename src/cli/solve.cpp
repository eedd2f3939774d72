#include "app.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "option_checks.hpp"
#include "output_file.hpp"
#include "session.hpp"
#include "solve_output.hpp"
#include "solve_run.hpp"

#include <cnc/formats.hpp>
#include <cnc/options.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <utility>

namespace cnc::cli {
namespace {

/// The options as typed.
struct SolveArguments {
  std::string source;
  std::string solver = "pcg";
  std::string precondition = "jacobi";
  std::string format = "auto";
  std::string precision = "f64";
  std::string backend = "auto";
  std::string memory;
  std::string form = "automatic";
  std::string arithmetic = "fast";
  std::string relative_to = "b";
  std::string norm = "two";
  std::string reorder = "none";
  std::string null_space = "none";
  std::optional<double> rtol;
  std::vector<double> spectrum;
  int threads = 0;
  int block_threads = 0;
  std::optional<int> restart;
  std::string history;
  std::string json;
  bool quiet = false;
  SolveRequest request;
};

/// What float vectors can reach on an ordinary matrix, and what double ones can.
double default_rtol(Precision precision) { return precision == Precision::f32 ? 1e-5 : 1e-8; }

SolveRequest request_from(const SolveArguments& arguments) {
  SolveRequest request = arguments.request;
  SolveOptions& options = request.options;
  request.precision = parse_precision(arguments.precision);
  options.method = parse_method(arguments.solver);
  if (arguments.restart) {
    if (options.method != Method::gmres && options.method != Method::fgmres &&
        options.method != Method::automatic)
      throw InvalidArgument("--restart is for --solver gmres, fgmres and auto");
    options.restart = *arguments.restart;
  }
  options.form = parse_solve_form(arguments.form);
  options.arithmetic = parse_arithmetic(arguments.arithmetic);
  const PreconditionerSpec preconditioner = parse_preconditioner(arguments.precondition);
  options.preconditioner = preconditioner.kind;
  options.preconditioner_block_size = preconditioner.block_size;
  request.preconditioner = preconditioner;
  options.format = parse_format(arguments.format);
  if (request.precision == Precision::f32_f64) options.storage = StoragePrecision::f32;
  options.rtol = arguments.rtol.value_or(default_rtol(request.precision));
  options.reference =
      arguments.relative_to == "b" ? ToleranceReference::rhs : ToleranceReference::initial_residual;
  options.norm = arguments.norm == "inf" ? ResidualNorm::infinity : ResidualNorm::two;
  if (!arguments.spectrum.empty()) {
    if (options.method != Method::chebyshev)
      throw InvalidArgument("--spectrum is for --solver chebyshev");
    options.spectrum = {arguments.spectrum[0], arguments.spectrum[1]};
  }
  options.reordering = arguments.reorder == "rcm" ? Reordering::rcm : Reordering::none;
  options.null_space = arguments.null_space == "constant" ? NullSpace::constant : NullSpace::none;
  request.show_progress = !arguments.quiet;
  request.measure_bandwidth = !arguments.quiet || !arguments.json.empty();
  return request;
}

/// On one process, or on each rank of several; the first one reads, prints and writes.
int solve(const SolveArguments& arguments, const Ranks& ranks) {
  const SolveRequest request = request_from(arguments);
  check_outputs({request.output, arguments.history, arguments.json},
                {arguments.source, request.rhs,
                 request.coordinates});  // x may replace the x0 it started from
  check_vectors(request);
  // Pure JSON or CSV on standard output leaves no place for the report.
  const bool report =
      !arguments.quiet && arguments.json != "-" && arguments.history != "-" && ranks.is_first();

  const int threads = ranks.threads(arguments.threads);
  const Session session(threads);
  const ContextRequest where{arguments.backend,
                             memory_of_backend(arguments.backend, arguments.memory), threads,
                             arguments.block_threads};
  (void)find_backend(where.backend, where.memory);  // before a large matrix is read
  if (where.block_threads > 0 && where.memory == MemorySpace::host)
    throw InvalidArgument("--block-threads is for backends of devices");
  const LoadedMatrix matrix =
      ranks.load(arguments.source, request, [&](index_t rows, offset_t entries) {
        return solve_bytes(request, where.memory, rows, entries);
      });
  const Interrupt interrupt;  // from here on, Ctrl-C ends the iteration and keeps its results
  if (report) std::cout << matrix_line(matrix) << std::flush;
  require_square(matrix.name, matrix.A.rows, matrix.A.cols, request.options.method);

  const SolveOutcome outcome =
      ranks.size() > 1 ? ranks.solve(where, matrix, request) : run_solve(where, matrix, request);
  if (report) print_outcome(std::cout, request, outcome);
  const int code = outcome.report.converged() ? exit_ok : exit_not_converged;
  if (!ranks.is_first()) return code;
  if (!arguments.history.empty())
    write_output(arguments.history,
                 [&](std::ostream& out) { write_history_csv(out, outcome.report); });
  if (!arguments.json.empty())
    write_output(arguments.json,
                 [&](std::ostream& out) { write_outcome_json(out, matrix, request, outcome); });
  return code;
}

void add_method_options(CLI::App& command, SolveArguments& a) {
  command.add_option("--solver,--method", a.solver, known_methods())
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--restart", a.restart, "gmres, fgmres, auto: steps of a cycle (default: 30)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command
      .add_option("--precondition", a.precondition,
                  "auto, none, jacobi[:W], block-jacobi[:B], gauss-seidel, sor[:W], ssor[:W], ic0, "
                  "ict[:DROP], ilu0, ilut[:DROP], chebyshev[:DEGREE], amg[:OPTION,...]")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option(
          "--coordinates", a.request.coordinates,
          "amg, elasticity: a vector file with the coordinates of each node one after the other")
      ->type_name("FILE");
  command.add_option("--format", a.format, "auto, " + known_formats())
      ->type_name("NAME[:B]")
      ->capture_default_str();
  command
      .add_option("--precision", a.precision, "f32, f64, or f32/f64 (float matrix, double vectors)")
      ->check(CLI::IsMember({"f32", "f64", "f32/f64"}))
      ->type_name("TYPE")
      ->capture_default_str();
  command.add_option("--backend", a.backend, "Kernel set; 'cnc backends' lists them")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--memory", a.memory, "host or device (default: the backend's)")
      ->check(CLI::IsMember({"host", "device"}))
      ->type_name("NAME");
  command
      .add_option("--form", a.form,
                  "automatic, plain, fused, run, streamed, graph, resident, one-meeting (the last "
                  "four on a "
                  "device)")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--arithmetic", a.arithmetic,
                  "Rounding of products and dots: fast, separate, fused, compensated-separate, "
                  "compensated-fused")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--block-threads", a.block_threads, "Device: threads per block (default: tuned)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command.add_option("--reorder", a.reorder, "none or rcm (reverse Cuthill-McKee)")
      ->check(CLI::IsMember({"none", "rcm"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--null-space", a.null_space,
                  "none or constant (a Neumann problem): what A maps to zero")
      ->check(CLI::IsMember({"none", "constant"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_partition_option(command, a.request.partition);
  add_link_option(command, a.request.link);
  command.add_option("--threads", a.threads, "Threads (default: all)")
      ->check(CLI::Range(1, largest_threads()))
      ->type_name("N");
}

void add_stopping_options(CLI::App& command, SolveArguments& a) {
  SolveOptions& options = a.request.options;
  command.add_option("--rtol", a.rtol, "Relative tolerance (default: 1e-8, in f32 1e-5)")
      ->check(not_negative)
      ->type_name("X");
  command.add_option("--atol", options.atol, "Absolute tolerance")
      ->check(not_negative)
      ->type_name("X");
  command.add_option("--relative-to", a.relative_to, "What --rtol is relative to: b or r0")
      ->check(CLI::IsMember({"b", "r0"}))
      ->type_name("NORM")
      ->capture_default_str();
  command
      .add_option("--norm", a.norm,
                  "Norm of the residual that has to meet the tolerance: two or inf")
      ->check(CLI::IsMember({"two", "inf"}))
      ->type_name("NORM")
      ->capture_default_str();
  command
      .add_option("--spectrum", a.spectrum,
                  "chebyshev: the least and the greatest eigenvalue of M^-1 A")
      ->expected(2)
      ->check(not_negative)
      ->type_name("LEAST GREATEST");
  command
      .add_option("--components", options.components,
                  "Unknown i is of component i mod B; the residual of each has to meet its own")
      ->check(CLI::Range(1, max_components))
      ->type_name("B")
      ->capture_default_str();
  command.add_option("--max-iterations", options.max_iterations, "Iteration limit")
      ->check(not_negative)
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--max-seconds", options.max_seconds, "Time limit of the iteration")
      ->check(not_negative)
      ->type_name("X");
  command.add_flag("--allow-nonsymmetric", options.allow_nonsymmetric,
                   "Go on with a nonsymmetric matrix that gains nothing");
}

void add_file_options(CLI::App& command, SolveArguments& a) {
  command
      .add_option("--rhs", a.request.rhs,
                  "FILE, ones, a-times-ones (exact solution known) or random:SEED")
      ->check(not_empty)
      ->type_name("RHS")
      ->capture_default_str();
  command.add_option("--x0", a.request.x0, "Start vector: zero or FILE")
      ->check(not_empty)
      ->type_name("X0")
      ->capture_default_str();
  command.add_option("-o,--output", a.request.output, "Write x (.mtx, .mtx.gz, .cnc)")
      ->check(not_empty)
      ->type_name("FILE");
  command
      .add_option("--history", a.history,
                  "Write the residual of every iteration as CSV ('-': standard output)")
      ->check(not_empty)
      ->type_name("FILE");
  command.add_option("--json", a.json, "Write everything as JSON ('-': standard output)")
      ->check(not_empty)
      ->type_name("FILE");
  command
      .add_option("--repeat", a.request.repeat,
                  "Solve N times from the same start vector; show the first and the later solves")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("-q,--quiet", a.quiet, "Print nothing but errors");
}

}  // namespace

void add_solve(CLI::App& app, const Ranks& ranks, Action& action) {
  auto arguments = std::make_shared<SolveArguments>();
  CLI::App* command = app.add_subcommand(
      "solve", "Solve A x = b, or its least squares, and report the true residual");
  command->add_option("SOURCE", arguments->source, "FILE or PROBLEM")->required()->check(not_empty);
  add_file_options(*command, *arguments);
  add_method_options(*command, *arguments);
  add_stopping_options(*command, *arguments);
  command->callback([arguments, &ranks, &action] {
    action = [arguments, &ranks] {
      return ranks.together([&] { return solve(*arguments, ranks); });
    };
  });
}

}  // namespace cnc::cli
