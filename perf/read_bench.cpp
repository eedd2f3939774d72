// How fast is a Matrix Market file read, beside a loop of istream >>, and with how much memory?

#include "harness/bench.hpp"
#include "harness/child.hpp"

#include <cnc/io.hpp>
#include <cnc/problems.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

namespace cnc::perf {
namespace {

std::string measure_memory_of;  ///< set in the child process: the file to read
std::string own_program;
std::vector<std::string> sources;  ///< files or built-in problems

struct Coordinates {
  std::vector<index_t> rows, columns;
  std::vector<double> values;
};

/// What people write first: it stops at the triplets, which is less than read_matrix does.
Coordinates read_by_stream(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line[0] == '%') {
  }
  const std::size_t entries = std::stoull(line.substr(line.find_last_of(' ') + 1));
  Coordinates result;
  result.rows.reserve(entries);
  result.columns.reserve(entries);
  result.values.reserve(entries);
  index_t row = 0;
  index_t column = 0;
  double value = 0;
  while (file >> row >> column >> value) {
    result.rows.push_back(row - 1);
    result.columns.push_back(column - 1);
    result.values.push_back(value);
  }
  return result;
}

double matrix_bytes(const CsrMatrix<double>& A) {
  return double(A.stored()) * (sizeof(double) + sizeof(index_t)) +
         double(A.row_offsets.extent(0)) * sizeof(index_t);
}

/// Largest resident set of this process so far. Not getrusage: its figure survives exec, so that a
/// child would begin with its parent's peak.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) * 1024;
  throw Error("read_bench: this system does not tell how much memory a process has used");
}

/// The child's whole work. A process of its own, because a peak never falls again.
int print_peak_memory() {
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  const Kokkos::ScopeGuard kokkos;
  const double before = peak_bytes();
  const CsrMatrix<double> A = read_matrix<double>(measure_memory_of);
  std::printf("%.0f %.0f\n", peak_bytes() - before, matrix_bytes(A));
  return 0;
}

/// Peak memory while reading over the memory of the result.
double peak_memory_ratio(const std::string& path) {
  const std::string output = output_of_child({own_program, "--measure-memory", path});
  double peak = 0;
  double result = 0;
  if (std::sscanf(output.c_str(), "%lf %lf", &peak, &result) != 2 || result <= 0)
    throw Error("read_bench: the child process that measures memory said '" + output + "'");
  return peak / result;
}

void measure(const std::string& path, const std::string& subject, const BenchOptions& options,
             Record& record) {
  tell(subject);
  const double file_bytes = static_cast<double>(std::filesystem::file_size(path));
  const CsrMatrix<double> A = read_matrix<double>(path);
  const Coordinates coordinates = read_by_stream(path);
  const bool plain =
      read_matrix_market_header(path).symmetry == MatrixMarketHeader::Symmetry::general;
  if (plain && static_cast<offset_t>(coordinates.values.size()) != A.stored())
    throw Error(subject + ": " + std::to_string(coordinates.values.size()) +
                " entries by istream, " + std::to_string(A.stored()) + " in the matrix");

  Entry ours;
  ours.contestant = "read_matrix";
  ours.automatic = true;
  ours.cost.bytes = file_bytes;
  Entry stream = ours;
  stream.contestant = "istream-loop";
  stream.automatic = false;
  stream.peer = true;
  Group group{subject, "f64", double(A.rows), double(A.nonzeros), 0, false, {}};
  const auto read = [path] { (void)read_matrix<double>(path); };
  const auto loop = [path] { (void)read_by_stream(path); };
  measure_group({{ours, repeat(read, options.measure)}, {stream, repeat(loop, options.measure)}},
                options.measure, group);

  const double memory = peak_memory_ratio(path);
  char note[200];
  std::snprintf(
      note, sizeof note,
      "%s: %.1f MB read at %.0f MB/s, istream loop %.0f MB/s; peak memory %.2f times the matrix",
      subject.c_str(), file_bytes * 1e-6, file_bytes / group.entries[0].samples.median() * 1e-6,
      file_bytes / group.entries[1].samples.median() * 1e-6, memory);
  record.notes.emplace_back(note);
  record.extra[subject] = {{"file_bytes", file_bytes}, {"peak_memory_over_matrix", memory}};
  record.groups.push_back(std::move(group));
}

/// A file that is gone when the bench is.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(std::filesystem::temp_directory_path() /
              ("cnc_read_bench_" + std::to_string(getpid()) + ".mtx")) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Problems are written to a temporary file first; files are read where they are.
void run(const BenchOptions& options, Record& record) {
  // Wathen's coefficients are random: values of full length, as real files have them.
  if (sources.empty()) sources = {options.quick ? "wathen:20x20" : "wathen:370x370"};
  for (const std::string& source : sources) {
    const std::filesystem::path path(source);
    if (is_problem(source)) {
      const TemporaryFile file;
      tell("writing " + source);
      write_matrix_market(file.path(), generate_problem(source));
      measure(file.path(), source + ".mtx", options, record);
    } else {
      require(path.extension() != ".gz", "read_bench: a loop of >> cannot read compressed files");
      measure(source, path.filename().string(), options, record);
    }
  }
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  using namespace cnc::perf;
  own_program = std::filesystem::read_symlink("/proc/self/exe").string();
  if (argc == 3 && std::string(argv[1]) == "--measure-memory") {
    measure_memory_of = argv[2];
    return print_peak_memory();
  }
  return run_bench(
      argc, argv,
      {"read", "time and memory of reading a Matrix Market file, beside istream >>", false,
       [](CLI::App& app) {
         app.add_option("SOURCE", sources,
                        "Uncompressed files, or problems to write to a file first");
       },
       run});
}
