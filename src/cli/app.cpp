#include "app.hpp"

#include "commands.hpp"
#include "program.hpp"
#include "streams.hpp"

#include <cnc/backend.hpp>
#include <cnc/problems.hpp>
#include <cnc/version.hpp>

#include <vendor/baselines.hpp>

#include <CLI/CLI.hpp>

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

int run_on(const Ranks& ranks, int argc, char** argv) {
  try {
    add_backends(baselines());
    CLI::App app("Solves sparse linear systems by preconditioned Krylov methods.", "cnc");
    Action action;
    add_solve(app, ranks, action);
    add_info(app, ranks, action);
    add_compare(app, ranks, action);
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
    const Action on_ranks = [&] {
      if (ranks.size() > 1 && (app.got_subcommand("generate") || app.got_subcommand("backends")))
        throw InvalidArgument(
            "only solve, info and compare work on several ranks; run the others without mpirun");
      return action();
    };
    return parse_and_run(app, on_ranks, argc, argv);
  } catch (const std::bad_alloc&) {
    return complain("cnc", "out of memory");
  } catch (const std::exception& e) {
    return complain("cnc", e.what());
  }
}

}  // namespace

int run(int argc, char** argv) {
  secure_streams();
  try {
    const Ranks ranks;  // outlives what the first of them says
    return run_on(ranks, argc, argv);
  } catch (const std::exception& e) {
    return complain("cnc", e.what());
  }
}

}  // namespace cnc::cli
