#pragma once

namespace cnc::cli {

/// Exit codes of every subcommand.
inline constexpr int exit_ok = 0;             ///< done; of solve: converged
inline constexpr int exit_not_converged = 1;  ///< solve ended otherwise; its results are written
inline constexpr int exit_bad_input = 2;  ///< wrong usage or bad input, one line on standard error

/// The whole program: parses, runs the subcommand, turns errors into one line and an exit code.
int run(int argc, char** argv);

}  // namespace cnc::cli
