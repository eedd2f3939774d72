#pragma once

#include <cnc/contract/ops.hpp>
#include <cnc/contract/precisions.hpp>

#include <gpu/run_state.hpp>

#include <memory>
#include <tuple>
#include <type_traits>

// The entries of the operation tables and what runs are made of, declared only: gpu/vector_ops.hpp,
// gpu/pass_kernel.hpp, gpu/matrix_entries.hpp, gpu/careful_entries.hpp and gpu/method_run.hpp define them, and a target instantiates them in
// sources of their own, so that they compile side by side and no kernel is in the source of the tables.

namespace cnc::detail {
struct RowPattern;
}

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// How rows of CSR and BCSR are dealt out to threads.
enum class RowMapping {
  automatic,      ///< lanes per row by mean row length and number of rows; one wave per block row
  row_per_wave,   ///< Verschoor & Jalba 2012, section 4: one warp per block row
  row_per_block,  ///< the same: one thread block per block row
  balanced,       ///< Dehnavi et al. 2010: equal numbers of nonzeros per thread block (CSR only)
};

/// Everything of VectorOps but the passes of methods.
template <int wave, class V>
struct VectorEntries {
  static void axpy(const Queue&, index_t n, V alpha, const V* x, V* y);
  static void axpby(const Queue&, index_t n, V alpha, const V* x, V beta, V* y);
  static void scal(const Queue&, index_t n, V alpha, V* x);
  static void multiply(const Queue&, index_t n, const V* x, const V* y, V* z);
  static void dot(const Queue&, index_t n, const V* x, const V* y, double* result);
  static void nrm2(const Queue&, index_t n, const V* x, double* result);
  static void mdot(const Queue&, index_t n, int count, const V* y, offset_t stride, const V* x,
                   double* result);
  static void maxpy(const Queue&, index_t n, int count, double scale, const double* c, const V* y,
                    offset_t stride, V* x, double* xx);
  static void normalize(const Queue&, index_t n, const V* x, const double* xx, V* y);
  static void precondition(const Queue&, index_t n, const PreconditionerOperand<V>&, const V* r,
                           V* z);
  /// A residual, direction and iterate of the system as given become those of the one scaled to a unit diagonal with this root of
  /// the diagonal's inverse; or, if not `enters`, of the one given again, and z := M^-1 r.
  static void change_system(const Queue&, index_t n, bool enters, const V* root, V* r, V* p, V* x,
                            V* z);
  static void dot_columns(const Queue&, index_t n, int columns, const V* x, const V* y,
                          double* result);
  static void precondition_columns(const Queue&, index_t n, int columns,
                                   const PreconditionerOperand<V>&, const V* r, V* z);
};

template <int index, class List>
struct FindMethod;
template <int index, class... Method>
struct FindMethod<index, MethodList<Method...>> : std::tuple_element<index, std::tuple<Method...>> {
};
/// The method at a place in Methods.
template <int index, class List>
using MethodAt = typename FindMethod<index, List>::type;

/// The passes of all methods. They know no matrix, so the sources of the formats do not hold them: runs name them.
template <int wave, class V>
struct PassEntries {
  static void launch(const Queue&, PassName, index_t n, const PreconditionerOperand<V>& M,
                     const MethodVectors<V>&, MethodScalars*, PassPart, const RunLink&);
  /// The same for several columns, of ColumnMethods.
  static void launch_columns(const Queue&, PassName, index_t n, int columns,
                             const PreconditionerOperand<V>& M, const MethodVectors<V>&,
                             ColumnScalars*, PassPart);
  /// A run begins with these limits; it is over at once if the scalars say so.
  static void begin_run(const Queue&, const RunLink&, const RunState& initial,
                        const MethodScalars*);
  /// The end of a run whose method has no pass for that.
  static void end_run(const Queue&, const RunLink&, const MethodScalars*);
};

/// What a product has to do with devices of other ranks, alone or in a run.
template <int wave, class V>
struct PeerEntries {
  /// Entries of x go on their way.
  static void send(const Queue&, const PeerOperand<V>&, const V* x, const RunState*);
  /// y += the entries in columns of others times what has come of x, scaled. The dot of `with`, unless that is null, with what was
  /// added is the result, or, where it meets, is added to what the result holds, for the sum over all ranks.
  static void receive(const Queue&, const PeerOperand<V>&, V* y, RowScale<V>, const V* with,
                      double* result, bool meets, const RunState*);
  /// Whether all ranks say yes, once the queue has been waited for, in memory that the device reaches: 1 or 0.
  static void agree(const Queue&, const PeerOperand<V>&, bool mine, std::int32_t* all);
  /// Where sums go by messages: those of all ranks come to be taken.
  static void gather(const Queue&, const PeerOperand<V>&);
  /// Dots of y over all ranks.
  static void dots(const Queue&, index_t n, const PeerOperand<V>&, const V* y,
                   const ProductDots<V>& results, const RunState*);
};

template <class Operand>
class UnitDiagonal;

/// The products of one format.
template <int wave, class Operand, class V>
struct MatrixEntries {
  /// That products deal out entries, not rows (BalancedCsr), where some row is so long that others would wait for it; null: they do
  /// not.
  static std::unique_ptr<MatrixPlan> plan(const Queue&, const Operand& A);
  static void spmv(const Queue&, V alpha, const Operand& A, const V* x, V beta, V* y);
  static void relax(const Queue&, const Operand& A, const RelaxationStep<V>&, const V* x, V* y);
  /// Of rows without blocks, and of those that a dictionary has.
  static bool residual(const Queue&, const Operand& A, const V* b, const V* x, V* r, double* norm,
                       double* norm_of_b);
  static void spmv_dot(const Queue&, const Operand& A, const V* x, V* y, const ProductDots<V>&);
  static void spmm(const Queue&, int columns, V alpha, const Operand& A, const V* x, V beta, V* y,
                   const ColumnDots<V>&);
  /// The same in a run: does nothing once that is over.
  static void product(const Queue&, const Operand& A, const V* x, V* y, const ProductDots<V>&,
                      const RunState*);
  /// The same by all ranks, with the whole matrix (goes_in_one).
  static void product_among_peers(const Queue&, const Operand& A, const V* x, V* y,
                                  const ProductDots<V>&, const PeerOperand<V>&, const RunState*);
  /// The same with one dot, with x, and a diagonal of ones that is not stored (UnitDiagonal).
  static void product_of_scaled(const Queue&, const Operand& A, const V* x, V* y,
                                const ProductDots<V>&, const RunState*);
  /// UnitDiagonal::scale, of matrices in the precision of the vectors.
  static bool scale(const Queue&, UnitDiagonal<Operand>&, const V* inverse);
};

/// Coarse levels of a multigrid cycle.
template <int wave, class V>
struct CoarseEntries {
  static std::unique_ptr<CoarsePlan> plan(const Queue&, const CoarseCycle<V>&);
  static bool run(const Queue&, CoarsePlan&, const CoarseCycle<V>&);
};

/// Compensated sums.
template <int wave, class V>
struct CarefulEntries {
  static void dot(const Queue&, index_t n, const V* x, const V* y, double* result);
  static void sums(const Queue&, PassName, index_t n, const MethodVectors<V>&, MethodScalars*);
};

/// Products in a given arithmetic: no lane helps another, whatever the wave.
template <class Operand, class V>
struct CarefulProducts {
  static void spmv(const Queue&, Arithmetic, const Operand& A, const V* x, V* y);
};

/// Runs of the method at this place in Methods, with matrices of one format.
template <int wave, class Operand, class V, int method>
struct RunEntries {
  static void run(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                  const MethodVectors<V>&, MethodScalars*, MethodRun*);
};

/// Steps of methods on a growing basis, with matrices of one format.
template <int wave, class Operand, class V>
struct BasisEntries {
  static bool arnoldi(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                      const ArnoldiSteps<V>&);
};

template <class Operand, class V>
struct DeviceRunPlan;

/// What runs with such matrices are prepared with.
template <int wave, class Operand, class V>
struct PlanEntries {
  static std::unique_ptr<RunPlan> plan(const Queue&, const Operand& A, const PlannedRuns&);
  /// Cuts the matrix into parts for runs of the method at this place in Methods with one meeting per product.
  /// peers: other ranks; null: there are none.
  static void make_parts(const Queue&, const Operand& A, DeviceRunPlan<Operand, V>&, int method,
                         bool preconditioned, const PeerOperand<V>* peers);
};

template <class V>
struct HaloPlan;

/// Runs with one meeting per product of the methods at these places in Methods that have them, with matrices of any
/// format.
template <int wave, class M, class V>
struct HaloEntries {
  /// Whether a matrix of so many rows and stored values is worth a look: what is much too large for the processors is not.
  static bool may_fit(const Queue&, index_t rows, offset_t values);
  /// Of a matrix that may fit, or the block of it that a rank has. Null: its parts do not.
  static std::unique_ptr<HaloPlan<V>> plan(const Queue&, int method, bool preconditioned,
                                           const cnc::detail::RowPattern& A,
                                           const PeerOperand<V>* peers);
  /// Kernels that it has started; 0: the device does not start them after all.
  static int launch(const Queue&, int method, HaloPlan<V>&, const M* values, const V* inverse,
                    const MethodVectors<V>&, MethodScalars*, const RunState&, RunOutcome*);
};

/// Products with one mapping, to compare with.
template <int wave, RowMapping mapping, class M, class V>
struct MappingEntries {
  static void spmv(const Queue&, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y);
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
