#pragma once

#include "app.hpp"
#include "commands.hpp"

#include <string>

namespace cnc::cli {

/// Prints why the program ends, in one line that begins with its name; gives the exit code.
int complain(const std::string& program, std::string reason);

/// Parses, does what was chosen, and sees to it that what was printed arrives. The program has the name of the app.
/// Errors   what the action throws.
int parse_and_run(CLI::App& app, const Action& action, int argc, char** argv);

}  // namespace cnc::cli
