#pragma once

#include <cnc/contract/pcg.hpp>

#include <target/gpu.hpp>

// Scalars of an iteration, as every thread computes them for itself from the same memory.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// A run of many iterations, in device memory: limits, log, and whether the kernels enqueued next are to
/// do anything.
struct RunState {
  double rr_target = 0;
  double* history = nullptr;
  index_t max_iterations = 0;
  index_t iterations = 0;  ///< done
  bool stop = false;
  bool solution_behind = false;  ///< x lacks the last alpha p, which the next direction adds
};

/// What the host learns of a run, in memory that both reach.
struct RunOutcome {
  PcgScalars scalars;
  index_t iterations = 0;
  std::int32_t stop = 0;  ///< set as soon as the run is over, before the rest is there
};

CNC_GPU_DEVICE bool at_start(const PcgScalars& s) { return s.rz_previous == 0; }

/// Coefficient of the old direction, 0 at the start of a recurrence.
CNC_GPU_DEVICE double direction_coefficient(const PcgScalars& s) {
  return at_start(s) ? 0.0 : s.rz / s.rz_previous;
}

/// Step length of the classic recurrences; what is wrong when it cannot be had.
CNC_GPU_DEVICE PcgBreakdown classic_step(PcgScalars& s) {
  const PcgBreakdown breakdown = pcg_breakdown(s.rz, s.pq);
  if (breakdown == PcgBreakdown::none) s.alpha = s.rz / s.pq;
  return breakdown;
}

/// Both coefficients of Chronopoulos & Gear 1989, algorithm 2.2; s.alpha is the last step's on entry.
CNC_GPU_DEVICE PcgBreakdown single_reduction_step(PcgScalars& s) {
  const double beta = direction_coefficient(s);
  const double curvature = at_start(s) ? s.pq : s.pq - beta * s.rz / s.alpha;
  const PcgBreakdown breakdown = pcg_breakdown(s.rz, curvature);
  if (breakdown != PcgBreakdown::none) return breakdown;
  s.beta = beta;
  s.alpha = s.rz / curvature;
  return breakdown;
}

/// The sums of the new residual take their places.
CNC_GPU_DEVICE void advance(PcgScalars& s, double rz, double rr) {
  s.rz_previous = s.rz;
  s.rz = rz;
  s.rr = rr;
}

/// Whether a run is over. A residual that is no number goes on: the next step names it.
CNC_GPU_DEVICE bool run_is_over(const RunState& run, const PcgScalars& s) {
  return s.breakdown != PcgBreakdown::none || run.iterations >= run.max_iterations ||
         s.rr <= run.rr_target;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
