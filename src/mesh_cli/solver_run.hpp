#pragma once

#include "arguments.hpp"
#include "cli/progress.hpp"
#include "geometry/system_solver.hpp"

#include <cnc/backend.hpp>

#include <functional>
#include <string>

namespace cnc::cli {

/// Where systems are solved.
struct SolverPlace {
  const Backend* backend = nullptr;
  int threads = 0;
};

/// The tolerance asked for, or that of the precision.
double tolerance_of(const MeshArguments& arguments);

/// Refuses names that are not known and backends that are not there, before a large mesh is read.
/// Errors   InvalidArgument, UnsupportedOperation.
void check_solver(const MeshArguments& arguments);

/// use(solver, place) with what solves as the options say. While it iterates, the line shows `label` and how far it
/// is, and an interrupt ends it.
///
/// `unknowns`: about how many, which tells how often to look for an interrupt.
/// Errors   as Context, and what `use` throws.
void with_solver(const MeshArguments& arguments, offset_t unknowns, ProgressLine& line,
                 const std::string& label,
                 const std::function<void(geometry::SystemSolver&, const SolverPlace&)>& use);

}  // namespace cnc::cli
