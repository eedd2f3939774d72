// How near does a solver in f32 come to the solution, iteration by iteration, and what do products and dots have to do with
// it? Matrices that are stored by diagonals; Jacobi's iteration, BiCG and BiCGSTAB, on the host and on a device; sums and
// products as the backend is fastest, with and without fused multiply-add, with and without compensation.

#include "harness/bench.hpp"
#include "harness/diagonal_system.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/record.hpp"
#include "harness/table.hpp"

#include <cnc/copy.hpp>
#include <cnc/io.hpp>
#include <cnc/options.hpp>
#include <cnc/solver.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace cnc::perf {
namespace {

struct Options {
  std::vector<index_t> sizes;
  std::vector<std::string> matrices;
  std::vector<std::string> sides = {"host", "device"};
  int threads = 0;
  index_t iterations = 100;
  std::string csv;
  std::string commit;
};

constexpr Method solvings[] = {Method::richardson, Method::bicg, Method::bicgstab};
constexpr Arithmetic arithmetics[] = {Arithmetic::fast, Arithmetic::separate, Arithmetic::fused,
                                      Arithmetic::compensated_separate,
                                      Arithmetic::compensated_fused};

/// "jacobi" is what richardson is with that preconditioner.
const char* name_of(Method method) {
  return method == Method::richardson ? "jacobi" : method_name(method);
}

/// An iteration.
struct Step {
  double error = 0;  ///< ||x_k - x*|| / ||x*||
  double residual =
      0;  ///< of the recurrence, over ||b||: it leaps where the recurrence starts again
};

/// The iterations of one solve.
struct Errors {
  std::string matrix;
  index_t rows = 0;
  std::string method, side, backend, arithmetic, status;
  double seconds = 0;  ///< of an iteration, without looks at x
  std::vector<Step> at;
};

/// The x* of the system as f32 has it, to the last digits of a double.
Vector<double> exact_solution(Context<>& ctx, const System<float>& system) {
  SolveOptions options;
  options.method = Method::automatic;
  options.rtol = 1e-14;
  Solver<double> solver(ctx, options);
  solver.prepare(convert_values<double>(system.A));
  const Vector<double> b("b", system.b.extent(0)), x("x", system.b.extent(0));
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = static_cast<double>(system.b(i));
  const SolveReport report = solver.solve(b, x);
  if (!(report.relative_residual < 1e-10))
    throw UnsupportedOperation(system.problem.name + ": no solution in double, " +
                               to_string(report.status));
  return x;
}

double relative_error(const Vector<const float>& x, const Vector<double>& exact) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < exact.extent(0); ++i) {
    const double e = static_cast<double>(x(i)) - exact(i);
    off += e * e;
    all += exact(i) * exact(i);
  }
  return std::sqrt(off / all);
}

/// Iterates from x = 0 whatever the residual, and looks at x after each iteration.
template <class Exec>
Errors solve(Context<Exec>& ctx, const System<float>& system, const Vector<double>& exact,
             Method method, Arithmetic arithmetic, index_t iterations) {
  using Space = typename Exec::memory_space;
  const bool by_diagonals = dia_holds(system.problem.diagonals * system.A.rows, system.A.nonzeros);
  Errors errors;
  errors.matrix = system.problem.name;
  errors.rows = system.A.rows;
  errors.method = name_of(method);
  errors.side = Context<Exec>::memory == MemorySpace::host ? "host" : "device";
  errors.backend = ctx.backend().name;
  errors.arithmetic = to_string(arithmetic);
  SolveOptions options;
  options.method = method;
  options.arithmetic = arithmetic;
  options.format = {by_diagonals ? "dia" : "csr", 1};
  options.rtol = 0;
  options.divergence = 1e30;
  options.max_iterations = iterations;
  options.callback_interval = 1;
  options.callback = [&](const Progress& progress) {
    const auto x = copy_to<HostSpace>(progress.x<float, Space>());
    errors.at.push_back({relative_error(x, exact), progress.relative_residual});
    return true;
  };
  Solver<float, Exec> solver(ctx, options);
  solver.prepare(copy_to<Space>(system.A));
  const auto b = copy_to<Space>(system.b);
  const auto x = zeroed<float, Space>("x", b.extent(0));
  errors.status = to_string(solver.solve(b, x).status);
  options.callback = {};
  solver.set_options(options);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 5; ++repeat) {
    Kokkos::deep_copy(x, 0.0f);
    const SolveReport report = solver.solve(b, x);
    seconds.push_back(report.seconds / std::max<index_t>(1, report.iterations));
  }
  errors.seconds = median_of(std::move(seconds));
  return errors;
}

/// What was found, and what was left out and why.
struct Findings {
  std::vector<Errors> results;
  std::vector<std::string> notes;
};

void solve_all(const DiagonalProblem& problem, Sides& sides, const Options& options,
               Findings& findings) try {
  const System<float> system = make_system<float>(problem);
  Context<> host("auto", options.threads);
  const Vector<double> exact = exact_solution(host, system);
  sides.for_each([&](auto& ctx) {
    for (const Method method : solvings)
      for (const Arithmetic arithmetic : arithmetics) try {
          findings.results.push_back(
              solve(ctx, system, exact, method, arithmetic, options.iterations));
        } catch (const Error& e) {
          findings.notes.push_back(problem.name + ", " + name_of(method) + ", " +
                                   to_string(arithmetic) + " left out: " + e.what());
        }
  });
} catch (const Error& e) {
  findings.notes.push_back(problem.name + " left out: " + e.what());
}

void write_csv(const std::string& path, const std::vector<Errors>& results) {
  write_file_atomically(path, [&](std::ostream& out) {
    out << "matrix,rows,method,side,backend,arithmetic,status,iteration,error,residual\n";
    out.precision(6);
    for (const Errors& r : results)
      for (std::size_t k = 0; k < r.at.size(); ++k)
        out << r.matrix << ',' << r.rows << ',' << r.method << ',' << r.side << ',' << r.backend
            << ',' << r.arithmetic << ',' << r.status << ',' << k + 1 << ',' << r.at[k].error << ','
            << r.at[k].residual << '\n';
  });
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return text;
}

double least_error(const Errors& errors) {
  const auto less = [](const Step& a, const Step& b) { return a.error < b.error; };
  return std::min_element(errors.at.begin(), errors.at.end(), less)->error;
}

/// The errors of some iterations, and the least of all.
void print(const Findings& findings) {
  constexpr std::size_t shown[] = {1, 2, 5, 10, 20, 50, 100};
  std::vector<std::string> columns = {"matrix, method, side, arithmetic"};
  for (const std::size_t k : shown) columns.push_back("k = " + std::to_string(k));
  columns.insert(columns.end(), {"least", "in the end", "per iteration"});
  Table table(columns);
  for (const Errors& r : findings.results) {
    std::vector<std::string> row = {r.matrix + ", " + r.method + ", " + r.side + ", " +
                                    r.arithmetic};
    for (const std::size_t k : shown)
      row.push_back(k <= r.at.size() ? short_number(r.at[k - 1].error) : "-");
    row.push_back(r.at.empty() ? "-" : short_number(least_error(r)));
    row.push_back(r.at.empty() ? "-" : short_number(r.at.back().error));
    row.push_back(seconds_text(r.seconds));
    table.add(std::move(row));
  }
  std::cout << "||x_k - x*|| / ||x*|| in f32\n\n";
  table.print(std::cout);
  for (const std::string& note : findings.notes) std::cout << "- " << note << '\n';
}

void run(Options& options) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  if (options.threads == 0) options.threads = default_threads();
  if (options.sizes.empty() && options.matrices.empty()) options.sizes = {1000, 100000};
  warm_up_threads(options.threads);
  const Kokkos::ScopeGuard kokkos;
  Record record;
  record.bench = "diagonal_error";
  record.question = "error of x over the iterations, by how products and dots are rounded";
  record.machine = describe_machine(options.threads);
  record.build = describe_build(options.commit);
  record.settings = {{"iterations", options.iterations}};
  Findings findings;
  Sides sides(options.sides, options.threads);
  for (const index_t n : options.sizes) solve_all(artificial_problem(n), sides, options, findings);
  for (const std::string& source : options.matrices)
    solve_all(load_problem(source), sides, options, findings);
  record.print_heading(std::cout);
  print(findings);
  if (!options.csv.empty()) write_csv(options.csv, findings.results);
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--sizes", o.sizes, "Rows of artificial matrices (default: 1000,100000)")
      ->delimiter(',')
      ->check(CLI::Range(int(least_artificial), 100'000'000));
  app.add_option("--matrices", o.matrices, "Matrix files and built-in problems")->delimiter(',');
  app.add_option("--sides", o.sides, "host, device (where there is one)")
      ->delimiter(',')
      ->check(CLI::IsMember({"host", "device"}));
  app.add_option("--threads", o.threads, "Threads of the host (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--iterations", o.iterations, "Iterations of each solve")
      ->check(CLI::PositiveNumber);
  app.add_option("--commit", o.commit, "Commit to name (default: the configured one)");
  app.add_option("--csv", o.csv, "Write every error to this file");
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  cnc::perf::Options options;
  CLI::App app("error of x over the iterations, by how products and dots are rounded");
  cnc::perf::add_options(app, options);
  return cnc::perf::parse_and_run(argc, argv, app, "diagonal_error",
                                  [&] { cnc::perf::run(options); });
}
