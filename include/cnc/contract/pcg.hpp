#pragma once

#include <cnc/contract/types.hpp>

namespace cnc {

/// Built-in preconditioners z = M^-1 r that the fused steps apply in the same pass.
enum class PreconditionerKind { none, jacobi, block_jacobi };

/// `inverse` holds 1/diag(A) (jacobi, [n]) or the inverted diagonal blocks, row-major
/// (block_jacobi, [ceil(n/b) b^2]; a partial last block is padded with the identity).
template <class V>
struct PreconditionerOperand {
  PreconditionerKind kind = PreconditionerKind::none;  ///< which of them
  int block_size = 1;
  const V* inverse = nullptr;  ///< null for none
  bool operator==(const PreconditionerOperand&) const = default;
};

/// Why an iteration cannot go on. Set by the fused steps in the backend's memory space.
enum class PcgBreakdown : std::int32_t {
  none = 0,
  not_positive_definite = 1,  ///< p.Ap < 0 or r.z < 0
  not_finite = 2,             ///< a NaN or an Inf in p.Ap or r.z
  zero_curvature = 3,         ///< p.Ap == 0 or r.z == 0 while r is not zero
};

/// The test that every update makes before it divides: `numerator` is r.z, `denominator` the
/// curvature. Shared so that all backends break down on the same iteration for the same reason.
constexpr PcgBreakdown pcg_breakdown(double numerator, double denominator) {
  const double limit = 1.7976931348623157e308;
  const bool finite =
      numerator >= -limit && numerator <= limit && denominator >= -limit && denominator <= limit;
  if (!finite) return PcgBreakdown::not_finite;
  if (numerator < 0 || denominator < 0) return PcgBreakdown::not_positive_definite;
  if (numerator == 0 || denominator == 0) return PcgBreakdown::zero_curvature;
  return PcgBreakdown::none;
}

/// Scalars of a PCG iteration, kept in the backend's memory space so that no step waits for the host.
/// Always double: every reduction accumulates in double, also for float vectors.
struct PcgScalars {
  double rz = 0;           ///< r . z of the current residual (gamma in Chronopoulos-Gear)
  double rz_previous = 0;  ///< r . z one iteration ago; 0 before the first direction
  double pq = 0;           ///< p . A p (classic) or z . A z (delta in Chronopoulos-Gear)
  double rr = 0;           ///< r . r, the recurrence residual squared
  double alpha = 0;        ///< step length of the last update
  double beta = 0;         ///< direction coefficient of the last update
  PcgBreakdown breakdown = PcgBreakdown::none;  ///< why the iteration ended early
};

/// Vectors of one PCG solve, all [n] in the backend's memory space, none overlapping.
/// `s` is used by Chronopoulos-Gear and by runs of a device backend, which keep two p.
template <class V>
struct PcgVectors {
  V* x = nullptr;  ///< the iterate
  V* r = nullptr;  ///< its recurrence residual
  V* z = nullptr;  ///< M^-1 r
  V* p = nullptr;  ///< the direction
  V* q = nullptr;  ///< A p, or A z
  V* s = nullptr;  ///< A p, or a second p
  bool operator==(const PcgVectors&) const = default;
};

/// How a device backend does a run of many iterations. Host backends have one way and ignore it.
enum class PcgForm {
  automatic,  ///< whatever is fastest for this size and matrix
  streamed,   ///< kernels enqueued one after the other, scalars and the stop test on the device
  graph,      ///< the same kernels, replayed as a graph of many iterations
  resident,  ///< one persistent launch, vectors on chip, a barrier across the grid for each reduction
};

/// What a backend sets up once for the runs of one solver, so that a run allocates nothing: captured
/// graphs, barrier slots, pinned memory. Opaque; a plan made for other operands adapts by itself.
struct PcgPlan {
  virtual ~PcgPlan() = default;
};

/// Limits, log and outcome of a run of many iterations inside one backend call.
struct PcgRun {
  PcgForm form = PcgForm::automatic;  ///< the form asked for
  bool single_reduction = false;      ///< Chronopoulos-Gear instead of the classic recurrences
  index_t max_iterations = 0;         ///< iterations to do at most
  double rr_target = 0;               ///< stop once r . r <= rr_target
  /// [max_iterations] r . r after each iteration, in memory that host and backend both reach; may be null
  double* history = nullptr;
  PcgPlan* plan = nullptr;  ///< what pcg_plan returned, null where the table has no pcg_plan
  /// Device backends: enqueues more behind the run, called once before the host waits for its end; may be null.
  void (*behind)(void* context) = nullptr;
  void* behind_context = nullptr;  ///< its argument

  index_t iterations = 0;             ///< out: iterations done
  PcgScalars scalars;                 ///< out: the scalars after the last one, on the host
  PcgForm used = PcgForm::automatic;  ///< out: the form taken (automatic: the host's only one)
  offset_t launches = 1;              ///< out: kernels launched, those inside a graph included
  offset_t synchronisations = 0;      ///< out: times the host waited
};

}  // namespace cnc
