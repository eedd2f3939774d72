#pragma once

#include <cnc/solver.hpp>

#include "solve/system.hpp"

#include <string>

namespace cnc::detail {

/// Which level of the operation table does the work.
enum class Level { run, fused_steps, plain_operations };

/// A level, and at the highest one how the run is to be done.
struct Form {
  Level level = Level::plain_operations;
  PcgForm run = PcgForm::automatic;
  bool single_reduction = false;
};

/// What a report says: the run that was done, or the level.
inline const char* to_string(Level level, PcgForm used) {
  if (level == Level::plain_operations) return to_string(SolveForm::plain_operations);
  if (level == Level::fused_steps) return to_string(SolveForm::fused_steps);
  switch (used) {
    case PcgForm::streamed: return to_string(SolveForm::streamed);
    case PcgForm::graph: return to_string(SolveForm::graph);
    case PcgForm::resident: return to_string(SolveForm::resident);
    default: return "run";
  }
}

/// The form asked for, or the highest level on offer.
/// Errors   UnsupportedOperation (asked for, but not on offer).
template <class V, class Exec>
Form choose_form(const System<V, Exec>& system, Method method, SolveForm asked) {
  const bool single = method == Method::pcg_single_reduction;
  const auto on_offer = [&](bool offers, Form form) {
    if (offers) return form;
    throw UnsupportedOperation(
        std::string("SolveOptions: backend '") + system.ctx->backend().name + "' has no form '" +
        to_string(asked) +
        "' for this matrix, method and preconditioner; 'automatic' takes the best there is");
  };
  const auto planned = [&](PcgForm run) {
    return on_offer(system.runs(single) && system.plans(), {Level::run, run, single});
  };
  switch (asked) {
    case SolveForm::plain_operations: return {Level::plain_operations, {}, single};
    case SolveForm::fused_steps:
      return on_offer(system.fused(single), {Level::fused_steps, {}, single});
    case SolveForm::streamed: return planned(PcgForm::streamed);
    case SolveForm::graph: return planned(PcgForm::graph);
    case SolveForm::resident: return planned(PcgForm::resident);
    case SolveForm::automatic: break;
  }
  if (system.runs(single)) return {Level::run, PcgForm::automatic, single};
  return {system.fused(single) ? Level::fused_steps : Level::plain_operations, {}, single};
}

}  // namespace cnc::detail
