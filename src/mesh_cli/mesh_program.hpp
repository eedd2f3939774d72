#pragma once

#include "cli/commands.hpp"

namespace cnc::cli {

/// The main program of one that takes a mesh: parses, acts, turns errors into one line and an exit code.
int run_mesh_program(CLI::App& app, const Action& action, int argc, char** argv);

}  // namespace cnc::cli
