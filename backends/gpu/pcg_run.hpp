#pragma once

#include <gpu/choose_rows.hpp>
#include <gpu/pcg_resident.hpp>
#include <gpu/pcg_streamed.hpp>

#include <cnc/contract/cost.hpp>
#include <cnc/error.hpp>

#include <memory>

// Runs of many iterations: which form, and what it needs besides kernels.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// What a captured graph depends on: another is captured when any of this changes.
template <class Operand, class V>
struct GraphKey {
  Operand A;
  PreconditionerOperand<V> M;
  PcgVectors<V> v;
  const PcgScalars* scalars;
  const double* partials;
  int block_threads;
  bool single_reduction;
  bool operator==(const GraphKey&) const = default;
};

template <class Operand, class V>
struct CapturedGraph {
  GraphKey<Operand, V> key;
  std::unique_ptr<Graph> graph;
};
/// Solves that take turns with a few vectors x, or matrices, capture a graph for each of them once. (Kernels that
/// read the address of x from memory need more registers, and the direction then runs with fewer blocks.)
inline constexpr std::size_t kept_graphs = 4;

/// How many blocks of a kernel are resident, as the device once said: asking costs as much as a launch.
struct ResidencyAnswer {
  const void* kernel = nullptr;
  std::size_t shared_bytes = 0;
  index_t blocks = 0;
};

/// Everything that the runs of one solver need besides the solver's own vectors. Made once, in prepare.
template <class Operand, class V>
struct RunPlan final : PcgPlan {
  DeviceBuffer state;  ///< RunState
  DeviceBuffer slots;  ///< of the resident form's barrier
  DeviceBuffer arrived;
  index_t most_blocks;
  PinnedBuffer outcome;  ///< RunOutcome
  Marker markers[2];
  CapturedGraph<Operand, V> graphs[kept_graphs];
  std::size_t captured = 0;      ///< so far; the oldest gives way
  ResidencyAnswer residency[2];  ///< without vectors on chip, and with them
  bool refused = false;          ///< the device did not start a resident launch: not asked again

  RunPlan(int device, index_t blocks)
      : state(device, sizeof(RunState)),
        slots(device, GridBarrier::slot_bytes(blocks)),
        arrived(device, sizeof(std::uint32_t)),
        most_blocks(blocks),
        outcome(device, sizeof(RunOutcome)),
        markers{Marker(device), Marker(device)} {}
};

/// Rows for which the resident kernel is compiled: not those of any block size, whose registers do not suffice.
template <class Rows>
inline constexpr bool has_resident_form = true;
template <class M, class V, int values>
inline constexpr bool has_resident_form<BsellRows<0, M, V, values>> = false;
template <int wave, class M, class V>
inline constexpr bool has_resident_form<BcsrRows<wave, 0, wave, false, M, V>> = false;

/// Iterations of one graph.
inline constexpr index_t graph_iterations = 16;

template <int wave, class Operand, class V>
struct PcgRunner {
  using Plan = RunPlan<Operand, V>;

  const Queue& queue;
  const Operand& A;
  const PreconditionerOperand<V>& M;
  const PcgVectors<V>& v;
  PcgScalars* scalars;
  PcgRun& run;
  Plan& plan;

  static std::unique_ptr<PcgPlan> make_plan(const Queue& queue, const Operand&) {
    const DeviceFacts& facts = device_facts(queue.device);
    return std::make_unique<Plan>(queue.device,
                                  facts.processors * tuning::resident_blocks_per_processor);
  }

  static void run_iterations(const Queue& queue, const Operand& A,
                             const PreconditionerOperand<V>& M, const PcgVectors<V>& v,
                             PcgScalars* scalars, PcgRun* run) {
    std::unique_ptr<PcgPlan> own;
    if (run->plan == nullptr) own = make_plan(queue, A);
    PcgPlan& plan = own ? *own : *run->plan;
    PcgRunner runner{queue, A, M, v, scalars, *run, static_cast<Plan&>(plan)};
    runner.go();
  }

 private:
  RunOutcome& outcome() const { return *plan.outcome.template as<RunOutcome>(); }
  RunState initial() const { return {run.rr_target, run.history, run.max_iterations}; }

  void go() {
    run.launches = 0;
    run.synchronisations = 0;
    with_rows<wave, V>(queue, A, [&](const auto& rows, int threads) {
      if (run.form == PcgForm::resident || run.form == PcgForm::automatic) {
        const bool forced = run.form == PcgForm::resident;
        const auto& kept = rows.resident();
        if (run.single_reduction ? resident<true>(kept, forced) : resident<false>(kept, forced))
          return;
        if (forced)
          throw UnsupportedOperation(
              "the resident form needs a device that runs a whole grid at one time (cooperative "
              "launch) and a matrix of a compiled block size whose blocks the preconditioner's "
              "blocks match");
      }
      enqueued(rows, chosen_threads(queue, threads));
    });
    run.iterations = outcome().iterations;
    run.scalars = outcome().scalars;
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

  /// Runs in one launch, unless the form does not fit, or (not forced) would not pay.
  template <bool single_reduction, class Rows>
  bool resident(const Rows& rows, bool forced) {
    if constexpr (has_resident_form<Rows>) {
      constexpr int threads = tuning::resident_threads;
      const auto kernel = pcg_resident_kernel<threads, wave, Rows, V, single_reduction>;
      if (!keeps_blocks_together(rows)) return false;
      if (!forced && (plan.refused || !pays())) return false;
      const index_t blocks =
          std::min({residency(plan.residency[0], kernel, threads, 0), plan.most_blocks,
                    std::max<index_t>(1, ceil_div(A.rows, tuning::least_resident_rows))});
      if (blocks < 1) return false;
      ResidentPcg<wave, Rows, V, single_reduction> pcg{rows, A.rows, M, v, layout(rows, blocks)};
      const std::size_t shared =
          sizeof(V) * std::size_t(pcg.layout.rows_per_block) * std::size_t(pcg.layout.on_chip);
      if (residency(plan.residency[1], kernel, threads, shared) < blocks) return false;
      if constexpr (requires { pcg.rows.split; })
        pcg.rows.split = resident_split(threads, pcg.layout.units_per_block, A);
      const Grid grid{blocks, threads, shared};
      const GridBarrier barrier{plan.slots.template as<double>(),
                                plan.arrived.template as<std::uint32_t>()};
      fill_bytes(queue, barrier.arrived, 0, sizeof(std::uint32_t));
      plan.refused = !launch_resident("pcg_resident", queue, grid, kernel, pcg, scalars, initial(),
                                      &outcome(), barrier);
      if (plan.refused) return false;
      run.launches += 1;
      run.used = PcgForm::resident;
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
  bool pays() const {
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
  ResidentLayout layout(const Rows& rows, index_t blocks) const {
    ResidentLayout layout;
    const int together =
        M.kind == PreconditionerKind::block_jacobi && rows.unit_rows() == 1 ? M.block_size : 1;
    layout.units_per_block = ceil_div(ceil_div(rows.units(), blocks), together) * together;
    layout.rows_per_block = layout.units_per_block * rows.unit_rows();
    const std::size_t each = sizeof(V) * std::size_t(std::max<index_t>(1, layout.rows_per_block));
    const std::size_t room = device_facts(queue.device).shared_bytes - tuning::static_shared_bytes;
    layout.on_chip = static_cast<int>(
        std::min<std::size_t>(run.single_reduction ? chip_vectors : chip_s, room / each));
    return layout;
  }

  // --- kernels one after the other -------------------------------------------------------------------

  template <class Rows>
  void enqueued(const Rows& rows, int threads) {
    const StreamedPcg<wave, Rows, V> pcg{rows,
                                         threads,
                                         A.rows,
                                         M,
                                         v,
                                         scalars,
                                         plan.state.template as<RunState>(),
                                         &outcome(),
                                         run.single_reduction};
    outcome().stop = 0;  // of the last run
    pcg.begin(queue, initial());
    const bool stream = run.form == PcgForm::streamed;
    const Graph* const graph = stream ? nullptr : &captured(pcg);
    run.used = stream ? PcgForm::streamed : PcgForm::graph;
    // One group of iterations runs while the host waits for the one before, and then looks.
    index_t groups = 0;
    for (index_t left = run.max_iterations; left > 0 && !stopped();
         left -= graph_iterations, ++groups) {
      if (stream)
        pcg.iterate(queue, std::min(left, graph_iterations));
      else
        graph->replay(queue);
      plan.markers[groups % 2].record(queue);
      if (groups > 0) {
        plan.markers[(groups + 1) % 2].wait();
        ++run.synchronisations;
      }
      run.launches += std::min(left, graph_iterations) * pcg.launches_per_iteration();
    }
    pcg.finish(queue);
    run.launches += 2;
    wait_for_end();
  }

  bool stopped() const { return *static_cast<volatile std::int32_t*>(&outcome().stop) != 0; }

  template <class Pcg>
  const Graph& captured(const Pcg& pcg) {
    const GraphKey<Operand, V> key{
        A, M, v, scalars, queue.partials, queue.block_threads, run.single_reduction};
    for (const auto& captured : plan.graphs)
      if (captured.graph && captured.key == key) return *captured.graph;
    auto& oldest = plan.graphs[plan.captured++ % kept_graphs];
    oldest.graph = std::make_unique<Graph>(
        queue, [&](const Queue& recording) { pcg.iterate(recording, graph_iterations); });
    oldest.key = key;
    return *oldest.graph;
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
