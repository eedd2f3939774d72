#pragma once

#include "matrix_source.hpp"
#include "partition_output.hpp"
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
  /// work() on each of them, which returns an exit code; what fails on one fails on all.
  int together(const std::function<int()>& work) const;
  /// As load_matrix, on the first alone. Of what is cut in segments each reads, or makes, a part, which solve goes on with, and the
  /// first has the size.
  LoadedMatrix load(const std::string& source, const SolveRequest& request,
                    const FurtherBytes& further_bytes) const;
  /// How the matrix of a source lies on them, cut as solve cuts it.
  /// Errors   those of load; InvalidArgument (a matrix that is not square).
  CutMatrix cut(const std::string& source, const std::string& partition) const;
  /// PCG with Jacobi on the matrix of a source by 1, 2, 4, ... and all of them, the others waiting: with the partition and link of a
  /// request. The matrix is that of load_for_some; the timings are whole on the first.
  /// Errors   those of cut.
  std::vector<RanksTiming> compare(const ContextRequest& where, const LoadedMatrix& matrix,
                                   const SolveRequest& request, const Effort& effort) const;
  /// For runs on some of them: like load, but a file is read whole on the first, and of a problem in segments only the size is kept.
  LoadedMatrix load_for_some(const std::string& source, const SolveRequest& request,
                             const FurtherBytes& further_bytes) const;
  /// As run_solve, for the matrix that was loaded. The outcome is whole on the first.
  /// Errors   InvalidArgument (what is not available on several ranks), and those of run_solve.
  SolveOutcome solve(const ContextRequest& where, const LoadedMatrix& matrix,
                     const SolveRequest& request) const;

 private:
  /// On the first alone, whatever the source.
  LoadedMatrix load_whole(const std::string& source, const FurtherBytes& further_bytes) const;
  struct State;
  std::unique_ptr<State> state_;  ///< null: one process
};

}  // namespace cnc::cli
