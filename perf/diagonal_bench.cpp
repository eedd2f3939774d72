// How long do solvers take for matrices that are stored by diagonals, on the host and on a device, and how accurate is x?
//  Matrices of seven diagonals from small to large, and matrices of a collection. Stationary iterations: Gauss and Seidel's
// in the order of the rows on the host, Jacobi's on both; and BiCG and BiCGSTAB with Jacobi's preconditioner on both.

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/diagonal_system.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/record.hpp"
#include "harness/table.hpp"

#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/io.hpp>
#include <cnc/relaxation.hpp>
#include <cnc/solver.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

namespace cnc::perf {
namespace {

struct Options {
  std::vector<index_t> sizes;
  std::vector<std::string> matrices;
  std::vector<std::string> precisions = {"f32", "f64"};
  std::vector<std::string> sides = {"host", "device"};
  int threads = 0;
  int repeats = 5;
  double seconds = 5;
  index_t max_iterations = 10000;
  double max_seconds = 60;
  std::string csv;
  std::string commit;
};

struct Solving {
  const char* name;
  Method method;
  bool sweeps;  ///< over the rows in their order: for the host
};
constexpr Solving solvings[] = {{"gauss-seidel", Method::richardson, true},
                                {"jacobi", Method::richardson, false},
                                {"bicg", Method::bicg, false},
                                {"bicgstab", Method::bicgstab, false}};

/// A solve, as a line of the file.
struct Result {
  std::string matrix;
  index_t rows = 0;
  offset_t nonzeros = 0;
  std::string method, precision, side, backend, format, status;
  index_t iterations = 0;
  double seconds = 0;
  double residual = 0;  ///< max |b - A x|
  double error = 0;     ///< max |x - the x that b was made of|
};

/// The larger; a NaN where one of them is.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// What is in x, against the system, by the host and in double.
template <class V>
void measure_accuracy(const System<V>& system, const Vector<V>& x, Result& result) {
  for (index_t i = 0; i < system.A.rows; ++i) {
    const double r = static_cast<double>(system.b(i)) - row_product(system.A, x, i);
    const double e = static_cast<double>(system.x(i)) - static_cast<double>(x(i));
    result.residual = larger(result.residual, std::abs(r));
    result.error = larger(result.error, std::abs(e));
  }
}

template <class V>
SolveOptions solve_options(const Solving& solving, const DiagonalProblem& problem,
                           const Options& options) {
  const bool by_diagonals = dia_holds(problem.diagonals * problem.A.rows, problem.A.nonzeros);
  SolveOptions solve;
  solve.method = solving.method;
  solve.preconditioner = solving.sweeps ? PreconditionerKind::none : PreconditionerKind::jacobi;
  solve.format = {by_diagonals ? "dia" : "csr", 1};
  solve.storage = StoragePrecision::as_vectors;  // what the figures say
  solve.rtol = std::is_same_v<V, float> ? 1e-5 : 1e-8;
  solve.max_iterations = options.max_iterations;
  solve.max_seconds = options.max_seconds;
  solve.record_history = false;
  return solve;
}

/// Median seconds of solve(), which does the same every time, after one that does not count.
double median_seconds(const std::function<double()>& solve, const Options& options) {
  (void)solve();
  std::vector<double> seconds;
  for (double spent = 0; seconds.empty() || (static_cast<int>(seconds.size()) < options.repeats &&
                                             spent < options.seconds);) {
    seconds.push_back(solve());
    spent += seconds.back();
  }
  return median_of(std::move(seconds));
}

/// Solves from x = 0, where the context is. The matrix is laid out, and copied to a device, before the clock starts.
template <class V, class Exec>
Result solve(Context<Exec>& ctx, const System<V>& system, const Solving& solving,
             const Options& options) {
  using Space = typename Exec::memory_space;
  const auto A = copy_to<Space>(system.A);
  const auto b = copy_to<Space>(system.b);
  const auto x = zeroed<V, Space>("x", b.extent(0));
  Solver<V, Exec> solver(ctx, solve_options<V>(solving, system.problem, options));
  if (solving.sweeps) solver.set_preconditioner(std::make_shared<Relaxation<V, Exec>>());
  solver.prepare(A);
  SolveReport report;
  const double seconds = median_seconds(
      [&] {
        Kokkos::deep_copy(x, V(0));
        const double start = now();
        report = solver.solve(b, x);
        return now() - start;
      },
      options);
  Result result{.matrix = system.problem.name,
                .rows = system.A.rows,
                .nonzeros = system.A.nonzeros,
                .method = solving.name,
                .precision = std::is_same_v<V, float> ? "f32" : "f64",
                .side = Context<Exec>::memory == MemorySpace::host ? "host" : "device",
                .backend = report.backend,
                .format = report.format,
                .status = to_string(report.status),
                .iterations = report.iterations,
                .seconds = seconds};
  measure_accuracy(system, copy_to<HostSpace>(x), result);
  return result;
}

/// What was found, and what was left out and why.
struct Findings {
  std::vector<Result> results;
  std::vector<std::string> notes;

  void left_out(const std::string& what, const Error& why) {
    notes.push_back(what + " left out: " + why.what());
  }
};

void write_csv(const std::string& path, const std::vector<Result>& results) {
  write_file_atomically(path, [&](std::ostream& out) {
    out << "matrix,rows,nonzeros,method,precision,side,backend,format,status,iterations,seconds,"
           "residual,error\n";
    out.precision(6);
    for (const Result& r : results)
      out << r.matrix << ',' << r.rows << ',' << r.nonzeros << ',' << r.method << ',' << r.precision
          << ',' << r.side << ',' << r.backend << ',' << r.format << ',' << r.status << ','
          << r.iterations << ',' << r.seconds << ',' << r.residual << ',' << r.error << '\n';
  });
}

template <class V>
void solve_all(const DiagonalProblem& problem, Sides& sides, const Options& options,
               Findings& findings) try {
  const System<V> system = make_system<V>(problem);
  sides.for_each([&](auto& ctx) {
    for (const Solving& solving : solvings) try {
        if (solving.sweeps && ctx.memory != MemorySpace::host) continue;
        std::cerr << "measuring " << problem.name << ' ' << solving.name << '\n';
        findings.results.push_back(solve(ctx, system, solving, options));
      } catch (const Error& e) {
        findings.left_out(problem.name + ", " + solving.name + " on " + ctx.backend().name, e);
      }
  });
} catch (const Error& e) {  // f32 cannot hold it, say
  findings.left_out(problem.name, e);
}

void solve_all(const DiagonalProblem& problem, Sides& sides, const Options& options,
               Findings& findings) {
  if (has(options.precisions, "f32")) solve_all<float>(problem, sides, options, findings);
  if (has(options.precisions, "f64")) solve_all<double>(problem, sides, options, findings);
  // Now and not at the end: a run that is cut off keeps what it has found.
  if (!options.csv.empty()) write_csv(options.csv, findings.results);
}

Findings measure(const Options& options) {
  Findings findings;
  Sides sides(options.sides, options.threads);
  for (const index_t n : options.sizes) solve_all(artificial_problem(n), sides, options, findings);
  for (const std::string& source : options.matrices) {
    if (!std::filesystem::is_directory(source)) {
      solve_all(load_problem(source), sides, options, findings);
      continue;
    }
    for (const DiagonalProblem& problem : collection_problems(source))
      solve_all(problem, sides, options, findings);
  }
  return findings;
}

/// "3.1e-09"
std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

std::string time_cell(const Result& result) {
  const std::string outcome =
      result.status == "converged" ? seconds_text(result.seconds) : result.status;
  return outcome + " (" + std::to_string(result.iterations) + ")";
}

std::string accuracy_cell(const Result& result) {
  return short_number(result.residual) + " (" + short_number(result.error) + ")";
}

/// One row for each matrix, one column for each method and side.
void print_table(const std::vector<Result>& results, const std::string& precision,
                 const std::function<std::string(const Result&)>& cell) {
  std::vector<std::string> columns = {"matrix", "stored as"};
  std::vector<std::vector<std::string>> rows;
  for (const Result& result : results) {
    if (result.precision != precision) continue;
    const std::string column = result.method + ", " + result.side;
    if (!has(columns, column)) columns.push_back(column);
    if (rows.empty() || rows.back()[0] != result.matrix)
      rows.push_back({result.matrix, result.format});
    std::vector<std::string>& row = rows.back();
    const auto place = std::find(columns.begin(), columns.end(), column) - columns.begin();
    row.resize(std::max(row.size(), static_cast<std::size_t>(place) + 1), "-");
    row[static_cast<std::size_t>(place)] = cell(result);
  }
  Table table(columns);
  for (std::vector<std::string>& row : rows) {
    row.resize(columns.size(), "-");
    table.add(std::move(row));
  }
  table.print(std::cout);
}

void print(const Findings& findings, const Options& options) {
  for (const std::string& precision : options.precisions) {
    std::cout << precision << ", time of a solve (iterations)\n\n";
    print_table(findings.results, precision, time_cell);
    std::cout << precision << ", max |b - A x| (max |x - x*|)\n\n";
    print_table(findings.results, precision, accuracy_cell);
  }
  for (const std::string& note : findings.notes) std::cout << "- " << note << '\n';
}

void run(Options& options) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  if (options.threads == 0) options.threads = default_threads();
  if (options.sizes.empty() && options.matrices.empty())
    options.sizes = {100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000};
  warm_up_threads(options.threads);
  const Kokkos::ScopeGuard kokkos;
  Record record;
  record.bench = "diagonal";
  record.question = "time and accuracy of solvers for matrices stored by diagonals";
  record.machine = describe_machine(options.threads);
  record.build = describe_build(options.commit);
  record.settings = {{"repeats", options.repeats},
                     {"max_iterations", options.max_iterations},
                     {"max_seconds", options.max_seconds}};
  const Findings findings = measure(options);
  record.print_heading(std::cout);
  print(findings, options);
}

void add_options(CLI::App& app, Options& o) {
  const auto list = [&](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->delimiter(',');
  };
  list("--sizes", o.sizes,
       "Rows of artificial matrices (default: 100 to 3000000, or none with --matrices)")
      ->check(CLI::Range(int(least_artificial), 100'000'000));
  list("--matrices", o.matrices,
       "Matrix files and built-in problems; a directory: six of the SuiteSparse collection, or "
       "what is nearest in it");
  list("--precisions", o.precisions, "f32, f64")->check(CLI::IsMember({"f32", "f64"}));
  list("--sides", o.sides, "host, device (where there is one)")
      ->check(CLI::IsMember({"host", "device"}));
  app.add_option("--threads", o.threads, "Threads of the host (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--repeats", o.repeats, "Timed solves of each, at most")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", o.seconds, "No further solve after these")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-iterations", o.max_iterations, "Limit of a solve")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-seconds", o.max_seconds, "Limit of a solve")->check(CLI::PositiveNumber);
  app.add_option("--commit", o.commit, "Commit to name (default: the configured one)");
  app.add_option("--csv", o.csv, "Write every solve to this file");
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  cnc::perf::Options options;
  CLI::App app("time and accuracy of solvers for matrices stored by diagonals");
  cnc::perf::add_options(app, options);
  return cnc::perf::parse_and_run(argc, argv, app, "diagonal", [&] { cnc::perf::run(options); });
}
