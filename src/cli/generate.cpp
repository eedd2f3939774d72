#include "app.hpp"
#include "commands.hpp"
#include "matrix_source.hpp"
#include "option_checks.hpp"
#include "output_file.hpp"
#include "session.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/io.hpp>
#include <cnc/problems.hpp>

#include <filesystem>
#include <iostream>
#include <memory>

namespace cnc::cli {
namespace {

struct GenerateOptions {
  std::string problem;
  std::string output;
  bool quiet = false;
};

/// Whether only the lower triangle needs to be written: the generator says so of its own problems.
bool is_symmetric(const std::string& problem) {
  const std::string family = problem.substr(0, problem.find(':'));
  for (const ProblemInfo& info : problem_families())
    if (info.name == family) return info.symmetric_positive_definite;
  return false;
}

int generate(const GenerateOptions& options) {
  const bool cache = options.output.ends_with(".cnc");
  if (!cache && !options.output.ends_with(".mtx") && !options.output.ends_with(".mtx.gz"))
    throw IoError(options.output, 0, "unknown file type (known: .mtx, .mtx.gz, .cnc)");
  check_writable(options.output);
  const Session session(0);
  const LoadedMatrix matrix = load_matrix(options.problem, nullptr);
  if (cache)
    write_cache(options.output, matrix.A);
  else
    write_matrix_market(options.output, matrix.A,
                        matrix.generated && is_symmetric(options.problem));
  if (!options.quiet)
    std::cout << options.output << ": " << matrix_text(matrix.A) << ", "
              << bytes_text(static_cast<double>(std::filesystem::file_size(options.output)))
              << "\n";
  return exit_ok;
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand("generate", "Write a built-in problem to a file");
  command->add_option("PROBLEM", options->problem, "Built-in problem, or a file to convert")
      ->check(not_empty)
      ->required();
  command
      ->add_option("-o,--output", options->output, ".mtx, .mtx.gz, or .cnc (binary, fast to load)")
      ->required()
      ->type_name("FILE");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing");
  command->callback([options, &action] { action = [options] { return generate(*options); }; });
}

}  // namespace cnc::cli
