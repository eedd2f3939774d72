#pragma once

#include <cnc/solver.hpp>

#include "solve/form_name.hpp"
#include "solve/system.hpp"

#include <string>

namespace cnc::detail {

/// What a method that multiplies by A^T misses, in words for users of the program and of the library alike. The transpose of a matrix
/// is there for a method that was named; `automatic` lays it out when it gets there, unless it came past all others before.
template <class V, class Exec>
std::string missing_transpose_text(const System<V, Exec>& system, const MethodFacts& method,
                                   SolveForm asked) {
  if (!system.has_transposed_matrix() && !system.matrix_free)
    return std::string("SolveOptions: no method of 'auto' has the form '") + form_name(asked) +
           "' with backend '" + system.ctx->backend().name +
           "', this matrix and this preconditioner";
  const std::string needs =
      std::string("SolveOptions: ") + method.name + " needs the transpose of ";
  if (!system.has_transposed_matrix())
    return needs + "the matrix, and the operator has no apply_transposed";
  return needs + "the preconditioner, which '" + system.preconditioner().name() +
         "' does not have (those with one: none, jacobi, block-jacobi, and objects with "
         "apply_transposed)";
}

/// The form asked for, or the highest on offer. Of a method on a growing basis `automatic` stays: its steps are resident where
/// they fit, which is known when they are made.
/// Errors   UnsupportedOperation (asked for, but not on offer).
template <class V, class Exec>
SolveForm choose_form(const System<V, Exec>& system, Method method, SolveForm asked) {
  if (system.arithmetic != Arithmetic::fast) system.require_arithmetic();
  const bool local = system.is_local();
  const MethodFacts& facts = method_facts(method);
  // Where devices reach each other, their kernels add up what a run sums over all ranks.
  const bool runs_among = system.has_peers(facts.transposes) &&
                          system.arithmetic == Arithmetic::fast && system.runs(method) &&
                          system.plans();
  if (runs_among && asked == SolveForm::automatic) return SolveForm::run;
  const auto is_among = [&](SolveForm form) {
    return runs_among &&
           (form == SolveForm::run || form == SolveForm::streamed || form == SolveForm::graph ||
            (form == SolveForm::one_meeting && facts.meets_once));
  };
  const bool has_one_form =
      (system.arithmetic != Arithmetic::fast || system.ranks) && !is_among(asked);
  if (has_one_form) {
    // What is compensated or not, and what other ranks have to say, lies between the steps of an iteration.
    const SolveForm steps =
        is_phased(method) ? SolveForm::fused_steps : SolveForm::plain_operations;
    if (asked != SolveForm::automatic && asked != steps) {
      std::string forms =
          std::string(runs_among ? "the forms '" : "the form '") + form_name(steps) + "'";
      for (const SolveForm form :
           {SolveForm::run, SolveForm::streamed, SolveForm::graph, SolveForm::one_meeting})
        if (is_among(form)) forms += std::string(", '") + form_name(form) + "'";
      throw UnsupportedOperation(
          "SolveOptions: " +
          (system.ranks ? "a solve of several ranks"
                        : std::string("arithmetic '") + to_string(system.arithmetic) + "'") +
          " takes " + forms + " of " + facts.name + ", not '" + form_name(asked) + "'");
    }
    asked = steps;
  }
  if (facts.transposes && !system.has_transposes(facts))
    throw UnsupportedOperation(missing_transpose_text(system, facts, asked));
  const auto offers = [&](SolveForm form) {
    switch (form) {
      case SolveForm::plain_operations: return system.has_plain_operations(method);
      case SolveForm::fused_steps: return system.has_phases(method);
      case SolveForm::run: return system.runs(method);
      case SolveForm::resident:
        if (!is_phased(method))
          return system.has_resident_steps() && system.has_plain_operations(method);
        return system.runs(method) && system.plans() && local && !facts.transposes;
      case SolveForm::one_meeting:
        return facts.meets_once && system.runs(method) && system.plans() && local;
      default: return system.runs(method) && system.plans();
    }
  };
  if (asked == SolveForm::automatic) {
    if (!is_phased(method) && offers(SolveForm::resident)) return asked;
    for (const SolveForm form :
         {SolveForm::run, SolveForm::fused_steps, SolveForm::plain_operations})
      if (offers(form)) return form;
    throw UnsupportedOperation(std::string("SolveOptions: backend '") + system.ctx->backend().name +
                               "' does not offer " + method_facts(method).name +
                               " with this matrix or operator and preconditioner");
  }
  if (offers(asked)) return asked;
  if (has_one_form)
    throw UnsupportedOperation(
        std::string("SolveOptions: backend '") + system.ctx->backend().name + "' does not offer " +
        facts.name +
        (system.ranks ? std::string(" on several ranks")
                      : std::string(" with arithmetic '") + to_string(system.arithmetic) + "'"));
  std::string text = std::string("SolveOptions: backend '") + system.ctx->backend().name +
                     "' has no form '" + form_name(asked) + "' of " + facts.name +
                     " for this matrix and preconditioner";
  if ((asked == SolveForm::resident || asked == SolveForm::one_meeting) && !local)
    text += ", which is not local to a row or block";
  else if (is_run(asked) && !local && system.plans() && !system.only_enqueues())
    text += ", which must promise that it only enqueues";
  throw UnsupportedOperation(text + "; 'automatic' takes the best there is");
}

/// Whether there is a method in the form asked for.
template <class V, class Exec>
bool offers(const System<V, Exec>& system, Method method, SolveForm asked) {
  try {
    (void)choose_form(system, method, asked);
    return true;
  } catch (const UnsupportedOperation&) {
    return false;
  }
}

}  // namespace cnc::detail
