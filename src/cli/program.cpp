#include "program.hpp"

#include "streams.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace cnc::cli {
namespace {

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
      app.get_subcommands({}).empty() || !app.get_subcommands().empty())
    return error.what();
  std::string known;
  for (const CLI::App* command : app.get_subcommands({}))
    known += (known.empty() ? "" : ", ") + command->get_name();
  return "unknown subcommand '" + extra.front() + "' (known: " + known + ")";
}

}  // namespace

int complain(const std::string& program, std::string reason) {
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  std::cout.flush();
  std::cerr << program << ": " << reason << '\n';
  return exit_bad_input;
}

int parse_and_run(CLI::App& app, const Action& action, int argc, char** argv) {
  int code = exit_ok;
  try {
    app.parse(argc, argv);
    code = action();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) return complain(app.get_name(), usage_text(app, e));
    code = app.exit(e);  // --help, --version
  }
  if (output_arrived()) return code;
  if (reader_left()) end_without_reader();
  return complain(app.get_name(), "cannot write to standard output");
}

}  // namespace cnc::cli
