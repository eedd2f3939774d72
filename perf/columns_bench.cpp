// What do several right-hand sides cost beside one? The product with interleaved columns, and an iteration for all of them,
// over the fastest product and iteration for one, on the host or a device.

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/krylov_solves.hpp"
#include "harness/machine.hpp"
#include "harness/table.hpp"

#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/options.hpp>
#include <cnc/spmv.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <cstdlib>
#include <iostream>

namespace cnc::perf {
namespace {

struct Options {
  std::vector<std::string> matrices = {"poisson3d:64", "stencil27:64", "poisson3d:100"};
  std::vector<std::string> formats = {"csr", "auto"};
  std::vector<int> columns = {1, 2, 4, 8, 16};
  std::vector<std::string> backends;
  std::string method = "pcg";
  bool on_device = false;
  int threads = 0;
  MeasureOptions measure{5, 0.3};
  std::string commit;
};

template <class Exec>
struct Subject {
  using Space = typename Exec::memory_space;
  Context<Exec>& ctx;
  const TestMatrix& matrix;
  FormatSpec format;

  Turn product(int columns, const MeasureOptions& measure) const {
    const auto A =
        std::make_shared<Matrix<double, Space>>(build_format(copy_to<Space>(matrix.A), format));
    const index_t n = matrix.A.rows;
    const auto x = copy_to<Space>(random_vector<double>(n * columns, 2));
    const auto y = zeroed<double, Space>("y", x.extent(0));
    return repeat_enqueued(
        [=, this] {
          if (columns == 1) return spmv(ctx, 1.0, *A, x, 0.0, y);
          std::visit(
              [&](const auto& a) {
                const auto operand = a.operand();
                ctx.template matrices<double>(operand).spmm(ctx.queue(), columns, 1.0, operand,
                                                            x.data(), 0.0, y.data(), {});
              },
              *A);
        },
        [this] { ctx.fence(); }, measure);
  }

  Turn iteration(Method method, int columns, const MeasureOptions& measure) const {
    SolveOptions options = endless(method, PreconditionerKind::jacobi, 0);
    options.format = format;
    const auto solver = std::make_shared<Solver<double, Exec>>(ctx, options);
    solver->prepare(copy_to<Space>(matrix.A));
    using Columns = Kokkos::View<double**, Kokkos::LayoutRight, Space>;
    const auto n = static_cast<std::size_t>(matrix.A.rows), k = static_cast<std::size_t>(columns);
    const Columns b("b", n, k), x("x", n, k);
    Kokkos::deep_copy(Vector<double, Space>(b.data(), n * k),
                      copy_to<Space>(random_vector<double>(matrix.A.rows * columns, 3)));
    const Lengths lengths{8, 40};
    return iteration_turn(
        [=](index_t iterations) {
          SolveOptions limited = options;
          limited.max_iterations = iterations;
          solver->set_options(limited);
          Kokkos::deep_copy(x, 0);
          const double start = now();
          if (columns == 1)
            (void)solver->solve(Vector<double, Space>(b.data(), n),
                                Vector<double, Space>(x.data(), n));
          else
            (void)solver->solve(b, x);
          return now() - start;
        },
        lengths, measure);
  }
};

template <class Exec>
void measure(Context<Exec>& ctx, const Options& options, const std::vector<TestMatrix>& matrices) {
  std::vector<std::string> headers = {"matrix", "format", "what"};
  for (const int k : options.columns) headers.push_back(std::to_string(k));
  Table table(headers);
  for (const TestMatrix& matrix : matrices)
    for (const std::string& name : options.formats) {
      const FormatSpec format =
          name == "auto" ? formats_to_time(matrix.structure, 8, Context<Exec>::memory).automatic
                         : parse_format(name);
      const Subject<Exec> subject{ctx, matrix, format};
      const auto row = [&](const std::string& what, const auto& turn_for) {
        std::vector<Turn> turns;
        for (const int k : options.columns) turns.push_back(turn_for(k));
        const std::vector<Samples> samples = measure_interleaved(turns, options.measure);
        std::vector<std::string> cells = {matrix.name, format.text(), what};
        for (const Samples& sample : samples)
          cells.push_back(seconds_text(sample.median()) + " (" +
                          times(1 / speedup(sample, samples[0])) + ")");
        table.add(std::move(cells));
      };
      row("product", [&](int k) { return subject.product(k, options.measure); });
      row(options.method, [&](int k) {
        return subject.iteration(parse_method(options.method), k, options.measure);
      });
    }
  std::cout << "\n" << ctx.backend().name << ": time for so many columns (over one column's)\n\n";
  table.print(std::cout);
}

void run(Options& options) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  if (options.threads == 0) options.threads = default_threads();
  warm_up_threads(options.threads);
  const Kokkos::ScopeGuard kokkos;
  Record record;
  record.bench = "columns";
  record.question = "cost of several right-hand sides beside one";
  record.machine = describe_machine(options.threads);
  record.build = describe_build(options.commit);
  record.print_heading(std::cout);
  std::vector<TestMatrix> matrices;
  for (const std::string& source : options.matrices) matrices.push_back(load_matrix(source));
  if (options.backends.empty()) options.backends = {"auto"};
  for (const std::string& name : options.backends) {
    if (options.on_device) {
#ifdef CNC_KOKKOS_HAS_DEVICE
      Context<Kokkos::DefaultExecutionSpace> ctx(name);
      measure(ctx, options, matrices);
#else
      throw InvalidArgument("this build has no device");
#endif
    } else {
      Context<> ctx(name, options.threads);
      measure(ctx, options, matrices);
    }
  }
}

void add_options(CLI::App& app, Options& o) {
  const auto list = [&](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->delimiter(',');
  };
  list("--matrices", o.matrices, "Matrix files and built-in problems");
  list("--formats", o.formats, "Formats, auto among them");
  list("--columns", o.columns, "How many right-hand sides; the first is what the others are over")
      ->check(CLI::IsMember({1, 2, 4, 8, 16}));
  list("--backends", o.backends, "Backends (default: auto)");
  app.add_option("--solver", o.method, "pcg, bicgstab, minres")
      ->check(CLI::IsMember({"pcg", "bicgstab", "minres"}));
  app.add_flag("--device", o.on_device, "On a device instead of the host");
  app.add_option("--threads", o.threads, "Threads of the host (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--turns", o.measure.turns, "Turns of each contestant")->check(CLI::Range(1, 99));
  app.add_option("--commit", o.commit, "Commit to name (default: the configured one)");
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  cnc::perf::Options options;
  CLI::App app("cost of several right-hand sides beside one");
  cnc::perf::add_options(app, options);
  return cnc::perf::parse_and_run(argc, argv, app, "columns", [&] { cnc::perf::run(options); });
}
