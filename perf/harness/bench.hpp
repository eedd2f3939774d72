#pragma once

#include "harness/matrices.hpp"
#include "harness/record.hpp"

#include <cnc/context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cnc::perf {

/// What every bench can be told on its command line.
struct BenchOptions {
  MatrixChoice matrices;
  std::vector<std::string> precisions = {"f64", "f32", "f32/f64"};
  std::vector<std::string> backends;  ///< empty: every usable one that is no variant
  bool variants = false;
  bool all = false;    ///< print every contestant
  bool quick = false;  ///< small and short: does it run at all?
  int threads = 0;
  MeasureOptions measure;
  std::string json;
  std::string commit;
  std::string note;

  bool wants(const std::string& precision) const;
};

/// One program: one question.
struct Bench {
  std::string name;
  std::string question;
  bool takes_matrices = true;
  std::function<void(CLI::App&)> add_options;  ///< may be empty
  std::function<void(const BenchOptions&, Record&)> run;
  MemorySpace memory = MemorySpace::host;  ///< where it measures
};

/// The end of a main function, for benches with options of their own: parses, works, and says what failed. Returns 0; 1
/// when something failed; 2 for wrong usage.
int parse_and_run(int argc, char** argv, CLI::App& app, const std::string& name,
                  const std::function<void()>& work);

/// A main function: parses, starts Kokkos and the threads, measures the memory, runs the bench,
/// prints tables and writes the JSON file. Returns 0; 1 when a result was wrong or something else
/// failed; 2 for wrong usage.
int run_bench(int argc, char** argv, const Bench& bench);

/// One context for each host backend to be timed, in the registry's order.
std::vector<std::unique_ptr<Context<>>> contexts_to_time(const BenchOptions& options);

/// Whether `auto` means this backend.
bool is_automatic(const Backend& backend);

/// Whether a backend is to be timed in a format: libraries of others take the one that is theirs.
bool takes(const Backend& backend, const FormatSpec& format);

/// Read bandwidth of a working set of that many bytes, by the automatic backend of that memory.
double bandwidth_at(double bytes, const BenchOptions& options,
                    MemorySpace memory = MemorySpace::host);

/// "measuring ..." on standard error.
void tell(const std::string& what);

}  // namespace cnc::perf
