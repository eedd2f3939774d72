// How many entries per second go into a matrix, in a first assembly and in one that repeats it, beside Eigen and PETSc?

#include "harness/assembly_problems.hpp"
#include "harness/bench.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/record.hpp"
#include "harness/table.hpp"

#include <cnc/scope_guard.hpp>
#include <cnc/system_builder.hpp>

#include <omp.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>

namespace cnc::perf {
namespace {

struct Options {
  std::vector<std::string> problems = {"hexahedra:60", "shuffled:60", "elasticity:28",
                                       "triangles:1000", "conformal:700"};
  std::vector<std::string> layouts = {"bsell:1"};
  int threads = 0;
  MeasureOptions measure{5, 0};
  bool ours_only = false;
  bool processor_time = false;
  std::string csv;
  std::string commit;
};

/// A SystemBuilder, and a layout that takes the values of each assembly.
struct Ours {
  const Pieces& pieces;
  int threads;
  bool whole = false;         ///< pieces are added by one call each, where there is one
  std::string layout_name{};  ///< empty for none
  std::optional<SystemBuilder<double>> builder{};
  std::optional<Matrix<double>> layout{};

  void assemble() const {
    omp_set_num_threads(threads);
    auto& assembly = const_cast<SystemBuilder<double>&>(*builder);
    if (pieces.equations)
      assembly.assemble(pieces.count(), [this](auto& chunk, offset_t p) { add_rows(chunk, p); });
    else if (whole)
      assembly.assemble(pieces.count(), [this](auto& chunk, offset_t p) { add_whole(chunk, p); });
    else if (pieces.block_size > 1)
      assembly.assemble(pieces.count(), [this](auto& chunk, offset_t p) { add_blocks(chunk, p); });
    else
      assembly.assemble(pieces.count(), [this](auto& chunk, offset_t p) { add_entries(chunk, p); });
  }
  void add_entries(SystemChunk<double>& chunk, offset_t piece) const {
    const Pieces& P = pieces;
    const int* const row = P.row.data() + piece * P.rows;
    const int* const col = P.col.data() + piece * P.cols;
    const double weight = P.weight[static_cast<std::size_t>(piece)];
    const double* common = P.common.data();
    for (int i = 0; i < P.rows; ++i)
      for (int j = 0; j < P.cols; ++j) chunk.add(row[i], col[j], *common++ * weight);
  }
  void add_blocks(SystemChunk<double>& chunk, offset_t piece) const {
    const Pieces& P = pieces;
    const int b = P.block_size, width = P.cols * b;
    const int* const row = P.row.data() + piece * P.rows;
    const int* const col = P.col.data() + piece * P.cols;
    const double weight = P.weight[static_cast<std::size_t>(piece)];
    double block[16];
    for (int i = 0; i < P.rows; ++i)
      for (int j = 0; j < P.cols; ++j) {
        for (int k = 0; k < b * b; ++k)
          block[k] =
              P.common[static_cast<std::size_t>((i * b + k / b) * width + j * b + k % b)] * weight;
        chunk.add_block(row[i], col[j], b, block);
      }
  }
  void add_whole(SystemChunk<double>& chunk, offset_t piece) const {
    constexpr std::size_t most = 32;
    const Pieces& P = pieces;
    const int b = P.block_size;
    index_t rows[most], cols[most];
    const auto expand = [&](const int* blocks, int count, index_t* to) {
      for (int i = 0; i < count; ++i)
        for (int k = 0; k < b; ++k) *to++ = blocks[i] * b + k;
    };
    expand(P.row.data() + piece * P.rows, P.rows, rows);
    expand(P.col.data() + piece * P.cols, P.cols, cols);
    double values[most * most];
    const double weight = P.weight[static_cast<std::size_t>(piece)];
    for (std::size_t k = 0; k < P.common.size(); ++k) values[k] = P.common[k] * weight;
    chunk.add_block(std::span<const index_t>(rows, static_cast<std::size_t>(P.rows * b)),
                    std::span<const index_t>(cols, static_cast<std::size_t>(P.cols * b)), values);
  }
  void add_rows(SystemChunk<double>& chunk, offset_t piece) const {
    const Pieces& P = pieces;
    const int* const col = P.col.data() + piece * P.cols;
    const double weight = P.weight[static_cast<std::size_t>(piece)];
    const double* common = P.common.data();
    for (int i = 0; i < P.rows; ++i) {
      chunk.begin_row();
      for (int j = 0; j < P.cols; ++j) chunk.coefficient(col[j], *common++ * weight);
      chunk.end_row();
    }
  }

  void first() {
    layout.reset();
    builder.reset();
    SystemOptions options;
    if (pieces.equations) options.rows = RowKind::equations;
    builder.emplace(pieces.matrix_cols, options);
    assemble();
    if (!layout_name.empty()) layout = builder->layout(parse_format(layout_name));
  }
  void again() {
    assemble();
    require(builder->was_refreshed(), "assembly_bench: the second assembly was no refresh");
    if (layout) builder->refresh(*layout);
  }
  Assembled result() const {
    const CsrMatrix<double>& A = builder->matrix();
    Assembled found{double(A.nonzeros), 0};
    for (std::size_t k = 0; k < A.values.extent(0); ++k) found.sum += A.values(k);
    return found;
  }
};

AssemblyPeer contestant(const Pieces& pieces, int threads, bool whole, const std::string& layout) {
  const auto ours = std::make_shared<Ours>(Ours{pieces, threads, whole, layout});
  std::string name =
      "SystemBuilder, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (whole) name += ", by element";
  if (!layout.empty()) name += ", " + layout;
  return {name, [ours] { ours->first(); }, [ours] { ours->again(); },
          [ours] { return ours->result(); }};
}

struct Result {
  std::string problem, contestant;
  double entries = 0;
  Samples first, again;
  double first_ratio = 0, again_ratio = 0;  ///< of the first contestant's speed over this one's
};

void check(const std::vector<AssemblyPeer>& all) {
  const Assembled expected = all[0].result();
  for (const AssemblyPeer& one : all) {
    const Assembled found = one.result();
    require(found.nonzeros == expected.nonzeros &&
                std::abs(found.sum - expected.sum) <= 1e-9 * std::abs(expected.sum),
            [&] {
              return one.name + ": " + std::to_string(found.nonzeros) + " entries with the sum " +
                     std::to_string(found.sum) + ", " + all[0].name + " has " +
                     std::to_string(expected.nonzeros) + " with " + std::to_string(expected.sum);
            });
  }
}

/// Seconds that the threads of this process have had on processors, which others on the machine hardly change.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::vector<Samples> timed(const std::vector<AssemblyPeer>& all,
                           std::function<void()> AssemblyPeer::*work, const Options& options) {
  double (*const clock)() = options.processor_time ? processor_seconds : now;
  std::vector<Turn> turns;
  for (const AssemblyPeer& one : all)
    turns.push_back([&one, work, clock] {
      const double start = clock();
      (one.*work)();
      return clock() - start;
    });
  return measure_interleaved(turns, options.measure);
}

void measure(const std::string& problem, const Options& options, std::vector<Result>& results) {
  std::cerr << "measuring " << problem << '\n';
  Pieces pieces = assembly_problem(problem);
  const bool whole = !pieces.equations;
  std::vector<AssemblyPeer> all = {contestant(pieces, options.threads, whole, "")};
  if (options.threads > 1) all.push_back(contestant(pieces, 1, whole, ""));
  if (whole) all.push_back(contestant(pieces, options.threads, false, ""));
  for (const std::string& layout : options.layouts)
    all.push_back(contestant(pieces, options.threads, whole, layout));
  if (!options.ours_only)
    for (AssemblyPeer& peer : assembly_peers(pieces)) all.push_back(std::move(peer));
  const auto first = timed(all, &AssemblyPeer::first, options);
  check(all);
  const auto again = timed(all, &AssemblyPeer::again, options);
  check(all);
  change_weights(pieces);
  for (const AssemblyPeer& one : all) one.again();
  check(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    results.push_back({problem, all[i].name, double(pieces.entries()), first[i], again[i],
                       speedup(first[0], first[i]), speedup(again[0], again[i])});
}

std::string rate(const Result& result, double seconds) {
  return fixed(result.entries / seconds * 1e-6, 1);
}

void print(const std::vector<Result>& results, bool processor_time) {
  Table table({"problem", "contestant", "entries (M)", "first: M/s (fastest)", "ratio",
               "again: M/s (fastest)", "ratio"});
  for (const Result& r : results)
    table.add({r.problem, r.contestant, fixed(r.entries * 1e-6, 1),
               rate(r, r.first.median()) + " (" + rate(r, r.first.fastest()) + ")",
               times(r.first_ratio),
               rate(r, r.again.median()) + " (" + rate(r, r.again.fastest()) + ")",
               times(r.again_ratio)});
  std::cout << "\nEntries added per second" << (processor_time ? " of processor time" : "")
            << ", median of the turns; how much faster the first line of a problem is\n\n";
  table.print(std::cout);
}

void write_csv(const std::string& path, const std::vector<Result>& results) {
  std::ofstream file(path);
  file << "problem,contestant,entries,turn,first_seconds,again_seconds\n";
  for (const Result& r : results)
    for (std::size_t i = 0; i < r.first.seconds.size(); ++i)
      file << r.problem << ",\"" << r.contestant << "\"," << r.entries << ',' << i << ','
           << r.first.seconds[i] << ',' << r.again.seconds[i] << '\n';
  if (!file.flush()) throw IoError(path, 0, "cannot be written");
}

void run(Options& options) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  if (options.threads == 0) options.threads = omp_get_max_threads();
  warm_up_threads(options.threads);
  const ScopeGuard kokkos;
  Record record;
  record.bench = "assembly";
  record.question = "entries per second into a matrix, in a first assembly and in a repeated one";
  record.machine = describe_machine(options.threads);
  record.build = describe_build(options.commit);
  record.print_heading(std::cout);
  std::vector<Result> results;
  for (const std::string& problem : options.problems) measure(problem, options, results);
  print(results, options.processor_time);
  if (!options.csv.empty()) write_csv(options.csv, results);
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--problems", o.problems,
                 "hexahedra:N, shuffled:N, elasticity:N, triangles:N, conformal:N")
      ->delimiter(',');
  app.add_option("--layouts", o.layouts, "Layouts that take the values too")->delimiter(',');
  app.add_option("--threads", o.threads, "Threads (default: all)")->check(CLI::Range(1, 4096));
  app.add_option("--turns", o.measure.turns, "Turns of each contestant")->check(CLI::Range(1, 99));
  app.add_flag("--processor-time", o.processor_time,
               "Time on processors, of all threads together, instead of time that passes: for busy "
               "machines, with --threads 1");
  app.add_flag("--ours-only", o.ours_only, "Without peers");
  app.add_option("--csv", o.csv, "Write every turn to this file");
  app.add_option("--commit", o.commit, "Commit to name (default: the configured one)");
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  cnc::perf::Options options;
  CLI::App app("entries per second of assemblies, beside Eigen and PETSc");
  cnc::perf::add_options(app, options);
  return cnc::perf::parse_and_run(argc, argv, app, "assembly", [&] { cnc::perf::run(options); });
}
