#pragma once

#include <cnc/context.hpp>
#include <cnc/contract/arithmetic.hpp>
#include <cnc/contract/run.hpp>
#include <cnc/formats.hpp>
#include <cnc/linear_operator.hpp>
#include <cnc/multivector.hpp>
#include <cnc/preconditioner.hpp>

#include <concepts>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace cnc {

namespace detail {
class OtherRanks;
template <class, class>
class Trials;
}  // namespace detail
template <class, class>
class DistributedSolver;

/// What a relative tolerance is relative to.
enum class ToleranceReference { rhs, initial_residual };

/// The norm of the residual that has to meet the tolerance: ||r||_2, or the largest |r_i|.
enum class ResidualNorm { two, infinity };

/// "two", "infinity".
const char* to_string(ResidualNorm norm);

/// Components of a block system at most (SolveOptions::components).
inline constexpr int max_components = 16;

/// Bounds of the eigenvalues of M^-1 A.
struct Spectrum {
  double smallest = 0;  ///< 0: not known
  double largest = 0;   ///< 0: not known
};

/// What prepare does to the order of rows: nothing, or reverse Cuthill-McKee. Results are in the caller's.
enum class Reordering { none, rcm };

/// What A and A^T map to zero.
enum class NullSpace {
  none,      ///< nothing, or what Solver::set_null_space says
  constant,  ///< vectors whose entries are all the same: a Neumann problem
};

/// "pcg", "minres", ... and "auto".
const char* method_name(Method method);

/// "automatic", "plain operations", "fused steps", "run", "streamed", "graph", "resident", "one meeting".
const char* to_string(SolveForm form);

/// "fast", "separate", "fused", "compensated-separate", "compensated-fused".
const char* to_string(Arithmetic arithmetic);

/// Type in which the matrix is stored for the iteration; the true residual always uses the matrix given.
enum class StoragePrecision {
  /// As the vectors, but values under double vectors are in float where float holds every one of them, unless there is a preconditioner
  /// object, which may look at the layout. Exceptions: CSR on a host and layouts of the caller's own, which are shared; on a device a
  /// matrix whose rows repeated (find_row_dictionary) or, in large CSR, values were few (find_value_table) when it was prepared, or no room for the copy.
  lossless,
  as_vectors,  ///< in the type of the vectors, without what find_row_dictionary, find_short_columns and find_value_table find
  f32,  ///< float matrix under double vectors: restarted from the true residual until it is met; where the float
  ///< one fails, the one given goes on in CSR, then and until the next prepare or update_values
};

namespace detail {
/// The vectors of a solve under way, for callbacks that ask for them.
struct Iterate {
  virtual const void* x() = 0;
  virtual const void* r() = 0;
  index_t rows = 0, cols = 0;
  std::size_t scalar_bytes = 0;
  bool on_host = true;

 protected:
  ~Iterate() = default;
};
}  // namespace detail

/// What a callback sees. `residual` is the recurrence's 2-norm, whatever norm decides.
struct Progress {
  index_t iteration = 0;         ///< how many are done
  double residual = 0;           ///< 2-norm of the recurrence's r
  double relative_residual = 0;  ///< residual / reference, both 2-norms
  double seconds = 0;            ///< since solve began
  /// SolveReport::energy_error as far as this iteration knows it; NaN where it is not computed
  double energy_error = std::numeric_limits<double>::quiet_NaN();
  detail::Iterate* iterate = nullptr;  ///< what stands behind x() and r()

  /// @{
  /// The iterate and its residual b - A x as the recurrence has it, in the caller's order of rows, in the
  /// memory of the solver. Valid until the callback returns; nothing is copied unless the solver reorders.
  ///
  /// Shapes   x: [columns], r: [rows]
  /// Errors   InvalidArgument (V or Space are not the solver's; not inside a callback).
  template <class V, class Space = HostSpace>
  Vector<const V, Space> x() const {
    check<V, Space>();
    return wrap<Space>(static_cast<const V*>(iterate->x()), iterate->cols);
  }
  template <class V, class Space = HostSpace>
  Vector<const V, Space> r() const {
    check<V, Space>();
    return wrap<Space>(static_cast<const V*>(iterate->r()), iterate->rows);
  }
  /// @}

 private:
  template <class V, class Space>
  void check() const {
    static_assert(std::is_same_v<V, float> || std::is_same_v<V, double>);
    require(iterate != nullptr && sizeof(V) == iterate->scalar_bytes &&
                detail::is_host_space<Space> == iterate->on_host,
            "Progress: x and r are vectors of the solver's type in the solver's memory");
  }
};

/// What a callback wants next. A bool converts: true goes on, false stops.
struct CallbackAction {
  /// The three answers.
  enum Value {
    proceed,  ///< goes on
    stop,     ///< ends as `stopped`, with the best x found
    accept,   ///< ends as `converged`, with the x of this iteration, whatever its residual
  };
  Value value;                                                   ///< the answer
  CallbackAction(Value v) : value(v) {}                          ///< one of the three
  CallbackAction(bool go_on) : value(go_on ? proceed : stop) {}  ///< proceed or stop
};

/// What to solve with, and when to stop.
struct SolveOptions {
  /// The recurrences. `automatic` chooses in prepare and update_values: lsqr for a matrix that is not square, bicgstab2 for
  /// one that is not symmetric and an operator, minres where the diagonal is not positive, else pcg_smoothed. Where one
  /// breaks down, diverges or meets an indefinite matrix or a NaN, and where one for any matrix does not halve the residual
  /// in 500 iterations (gmres: and four cycles), the next of pcg_smoothed, minres, bicgstab2, bicg, gmres, cgnr, gmres with 4
  /// and 16 times the restart and cgnr that the form allows goes on from the best x. With a preconditioner that varies(): pcg_flexible,
  /// fgmres; with one that has not keeps_symmetry(): what comes after minres. Jacobi uses 1 for a zero, and where minres comes first the norms of the rows.
  Method method = Method::pcg;
  int restart =
      30;  ///< steps of a cycle of gmres and fgmres, which keep restart + 1 vectors, fgmres twice as many
  /// Of chebyshev: where the eigenvalues of M^-1 A are; one above makes it diverge. Not known: a solve begins with
  /// iterations of pcg, which count, takes Ritz values of theirs, and does so again where it converges slower than they
  /// promise. SolveReport::spectrum is what a later solve may be given.
  Spectrum spectrum = {};
  /// How iterations are carried out. On a device the automatic choice of pcg, pcg_single_reduction, pcg_flexible and bicgstab is one_meeting where that fits
  /// and its set-up takes less than a millisecond, else once this solver has done as many iterations with the pattern as pay for
  /// it: rounding is then another one, after the same number of them on every run of a program.
  SolveForm form = SolveForm::automatic;
  /// How products and dots are rounded. All but `fast` need a matrix and a backend that offers them, cost time, and take the
  /// form fused_steps (gmres and fgmres, of which only the products and norms are meant, plain_operations); several columns are then solved one
  /// after the other.
  Arithmetic arithmetic = Arithmetic::fast;
  PreconditionerKind preconditioner = PreconditionerKind::jacobi;  ///< one that is built in
  int preconditioner_block_size = 0;  ///< block_jacobi; 0: that of the layout or, if `auto` chose one without blocks, of the pattern
  FormatSpec format = {};             ///< layout to build in prepare; "auto" chooses
  StoragePrecision storage = StoragePrecision::lossless;  ///< of the matrix
  Reordering reordering = Reordering::none;               ///< of the rows
  /// The caller vouches for every CSR and BCSR matrix given: offsets and columns are in range, and the columns
  /// of a row ascend, none twice. prepare then skips its check (BcsrMatrix::validate: less than one product). A
  /// wrong promise is reads and writes out of bounds.
  bool trusted = false;

  double rtol = 1e-8;  ///< converged when the true residual <= max(rtol * reference, atol)
  double atol = 0;     ///< absolute, in the units of b
  ToleranceReference reference = ToleranceReference::rhs;  ///< what rtol is relative to
  /// In which norm the true residual has to meet the tolerance, and what it is relative to is taken. The recurrence knows
  /// its 2-norm only: it goes on until that of the true residual is as small as the other norm needs. Not with a null space.
  ResidualNorm norm = ResidualNorm::two;
  /// Of a block system: unknown i, in the caller's order, is of component i % components, 1 to 16 of them. With more than
  /// one each component's residual has to meet the tolerance of its own, relative to its own reference; one whose
  /// reference is zero takes the largest of the others. Not with a null space.
  int components = 1;
  index_t max_iterations = 10000;                                ///< the iteration limit
  double max_seconds = std::numeric_limits<double>::infinity();  ///< the time limit
  double divergence = 1e8;  ///< diverged when residual > divergence * initial residual

  /// PCG and MINRES need a symmetric matrix. CSR that is found in prepare not to be, by a thousandth of an entry or more,
  /// ends a solve as `unsuitable` before it iterates; what is less so, or is found later, as `stagnated` once 500
  /// iterations have not halved the residual. true lets both go on to the other limits. (`trusted` matrices are not
  /// looked at in prepare.)
  bool allow_nonsymmetric = false;
  /// Of a singular matrix: the iterations work with the right-hand side, and return an x, without a part in there. A
  /// right-hand side that has more of one than the tolerance allows ends as `inconsistent`. Takes effect in prepare.
  NullSpace null_space = NullSpace::none;
  /// true: prepare and update_values copy the matrix, and the caller's arrays are not read after them.
  bool copy_matrix = false;

  bool record_history = true;  ///< SolveReport::history is filled
  /// Called while the iteration runs, if set; returns true, false or a CallbackAction.
  std::function<CallbackAction(const Progress&)> callback = {};
  /// Iterations between calls. 0: whenever the host looks anyway, which is after 256 iterations at most and
  /// at the end, and costs nothing.
  index_t callback_interval = 0;
};

/// How a solve ended.
enum class SolveStatus {
  converged,              ///< the true residual meets the tolerance, or the callback accepted x
  max_iterations,         ///< the iteration limit came first
  time_limit,             ///< the time limit came first
  stopped,                ///< the callback said stop
  stagnated,              ///< the true residual no longer falls although the recurrence says so
  diverged,               ///< the residual grew past the divergence limit
  breakdown,              ///< a division by zero: zero diagonal, singular block, an inner product
  not_positive_definite,  ///< p.Ap < 0 or r.M^-1 r < 0
  not_finite,             ///< NaN or Inf in the matrix, the right-hand side or the iteration
  unsuitable,    ///< nothing was iterated: the method needs a symmetric matrix, this one is not
  inconsistent,  ///< b has a part in the null space: x solves the rest of it, none solves all
};

/// "converged", "max_iterations", ... as in JSON output.
const char* to_string(SolveStatus status);

/// The receipt of a solve. A norm that was not computed is NaN. Those of b and of true residuals, and what they are
/// compared with, are norms of the kind that SolveOptions::norm asks for; what the recurrence knows are 2-norms. Of lsqr, b
/// and the residuals are those of the normal equations, A^T b and A^T (b - A x), but for least_squares_residual.
struct SolveReport {
  /// NaN.
  static constexpr double not_computed = std::numeric_limits<double>::quiet_NaN();

  SolveStatus status = SolveStatus::max_iterations;  ///< how it ended
  std::string detail;      ///< when there is something to say: which row, which limit
  index_t iterations = 0;  ///< all of them, restarts included
  ResidualNorm norm = ResidualNorm::two;      ///< of the residuals
  double rhs_norm = not_computed;             ///< ||b||
  double initial_residual = not_computed;     ///< ||b - A x0||
  double recurrence_residual = not_computed;  ///< what the iteration believed at exit, a 2-norm
  /// ||b - A x|| computed at exit with the matrix given, accumulated in double.
  double true_residual = not_computed;
  double relative_residual = not_computed;  ///< true_residual / reference norm (0 when both are 0)
  double tolerance = not_computed;  ///< the absolute residual asked for; of components see below
  /// With SolveOptions::components > 1 the norms of the true residual of each, else empty.
  std::vector<double> component_residuals;
  std::vector<double> component_tolerances;  ///< what each of them has to meet
  /// Of pcg, pcg_single_reduction and pcg_pipelined, with record_history: the energy norm sqrt(e . A e) of the error e of iteration energy_iteration,
  /// from below and as a rule close; that of later iterations is smaller. By Hestenes & Stiefel's identity with a delay
  /// (Strakos & Tichy 2002). NaN of other methods, while a matrix rounded to float is in use, and where several columns were solved together.
  double energy_error = not_computed;
  index_t energy_iteration = 0;  ///< an entry of `history`, some before the last
  /// Of the same methods, with record_history: what each iteration took off e . A e, since the recurrence last began (see `restarts`). From x0 = 0 on
  /// their sum is x . A x of the last iterate, which tells how far different preconditioners have come: it is of the same norm for all.
  std::vector<double> energy_gains;
  double least_squares_residual = not_computed;  ///< of lsqr: ||b - A x||
  index_t restarts = 0;        ///< times the recurrence was replaced by the true residual
  double seconds = 0;          ///< of the whole solve
  double bytes = 0;            ///< compulsory bytes moved by the iterations (cnc/contract/cost.hpp)
  double flops = 0;            ///< useful flops of the iterations
  Spectrum spectrum;           ///< of chebyshev: what it worked with
  offset_t backend_calls = 0;  ///< operations enqueued; in runs on a device: kernels launched
  offset_t host_synchronisations = 0;  ///< times the host waited for a scalar
  std::string backend;                 ///< backend that did the work
  std::string
      preconditioner;  ///< "none", "jacobi", "block-jacobi:3", "function", or the name of an object
  std::string format;  ///< layout that was used, "bcsr:3"
  bool values_in_float =
      false;  ///< it has float values under double vectors: without loss, or as StoragePrecision::f32 asks
  /// Different rows of the matrix, where its layout has a dictionary of them (find_row_dictionary); else 0. Products read it,
  /// on devices from 131,072 rows on; of forms in one launch only resident conjugate gradients on diagonals do.
  index_t row_kinds = 0;
  bool short_columns =
      false;  ///< products of one vector read columns of 16 bits (find_short_columns)
  /// Different values of the matrix, where products read a byte for each in place of it (find_value_table); else 0.
  int value_kinds = 0;
  /// The iterations that were done last went on D^-1/2 A D^-1/2 without its diagonal D, the preconditioner: a copy that is scaled so
  /// reads less. The true residual is that of the matrix given, as ever.
  bool unit_diagonal = false;
  SolveForm form = SolveForm::automatic;     ///< how the iterations were done
  Arithmetic arithmetic = Arithmetic::fast;  ///< of products and dots
  Method method = Method::automatic;         ///< the method, the last one where several were tried
  std::string
      choice;  ///< Method::automatic: "pcg: symmetric with a positive diagonal"; what followed where a method, or a float matrix, failed; and of a method that was named, that it is not made for a preconditioner that varies or is not symmetric
  std::vector<double> history;  ///< recurrence residual 2-norms; entry 0 is that of b - A x0

  /// Whether the status is `converged`.
  bool converged() const { return status == SolveStatus::converged; }
  /// Compulsory bytes of the iterations over the time of the solve.
  double gigabytes_per_second() const { return seconds > 0 ? bytes / seconds * 1e-9 : 0; }
};

/// Bytes that prepare takes at least for a CSR matrix of this size, beside the matrix, b and x: vectors,
/// preconditioner, and what the layout cannot do without. prepare compares the need with what is free before it
/// builds anything, and again when the layout is chosen; a program can ask before it has the matrix.
template <class V>
double least_prepare_bytes(index_t rows, offset_t nonzeros, const SolveOptions& options);

/// Solves A x = b again and again, or finds the x with the least ||b - A x||: prepare once per pattern, update_values per
/// time step, solve per right-hand side. solve allocates nothing but the report's history and strings, what several
/// columns are solved in, sums for norms other than the default, what Method::automatic
/// needs where it comes to bicg, gmres or cgnr, on a device a plan where a float matrix fails and, once, the parts for
/// SolveForm::one_meeting when iterations have paid for them, the form is asked for after prepare or a layout has been
/// updated, and, once it has failed, what it takes to say why.
///
/// Lifetime: the index arrays of the matrix given to prepare must live and stay as they are until the next
/// prepare, its values until the next update_values or prepare, whatever the layout; any solve may read
/// them. SolveOptions::copy_matrix ends that: the arrays are then free as soon as the call has returned.
/// b and x are used during solve only.
///
/// Threads: a solver and its context belong to one thread at a time. Solvers of different contexts work
/// side by side. A process that forks uses no solver, context or view of its parent in the child, where the
/// threads that they count on do not exist. Solvers, contexts and views must be gone before
/// Kokkos::finalize, so they are not static.
///
/// V is the type of the vectors. The matrix may be given in any precision; it is stored in V, or in
/// float under double vectors (StoragePrecision).
/// Numerical trouble is a status in the report, misuse an exception.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class Solver {
 public:
  using Space = typename Exec::memory_space;  ///< of matrix and vectors

  /// Keeps a reference to the context, which must outlive the solver.
  /// Errors   InvalidArgument (options out of range; f32 storage under float vectors).
  explicit Solver(Context<Exec>& ctx, SolveOptions options = {});
  ~Solver();
  /// Moves everything that was prepared.
  Solver(Solver&&) noexcept;
  /// The same.
  Solver& operator=(Solver&&) noexcept;

  /// Checks the matrix (unless options.trusted), analyses the pattern, reorders, chooses and builds the
  /// layout, sets up the preconditioner and allocates every vector that solve needs. Rows in any order are
  /// used as they are by format "csr" without reordering and f32 storage (on a device with a copy of values that float holds,
  /// 4 bytes per entry); everything else is built from a copy with sorted rows, which is kept (8 bytes and a value per entry).
  /// lsqr and cgnr take matrices that are not square: with rows or columns of zeros added, so that all vectors of the
  /// iterations are as long as the longer side; a preconditioner is then a built-in one, of A^T A.
  /// Errors   InvalidArgument (A not square and the method another, A not valid: row and column are named; format cannot hold it),
  ///          OutOfMemory: before anything is built, when all that prepare needs exceeds what is free.
  void prepare(const CsrMatrix<V, Space>& A);
  /// Uses the matrix in the layout in which it is (options.format and reordering must be left alone).
  void prepare(const Matrix<V, Space>& A);
  /// Matrix-free. Built-in preconditioners other than none need a matrix and are refused.
  void prepare(const LinearOperator<V, Space>& A);

  /// New values on the pattern given to prepare: refills the layout and the preconditioner in place. Where
  /// `auto` chose dia-symmetric and the values are no longer symmetric, it chooses again, once: report and
  /// advice say so. Where values had been stored in float without loss and float does not hold the new ones, the layout is built
  /// again in double, in new memory.
  /// Errors   InvalidArgument (extents, pattern differ, matrix-free: the solver goes on with the old values; a value
  ///          that the layout cannot hold: the solver is then no longer prepared).
  void update_values(const CsrMatrix<V, Space>& A);
  /// The same after prepare(Matrix): takes the matrix as it is, in its layout.
  void update_values(const Matrix<V, Space>& A);

  /// Replaces the built-in preconditioner by the caller's. An empty function brings it back. bicg also needs
  /// z := M^-T r, of which the promise holds too.
  void set_preconditioner(PreconditionerFunction<V, Space> apply,
                          EnqueuesOnly promise = EnqueuesOnly::no,
                          PreconditionerFunction<V, Space> apply_transposed = {});
  /// The same with an object, derived from PreconditionerBase<V, Exec>. It is set up from the matrix, now if the solver
  /// is prepared and in every prepare, and updated with its values; a matrix-free solver uses it as it is.
  ///
  /// Errors   InvalidArgument (null), OutOfMemory, and what its set_up throws: the preconditioner is then the one before.
  template <std::derived_from<PreconditionerBase<V, Exec>> P>
  void set_preconditioner(std::shared_ptr<P> preconditioner) {
    use_preconditioner(std::move(preconditioner));
  }

  /// Vectors that A and A^T map to zero, besides that of SolveOptions::null_space: rigid motions, or one constant for each
  /// part of a mesh. They need not be orthogonal and are copied. An empty list takes them back. Call it before prepare.
  ///
  /// Shapes   [rows] each, 8 in all at most
  /// Errors   InvalidArgument, in prepare (a wrong length; not finite, or not independent).
  void set_null_space(std::vector<Vector<const V, Space>> vectors);

  /// Solves from the x given (warm start). On return x is the best iterate found, whatever the status.
  /// A right-hand side of zeros gives x = 0, converged, whatever the tolerance.
  ///
  /// Shapes   b: [rows], x: [columns], contiguous views of V that do not overlap.
  /// Errors   InvalidArgument (extents, not contiguous, not prepared, x and b overlap).
  template <class B, class X>
  requires(Kokkos::is_view<B>::value&& Kokkos::is_view<X>::value&& B::rank == 1) SolveReport
      solve(const B& b, const X& x) {
    return solve_contiguous(
        detail::as_vector<const V, Exec>(b, "Solver: b must be contiguous, not a strided view"),
        detail::as_vector<V, Exec>(x, "Solver: x must be contiguous, not a strided view"));
  }

  /// Solves for several right-hand sides, the columns of b, which share the reading of the matrix: pcg, pcg_smoothed, bicgstab and minres
  /// iterate up to 16 of them side by side, each until it meets its own tolerance, and a solve of one right-hand side then
  /// goes on from there, which as a rule finds that it has. With the other methods, with a null space, a callback, an
  /// operator, a preconditioner that is not local, or a form other than automatic and fused_steps, and where the matrix is
  /// too little beside the vectors, the columns are solved one after the other. max_seconds holds for all of them together. A
  /// column whose recurrence ends with a residual larger than it began keeps the x from before. The first solve of
  /// several allocates what it works in, (vectors of the method + 1) times 16 columns at most and two vectors, and keeps it.
  ///
  /// Shapes   b: [rows][count], x: [columns of A][count], in any layout, views of V; from the first entry to the last they
  ///          do not overlap.
  /// Returns  a report for each column, as solve gives it. Time and calls that columns share are divided among
  ///          them; of the matrix a column is charged its part of a whole batch.
  /// Errors   those of solve, OutOfMemory.
  template <class B, class X>
  requires(Kokkos::is_view<B>::value&& Kokkos::is_view<X>::value&& B::rank ==
           2) std::vector<SolveReport> solve(const B& b, const X& x) {
    return solve_columns(detail::as_multivector<const V, Exec>(b),
                         detail::as_multivector<V, Exec>(x));
  }

  const SolveOptions& options() const;  ///< those of the next solve
  /// Limits and tolerances may change between solves; format, storage, reordering and preconditioner
  /// take effect at the next prepare; another method, or restart of gmres, asks for one.
  void set_options(SolveOptions options);
  /// Why the layout was chosen (one sentence each), after prepare.
  const std::vector<std::string>& advice() const;

 private:
  template <class, class>
  friend class DistributedSolver;
  template <class, class>
  friend class detail::Trials;
  /// Of a matrix on several ranks the block of the own rows and columns; null: there are no others.
  void prepare_among(std::shared_ptr<detail::OtherRanks> ranks, const CsrMatrix<V, Space>& A);
  /// For other values of the same matrix.
  void go_on_among(std::shared_ptr<detail::OtherRanks> ranks);
  /// Not prepared any more.
  void forget_matrix();
  /// For trials within a set-up: A as it was laid out for products, both valid. Nothing is copied, built or checked. ranks as in prepare_among.
  void prepare_as_laid_out(std::shared_ptr<detail::OtherRanks> ranks, const CsrMatrix<V, Space>& A,
                           const Matrix<V, Space>& layout);
  void use_preconditioner(std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner);
  SolveReport solve_contiguous(const Vector<const V, Space>& b, const Vector<V, Space>& x);
  std::vector<SolveReport> solve_columns(const MultiVector<const V, Space>& b,
                                         const MultiVector<V, Space>& x);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
