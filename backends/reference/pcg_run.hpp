#pragma once

#include <reference/pcg_steps.hpp>
#include <reference/spmv_dot.hpp>

namespace cnc::reference {

/// Classic preconditioned CG (Hestenes & Stiefel 1952), one separate step after the other, until the
/// target or the limit is met or a breakdown is set. An update that breaks down is no iteration done.
template <class Operand, class V>
void pcg_run(const Queue& queue, const Operand& A, const PreconditionerOperand<V>& M,
             const PcgVectors<V>& v, PcgScalars* scalars, PcgRun* run) {
  run->iterations = 0;
  // Written as a negation so that a NaN in r.r runs into the update, which names it.
  while (scalars->breakdown == PcgBreakdown::none && run->iterations < run->max_iterations &&
         !(scalars->rr <= run->rr_target)) {
    pcg_direction(queue, A.rows, v, scalars);
    spmv_dot(queue, A, v.p, v.q, &scalars->pq);
    pcg_update(queue, A.rows, M, v, scalars);
    if (scalars->breakdown != PcgBreakdown::none) break;
    if (run->history != nullptr) run->history[run->iterations] = scalars->rr;
    ++run->iterations;
  }
  run->scalars = *scalars;
}

}  // namespace cnc::reference
