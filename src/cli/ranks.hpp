#pragma once

#include "solve_run.hpp"

#include <functional>
#include <memory>

namespace cnc::cli {

/// The processes that mpirun has started this program as: one where nobody has, or CNC was built without MPI. The first of
/// them speaks for all: the others print nothing, and what fails on one of them is said there.
class Ranks {
 public:
  /// MPI is initialised where there are several, and finalised at the end.
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int size() const;
  bool is_first() const;
  /// Threads of each; 0: ranks of one machine share its processors.
  int threads(int asked) const;
  /// work() on each of them; what fails on one fails on all.
  void together(const std::function<void()>& work) const;
  /// As run_solve, the matrix on the first alone, which is where the outcome is whole.
  /// Errors   InvalidArgument (what is not there for several ranks), and those of run_solve.
  SolveOutcome solve(const ContextRequest& where, const LoadedMatrix& matrix,
                     const SolveRequest& request) const;

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< null: one process
};

}  // namespace cnc::cli
