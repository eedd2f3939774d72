#pragma once

#include "solve_run.hpp"

#include <iosfwd>
#include <string>

namespace cnc::cli {

/// Names of the choices as they are written on the command line.
std::string precondition_text(const SolveRequest& request);

/// The report on the screen: residual plot, then one fact a line.
void print_outcome(std::ostream& out, const SolveRequest& request, const SolveOutcome& outcome);

/// The same in JSON, with the residual history.
void write_outcome_json(std::ostream& out, const LoadedMatrix& matrix, const SolveRequest& request,
                        const SolveOutcome& outcome);

/// iteration,residual,relative_residual
void write_history_csv(std::ostream& out, const SolveReport& report);

}  // namespace cnc::cli
