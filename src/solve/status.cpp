#include <cnc/solver.hpp>

namespace cnc {

const char* to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return "converged";
    case SolveStatus::max_iterations: return "max_iterations";
    case SolveStatus::time_limit: return "time_limit";
    case SolveStatus::stopped: return "stopped";
    case SolveStatus::stagnated: return "stagnated";
    case SolveStatus::diverged: return "diverged";
    case SolveStatus::breakdown: return "breakdown";
    case SolveStatus::not_positive_definite: return "not_positive_definite";
    case SolveStatus::not_finite: return "not_finite";
  }
  return "unknown";
}

}  // namespace cnc
