#include "app.hpp"

#include "commands.hpp"
#include "streams.hpp"

#include <cnc/backend.hpp>
#include <cnc/problems.hpp>
#include <cnc/version.hpp>

#include <vendor/baselines.hpp>

#include <algorithm>
#include <iostream>
#include <new>
#include <string>

namespace cnc::cli {
namespace {

std::string footer() {
  std::string text =
      "FILE is Matrix Market (.mtx, .mtx.gz) or CNC's binary cache (.cnc). PROBLEM is one of\n";
  for (const ProblemInfo& family : problem_families())
    text += "  " + family.syntax +
            std::string(family.syntax.size() < 24 ? 24 - family.syntax.size() : 1, ' ') +
            family.description + "\n";
  return text +
         "Exit code: 0 converged or done, 1 not converged (results still written), 2 bad usage or "
         "input.";
}

int complain(std::string reason) {
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  std::cout.flush();
  std::cerr << "cnc: " << reason << '\n';
  return exit_bad_input;
}

/// CLI11 only says that a subcommand is missing; a misspelt one deserves its name. What a subcommand
/// does not expect it names in reverse order.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::string text = "not expected:";
    for (const std::string& word : app.remaining(true)) text += " " + word;
    return text;
  }
  const std::vector<std::string> extra = app.remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr || extra.empty() ||
      !app.get_subcommands().empty())
    return error.what();
  std::string known;
  for (const CLI::App* command : app.get_subcommands({}))
    known += (known.empty() ? "" : ", ") + command->get_name();
  return "unknown subcommand '" + extra.front() + "' (known: " + known + ")";
}

int parse_and_run(CLI::App& app, const Action& action, int argc, char** argv) {
  int code = exit_ok;
  try {
    app.parse(argc, argv);
    code = action();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) return complain(usage_text(app, e));
    code = app.exit(e);  // --help, --version
  }
  if (output_arrived()) return code;
  if (reader_left()) end_without_reader();
  return complain("cannot write to standard output");
}

}  // namespace

int run(int argc, char** argv) {
  secure_streams();
  try {
    add_backends(baselines());
    CLI::App app("Solves sparse linear systems by preconditioned Krylov methods.", "cnc");
    Action action;
    add_solve(app, action);
    add_info(app, action);
    add_compare(app, action);
    add_generate(app, action);
    add_backends(app, action);
    app.require_subcommand(1);
    app.footer(footer());
    const std::string version = std::string("cnc ") + version_string;
    app.set_version_flag("--version", version, "Print the version and exit");
    for (CLI::App* command : app.get_subcommands({})) {
      command->set_version_flag("--version", version, "Print the version and exit");
      command->get_formatter()->column_width(36);
    }
    return parse_and_run(app, action, argc, argv);
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}

}  // namespace cnc::cli
