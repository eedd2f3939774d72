#include "harness/bench.hpp"

#include "harness/machine.hpp"

#include <cnc/io.hpp>

#include <Kokkos_Core.hpp>
#include <vendor/baselines.hpp>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace cnc::perf {
namespace {

void add_matrix_options(CLI::App& app, BenchOptions& o) {
  app.add_option("SOURCE", o.matrices.sources,
                 "Matrix files or built-in problems (default: set 'record')");
  app.add_option("--set", o.matrices.sets, "Named sets of problems")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(matrix_set_names()));
  app.add_option("--directory", o.matrices.directory, "Every .mtx and .mtx.gz in it")
      ->check(CLI::ExistingDirectory);
  app.add_option("--min-nonzeros", o.matrices.min_nonzeros,
                 "Leave out smaller files of --directory");
}

void add_common_options(CLI::App& app, BenchOptions& o) {
  app.add_option("--precisions", o.precisions, "f64, f32, f32/f64")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"f64", "f32", "f32/f64"}));
  app.add_option("--backends", o.backends, "Only these")->delimiter(',')->allow_extra_args(false);
  app.add_flag("--variants", o.variants, "Also single-instruction-set variants");
  app.add_option("--threads", o.threads, "Threads of everything (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--turns", o.measure.turns, "Turns of each contestant")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", o.measure.seconds, "Timed seconds of each contestant, at least")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", o.json, "Write every figure to this file");
  app.add_option("--commit", o.commit,
                 "Commit to name in the record (default: the configured one)");
  app.add_option("--note", o.note, "A remark for the record, such as the version of a peer");
  app.add_flag("--all", o.all, "Print every contestant");
  app.add_flag("--quick", o.quick, "Small matrices, short times: only to see that it runs");
}

void make_quick(BenchOptions& o) {
  o.measure = {3, 0.01};
  if (o.matrices.sources.empty() && o.matrices.sets.empty() && o.matrices.directory.empty())
    o.matrices.sets = {"quick"};
}

/// use(context) with the backend that `auto` takes in that memory.
template <class Use>
void with_automatic_context(MemorySpace memory, int threads, const Use& use) {
#ifdef CNC_KOKKOS_HAS_DEVICE
  if (memory == MemorySpace::device) {
    Context<Kokkos::DefaultExecutionSpace> ctx("auto", threads);
    return use(ctx);
  }
#endif
  (void)find_backend("auto", memory);
  Context<> ctx("auto", threads);
  use(ctx);
}

Record start_record(const Bench& bench, const BenchOptions& o) {
  Record record;
  record.bench = bench.name;
  record.question = bench.question;
  record.machine = describe_machine(o.threads);
  record.build = describe_build(o.commit);
  record.settings = {{"turns", o.measure.turns}, {"seconds", o.measure.seconds}};
  if (o.quick) record.settings["quick"] = true;
  if (!o.note.empty()) record.settings["note"] = o.note;
  return record;
}

void run(const Bench& bench, BenchOptions& o) {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  if (o.threads == 0) o.threads = default_threads();
  warm_up_threads(o.threads);
  const Kokkos::ScopeGuard kokkos;
  Record record = start_record(bench, o);
  tell("memory bandwidth");
  with_automatic_context(bench.memory, o.threads, [&](auto& ctx) {
    if (bench.memory == MemorySpace::device)
      record.machine["device"] = ctx.backend().availability().detail;
    // A quick run shows that things work; its figures mean nothing, so a small stream does.
    record.memory =
        measure_bandwidth(ctx, o.quick ? std::size_t{1} << 22 : 0, o.quick ? 0.01 : 0.2);
  });
  bench.run(o, record);
  tell("");
  record.print_heading(std::cout);
  record.print_groups(std::cout);
  if (o.all) record.print_contestants(std::cout);
  record.print_summary(std::cout);
  if (!o.json.empty())
    write_file_atomically(o.json, [&](std::ostream& out) { out << record.json().dump(1) << '\n'; });
}

}  // namespace

bool BenchOptions::wants(const std::string& precision) const {
  return std::find(precisions.begin(), precisions.end(), precision) != precisions.end();
}

void tell(const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) {
    if (!what.empty()) std::cerr << "measuring " << what << '\n';
    return;
  }
  std::cerr << "\r\033[K" << (what.empty() ? "" : "measuring " + what) << std::flush;
}

int parse_and_run(int argc, char** argv, CLI::App& app, const std::string& name,
                  const std::function<void()>& work) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    work();
  } catch (const std::exception& e) {
    tell("");
    std::cerr << name << "_bench: " << e.what() << '\n';
    return 1;
  }
  return 0;
}

int run_bench(int argc, char** argv, const Bench& bench) {
  BenchOptions options;
  CLI::App app(bench.question);
  if (bench.takes_matrices) add_matrix_options(app, options);
  add_common_options(app, options);
  if (bench.add_options) bench.add_options(app);
  return parse_and_run(argc, argv, app, bench.name, [&] {
    if (options.quick) make_quick(options);
    add_backends(baselines());
    run(bench, options);
  });
}

std::vector<std::unique_ptr<Context<>>> contexts_to_time(const BenchOptions& options) {
  std::vector<std::unique_ptr<Context<>>> contexts;
  const auto add = [&](const std::string& name) {
    contexts.push_back(std::make_unique<Context<>>(name, options.threads));
  };
  for (const std::string& name : options.backends) add(name);
  if (!options.backends.empty()) return contexts;
  for (const Backend* backend : backends())
    if (backend->memory == MemorySpace::host && (options.variants || !backend->variant) &&
        backend->availability().usable)
      add(backend->name);
  return contexts;
}

bool is_automatic(const Backend& backend) {
  return &backend == &find_backend("auto", backend.memory);
}

bool takes(const Backend& backend, const FormatSpec& format) {
  const std::string name = backend.name;
  if (name == "cusparse-sell") return format.name == "bsell-unsorted";
  if (format.name == "bsell-unsorted") return false;
  if (name == "cusparse-bsr") return format.name == "bcsr" && format.block_size > 1;
  return !backend.baseline || format.name == "csr";
}

double bandwidth_at(double bytes, const BenchOptions& options, MemorySpace memory) {
  const auto size = static_cast<std::size_t>(std::max(bytes, 1e4));
  double rate = 0;
  with_automatic_context(memory, options.threads, [&](auto& ctx) {
    rate = measure_read_bandwidth(ctx, size, options.quick ? 0.005 : 0.1);
  });
  return rate;
}

}  // namespace cnc::perf
