#pragma once

#include <cnc/contract/ops.hpp>

#include <target/gpu.hpp>

// The entries of the operation tables, declared only: gpu/vector_ops.hpp, gpu/pcg_update.hpp and
// gpu/matrix_entries.hpp define them, and a target instantiates them in sources of their own, so that they compile
// side by side and no kernel is in the source of the tables.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// How rows of CSR and BCSR are dealt out to threads.
enum class RowMapping {
  automatic,      ///< lanes per row by mean row length and number of rows; one wave per block row
  row_per_wave,   ///< Verschoor & Jalba 2012, section 4: one warp per block row
  row_per_block,  ///< the same: one thread block per block row
  balanced,       ///< Dehnavi et al. 2010: equal numbers of nonzeros per thread block (CSR only)
};

/// Everything of VectorOps.
template <int wave, class V>
struct VectorEntries {
  using Preconditioner = PreconditionerOperand<V>;
  using Vectors = PcgVectors<V>;

  static void axpy(const Queue&, index_t n, V alpha, const V* x, V* y);
  static void axpby(const Queue&, index_t n, V alpha, const V* x, V beta, V* y);
  static void scal(const Queue&, index_t n, V alpha, V* x);
  static void multiply(const Queue&, index_t n, const V* x, const V* y, V* z);
  static void dot(const Queue&, index_t n, const V* x, const V* y, double* result);
  static void nrm2(const Queue&, index_t n, const V* x, double* result);
  static void precondition(const Queue&, index_t n, const Preconditioner&, const V* r, V* z);
  static void start(const Queue&, index_t n, const Preconditioner&, const Vectors&, PcgScalars*);
  static void direction(const Queue&, index_t n, const Vectors&, PcgScalars*);
  static void classic(const Queue&, index_t n, const Preconditioner&, const Vectors&, PcgScalars*);
  static void single_reduction(const Queue&, index_t n, const Preconditioner&, const Vectors&,
                               PcgScalars*);
};

/// Everything for one format.
template <int wave, class Operand, class V>
struct MatrixEntries {
  static void spmv(const Queue&, V alpha, const Operand& A, const V* x, V beta, V* y);
  static void spmv_dot(const Queue&, const Operand& A, const V* x, V* y, double* result);
  static void pcg_run(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                      const PcgVectors<V>& v, PcgScalars* scalars, PcgRun* run);
  static std::unique_ptr<PcgPlan> pcg_plan(const Queue&, const Operand& A);
};

/// Products with one mapping, to compare with.
template <int wave, RowMapping mapping, class M, class V>
struct MappingEntries {
  static void spmv(const Queue&, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y);
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
