#pragma once

#include <contract/types.hpp>

namespace cnc {

/// Built-in preconditioners z = M^-1 r that the fused steps apply in the same pass.
enum class PreconditionerKind { none, jacobi, block_jacobi };

/// `inverse` holds 1/diag(A) (jacobi, [n]) or the inverted diagonal blocks, row-major
/// (block_jacobi, [ceil(n/b) b^2]; a partial last block is padded with the identity).
template <class V>
struct PreconditionerOperand {
  PreconditionerKind kind = PreconditionerKind::none;
  int block_size = 1;
  const V* inverse = nullptr;
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
  const bool finite = numerator >= -limit && numerator <= limit && denominator >= -limit &&
                      denominator <= limit;
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
  PcgBreakdown breakdown = PcgBreakdown::none;
};

/// Vectors of one PCG solve, all [n] in the backend's memory space, none overlapping.
/// `s` is used by Chronopoulos-Gear only.
template <class V>
struct PcgVectors {
  V* x = nullptr;
  V* r = nullptr;
  V* z = nullptr;
  V* p = nullptr;
  V* q = nullptr;
  V* s = nullptr;
};

/// Limits and log of a run of many iterations inside one backend call.
struct PcgRun {
  index_t max_iterations = 0;  ///< iterations to do at most
  double rr_target = 0;        ///< stop once r . r <= rr_target
  double* history = nullptr;   ///< [max_iterations] r . r after each iteration, host memory; may be null
  index_t iterations = 0;      ///< out: iterations done
};

}  // namespace cnc
