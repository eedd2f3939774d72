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
  RunForm run = RunForm::automatic;
  Method method = Method::pcg;
};

/// What a report says: the run that was done, or the level.
inline const char* to_string(Level level, RunForm used) {
  if (level == Level::plain_operations) return to_string(SolveForm::plain_operations);
  if (level == Level::fused_steps) return to_string(SolveForm::fused_steps);
  switch (used) {
    case RunForm::streamed: return to_string(SolveForm::streamed);
    case RunForm::graph: return to_string(SolveForm::graph);
    case RunForm::resident: return to_string(SolveForm::resident);
    default: return "run";
  }
}

/// The form asked for, or the highest level on offer.
/// Errors   UnsupportedOperation (asked for, but not on offer).
template <class V, class Exec>
Form choose_form(const System<V, Exec>& system, Method method, SolveForm asked) {
  const bool local = system.is_local();
  const auto on_offer = [&](bool offers, Form form) {
    if (offers) return form;
    std::string text = std::string("SolveOptions: backend '") + system.ctx->backend().name +
                       "' has no form '" + to_string(asked) + "' of " + method_facts(method).name +
                       " for this matrix and preconditioner";
    if (form.level == Level::run && !local && form.run == RunForm::resident)
      text += ", which is not local to a row or block";
    else if (form.level == Level::run && !local && !system.preconditioner().only_enqueues())
      text += ", which must promise that it only enqueues";
    throw UnsupportedOperation(text + "; 'automatic' takes the best there is");
  };
  if (asked == SolveForm::automatic && !system.runs(method) && !system.has_phases(method) &&
      !has_plain_form(method))
    throw UnsupportedOperation(std::string("SolveOptions: backend '") + system.ctx->backend().name +
                               "' does not offer " + method_facts(method).name +
                               " with this matrix or operator and preconditioner");
  const auto planned = [&](RunForm run) {
    return on_offer(system.runs(method) && system.plans() && (local || run != RunForm::resident),
                    {Level::run, run, method});
  };
  const Form plain{Level::plain_operations, {}, method};
  switch (asked) {
    case SolveForm::plain_operations: return on_offer(has_plain_form(method), plain);
    case SolveForm::fused_steps:
      return on_offer(system.has_phases(method), {Level::fused_steps, {}, method});
    case SolveForm::streamed: return planned(RunForm::streamed);
    case SolveForm::graph: return planned(RunForm::graph);
    case SolveForm::resident: return planned(RunForm::resident);
    case SolveForm::automatic: break;
  }
  if (system.runs(method)) return {Level::run, RunForm::automatic, method};
  if (system.has_phases(method)) return {Level::fused_steps, {}, method};
  return plain;
}

}  // namespace cnc::detail
