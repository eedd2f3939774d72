#pragma once

#include <cnc/contract/peers.hpp>
#include <cnc/contract/phases.hpp>

#include <target/gpu.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

using namespace methods;

/// A run of many iterations, in device memory: limits, log, and whether the kernels enqueued next are to
/// do anything.
struct RunState {
  double rr_target = 0;
  double *history = nullptr, *energy_gains = nullptr;
  index_t max_iterations = 0;
  index_t iterations = 0;  ///< done
  bool stop = false;
};

/// What the host learns of a run, in memory that both reach.
struct RunOutcome {
  MethodScalars scalars;
  index_t iterations = 0;
  std::int32_t stop = 0;   ///< set as soon as the run is over, before the rest is there
  std::int32_t began = 0;  ///< in one launch: whether there was anything to do
};

/// Copies entry by entry: scalars that are copied as a whole do not get into registers everywhere.
CNC_GPU_DEVICE void copy_scalars(const MethodScalars& from, MethodScalars& to) {
  CNC_GPU_UNROLL
  for (int k = 0; k < max_method_scalars; ++k) to.value[k] = from.value[k];
  to.breakdown = from.breakdown;
  to.first = from.first;
}

/// Scalars without a breakdown, in shared memory: for one thread that needs them again at the end, when registers are
/// too dear to hold them all the way.
struct KeptScalars {
  double value[max_method_scalars];
  std::int32_t first;
  CNC_GPU_DEVICE void set(const MethodScalars& s) {
    CNC_GPU_UNROLL
    for (int k = 0; k < max_method_scalars; ++k) value[k] = s.value[k];
    first = s.first;
  }
  CNC_GPU_DEVICE MethodScalars get() const {
    MethodScalars s;
    CNC_GPU_UNROLL
    for (int k = 0; k < max_method_scalars; ++k) s.value[k] = value[k];
    s.first = first;
    return s;
  }
};

/// Whether a run is over. A residual that is no number goes on: the next scalar step names it.
CNC_GPU_DEVICE bool run_is_over(const RunState& run, const MethodScalars& s) {
  return s.breakdown != Breakdown::none || run.iterations >= run.max_iterations ||
         s.rr() <= run.rr_target;
}

/// What is still enqueued does nothing, and the host enqueues no more.
CNC_GPU_DEVICE void stop_run(RunState& run, RunOutcome& outcome) {
  run.stop = true;
  *static_cast<volatile std::int32_t*>(&outcome.stop) = 1;
}

/// What a launch has to do with a run.
enum class RunPlace {
  none,       ///< nothing: it stands alone
  iteration,  ///< it is part of an iteration
  last,       ///< the same, and the iteration ends with it
  finish,     ///< it comes after the last iteration
};

/// A launch's place in a run; the pointers are null when it stands alone.
struct RunLink {
  RunPlace place = RunPlace::none;
  RunState* state = nullptr;
  RunOutcome* outcome = nullptr;
  const PeerMeeting* meeting = nullptr;  ///< of the ranks whose sums these are; null: the own alone
  bool takes_sums = false;               ///< those of all ranks that a message has brought
  /// Vectors are those of the system scaled to a unit diagonal, where M^-1 r is r. The preconditioner's operand holds D, and the pass
  /// multiplies r by it for its sums alone, which are then those of the system as given with their places exchanged.
  bool is_scaled = false;
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
