#pragma once

#include <gpu/choose_rows.hpp>
#include <gpu/resident_run.hpp>
#include <gpu/streamed_run.hpp>

#include <cnc/contract/cost.hpp>
#include <cnc/contract/error.hpp>

#include <memory>
#include <optional>

// Runs of many iterations: which form, and what it needs besides kernels.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// What a captured graph depends on: another is captured when any of this changes.
template <class Operand, class V>
struct GraphKey {
  Operand A, transpose;
  PreconditionerOperand<V> M;
  MethodVectors<V> v;
  const MethodScalars* scalars;
  const double* partials;
  int block_threads;
  int method;
  std::uint64_t preconditioner;  ///< its version
  bool operator==(const GraphKey&) const = default;
};

template <class Operand, class V>
struct CapturedGraph {
  GraphKey<Operand, V> key;
  std::unique_ptr<Graph> graph;
};
/// Solves that take turns with a few vectors x, or matrices, capture a graph for each of them once. (Kernels that
/// read the address of x from memory need more registers, and passes then run with fewer blocks.)
inline constexpr std::size_t kept_graphs = 4;

/// How many blocks of a kernel are resident, as the device once said: asking costs as much as a launch.
struct ResidencyAnswer {
  const void* kernel = nullptr;
  std::size_t shared_bytes = 0;
  index_t blocks = 0;
};

/// Everything that the runs of one solver need besides the solver's own vectors, whatever their method. Made once,
/// in prepare.
template <class Operand, class V>
struct DeviceRunPlan final : RunPlan {
  DeviceBuffer state;  ///< RunState
  DeviceBuffer slots;  ///< of the resident form's barrier
  DeviceBuffer arrived;
  index_t most_blocks;
  PinnedBuffer outcome;  ///< RunOutcome
  Marker markers[2];
  std::optional<DeviceBuffer> seconds;  ///< of the vectors that a resident run has two of
  index_t rows_of_seconds = -1;
  CapturedGraph<Operand, V> graphs[kept_graphs];
  std::size_t captured = 0;        ///< so far; the oldest gives way
  ResidencyAnswer residency[2];    ///< without vectors on chip, and with them
  bool refused = false;            ///< the device did not start a resident launch: not asked again
  std::uint64_t unrecordable = 0;  ///< version of a preconditioner that a graph cannot hold

  DeviceRunPlan(int device, index_t rows, index_t blocks)
      : state(device, sizeof(RunState)),
        slots(device, GridBarrier<most_barrier_sums<V>>::slot_bytes(blocks)),
        arrived(device, sizeof(std::uint32_t)),
        most_blocks(blocks),
        outcome(device, sizeof(RunOutcome)),
        markers{Marker(device), Marker(device)} {
    make_seconds(device, rows);
  }

  /// Room for them, unless there is enough.
  void make_seconds(int device, index_t rows) {
    if (most_doubled<V> == 0 || rows <= rows_of_seconds) return;
    seconds.reset();
    seconds.emplace(device, sizeof(V) * most_doubled<V> * std::size_t(std::max<index_t>(1, rows)));
    rows_of_seconds = rows;
  }
};

/// The block size that rows are compiled for; 0: any, in one kernel.
template <class Rows>
inline constexpr int compiled_block = 1;
template <int block, class M, class V, int values>
inline constexpr int compiled_block<BsellRows<block, M, V, values>> = block;
template <int wave, int block, int lanes, bool per_block, class M, class V>
inline constexpr int compiled_block<BcsrRows<wave, block, lanes, per_block, M, V>> = block;

/// What is compiled: only resident kernels are method times format, and this is the one place that says which there are.
/// None for rows of any block size, whose registers do not suffice; every other size for plain CG in its two forms;
/// scalar rows and blocks of 3 for the other methods, whose runs with further sizes are graphs. The small set is that
/// for all methods. None for methods with the transpose, whose rows are others.
#ifdef CNC_SMALL_KERNEL_SET
inline constexpr bool all_kernels = false;
#else
inline constexpr bool all_kernels = true;
#endif
template <class Rows, class Method>
inline constexpr bool has_resident_form =
    !transposes<Method> &&
    (compiled_block<Rows> == 1 || compiled_block<Rows> == 3 ||
     (
         all_kernels && compiled_block<Rows> > 0 && Method::symmetric && !Method::restarts &&
         !requires { Method::indefinite; } && !requires { Method::smoothed; }));

/// Iterations that are enqueued at once, or recorded in a graph. A preconditioner that is enqueued between passes may
/// cost more than all the rest and cannot skip itself once the run is over: fewer of them, and none ahead of the host
/// before that is little beside what is done.
inline constexpr index_t group_iterations = 16;
inline constexpr index_t preconditioned_group_iterations = 4;
inline constexpr index_t iterations_before_groups_ahead = 32;

template <int wave, class Operand, class V>
std::unique_ptr<RunPlan> PlanEntries<wave, Operand, V>::plan(const Queue& queue, const Operand& A) {
  const DeviceFacts& facts = device_facts(queue.device);
  return std::make_unique<DeviceRunPlan<Operand, V>>(
      queue.device, A.rows, facts.processors * tuning::resident_blocks_per_processor);
}

template <int wave, class Operand, class V, class Method>
struct MethodRunner {
  using Plan = DeviceRunPlan<Operand, V>;

  const Queue& queue;
  const Operand& A;
  const PreconditionerOperand<V>& M;
  const MethodVectors<V>& v;
  MethodScalars* scalars;
  MethodRun& run;
  Plan& plan;
  bool started = false;

  static void run_iterations(const Queue& queue, const Operand& A,
                             const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
                             MethodScalars* scalars, MethodRun* run) {
    std::unique_ptr<RunPlan> own;
    if (run->plan == nullptr) own = PlanEntries<wave, Operand, V>::plan(queue, A);
    RunPlan& plan = own ? *own : *run->plan;
    MethodRunner runner{queue, A, M, v, scalars, *run, static_cast<Plan&>(plan)};
    runner.go();
  }

 private:
  RunOutcome& outcome() const { return *plan.outcome.template as<RunOutcome>(); }
  RunState initial() const {
    return {run.rr_target, run.history, run.energy_gains, run.max_iterations};
  }

  StreamedRun<wave, Operand, V, Method> streamed() const {
    return {A, M, run.preconditioner, v, scalars, plan.state.template as<RunState>(), &outcome()};
  }

  void go() {
    run.launches = 0;
    run.synchronisations = 0;
    const bool forced = run.form == SolveForm::resident;
    const bool can_be_resident = !between() && (forced || run.form == SolveForm::run);
    if (!can_be_resident || !resident(forced)) {
      if (forced)
        throw UnsupportedOperation(
            "the resident form needs a device that runs a whole grid at one time (cooperative "
            "launch), a preconditioner that is local to a row or block, and a matrix of a block "
            "size compiled for the method, whose blocks the preconditioner's blocks match");
      enqueued();
    }
    run.iterations = outcome().iterations;
    run.scalars = outcome().scalars;
  }

  /// Begins a recurrence where the run is to, once.
  void start() {
    if (!run.starts || started) return;
    streamed().start(queue);
    run.launches += streamed().launches_of_start();
    started = true;
  }

  void wait_for_end() {
    if (run.behind != nullptr) run.behind(run.behind_context);
    synchronize(queue);
    ++run.synchronisations;
  }

  // --- one launch per run ---------------------------------------------------------------------------

  /// Whether the rows of each of the preconditioner's blocks stay with one block of threads.
  template <class Rows>
  bool keeps_blocks_together(const Rows& rows) const {
    if (M.kind != PreconditionerKind::block_jacobi || M.block_size == 1) return true;
    if (rows.unit_rows() == M.block_size) return true;
    return rows.unit_rows() == 1 &&
           !std::is_same_v<Operand, BsellOperand<typename Operand::value_type>>;
  }

  /// Runs in one launch, unless the form does not fit, or (not forced) would be slower.
  bool resident(bool forced) {
    return with_rows<wave, V>(
        queue, A, [&](const auto& rows, int) { return resident_with(rows.resident(), forced); });
  }
  template <class Rows>
  bool resident_with(const Rows& rows, bool forced) {
    if constexpr (has_resident_form<Rows, Method>) {
      using Run = ResidentRun<wave, Rows, V, Method>;
      constexpr int threads = tuning::resident_threads;
      const auto kernel = resident_kernel<threads, wave, Rows, V, Method>;
      if (!keeps_blocks_together(rows)) return false;
      if (!forced && (plan.refused || !fits_resident())) return false;
      const index_t blocks =
          std::min({residency(plan.residency[0], kernel, threads, 0), plan.most_blocks,
                    std::max<index_t>(1, ceil_div(A.rows, tuning::least_resident_rows))});
      if (blocks < 1) return false;
      plan.make_seconds(queue.device, A.rows);
      Run resident{rows, A.rows, M, v, {}, layout(rows, blocks, Run::chip_vectors)};
      for (int k = 0; k < Run::seconds; ++k)
        resident.second[k] = plan.seconds->template as<V>() + std::size_t(k) * std::size_t(A.rows);
      const std::size_t shared = sizeof(V) * std::size_t(resident.layout.rows_per_block) *
                                 std::size_t(resident.layout.on_chip);
      if (residency(plan.residency[1], kernel, threads, shared) < blocks) return false;
      if constexpr (requires { resident.rows.split; })
        resident.rows.split = resident_split(threads, resident.layout.units_per_block, A);
      const Grid grid{blocks, threads, shared};
      const typename Run::Barrier barrier{plan.slots.template as<double>(),
                                          plan.arrived.template as<std::uint32_t>()};
      start();
      fill_bytes(queue, barrier.arrived, 0, sizeof(std::uint32_t));
      plan.refused = !launch_resident("resident_run", queue, grid, kernel, resident, scalars,
                                      initial(), &outcome(), barrier);
      if (plan.refused) return false;
      run.launches += 1;
      run.used = SolveForm::resident;
      wait_for_end();
      return true;
    } else {
      return false;
    }
  }

  template <class Kernel>
  index_t residency(ResidencyAnswer& known, Kernel kernel, int threads, std::size_t shared) const {
    const auto entry = reinterpret_cast<const void*>(kernel);
    if (known.kernel != entry || known.shared_bytes != shared)
      known = {entry, shared, resident_blocks(queue, kernel, threads, shared)};
    return known.blocks;
  }

  /// Beyond these sizes kernels in a graph hide the latency of memory better than one block per processor.
  bool fits_resident() const {
    const DeviceFacts& facts = device_facts(queue.device);
    return A.rows <= double(facts.processors) * tuning::resident_rows_per_processor(sizeof(V)) &&
           matrix_bytes(A) <= tuning::resident_cache_share * double(facts.cache_bytes);
  }
  template <class M>
  static double matrix_bytes(const BcsrOperand<M>& matrix) {
    return cost::spmv(matrix, matrix.blocks, 0, 0).bytes;
  }
  template <class M>
  static double matrix_bytes(const BsellOperand<M>& matrix) {
    return cost::spmv(matrix, matrix.slots, 0, 0).bytes;
  }
  template <class M>
  static double matrix_bytes(const DiaOperand<M>& matrix) {
    return cost::spmv(matrix, 0, 0).bytes;
  }

  /// Threads that share a row when a block has more threads than rows.
  static int resident_split(int threads, index_t units, const Operand& A) {
    int split = 1;
    if constexpr (requires { A.slots; }) {
      const double mean = A.block_rows() > 0 ? double(A.slots) / A.block_rows() : 0;
      while (split < 16 && units * 2 * split <= threads && mean >= 2.0 * split) split *= 2;
    }
    return split;
  }

  template <class Rows>
  ResidentLayout layout(const Rows& rows, index_t blocks, int chip_vectors) const {
    ResidentLayout layout;
    const int together =
        M.kind == PreconditionerKind::block_jacobi && rows.unit_rows() == 1 ? M.block_size : 1;
    layout.units_per_block = ceil_div(ceil_div(rows.units(), blocks), together) * together;
    layout.rows_per_block = layout.units_per_block * rows.unit_rows();
    const std::size_t each = sizeof(V) * std::size_t(std::max<index_t>(1, layout.rows_per_block));
    const std::size_t room = device_facts(queue.device).shared_bytes - tuning::static_shared_bytes;
    const auto wanted = static_cast<std::size_t>(chip_vectors) + 1;  // and 1/diag
    layout.on_chip = static_cast<int>(std::min(wanted, room / each));
    return layout;
  }

  // --- kernels one after the other -------------------------------------------------------------------

  void enqueued() {
    const auto phases = streamed();
    start();
    outcome().stop = 0;  // of the last run
    phases.begin(queue, initial());
    const Graph* const graph = run.form == SolveForm::streamed ? nullptr : captured(phases);
    run.used = graph == nullptr ? SolveForm::streamed : SolveForm::graph;
    // One group of iterations runs while the host waits for the one before, and then looks.
    index_t groups = 0, done = 0;
    for (; done < run.max_iterations && !stopped(); ++groups) {
      const index_t iterations = std::min(run.max_iterations - done, group());
      if (graph == nullptr)
        phases.iterate(queue, iterations);
      else
        graph->replay(queue);
      done += iterations;
      run.launches += iterations * phases.launches_per_iteration();
      plan.markers[groups % 2].record(queue);
      const bool ahead = !between() || done >= iterations_before_groups_ahead;
      if (ahead && groups == 0) continue;
      plan.markers[(ahead ? groups + 1 : groups) % 2].wait();
      ++run.synchronisations;
    }
    phases.finish(queue);
    run.launches += 2;
    wait_for_end();
  }

  /// Whether the preconditioner is enqueued between passes.
  bool between() const { return run.preconditioner.enqueue != nullptr; }
  index_t group() const { return between() ? preconditioned_group_iterations : group_iterations; }

  bool stopped() const { return *static_cast<volatile std::int32_t*>(&outcome().stop) != 0; }

  /// Null where a graph cannot hold the preconditioner and was not asked for by name.
  template <class Phases>
  const Graph* captured(const Phases& phases) {
    const std::uint64_t version = run.preconditioner.version;
    GraphKey<Operand, V> key{
        A,      {}, M, v, scalars, queue.partials, queue.block_threads, method_index<V, Method>(),
        version};
    key.A.transpose = nullptr;  // where the operand is does not count, but what it is
    if (transposes<Method>) key.transpose = *A.transpose;
    for (const auto& captured : plan.graphs)
      if (captured.graph && captured.key == key) return captured.graph.get();
    const bool may_stream = between() && run.form == SolveForm::run;
    if (may_stream && plan.unrecordable == version) return nullptr;
    auto& oldest = plan.graphs[plan.captured % kept_graphs];
    try {
      // It is enqueued on the context's stream, the only one that it knows: that one records.
      oldest.graph = std::make_unique<Graph>(
          queue, between() ? Recorder::own_stream : Recorder::another_stream,
          [&](const Queue& recording) { phases.iterate(recording, group()); });
    } catch (...) {
      // What is enqueued cannot be recorded, or the stream cannot record; what else it may be comes up again.
      if (!may_stream) throw;
      plan.unrecordable = version;
      return nullptr;
    }
    oldest.key = key;
    ++plan.captured;
    return oldest.graph.get();
  }
};

template <int wave, class Operand, class V, int method>
void RunEntries<wave, Operand, V, method>::run(const Queue& queue, const Operand& A,
                                               const PreconditionerOperand<V>& M,
                                               const MethodVectors<V>& v, MethodScalars* scalars,
                                               MethodRun* run) {
  MethodRunner<wave, Operand, V, MethodAt<method, Methods<V>>>::run_iterations(queue, A, M, v,
                                                                               scalars, run);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
