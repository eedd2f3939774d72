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

const char* to_string(SolveForm form) {
  switch (form) {
    case SolveForm::automatic: return "automatic";
    case SolveForm::plain_operations: return "plain operations";
    case SolveForm::fused_steps: return "fused steps";
    case SolveForm::streamed: return "streamed";
    case SolveForm::graph: return "graph";
    case SolveForm::resident: return "resident";
  }
  return "unknown";
}

}  // namespace cnc
