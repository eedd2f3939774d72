#pragma once

#include "ranks.hpp"

#include <functional>

namespace CLI {
class App;  // its header alone costs seconds in each source that includes it
}

namespace cnc::cli {

/// What the chosen subcommand does once parsing is over; returns the exit code.
using Action = std::function<int()>;

// Each adds its subcommand to `app` and stores its work in `action` when it is chosen.
void add_solve(CLI::App& app, const Ranks& ranks, Action& action);
void add_info(CLI::App& app, const Ranks& ranks, Action& action);
void add_compare(CLI::App& app, const Ranks& ranks, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_backends(CLI::App& app, Action& action);

}  // namespace cnc::cli
