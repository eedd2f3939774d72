#pragma once

#include "matrix_source.hpp"
#include "memory.hpp"
#include "precision.hpp"
#include "timing.hpp"

#include <cnc/options.hpp>
#include <cnc/solver.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cnc::cli {

/// What to solve and how.
struct SolveRequest {
  std::string rhs = "a-times-ones";
  std::string x0 = "zero";
  std::string
      coordinates;  ///< of the nodes, for rigid motions in amg: a file; "" for those of a built-in problem
  std::string output;  ///< file for x, "" for none
  Precision precision = Precision::f64;
  SolveOptions options;
  PreconditionerSpec preconditioner;   ///< that of the options, or an object in its place
  std::string partition = "segments";  ///< of several processes, or "graph"
  std::string link = "devices";        ///< of several devices, at best; "messages", "mpi", "host"
  bool show_progress = false;
  bool measure_bandwidth = false;
  int repeat = 1;  ///< solves from the same start vector

  /// Whether the exact solution is all ones. With a null space x is what has no part there.
  bool solution_is_ones() const {
    return rhs == "a-times-ones" && options.null_space == NullSpace::none;
  }
};

/// How the first solve and later ones compare, and prepare with the products of an iteration.
struct Repeats {
  int solves = 1;
  double first_seconds = 0;
  Timing later;      ///< solves after the first
  Timing iteration;  ///< one iteration, from solves of different lengths
  /// Whether they went by the form of that iteration.
  bool first_is_alike = true, later_are_alike = true;
  Timing prepare;  ///< prepare after the first one
  Timing product;  ///< y = A x in the layout of the solver
  std::vector<std::string> notes;

  /// What a solve costs beyond its iterations: what is left of it when they are taken off, no larger
  /// than their spread means nothing.
  struct Overhead {
    double seconds = 0;
    double noise = 0;
    bool resolved() const { return seconds > noise; }
  };
  /// Of a solve of `seconds`; nothing when an iteration alone was not measured, or one of another form.
  std::optional<Overhead> overhead(double seconds, double spread, index_t iterations,
                                   bool is_alike) const {
    if (!iteration.resolved() || !is_alike) return {};
    const double own = std::isnan(spread) ? 0 : spread;
    return Overhead{seconds - iterations * iteration.median,
                    0.5 * (own + iterations * iteration.spread)};
  }
};

/// How the rows of the matrix lie on several processes.
struct RowsOnRanks {
  int ranks = 1;
  double imbalance = 1;   ///< the most entries of a rank over the mean
  double cut = 0;         ///< the share of entries that are in columns of other ranks
  int neighbours = 0;     ///< of a rank at most
  std::string partition;  ///< by what the rows were dealt out
  std::string link;       ///< through what they exchange entries of x; empty before they do
};

/// What came out, for the report on the screen and the one in JSON.
struct SolveOutcome {
  const Backend* backend = nullptr;
  int threads = 0;
  SolveReport report;
  std::vector<std::string> advice;        ///< why the layout was chosen
  std::optional<AmgHierarchy> hierarchy;  ///< of amg
  std::string preconditioner_choice;      ///< of auto: why
  double prepare_seconds = 0;
  Repeats repeats;
  RowsOnRanks on_ranks;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< max |x - 1|; NaN: solution unknown
  double bandwidth =
      0;  ///< measured read rate at the working set of an iteration, bytes/s; 0: not measured
};

/// Bytes of host memory that run_solve takes at least beside a matrix of so many rows and entries.
double solve_bytes(const SolveRequest& request, MemorySpace memory, index_t rows, offset_t entries);

/// Checks right-hand side, start vector and the name of the output before a large matrix is read.
/// Errors   IoError (no such file, unknown file type), InvalidArgument (seed).
void check_vectors(const SolveRequest& request);

/// Brings matrix and vectors to where the context is, prepares, solves, writes x. With
/// `repeat`, report and x are those of the first solve; the later ones are timed. Stops at the next callback once Interrupt::requested().
/// Errors   everything that the library throws; InvalidArgument for vectors of the wrong length.
SolveOutcome run_solve(const ContextRequest& where, const LoadedMatrix& matrix,
                       const SolveRequest& request);

}  // namespace cnc::cli
