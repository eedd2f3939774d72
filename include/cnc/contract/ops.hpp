#pragma once

#include <cnc/contract/operands.hpp>
#include <cnc/contract/pcg.hpp>
#include <cnc/contract/queue.hpp>

#include <memory>

namespace cnc {

// A backend is a constant table of function pointers. An empty entry means "not offered".
// Every operation is enqueued on the queue, allocates nothing, and checks nothing that the public
// door has already checked. n counts scalars; pointers need the alignment of their type and no more.
// Vectors that are written overlap no other argument. Results of reductions are written to the
// backend's memory space, accumulated in double, in an order that does not depend on the run.

/// Operations on vectors of V.
template <class V>
struct VectorOps {
  /// y := alpha x + y
  void (*axpy)(const Queue&, index_t n, V alpha, const V* x, V* y) = nullptr;
  /// y := alpha x + beta y; beta == 0 overwrites y, NaN in y is never read
  void (*axpby)(const Queue&, index_t n, V alpha, const V* x, V beta, V* y) = nullptr;
  /// x := alpha x; alpha == 0 overwrites x
  void (*scal)(const Queue&, index_t n, V alpha, V* x) = nullptr;
  /// z := x .* y (z may be x or y)
  void (*multiply)(const Queue&, index_t n, const V* x, const V* y, V* z) = nullptr;
  /// *result := x . y
  void (*dot)(const Queue&, index_t n, const V* x, const V* y, double* result) = nullptr;
  /// *result := sqrt(x . x)
  void (*nrm2)(const Queue&, index_t n, const V* x, double* result) = nullptr;
  /// z := M^-1 r
  void (*precondition)(const Queue&, index_t n, const PreconditionerOperand<V>& M, const V* r,
                       V* z) = nullptr;

  /// Start: z := M^-1 r; rz := r.z; rr := r.r; rz_previous := 0; alpha, beta := 0; breakdown cleared.
  void (*pcg_start)(const Queue&, index_t n, const PreconditionerOperand<V>& M,
                    const PcgVectors<V>&, PcgScalars*) = nullptr;
  /// Classic direction: beta := rz / rz_previous (0 when rz_previous == 0); p := z + beta p.
  /// With rz_previous == 0 the old p is not read.
  void (*pcg_direction)(const Queue&, index_t n, const PcgVectors<V>&, PcgScalars*) = nullptr;
  /// Classic update: alpha := rz / pq; x += alpha p; r -= alpha q; z := M^-1 r; rz_previous := rz;
  /// rz := r.z; rr := r.r. When pcg_breakdown(rz, pq) says so, sets breakdown and leaves all
  /// vectors and rz, rr as they are. Does nothing when breakdown is already set.
  void (*pcg_update)(const Queue&, index_t n, const PreconditionerOperand<V>& M,
                     const PcgVectors<V>&, PcgScalars*) = nullptr;
  /// Chronopoulos-Gear update, on entry q = A z and pq = z.q (delta):
  /// beta := rz / rz_previous (0 at first); alpha := rz / (pq - beta rz / alpha_previous);
  /// p := z + beta p; s := q + beta s; x += alpha p; r -= alpha s; z := M^-1 r; rz_previous := rz;
  /// rz := r.z; rr := r.r. Breakdown as in pcg_update, tested on the denominator of alpha.
  /// Chronopoulos & Gear 1989, algorithm 2.2; Dehnavi et al. 2011, section III.
  void (*pcg_single_reduction_update)(const Queue&, index_t n, const PreconditionerOperand<V>& M,
                                      const PcgVectors<V>&, PcgScalars*) = nullptr;
};

/// Operations with one matrix format (its operand type) and vectors of V.
template <class Operand, class V>
struct MatrixOps {
  /// y := alpha A x + beta y; beta == 0 overwrites y, NaN in y is never read
  void (*spmv)(const Queue&, V alpha, const Operand& A, const V* x, V beta, V* y) = nullptr;
  /// y := A x and *result := x . y; A is square
  void (*spmv_dot)(const Queue&, const Operand& A, const V* x, V* y, double* result) = nullptr;
  /// Many iterations in one call: repeats direction, q := A p with pq, update (or the Chronopoulos-Gear
  /// steps) until the run's target or limit is met, a breakdown is set, or r . r is no number. Same
  /// values as the separate steps within rounding. Returns when the iterations are done; then r, p, x
  /// and the scalars are those of the last one; z, q and s may be stale (s is kept for Chronopoulos-Gear).
  /// Without pcg_plan a backend runs the classic recurrences only, whatever the run says.
  /// Errors   UnsupportedOperation (a form that this backend or matrix has not).
  void (*pcg_run)(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                  const PcgVectors<V>&, PcgScalars*, PcgRun*) = nullptr;
  /// Sets up for runs with this matrix; null when there is nothing to set up.
  std::unique_ptr<PcgPlan> (*pcg_plan)(const Queue&, const Operand& A) = nullptr;
};

/// Everything that a backend offers for matrices stored in M under vectors of V. One line per format.
template <class M, class V>
struct MatrixTable {
  MatrixOps<BcsrOperand<M>, V> bcsr = {};    ///< CSR and BCSR
  MatrixOps<BsellOperand<M>, V> bsell = {};  ///< sliced formats
  MatrixOps<DiaOperand<M>, V> dia = {};      ///< both forms of DIA
};

/// @{
/// The entries for the format of an operand.
template <class M, class V>
constexpr const auto& matrix_ops(const MatrixTable<M, V>& table, const BcsrOperand<M>&) {
  return table.bcsr;
}
template <class M, class V>
constexpr const auto& matrix_ops(const MatrixTable<M, V>& table, const BsellOperand<M>&) {
  return table.bsell;
}
template <class M, class V>
constexpr const auto& matrix_ops(const MatrixTable<M, V>& table, const DiaOperand<M>&) {
  return table.dia;
}
/// @}

}  // namespace cnc
