#pragma once

#include <cnc/contract/methods.hpp>
#include <cnc/contract/peers.hpp>
#include <cnc/contract/preconditioner_operand.hpp>

#include <cstdint>
#include <memory>
#include <tuple>

namespace cnc {

/// How iterations are carried out: from the plainest to the most fused. What the backend lacks is refused
/// with UnsupportedOperation, never replaced by something else; a run in one launch of which another form has the last word after
/// a breakdown may end as a graph.
enum class SolveForm {
  automatic,         ///< the fastest that backend, matrix and preconditioner offer
  plain_operations,  ///< SpMV, dot, axpy ...: one vector operation at a time
  fused_steps,       ///< the method's fused phases one by one; the host looks after every iteration
  run,  ///< many iterations in one call of the backend: on the host the only way, on a device the fastest of these
  streamed,  ///< device: kernels enqueued one after the other, scalars and the stop test on the device
  graph,     ///< device: the same kernels, replayed as a graph of many iterations
  /// device: one persistent launch, vectors on chip, a barrier across the grid for each reduction; of pcg and pcg_flexible mostly by
  /// the recurrence of pcg_single_reduction
  resident,
  /// device: the same with one such barrier per product, each block with the rows around its own too; of those two always by
  /// that recurrence
  one_meeting,
};

/// Whether many iterations are one call of the backend.
constexpr bool is_run(SolveForm form) { return form >= SolveForm::run; }

/// The runs that a plan is made for: it may hold what only they need.
struct PlannedRuns {
  Method method = Method::automatic;                             ///< automatic: any
  PreconditionerKind preconditioner = PreconditionerKind::none;  ///< that passes apply
  SolveForm form = SolveForm::resident;                          ///< asked for
  /// Runs may work with a copy of the matrix that is scaled to a unit diagonal (MethodRun::unit_diagonal).
  bool may_scale = false;
};

/// What a backend sets up once for the runs of one solver, so that a run allocates nothing: captured
/// graphs, barrier slots, pinned memory. Opaque; a plan made for other operands adapts by itself.
struct RunPlan {
  virtual ~RunPlan() = default;
  /// To be called when values of the matrix, or its preconditioner, are others; with `pattern` also where its entries are, or how
  /// other ranks are reached, may be. Runs of several ranks decide by it what they do alike: it is then the same on all. Allocates nothing.
  virtual void renew(bool pattern) { (void)pattern; }
};

/// A preconditioner that no pass applies, and how a run has it enqueued between the two parts of a pass
/// (PassPart). Once the run is over, what is still enqueued of it works out again what is there: the passes, which
/// could change what it reads, do nothing then.
struct EnqueuedPreconditioner {
  /// Enqueues vector `to` := M^-1 vector `from`, or M^-T, of the run's vectors, on the run's queue, whose stream may be
  /// recording; null: passes apply M.
  void (*enqueue)(void* context, int from, int to, bool transposed) = nullptr;
  void* context = nullptr;  ///< its argument
  /// One number, not 0, for as long as it enqueues the same: what was recorded holds for it alone.
  std::uint64_t version = 0;
};

/// The other ranks among which the rows of a run are, for vectors of either type; null: there are none.
using PeersOfRun = std::tuple<const PeerOperand<float>*, const PeerOperand<double>*>;

/// Limits, log and outcome of a run of many iterations inside one backend call.
struct MethodRun {
  SolveForm form = SolveForm::run;  ///< the form asked for, of those that are runs
  bool starts = false;              ///< first begins a recurrence from r
  bool is_first = false;  ///< no iteration of the recurrence has been done, as the caller knows
  index_t max_iterations = 0;  ///< iterations to do at most
  double rr_target = 0;        ///< stop once r . r <= rr_target
  /// [max_iterations] r . r after each iteration, in memory that host and backend both reach; may be null
  double* history = nullptr;
  /// [max_iterations] the same of what iterations take off the square of the energy norm of the error, by methods that
  /// say it (log_iteration); may be null
  double* energy_gains = nullptr;
  RunPlan* plan = nullptr;  ///< what `run_plan` of the table returned; null where it has none
  /// Device backends: enqueues more behind the run, called before the host waits for its end, again where another form goes on; may be null.
  void (*behind)(void* context) = nullptr;
  void* behind_context = nullptr;  ///< its argument
  /// Backends with `run_plan`, except for the resident form.
  EnqueuedPreconditioner preconditioner;
  /// Backends with peers, streamed, in a graph or with one meeting: sums are then over all ranks, which all make the same runs.
  PeersOfRun peers;
  PeersOfRun peers_of_transpose;  ///< for products with A^T

  index_t iterations = 0;           ///< out: iterations done
  MethodScalars scalars;            ///< out: the scalars after the last one, on the host
  SolveForm used = SolveForm::run;  ///< out: the form taken
  bool read_dictionary = true;  ///< out: products read the dictionary of rows, where there is one
  /// out: iterations went on D^-1/2 A D^-1/2 without its diagonal D, which was the preconditioner
  bool unit_diagonal = false;
  offset_t launches = 1;          ///< out: kernels launched, those inside a graph included
  offset_t synchronisations = 0;  ///< out: times the host waited
};

}  // namespace cnc
