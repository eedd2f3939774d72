#pragma once

#include <gpu/resident_launch.hpp>
#include <gpu/resident_run.hpp>
#include <gpu/row_pattern.hpp>
#include <gpu/streamed_run.hpp>

#include <cnc/contract/error.hpp>

#include <chrono>
#include <memory>
#include <new>

// Runs of many iterations: which form, and what it needs besides kernels.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// What is compiled: only resident kernels are method times format, and this is the one place that says which there are.
/// None for rows of any block size, whose registers do not suffice; every other size for plain CG; scalar rows and blocks of 3 for
/// the other methods, whose runs with further sizes are graphs. In the small set scalar rows of double for all methods, all
/// precisions and blocks of 3 for plain CG. None for methods with the transpose, whose rows are others. Rows that are parts of a
/// short one, beside diagonals, for plain CG, which may imply M^-1 r there. (Plain CG here: that with one reduction, by whose
/// recurrence pcg and flexible CG go too, and Chebyshev's iteration.)
template <class Method>
inline constexpr bool is_plain_cg = Method::symmetric && !Method::restarts && !requires {
  Method::indefinite;
}
&&!requires { Method::smoothed; };
template <class Rows, class Method, class M, class V>
inline constexpr bool has_resident_form =
    !transposes<Method> &&
    (is_plain_cg<Method>
         ? (all_kernels ? compiled_block<Rows> > 0 : always_resident<Rows>)
         : !reads_dictionary<Rows> &&
               (all_kernels ? always_resident<Rows>
                            : compiled_block<Rows> == 1 && std::is_same_v<M, double>));

/// Iterations that are enqueued at once, recorded in a graph. A preconditioner that is enqueued between passes may cost
/// more than all the rest and cannot skip itself once the run is over: where an iteration takes long the host looks after
/// each, until some are little beside what is done.
inline constexpr index_t group_iterations = 16;
inline constexpr index_t preconditioned_group_iterations = 4;
inline constexpr index_t iterations_before_groups_ahead = 32;
inline constexpr double long_iteration_seconds = 50e-6;

/// Whether so many products in other forms have cost as much more as it costs to cut a matrix into parts for one meeting, but for
/// what may be spent at once: whatever is still to come, hardly more than twice the least is paid.
inline bool parts_pay(offset_t values, bool of_grid, offset_t products, double saved) {
  const double price = double(values) * (of_grid ? tuning::seconds_of_parts_of_grid
                                                 : tuning::seconds_of_parts_of_graph);
  return double(products) * saved + tuning::seconds_of_parts_at_once >= price;
}
template <class Operand>
bool parts_pay(const Operand& A, offset_t products) {
  return parts_pay(stored_values(A), holds_grids<Operand>, products,
                   tuning::seconds_saved_by_one_meeting);
}

template <int wave, class Operand, class V>
std::unique_ptr<RunPlan> PlanEntries<wave, Operand, V>::plan(const Queue& queue, const Operand& A,
                                                             const PlannedRuns& runs) {
  const DeviceFacts& facts = device_facts(queue.device);
  auto plan = std::make_unique<DeviceRunPlan<Operand, V>>(
      queue.device, A.rows, facts.processors * tuning::resident_blocks_per_processor);
  plan->may_scale = runs.may_scale;
  const bool may_meet_once = runs.method != Method::automatic &&
                             method_facts(runs.method).meets_once &&
                             runs.preconditioner != PreconditionerKind::block_jacobi;
  const bool is_automatic = runs.form == SolveForm::automatic || runs.form == SolveForm::run;
  if (may_meet_once &&
      (runs.form == SolveForm::one_meeting || (is_automatic && !is_balanced(A) && parts_pay(A, 0))))
    make_parts(queue, A, *plan, static_cast<int>(runs.method),
               runs.preconditioner == PreconditionerKind::jacobi, nullptr);
  return plan;
}

template <int wave, class Operand, class V>
void PlanEntries<wave, Operand, V>::make_parts(const Queue& queue, const Operand& A,
                                               DeviceRunPlan<Operand, V>& plan, int method,
                                               bool preconditioned, const PeerOperand<V>* peers) {
  using Halo = HaloEntries<wave, typename Operand::value_type, V>;
  plan.forget_halo();
  if (has_row_pattern(A) && Halo::may_fit(queue, A.rows, stored_values(A))) {
    try {
      plan.halo = Halo::plan(queue, method, preconditioned,
                             cnc::detail::row_pattern(host_pattern(queue, A)), peers);
    } catch (const std::bad_alloc&) {  // other forms need no memory for it
    } catch (const OutOfMemory&) {
    }
  }
  if (plan.halo)
    plan.halo->pattern = pattern_of(A);
  else
    plan.refuse_halo(halo_vectors_of<V>(method));
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
  index_t done = 0;              ///< by a form that has left the rest to another
  bool went_by_another = false;  ///< in one launch, by the recurrence of another method
  template <class Launch>
  static constexpr bool goes_by_another = !std::is_same_v<typename Launch::Recurrence, Method>;

  static void run_iterations(const Queue& queue, const Operand& A,
                             const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
                             MethodScalars* scalars, MethodRun* run) {
    std::unique_ptr<RunPlan> own;
    if (run->plan == nullptr) own = PlanEntries<wave, Operand, V>::plan(queue, A, {});
    RunPlan& plan = own ? *own : *run->plan;
    MethodRunner runner{queue, A, M, v, scalars, *run, static_cast<Plan&>(plan)};
    runner.go();
  }

 private:
  RunOutcome& outcome() const { return *plan.outcome.template as<RunOutcome>(); }
  RunState initial() const {
    const auto behind = [&](double* log) { return log == nullptr ? log : log + done; };
    return {run.rr_target, behind(run.history), behind(run.energy_gains), left()};
  }
  index_t left() const { return run.max_iterations - done; }

  /// Whether runs may go on a matrix scaled to a unit diagonal: one in float, under vectors in double, is worth more.
  static constexpr bool can_scale =
      scales<Method> && std::is_same_v<typename Operand::value_type, V>;

  using Streamed = StreamedRun<wave, Operand, V, Method>;
  Streamed streamed() const { return streamed_with(A, M, false); }
  Streamed streamed_with(const Operand& matrix, const PreconditionerOperand<V>& preconditioner,
                         bool is_scaled) const {
    return {matrix,
            preconditioner,
            run.preconditioner,
            peers(),
            std::get<const PeerOperand<V>*>(run.peers_of_transpose),
            v,
            scalars,
            plan.state.template as<RunState>(),
            &outcome(),
            is_scaled};
  }

  void go() {
    run.launches = 0;
    run.synchronisations = 0;
    run.unit_diagonal = false;
    const bool met_once = asks_for(SolveForm::one_meeting) && one_meeting();
    if (run.form == SolveForm::one_meeting && !met_once) refuse_one_meeting();
    const bool was_resident =
        !met_once && asks_for(SolveForm::resident) && resident(run.form == SolveForm::resident);
    if (run.form == SolveForm::resident && !was_resident) refuse_resident();
    const bool in_one_launch = met_once || was_resident;
    const index_t iterations_met_once = met_once ? outcome().iterations : 0;
    if (!in_one_launch || leaves_last_word()) {
      const SolveForm before = run.used;
      if (in_one_launch || !with_unit_diagonal()) enqueued(streamed(), left());
      if (in_one_launch && outcome().iterations == 0) run.used = before;
    }
    run.iterations = done + outcome().iterations;
    run.scalars = outcome().scalars;
    if (has_halo_form<Method>() && asks_for(SolveForm::one_meeting))
      plan.products += offset_t(facts_of_methods.of[method_index<V, Method>()].products) *
                       (run.iterations - iterations_met_once);
  }

  /// Whether to try a form in one launch, where a long row would have all blocks wait for one of them. Among ranks, of
  /// which some may have such a row, all do the same.
  bool asks_for(SolveForm form) const {
    return !between() && !messages() && (peers() == nullptr || form == SolveForm::one_meeting) &&
           (run.form == form ||
            (run.form == SolveForm::run && (peers() != nullptr || !is_balanced(A))));
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
    messages() ? messages()->wait(queue) : synchronize(queue);
    ++run.synchronisations;
  }

  // --- one launch per run ---------------------------------------------------------------------------

  /// Where a run goes on, what the recurrence of another method keeps besides is worked out, for each launch: what is enqueued behind
  /// one may take its place.
  template <class Launch>
  void start_or_go_on() {
    start();
    went_by_another = goes_by_another<Launch>;
    using GoOn = typename Launch::GoOn;
    if constexpr (!std::is_void_v<GoOn>) {
      if (run.starts || run.is_first || run.max_iterations == 0) return;
      streamed().multiply(queue, GoOn::of, GoOn::to);
      run.launches += streamed().launches_of_multiply();
    }
  }

  /// Runs with one meeting per product, unless the matrix has no parts that fit or its values do not allow it.
  bool one_meeting() {
    if constexpr (has_halo_form<Method>()) {
      if (M.kind == PreconditionerKind::block_jacobi || plan.is_halo_unfit(halo_vectors()))
        return false;
      const bool preconditioned = M.kind == PreconditionerKind::jacobi;
      if (!has_parts(preconditioned)) return false;
      start_or_go_on<OneLaunchOf<Method>>();
      HaloPlan<V>& halo = *plan.halo;
      const int launches = HaloEntries<wave, typename Operand::value_type, V>::launch(
          queue, method_index<V, Method>(), halo, A.values, preconditioned ? M.inverse : nullptr,
          vectors_of_recurrence<Method>(v), scalars, initial(), &outcome());
      if (launches == 0) {
        plan.refuse_halo(halo_vectors());
        if (peers() != nullptr)  // others wait for it
          throw DeviceError("halo_run", "gpu",
                            "the device has no room for a launch that others make");
        return false;
      }
      run.launches += launches;
      try {
        wait_for_end();
      } catch (...) {
        plan.halo.reset();  // how far the epochs are is not known
        throw;
      }
      const HaloNotes notes = *halo.notes.template as<HaloNotes>();
      halo.epoch += notes.meetings;
      if (notes.stuck != 0 || notes.lost != 0) {
        plan.halo.reset();  // who is in which epoch is not known
        throw DeviceError(
            "halo_run", "gpu",
            notes.lost != 0 ? unheard_peer : "the blocks of a launch have lost each other");
      }
      run.used = SolveForm::one_meeting;
      run.read_dictionary = false;
      if (notes.unfit != 0) plan.halo_unfit = halo_vectors();
      return notes.unfit == 0;
    } else {
      return false;
    }
  }

  /// Whether the matrix is in parts, which are made when the form is asked for by name, else when they pay.
  bool has_parts(bool preconditioned) {
    if (plan.halo && !holds_parts(*plan.halo, preconditioned)) plan.forget_halo();
    if (plan.halo && peers() != nullptr) plan.halo->peers = *peers();  // new after an update
    if (!plan.halo && !plan.is_halo_refused(halo_vectors()) &&
        (run.form == SolveForm::one_meeting || parts_pay())) {
      PlanEntries<wave, Operand, V>::make_parts(queue, A, plan, method_index<V, Method>(),
                                                preconditioned, peers());
      if (peers() != nullptr && !all_ranks(plan.halo != nullptr)) plan.refuse_halo(halo_vectors());
    }
    return plan.halo != nullptr;
  }
  static int halo_vectors() { return halo_vectors_of<V>(method_index<V, Method>()); }

  /// Among ranks the same on all: there the pattern is another one only after renew(true), since some may have it in new arrays
  /// and others not.
  bool holds_parts(const HaloPlan<V>& halo, bool preconditioned) const {
    return (peers() != nullptr || halo.pattern == pattern_of(A)) &&
           halo.has_diagonal != preconditioned && halo.halo_vectors >= halo_vectors() &&
           halo.peers.has_value() == (peers() != nullptr);
  }

  /// The same on all ranks, which may have the rows in other formats: grids pay sooner, if all have one.
  bool parts_pay() {
    if (peers() == nullptr) return gpu::parts_pay(A, plan.products);
    const auto pay = [&](bool of_grid) {
      return gpu::parts_pay(peers()->most_entries, of_grid, plan.products,
                            tuning::seconds_saved_by_one_meeting_of_ranks);
    };
    if (!pay(true)) return false;
    if (pay(false)) return true;
    if (!plan.some_have_no_grid) plan.some_have_no_grid = !all_ranks(holds_grids<Operand>);
    return !plan.some_have_no_grid;
  }
  /// Whether all ranks say yes, which all ask at the same place.
  bool all_ranks(bool mine) {
    PeerEntries<wave, V>::agree(queue, *peers(), mine, &outcome().stop);
    ++run.launches;
    synchronize(queue);
    ++run.synchronisations;
    if (outcome().stop < 0) throw DeviceError("agree", "gpu", unheard_peer);
    return outcome().stop != 0;
  }

  /// A breakdown of another recurrence may be one of its rounding: the method itself goes on from there.
  bool leaves_last_word() {
    if (!went_by_another || outcome().began == 0 || outcome().scalars.breakdown == Breakdown::none)
      return false;
    done = outcome().iterations;
    fill_bytes(queue, &scalars->breakdown, 0, sizeof(Breakdown));
    return true;
  }

  /// Runs in one launch, unless the form does not fit, or (not forced) would be slower.
  bool resident(bool forced) {
    if constexpr (holds_grids<Operand> && is_plain_cg<Method>) {
      using Stored = typename Operand::value_type;
      if (is_large_with_dictionary()) {
        if (has_short_stencil(A.dictionary)) {
          const ShortStencilRows<Stored, V> rows{A.dictionary, A.rows};
          if constexpr (may_imply<typename OneLaunchOf<Method>::Recurrence>())
            if (M.is_scalar()) return resident_with<true>(rows, forced);
          return resident_with<false>(rows, forced);
        }
        // Kernels in a graph, which read the dictionary, are faster, unless they wait for the entries of short rows.
        if (!forced && !has_short_kinds(A.dictionary)) return false;
      }
    }
    return with_rows<wave, V>(queue, A, [&](const auto& rows, int) {
      return resident_with<false>(rows.resident(), forced);
    });
  }
  /// Whether there is a dictionary of rows, and so many of them that reading the arrays of the format would take longer.
  bool is_large_with_dictionary() const {
    return A.dictionary.codes != nullptr &&
           A.rows >= double(device_facts(queue.device).processors) *
                         tuning::least_resident_rows_by_dictionary;
  }
  template <bool implies, class Rows>
  bool resident_with(Rows rows, bool forced) {
    if constexpr (has_resident_form<Rows, Method, typename Operand::value_type, V>) {
      using Launch =
          std::conditional_t<one_reduction_pays<Rows>, OneLaunchOf<Method>, OwnRecurrence<Method>>;
      using Recurrence = typename Launch::Recurrence;
      using Run = ResidentRun<wave, Rows, V, Recurrence, implies>;
      const auto kernel = resident_kernel<tuning::resident_threads, Run>;
      ResidentLaunch<tuning::resident_threads, Operand, V> launch{
          queue, A, M, plan, forced, tuning::least_resident_rows};
      const std::size_t diagonals = M.kind == PreconditionerKind::jacobi && !M.uniform ? 1 : 0;
      if (!launch.lay_out(rows, kernel, Run::chip_vectors + diagonals, 0, 0, Run::gathered_vectors))
        return false;
      plan.make_seconds(queue.device, A.rows);
      Run resident{{rows, A.rows, launch.layout}, M, v, {}};
      const auto second = [&](int k) {
        static_assert(Run::seconds + goes_by_another<Launch> <= most_seconds<V>);
        return plan.seconds->template as<V>() + std::size_t(k) * std::size_t(A.rows);
      };
      for (int k = 0; k < Run::seconds; ++k) resident.second[k] = second(k);
      if constexpr (goes_by_another<Launch>) {
        resident.v = vectors_of_recurrence<Method>(v);
        // What is scratch for the recurrence shares a vector of the method with what it keeps.
        resident.v.at[Recurrence::scratch] = second(Run::seconds);
      }
      const typename Run::Barrier barrier{plan.slots.template as<double>(),
                                          plan.arrived.template as<std::uint32_t>()};
      start_or_go_on<Launch>();
      if (!launch.launch("resident_run", kernel, resident, scalars, initial(), &outcome(), barrier))
        return false;
      run.launches += 1;
      run.used = SolveForm::resident;
      run.read_dictionary = reads_dictionary<Rows>;
      wait_for_end();
      return true;
    } else {
      return false;
    }
  }

  // --- kernels one after the other -------------------------------------------------------------------

  /// Those of one system after the other. False: they are to go on from here, as given.
  bool with_unit_diagonal() {
    if constexpr (can_scale) {
      if (!may_scale()) return false;
      // The diagonal, and M^-1 r.
      const double paying = tuning::iterations_before_scaling(2.0 * sizeof(V) * A.rows);
      if (const double before = paying - double(plan.unscaled_iterations);
          before >= 1 && !plan.scaled) {
        const auto here = static_cast<index_t>(std::min(before, double(left())));
        enqueued(streamed(), here);
        plan.unscaled_iterations += outcome().iterations;
        const MethodScalars& s = outcome().scalars;
        const bool is_over = s.breakdown != Breakdown::none || s.rr() <= run.rr_target;
        if (is_over || outcome().iterations < here || here == left()) return true;
        done += here;
        if (left() < tuning::least_scaled_iterations) return false;
      }
      if (!scale()) return false;
      const UnitDiagonal<Operand>& scaled = *plan.scaled;
      PreconditionerOperand<V> diagonal = M;
      diagonal.inverse = scaled.diagonal();
      enqueued(streamed_with(scaled.operand(), diagonal, true), left());
      run.unit_diagonal = true;
      return true;
    } else {
      return false;
    }
  }
  /// Whether iterations may go on a scaled matrix, read less so, and are enough to be worth what it takes to begin and to end.
  bool may_scale() const {
    using Halo = HaloEntries<wave, typename Operand::value_type, V>;
    const bool meets_once_later =  // then parts are being paid for
        has_halo_form<Method>() && asks_for(SolveForm::one_meeting) &&
        !plan.is_halo_refused(halo_vectors()) && has_row_pattern(A) &&
        Halo::may_fit(queue, A.rows, stored_values(A));
    return plan.may_scale && !plan.scaling_refused && !meets_once_later && peers() == nullptr &&
           !between() && M.kind == PreconditionerKind::jacobi && !M.uniform &&
           A.rows >= tuning::least_scaled_rows && left() >= tuning::least_scaled_iterations &&
           UnitDiagonal<Operand>::suits(A, reads_dictionary_of(A));
  }
  /// Whether the matrix is there, scaled by the preconditioner.
  bool scale() {
    if (plan.scaled && !plan.scaled->takes(A)) plan.scaled.reset();
    try {
      if (!plan.scaled) plan.scaled = std::make_unique<UnitDiagonal<Operand>>(queue, A);
      plan.scaling_refused =
          !MatrixEntries<wave, Operand, V>::scale(queue, *plan.scaled, M.inverse);
    } catch (const std::bad_alloc&) {  // iterations go on without
      plan.scaling_refused = true;
    } catch (const OutOfMemory&) {
      plan.scaling_refused = true;
    }
    if (plan.scaling_refused) {
      plan.scaled.reset();
      plan.unscaled_iterations = 0;  // with other values it has to pay again
    }
    return !plan.scaling_refused;
  }

  /// What the recurrence holds becomes that of the scaled system, or, if not `enters`, of the one given.
  void change_system(bool enters) const {
    using S = typename Method::Scaled;
    VectorEntries<wave, V>::change_system(queue, A.rows, enters, plan.scaled->root(),
                                          v[S::residual], v[S::direction], v[S::iterate],
                                          v[S::preconditioned]);
  }

  /// At most so many iterations.
  void enqueued(const Streamed& phases, index_t most) {
    // First: it may wait for the device, which must not wait for other ranks then.
    const Graph* const graph = run.form == SolveForm::streamed ? nullptr : graph_of(phases);
    start();
    if constexpr (can_scale)
      if (phases.is_scaled) change_system(true);
    outcome().stop = 0;  // of the last run
    RunState limits = initial();
    limits.max_iterations = most;
    phases.begin(queue, limits);
    run.used = graph == nullptr ? SolveForm::streamed : SolveForm::graph;
    run.read_dictionary = true;
    // One group of iterations runs while the host waits for the one before, and then looks.
    using Clock = std::chrono::steady_clock;
    Clock::time_point looked = Clock::now();
    bool takes_long = true;  // a group: the first one ends with what was under way before
    index_t groups = 0, launched = 0;
    // Messages, and what is enqueued between passes, which may exchange with other ranks, do not stop with the passes: all ranks must
    // enqueue as much of it. So no clock decides for them, and they look when a group is done and nothing is under way.
    const bool alike = messages() || (between() && peers() != nullptr);
    for (; launched < most && ((alike && groups == 0) || !stopped()); ++groups) {
      const bool is_long_run = launched >= iterations_before_groups_ahead;
      const bool ahead = !alike && (!between() || is_long_run);
      const bool of_several = is_long_run || !(takes_long || alike);
      const index_t iterations = std::min(most - launched, group(of_several));
      if (graph == nullptr || (messages() && iterations < recorded()))  // more would not be skipped
        phases.iterate(queue, iterations);
      else
        for (index_t i = 0; i < iterations; i += recorded()) graph->replay(queue);
      launched += iterations;
      run.launches += iterations * phases.launches_per_iteration();
      plan.markers[groups % 2].record(queue);
      if (ahead && groups == 0) continue;
      if (messages())
        messages()->wait(queue);
      else
        plan.markers[(ahead ? groups + 1 : groups) % 2].wait();
      ++run.synchronisations;
      const Clock::time_point now = Clock::now();
      takes_long = std::chrono::duration<double>(now - looked).count() >
                   long_iteration_seconds * double(iterations);
      looked = now;
    }
    phases.finish(queue);
    run.launches += 1 + phases.launches_of_finish();
    if constexpr (can_scale)
      if (phases.is_scaled) {
        change_system(false);
        run.launches += 2;
      }
    wait_for_end();
  }

  const PeerOperand<V>* peers() const { return std::get<const PeerOperand<V>*>(run.peers); }

  /// By which other ranks are reached; null: there are none, or in each other's memory.
  PeerMessages* messages() const { return peers() != nullptr ? peers()->messages : nullptr; }

  /// Whether the preconditioner is enqueued between passes.
  bool between() const { return run.preconditioner.enqueue != nullptr; }
  index_t group(bool of_several) const {
    if (!between()) return group_iterations;
    return of_several ? preconditioned_group_iterations : 1;
  }
  /// Iterations in a graph.
  index_t recorded() const { return between() ? 1 : group_iterations; }

  bool stopped() const { return *static_cast<volatile std::int32_t*>(&outcome().stop) != 0; }

  /// Null where a graph cannot hold the preconditioner and was not asked for by name.
  template <class Phases>
  const Graph* graph_of(const Phases& phases) {
    const std::uint64_t version = run.preconditioner.version;
    GraphKey<Operand, V> key{phases.A,
                             {},
                             {phases.A.dictionary.stencil_revision(), 0},
                             phases.M,
                             v,
                             scalars,
                             queue.partials,
                             queue.block_threads,
                             method_index<V, Method>(),
                             version,
                             phases.is_scaled,
                             peers() != nullptr ? *peers() : PeerOperand<V>(),
                             {}};
    key.A.transpose = nullptr;  // where the operand is does not count, but what it is
    if (transposes<Method>) {
      if (peers() != nullptr) key.peers_of_transpose = *phases.peers_of_transpose;
      key.transpose = *A.transpose;
      key.stencils[1] = key.transpose.dictionary.stencil_revision();
    }
    for (const auto& kept : plan.graphs)
      if (kept.graph && kept.key == key) return kept.graph.get();
    const bool may_stream = between() && run.form == SolveForm::run;
    if (may_stream && plan.unrecordable == version) return nullptr;
    auto& oldest = plan.graphs[plan.graphs_made % kept_graphs];
    try {
      // A preconditioner is enqueued on the context's stream, the only one that it knows.
      const Recorder recorder = between()               ? Recorder::own_stream
                                : messages() != nullptr ? Recorder::another_stream
                                                        : Recorder::launches;
      oldest.graph = std::make_unique<Graph>(
          queue, recorder, [&](const Queue& recording) { phases.iterate(recording, recorded()); });
    } catch (...) {
      // What is enqueued cannot be recorded, or the stream cannot record; what else it may be comes up again.
      if (!may_stream) throw;
      plan.unrecordable = version;
      return nullptr;
    }
    oldest.key = key;
    ++plan.graphs_made;
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
