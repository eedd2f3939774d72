#pragma once

#include <cnc/automatic_preconditioner.hpp>
#include <cnc/preconditioner.hpp>

#include "solve/other_ranks.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cnc::detail {

/// The multigrid among the candidates, whichever class it is of.
template <class V, class Exec>
struct MultigridCandidate {
  std::shared_ptr<PreconditionerBase<V, Exec>> object;
  std::function<double()> operator_complexity;  ///< of its last set_up
  std::function<void()> clear;                  ///< where another is taken
};

/// An Amg or a DistributedAmg as such.
template <class V, class Exec, class Multigrid>
MultigridCandidate<V, Exec> multigrid_candidate(const std::shared_ptr<Multigrid>& amg) {
  return {amg, [amg] { return amg->hierarchy().operator_complexity(); }, [amg] { amg->clear(); }};
}

template <class V, class Exec>
struct PreconditionerChoice {
  std::shared_ptr<PreconditionerBase<V, Exec>> taken;  ///< null: none could be set up
  std::string told;           ///< what was tried and why this one was taken
  PreconditionerSetup setup;  ///< of Jacobi, where none is taken
};

/// Sets up and tries what AutomaticPreconditioner says. For a matrix on several ranks A is the block of the own rows and
/// columns and `ranks` the others; the call is then one of all ranks, which take the same. Null: there are none.
/// mirrored: whether the whole matrix is symmetric.
template <class V, class Exec>
PreconditionerChoice<V, Exec> choose_preconditioner(
    Context<Exec>& ctx, const std::shared_ptr<OtherRanks>& ranks,
    const CsrMatrix<V, typename Exec::memory_space>& A,
    const Matrix<V, typename Exec::memory_space>& layout, bool mirrored,
    const AutomaticOptions& options, const MultigridCandidate<V, Exec>& multigrid);

}  // namespace cnc::detail
