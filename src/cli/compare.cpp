#include "app.hpp"
#include "commands.hpp"
#include "compare_output.hpp"
#include "option_checks.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "session.hpp"

#include <iostream>
#include <memory>

namespace cnc::cli {
namespace {

struct CompareArguments {
  std::string source;
  std::string backends;
  std::string formats;
  std::string json;
  SolveRequest on_ranks;  ///< how, with `ranks`
  bool ranks = false;
  CompareRequest request;
};

CompareRequest request_from(const CompareArguments& arguments) {
  CompareRequest request = arguments.request;
  request.backends = split_list(arguments.backends);
  for (const std::string& text : split_list(arguments.formats)) {
    request.formats.push_back(parse_format(text));
    if (request.formats.back().name == "auto")
      throw InvalidArgument("--formats: 'auto' is no format to compare (known: " + known_formats() +
                            ")");
  }
  if (request.backends.empty() && request.memory != "all")
    (void)find_backend("auto", memory_of_backend("auto", request.memory));
  for (const std::string& name : request.backends)
    (void)find_backend(name, memory_of_backend(name, request.memory));
  return request;
}

/// Errors   InvalidArgument (no backend takes part that they mean something to).
void check_block_threads(const CompareRequest& request) {
  if (request.block_threads > 0 && chosen_backends(request, MemorySpace::device).empty())
    throw InvalidArgument("--block-threads is for backends of devices");
}

/// One matrix on 1, 2, 4, ... processes.
int compare_ranks(const CompareArguments& arguments, const Ranks& ranks) {
  if (ranks.size() == 1)
    throw InvalidArgument("compare --ranks: start it on several, by mpirun -n 4 cnc compare ...");
  CompareRequest request = request_from(arguments);
  if (!request.formats.empty() || request.variants || request.backends.size() > 1)
    throw InvalidArgument("compare --ranks: one backend in its own format");
  if (request.memory == "all") request.memory = "host";
  check_block_threads(request);
  check_outputs({arguments.json}, {arguments.source});
  const std::string backend = request.backends.empty() ? "auto" : request.backends.front();
  const int threads = ranks.threads(request.threads);
  const Session session(threads);
  const ContextRequest where{backend, memory_of_backend(backend, request.memory), threads,
                             request.block_threads};
  (void)find_backend(where.backend, where.memory);
  const LoadedMatrix matrix =
      ranks.load_for_some(arguments.source, arguments.on_ranks, [](index_t rows, offset_t entries) {
        return rows * 8.0 * sizeof(double) +
               static_cast<double>(entries) * (sizeof(double) + sizeof(index_t));
      });
  const bool report = ranks.is_first() && arguments.json != "-";
  if (report) std::cout << matrix_line(matrix) << std::flush;
  const std::vector<RanksTiming> timings =
      ranks.compare(where, matrix, arguments.on_ranks, request.effort);
  if (!ranks.is_first()) return exit_ok;
  if (report) print_ranks(std::cout << '\n', timings);
  if (!arguments.json.empty())
    write_output(arguments.json,
                 [&](std::ostream& out) { write_ranks_json(out, matrix, timings); });
  return exit_ok;
}

int compare(const CompareArguments& arguments, const Ranks& ranks) {
  if (arguments.ranks) return compare_ranks(arguments, ranks);
  if (ranks.size() > 1) throw InvalidArgument("compare works on several ranks with --ranks alone");
  const CompareRequest request = request_from(arguments);
  check_block_threads(request);
  check_outputs({arguments.json}, {arguments.source});
  const bool report = arguments.json != "-";

  const Session session(request.threads);
  const LoadedMatrix matrix = load_matrix(arguments.source, [](index_t rows, offset_t) {
    return rows * 3.0 * sizeof(double);  // x, y and what y should be
  });
  if (report) std::cout << matrix_line(matrix) << std::flush;
  ProgressLine line(true);
  const Comparison comparison = measure_all(matrix.A, request, [&](const std::string& what) {
    line.show("  measuring " + what + " ...");
  });
  line.clear();
  if (report) print_comparison(std::cout, comparison);
  if (!arguments.json.empty())
    write_output(arguments.json,
                 [&](std::ostream& out) { write_comparison_json(out, matrix, comparison); });
  return exit_ok;
}

}  // namespace

void add_compare(CLI::App& app, const Ranks& ranks, Action& action) {
  auto a = std::make_shared<CompareArguments>();
  CLI::App* command =
      app.add_subcommand("compare", "Time every backend, format and precision on one matrix");
  command->add_option("SOURCE", a->source, "FILE or PROBLEM")->required()->check(not_empty);
  command->add_option("--backends", a->backends, "Only these (default: every usable one)")
      ->check(not_empty_list)
      ->type_name("A,B,...");
  command
      ->add_option("--formats", a->formats,
                   "Only these: " + known_formats() + " (default: those that could win)")
      ->check(not_empty_list)
      ->type_name("A,B,...");
  command
      ->add_option("--memory", a->request.memory, "Only backends of this memory: host, device, all")
      ->check(CLI::IsMember({"host", "device", "all"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--block-threads", a->request.block_threads,
                   "Device: threads per block (default: tuned)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command->add_flag("--variants", a->request.variants, "Also single-instruction-set variants");
  command->add_option("--repeats", a->request.effort.repeats, "Least repeats of each measurement")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--min-time", a->request.effort.min_seconds, "Least seconds of each measurement")
      ->check(not_negative)
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--threads", a->request.threads, "Threads (default: all)")
      ->check(CLI::Range(1, largest_threads()))
      ->type_name("N");
  command->add_option("--json", a->json, "Write all figures as JSON ('-': standard output)")
      ->check(not_empty)
      ->type_name("FILE");
  CLI::Option* const ranks_flag = command->add_flag(
      "--ranks", a->ranks, "Under mpirun: PCG on 1, 2, 4, ... and all processes instead");
  add_partition_option(*command, a->on_ranks.partition)->needs(ranks_flag);
  add_link_option(*command, a->on_ranks.link)->needs(ranks_flag);
  command->callback([a, &ranks, &action] {
    action = [a, &ranks] { return ranks.together([&] { return compare(*a, ranks); }); };
  });
}

}  // namespace cnc::cli
