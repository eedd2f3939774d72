#pragma once

#include "matrix_source.hpp"
#include "memory.hpp"
#include "precision.hpp"

#include <cnc/solver.hpp>

#include <limits>
#include <string>
#include <vector>

namespace cnc::cli {

/// What to solve and how.
struct SolveRequest {
  std::string rhs = "a-times-ones";
  std::string x0 = "zero";
  std::string output;  ///< file for x, "" for none
  Precision precision = Precision::f64;
  SolveOptions options;
  bool show_progress = false;
  bool measure_bandwidth = false;
};

/// What came out, for the report on the screen and the one in JSON.
struct SolveOutcome {
  const Backend* backend = nullptr;
  int threads = 0;
  SolveReport report;
  std::vector<std::string> advice;  ///< why the layout was chosen
  double prepare_seconds = 0;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< max |x - 1|; NaN: solution unknown
  double bandwidth =
      0;  ///< measured read rate at the working set of an iteration, bytes/s; 0: not measured
};

/// Brings matrix and vectors to where the context is, prepares, solves, writes x. Stops at the next callback once Interrupt::requested().
/// Errors   everything that the library throws; InvalidArgument for vectors of the wrong length.
SolveOutcome run_solve(const ContextRequest& where, const LoadedMatrix& matrix,
                       const SolveRequest& request);

}  // namespace cnc::cli
