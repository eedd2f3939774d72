// What does multigrid cost, and save? Set-up, update of values, a cycle and whole solves by CG, beside Jacobi-PCG and, on a host,
// another library's multigrid, in one run.

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/machine.hpp"
#include "harness/matrices.hpp"
#include "harness/measure.hpp"
#include "harness/record.hpp"
#include "harness/table.hpp"
#include "peers/peers.hpp"

#include <cnc/amg.hpp>
#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/options.hpp>
#include <cnc/problems.hpp>
#include <cnc/solver.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

namespace cnc::perf {
namespace {

struct Options {
  std::vector<std::string> matrices = {"poisson3d:64", "anisotropic2d:400:0.001", "stencil27:60",
                                       "elasticity3d:24"};
  std::string precondition = "amg";
  std::string backend = "auto";
  std::string commit;
  bool on_device = false;
  bool jacobi = true;
  int threads = 0;
  int repeats = 3;
};

/// The fastest of some calls, and the first.
struct Times {
  double first = 0, best = 0;
};
template <class Work>
Times timed(int repeats, const Work& work) {
  Times times;
  for (int k = 0; k < repeats; ++k) {
    const double start = now();
    work();
    const double seconds = now() - start;
    times.first = k == 0 ? seconds : times.first;
    times.best = k == 0 ? seconds : std::min(times.best, seconds);
  }
  return times;
}

std::string milliseconds(double seconds) { return fixed(1e3 * seconds, 2); }

template <class Exec>
struct Subject {
  using Space = typename Exec::memory_space;

  Context<Exec>& ctx;
  const TestMatrix& host;
  const Options& options;
  CsrMatrix<double, Space> A = copy_to<Space>(host.A);
  Vector<const double, Space> b = copy_to<Space>(random_vector<double>(host.A.rows, 2));

  std::shared_ptr<Amg<double, Exec>> multigrid() const {
    AmgOptions made = std::get<AmgOptions>(parse_preconditioner(options.precondition).object);
    std::vector<Vector<const double, Space>> modes;
    if (is_problem(host.name)) {
      const Vector<double> coordinates = problem_coordinates(host.name);
      for (const ProblemInfo& family : problem_families())
        if (coordinates.extent(0) > 0 && host.name.rfind(family.name + ":", 0) == 0)
          made.block_size = family.natural_block_size;
      if (coordinates.extent(0) > 0)
        for (const auto& mode : rigid_body_modes<double>(coordinates, made.block_size))
          modes.push_back(copy_to<Space>(mode));
    }
    const auto amg = std::make_shared<Amg<double, Exec>>(made);
    amg->set_near_null_space(std::move(modes));
    return amg;
  }

  /// A solve to 1e-8 of ||b|| and its seconds, the best of some.
  std::pair<SolveReport, double> solve(std::shared_ptr<PreconditionerBase<double, Exec>> by) const {
    SolveOptions solving{.method = Method::pcg, .rtol = 1e-8, .max_iterations = 20000};
    Solver<double, Exec> solver(ctx, solving);
    if (by) solver.set_preconditioner(by);
    solver.prepare(A);
    const auto x = zeroed<double, Space>("x", b.extent(0));
    SolveReport report;
    double best = 0;
    for (int k = 0; k < options.repeats; ++k) {
      Kokkos::deep_copy(x, 0.0);
      ctx.fence();
      report = solver.solve(b, x);
      best = k == 0 ? report.seconds : std::min(best, report.seconds);
    }
    return {report, best};
  }

  void measure(Table& table, Table& parts) {
    A.checked = A.validate();  // as a solver has it
    Matrix<double, Space> layout = build_format(A, parse_format("auto"));
    find_row_dictionary(layout, A);  // as a solver does
    const auto amg = multigrid();
    require(amg->set_up(ctx, A, layout).ok(), "the set-up found a row at fault");
    amg->clear();
    const Times set_up = timed(options.repeats, [&] {
      (void)amg->set_up(ctx, A, layout);
      ctx.fence();
    });
    const AmgHierarchy& facts = amg->hierarchy();
    parts.add({host.name, milliseconds(facts.aggregation_seconds),
               milliseconds(facts.prolongation_seconds), milliseconds(facts.product_seconds),
               milliseconds(facts.smoother_seconds), milliseconds(facts.coarsest_seconds)});
    const Times update = timed(options.repeats, [&] {
      (void)amg->update_values(ctx, A, layout);
      ctx.fence();
    });
    const auto z = zeroed<double, Space>("z", b.extent(0));
    constexpr int cycles = 20;
    const Times cycle = timed(options.repeats, [&] {
      for (int k = 0; k < cycles; ++k) amg->apply(ctx, b, z);
      ctx.fence();
    });
    const auto [report, seconds] = solve(amg);
    std::vector<std::string> cells = {host.name,
                                      std::to_string(host.A.rows),
                                      std::to_string(report.iterations),
                                      milliseconds(set_up.first),
                                      milliseconds(set_up.best),
                                      milliseconds(update.best),
                                      milliseconds(cycle.best / cycles),
                                      milliseconds(seconds),
                                      fixed(facts.operator_complexity(), 2),
                                      fixed(report.true_residual / report.rhs_norm * 1e9, 2)};
    std::string by_jacobi = "-";
    if (options.jacobi) {
      const auto [plain, plain_seconds] = solve(nullptr);
      by_jacobi = std::to_string(plain.iterations) + ", " + milliseconds(plain_seconds);
    }
    cells.push_back(by_jacobi);
    table.add(std::move(cells));
  }
};

/// || b - A x || / || b ||
double relative_residual(const CsrMatrix<double>& A, const Vector<double>& b,
                         const Vector<double>& x) {
  double residual = 0, norm = 0;
  for (index_t i = 0; i < A.rows; ++i) {
    double row = b(i);
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      row -= A.values(k) * x(A.columns(k));
    residual += row * row;
    norm += b(i) * b(i);
  }
  return std::sqrt(residual / norm);
}

void measure_peers(const TestMatrix& matrix, const Options& options, Table& table) {
  const CsrMatrix<double>& A = matrix.A;
  const auto b = random_vector<double>(A.rows, 2);
  const Vector<double> x("x", b.extent(0));
  const CsrArrays<double> arrays{A.rows, A.cols, A.row_offsets.data(), A.columns.data(),
                                 A.values.data()};
  for (const MultigridPeer& peer : multigrid_peers(arrays)) {
    const Times set_up = timed(options.repeats, peer.set_up);
    int iterations = 0;
    const Times solve = timed(options.repeats, [&] {
      Kokkos::deep_copy(x, 0.0);
      iterations = peer.solve(b.data(), x.data(), 1e-8);
    });
    table.add({matrix.name, peer.name, std::to_string(iterations), milliseconds(set_up.best),
               milliseconds(solve.best), fixed(relative_residual(A, b, x) * 1e9, 2)});
  }
}

template <class Exec>
void measure(Context<Exec>& ctx, const Options& options) {
  Table table({"problem", "rows", "iterations", "first set-up ms", "best set-up ms", "update ms",
               "cycle ms", "solve ms", "nonzeros", "residual 1e-9", "Jacobi-PCG: iterations, ms"});
  Table parts({"problem", "aggregation ms", "prolongation ms", "products ms", "smoothers ms",
               "last level ms"});
  Table peers({"problem", "peer", "iterations", "set-up ms", "solve ms", "residual 1e-9"});
  for (const std::string& source : options.matrices) {
    const TestMatrix matrix = load_matrix(source);
    Subject<Exec>{ctx, matrix, options}.measure(table, parts);
    if (!options.on_device) measure_peers(matrix, options, peers);
  }
  std::cout << "\n" << ctx.backend().name << ", " << options.precondition << ", to 1e-8\n\n";
  table.print(std::cout);
  std::cout << "\nparts of the last set-up\n\n";
  parts.print(std::cout);
  if (peers.empty()) return;
  std::cout << "\npeers\n\n";
  peers.print(std::cout);
}

void run(Options& options) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  if (options.threads == 0) options.threads = default_threads();
  warm_up_threads(options.threads);
  const Kokkos::ScopeGuard kokkos;
  Record record;
  record.bench = "multigrid";
  record.question = "what multigrid costs and saves";
  record.machine = describe_machine(options.threads);
  record.build = describe_build(options.commit);
  record.print_heading(std::cout);
  if (options.on_device) {
#ifdef CNC_KOKKOS_HAS_DEVICE
    Context<Kokkos::DefaultExecutionSpace> ctx(options.backend);
    measure(ctx, options);
#else
    throw InvalidArgument("this build has no device");
#endif
  } else {
    Context<> ctx(options.backend, options.threads);
    measure(ctx, options);
  }
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--matrices", o.matrices, "Matrix files and built-in problems")->delimiter(',');
  app.add_option("--precondition", o.precondition, "amg, with options as cnc solve takes them")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.rfind("amg", 0) == 0 ? std::string() : "only amg is measured here";
          },
          "AMG"));
  app.add_option("--backend", o.backend, "Backend (default: auto)");
  app.add_flag("--device", o.on_device, "On a device instead of the host");
  app.add_flag("!--no-jacobi", o.jacobi, "Without Jacobi-PCG");
  app.add_option("--repeats", o.repeats, "Times that each part is done")->check(CLI::Range(1, 99));
  app.add_option("--threads", o.threads, "Threads of the host (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--commit", o.commit, "Commit to name (default: the configured one)");
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  cnc::perf::Options options;
  CLI::App app("what multigrid costs and saves");
  cnc::perf::add_options(app, options);
  return cnc::perf::parse_and_run(argc, argv, app, "multigrid", [&] { cnc::perf::run(options); });
}
