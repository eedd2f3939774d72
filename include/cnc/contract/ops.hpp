#pragma once

#include <cnc/contract/arithmetic.hpp>
#include <cnc/contract/coarse_levels.hpp>
#include <cnc/contract/columns.hpp>
#include <cnc/contract/operands.hpp>
#include <cnc/contract/pass_name.hpp>
#include <cnc/contract/peers.hpp>
#include <cnc/contract/preconditioner_operand.hpp>
#include <cnc/contract/queue.hpp>
#include <cnc/contract/run.hpp>

#include <memory>
#include <type_traits>

namespace cnc {

// A backend is a constant table of function pointers. An empty entry means "not offered".
// Every operation is enqueued on the queue, allocates nothing, and checks nothing that the public
// door has already checked. n counts scalars; pointers need the alignment of their type and no more.
// Vectors that are written overlap no other argument. Results of reductions are written to the
// backend's memory space, accumulated in double, in an order that does not depend on the run.

/// What of a pass is to be done.
enum class PassPart {
  whole,   ///< all of it, with the preconditioner given
  before,  ///< its statements, or its breakdown: the caller then applies a preconditioner of its own
  after,  ///< its sums, and the scalars, with the step worked out again; not for passes that store none
};

/// A pass over n rows. Preconditioned vectors are stored and read: only a run may work them out again instead, and a whole
/// pass those of Jacobi that passes alone read, all of which are given the same M. Sets `breakdown` instead and leaves all vectors as they are when its scalar step says so.
template <class V>
using PassEntry = void (*)(const Queue&, index_t n, const PreconditionerOperand<V>& M,
                           const MethodVectors<V>&, MethodScalars*, PassPart);

/// The passes of a method by their place among the phases; empty where a product is.
template <class V>
struct MethodPasses {
  PassEntry<V> start[max_phases] = {};      ///< before the first iteration
  PassEntry<V> iteration[max_phases] = {};  ///< of an iteration
  PassEntry<V> finish = nullptr;            ///< null: nothing to do
};

/// Dots that a product leaves behind, each in double in the backend's memory space.
template <class V>
struct ProductDots {
  const V* with = nullptr;        ///< null: no dot at all; may be y
  double* with_result = nullptr;  ///< with . y
  double* self_result = nullptr;  ///< y . y; null: not wanted
};

/// Those of a product of a method.
template <class Product, class V>
constexpr ProductDots<V> dots_of(const MethodVectors<V>& v, MethodScalars* scalars) {
  ProductDots<V> dots;
  if constexpr (Product::dots > 0) {
    dots.with = v[Product::with[0]];
    dots.with_result = scalars->value + Product::scalar[0];
  }
  if constexpr (Product::dots > 1) dots.self_result = scalars->value + Product::scalar[1];
  return dots;
}

/// A pass over `columns` interleaved columns of n rows, each with its scalars. The preconditioner is none or jacobi; any
/// other is applied by the caller between the parts of the pass.
template <class V>
using ColumnPassEntry = void (*)(const Queue&, index_t n, int columns,
                                 const PreconditionerOperand<V>& M, const MethodVectors<V>&,
                                 ColumnScalars*, PassPart);

/// The same for several columns; empty for methods that are not among ColumnMethods.
template <class V>
struct ColumnPasses {
  ColumnPassEntry<V> start[max_phases] = {};      ///< as in MethodPasses
  ColumnPassEntry<V> iteration[max_phases] = {};  ///< the same
  ColumnPassEntry<V> finish = nullptr;            ///< the same
};

/// Fills the entries of one method with Entry<Method, Pass>::run.
template <class Method, template <class, class> class Entry, class Passes>
constexpr void fill_passes_of(Passes& passes) {
  const auto fill = [](auto* entries) {
    return [entries]<class Phase>(int k) {
      if constexpr (!methods::is_product<Phase>) entries[k] = Entry<Method, Phase>::run;
    };
  };
  Method::Start::for_each(fill(passes.start));
  Method::Iteration::for_each(fill(passes.iteration));
  if constexpr (!std::is_void_v<typename Method::Finish>)
    passes.finish = Entry<Method, typename Method::Finish>::run;
}

/// The table of passes whose entries are Entry<Method, Pass>::run.
template <class V, template <class Method, class Pass> class Entry>
constexpr void fill_passes(MethodPasses<V> (&table)[method_count]) {
  methods::Methods<V>::for_each(
      [&]<class Method>(int m) { fill_passes_of<Method, Entry>(table[m]); });
}

/// The same for several columns.
template <class V, template <class Method, class Pass> class Entry>
constexpr void fill_column_passes(ColumnPasses<V> (&table)[method_count]) {
  methods::Methods<V>::for_each([&]<class Method>(int m) {
    if constexpr (methods::is_in<Method, methods::ColumnMethods<V>>)
      fill_passes_of<Method, Entry>(table[m]);
  });
}

/// Dots that a product with several columns leaves behind: in scalars of each column.
template <class V>
struct ColumnDots {
  const V* with = nullptr;           ///< null: no dot at all; may be y
  ColumnScalars* scalars = nullptr;  ///< where they go
  int with_scalar = -1;              ///< with . y, by the method's enumeration
  int self_scalar = -1;              ///< y . y; -1: not wanted
};

/// Vectors that mdot takes together at most.
inline constexpr int max_vectors_together = 8;
static_assert(max_vectors_together <= 12, "as many as reduction_slots has room for");

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
  /// result[k] := y_k . x for k < count <= max_vectors_together, all in one reduction; y_k is y + k stride
  void (*mdot)(const Queue&, index_t n, int count, const V* y, offset_t stride, const V* x,
               double* result) = nullptr;
  /// x := x + scale sum_k c[k] y_k for any count, c in the backend's memory; then, unless it is null, *xx := x . x
  void (*maxpy)(const Queue&, index_t n, int count, double scale, const double* c, const V* y,
                offset_t stride, V* x, double* xx) = nullptr;
  /// y := x / sqrt(*xx), zero where *xx is not positive
  void (*normalize)(const Queue&, index_t n, const V* x, const double* xx, V* y) = nullptr;
  /// z := M^-1 r
  void (*precondition)(const Queue&, index_t n, const PreconditionerOperand<V>& M, const V* r,
                       V* z) = nullptr;

  /// Sets up for the coarse levels of a multigrid cycle in one launch; null where they do not fit, or are faster level by level.
  std::unique_ptr<CoarsePlan> (*plan_coarse)(const Queue&, const CoarseCycle<V>&) = nullptr;
  /// Goes through them. The plan is that for the same levels. False, and nothing done: the device does not start it after all.
  bool (*coarse_cycle)(const Queue&, CoarsePlan&, const CoarseCycle<V>&) = nullptr;

  /// The passes of each method of Methods<V>; all empty where the backend has none.
  MethodPasses<V> methods[method_count] = {};

  /// @{
  /// In compensated sums of exact products: *result := x . y; and the sums of a pass that leaves some, as PassPart::after.
  void (*dot_compensated)(const Queue&, index_t n, const V* x, const V* y,
                          double* result) = nullptr;
  void (*sums_compensated)(const Queue&, PassName, index_t n, const MethodVectors<V>&,
                           MethodScalars*) = nullptr;
  /// @}

  /// @{
  /// Of backends with peers. Entries of x go on their way to other ranks; then, in any time, y += the entries in columns of
  /// others times what has come of x, times `scale` in each row, and, unless `with` is null, *result := with . what was added.
  void (*send_to_peers)(const Queue&, const PeerOperand<V>&, const V* x) = nullptr;
  void (*add_from_peers)(const Queue&, const PeerOperand<V>&, V* y, RowScale<V> scale,
                         const V* with, double* result) = nullptr;
  /// @}

  /// @{
  /// Of `columns` interleaved columns (columns.hpp): result[c] := x_c . y_c; z := M^-1 r; the passes of methods.
  void (*dot_columns)(const Queue&, index_t n, int columns, const V* x, const V* y,
                      double* result) = nullptr;
  void (*precondition_columns)(const Queue&, index_t n, int columns,
                               const PreconditionerOperand<V>& M, const V* r, V* z) = nullptr;
  ColumnPasses<V> column_methods[method_count] = {};
  /// @}
};

/// Numbers that a step of a method on a growing basis leaves for the host, of a basis with room for `vectors` vectors: as
/// many for the dots of the first pass and again for those of the second, w . w after each, and v_j . v_j.
constexpr int basis_column_size(int vectors) { return 2 * vectors + 3; }

/// Steps of Arnoldi's process with the preconditioner on the right: w := A M^-1 v_j, less its part in v_0 .. v_j once or
/// twice, and v_{j+1} := w / sqrt(w . w), zero where that is not positive.
template <class V>
struct ArnoldiSteps {
  int first = 0;              ///< the first step; those before it were made by this operation
  int last = 0;               ///< the first step that is not made
  bool twice = false;         ///< in two passes
  int vectors = 0;            ///< that v has room for, more than `last`
  V* v = nullptr;             ///< v_k is v + k stride
  offset_t stride = 0;        ///< from a vector to the next
  V* z = nullptr;             ///< M^-1 v_k goes to z + k z_stride
  offset_t z_stride = 0;      ///< 0: none is kept
  double* columns = nullptr;  ///< column j is columns + j basis_column_size(vectors)
  RunPlan* plan = nullptr;    ///< of run_plan
  bool forced = false;        ///< also where other operations would be faster
};

/// y := of_x x + of_y y + of_residual D^-1 (f - A x), D diagonal: a residual, a sweep of Jacobi's method, a step of a
/// Chebyshev iteration by its three-term recurrence. of_y == 0 overwrites y: NaN in y is never read.
template <class V>
struct RelaxationStep {  /// @{ Factors of the sum.
  V of_x = 0, of_y = 0;
  V of_residual = 1;           ///< @}
  const V* f = nullptr;        ///< the right-hand side; null: zeros
  const V* inverse = nullptr;  ///< of D, an entry for each row; null: ones

  /// What y becomes in a row whose product with x is given.
  constexpr V operator()(index_t row, V product, const V* x, const V* y) const {
    V value = of_residual * (f == nullptr ? -product : f[row] - product);
    if (inverse != nullptr) value *= inverse[row];
    if (of_x != V(0)) value += of_x * x[row];
    if (of_y != V(0)) value += of_y * y[row];
    return value;
  }
};

/// Operations with one matrix format (its operand type) and vectors of V.
template <class Operand, class V>
struct MatrixOps {
  /// y := alpha A x + beta y; beta == 0 overwrites y, NaN in y is never read
  void (*spmv)(const Queue&, V alpha, const Operand& A, const V* x, V beta, V* y) = nullptr;
  /// y := A x in an arithmetic other than fast: each row by one thread in the order of storage, in V (careful_rows.hpp)
  void (*spmv_careful)(const Queue&, Arithmetic, const Operand& A, const V* x, V* y) = nullptr;
  /// A step of a relaxation; A is square
  void (*relax)(const Queue&, const Operand& A, const RelaxationStep<V>&, const V* x,
                V* y) = nullptr;
  /// r := b - A x with its 2-norm and, unless that is null, the one of b, as by relax and nrm2; A is square. False, and nothing done: it
  /// is not offered for this matrix, and takes these.
  bool (*residual)(const Queue&, const Operand& A, const V* b, const V* x, V* r, double* norm,
                   double* norm_of_b) = nullptr;
  /// y := A x and dots with y; A is square
  void (*spmv_dot)(const Queue&, const Operand& A, const V* x, V* y,
                   const ProductDots<V>&) = nullptr;
  /// Y := alpha A X + beta Y for `columns` interleaved columns, with dots of the new Y; beta == 0 overwrites it. With dots, A
  /// is square.
  void (*spmm)(const Queue&, int columns, V alpha, const Operand& A, const V* x, V beta, V* y,
               const ColumnDots<V>&) = nullptr;
  /// Many iterations of each method of Methods<V> in one call: its phases in their order until the run's target or
  /// limit is met or a breakdown is set, which an r . r that is no number leads to. Same values as the separate
  /// phases within rounding. Returns when the iterations are done and the method's Finish too; x, r and the scalars are then those of the last
  /// one. Vectors of the method that another run goes on from are kept; others may be stale.
  /// Errors   UnsupportedOperation (a form that is not offered for this matrix).
  void (*run[method_count])(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                            const MethodVectors<V>&, MethodScalars*, MethodRun*) = {};
  /// Steps of Arnoldi's process in one launch, with coefficients by v_k . v_k as they turn out and w . w after a pass by
  /// Pythagoras, zero where rounding leaves less: a caller looks for lost digits. False, and nothing done: they do not fit, or
  /// would not be faster, and the caller makes them of operations.
  /// Errors   UnsupportedOperation (forced, and they do not fit).
  bool (*arnoldi)(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                  const ArnoldiSteps<V>&) = nullptr;
  /// What operations with this matrix need to have worked out, in A.plan; null: nothing. Allocates, and may wait.
  std::unique_ptr<MatrixPlan> (*plan)(const Queue&, const Operand& A) = nullptr;
  /// Sets up for the runs of one solver with this matrix; null when there is nothing to set up.
  std::unique_ptr<RunPlan> (*run_plan)(const Queue&, const Operand& A,
                                       const PlannedRuns&) = nullptr;
};

/// Everything that a backend offers for matrices stored in M under vectors of V: one MatrixOps for each of Formats<M>.
template <class M, class V, class OfFormats = Formats<M>>
struct MatrixTable;  /// The same, with the list of formats taken apart.
template <class M, class V, class... Operand>
struct MatrixTable<M, V, std::tuple<Operand...>> {
  std::tuple<MatrixOps<Operand, V>...> formats = {};  ///< by the type of the operand

  /// The table of entries that `make`, a lambda with the operand as its template parameter, makes for each format.
  template <class Make>
  static constexpr MatrixTable each(const Make& make) {
    return {{make.template operator()<Operand>()...}};
  }  /// The operations of one format.
  template <class Operand_>
  constexpr MatrixOps<Operand_, V>& of() {
    return std::get<MatrixOps<Operand_, V>>(formats);
  }  /// The same.
  template <class Operand_>
  constexpr const MatrixOps<Operand_, V>& of() const {
    return std::get<MatrixOps<Operand_, V>>(formats);
  }
};

}  // namespace cnc
