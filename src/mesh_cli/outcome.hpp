#pragma once

#include "arguments.hpp"
#include "geometry/system_solver.hpp"
#include "solver_run.hpp"
#include "surface.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace cnc::cli {

/// A solve and what it was of: "part 2", "x".
struct NamedSolve {
  std::string of;
  bool done = false;
  SolveReport report;
};

/// What a program did, for the report on the screen and the one in JSON.
struct Outcome {
  SolverPlace place;
  std::string method;  // of the last solve
  offset_t equations = 0;
  offset_t unknowns = 0;
  std::vector<NamedSolve> solves;
  geometry::WorkTimes times;
  double writing_seconds = 0;

  bool converged() const;
  /// That of the first solve that did not converge: "converged" if all did.
  std::string status() const;
  index_t iterations() const;
  /// The largest of all.
  double relative_residual() const;
};

/// The lines that say how it was solved and how that ended.
void print_outcome(std::ostream& out, const Surface& surface, const Outcome& outcome);

/// The part of a report that both programs have.
nlohmann::json outcome_json(const std::string& program, const MeshArguments& arguments,
                            const Surface& surface, const Outcome& outcome);

}  // namespace cnc::cli
