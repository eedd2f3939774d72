#pragma once

#include <gpu/peers.hpp>
#include <gpu/preconditioner.hpp>
#include <gpu/row_values.hpp>
#include <gpu/vector_ops.hpp>

// A pass of a method over the rows: all its vector updates, the preconditioner and its sums in one reading of
// memory. Written once for the passes of all methods, alone or in a run.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Threads of a pass's block at most.
inline constexpr int max_pass_threads = 256;

/// What a kernel does of a pass.
template <class V, class Pass, PassPart part>
struct PassWork {
  static constexpr bool states = part != PassPart::after;
  static constexpr bool preconditions = part == PassPart::whole && Pass::M.active();
  static constexpr bool sums = part != PassPart::before && Pass::sums.count > 0;
  static constexpr bool stores_scalars = part != PassPart::before && methods::stores_scalars<Pass>;
  static constexpr VectorSet loads = part == PassPart::whole    ? loaded_by<Pass>
                                     : part == PassPart::before ? Pass::reads
                                                                : Pass::summed;
  static constexpr VectorSet stores = states ? Pass::writes : 0;
  static constexpr int from = Pass::M.from, to = Pass::M.to;

  /// Threads that a processor should hold where few values are under way: enough to keep memory busy.
  static constexpr int in_flight =
      (count(loads) + (preconditions ? 1 : 0)) * entries_together * static_cast<int>(sizeof(V));
  static constexpr int resident_threads = in_flight <= 48 ? 1536 : 0;
  /// Those that it has where each goes through rows of its own until the end.
  static constexpr int reducing_threads = 1536;
};

/// The host learns how a run went.
CNC_GPU_DEVICE void tell_outcome(const RunLink& run, const MethodScalars& s) {
  copy_scalars(s, run.outcome->scalars);
  run.outcome->iterations = run.state->iterations;
}

/// The scalars of a pass that may not do anything: why is written down. One thread of the grid.
CNC_GPU_DEVICE void give_up_pass(Breakdown breakdown, MethodScalars* scalars, const RunLink& run) {
  scalars->breakdown = breakdown;
  if (run.place == RunPlace::none) return;
  stop_run(*run.state, *run.outcome);
  if (run.place == RunPlace::finish) tell_outcome(run, *scalars);
}

/// The last block's last act: scalars, log, and whether the run goes on. Where a message has to bring sums first, they are left for
/// it, and a launch without rows does this.
template <class Pass, int count>
CNC_GPU_DEVICE void finish_pass(const KeptScalars& begun, double (&sums)[count],
                                MethodScalars* scalars, const RunLink& run) {
  if constexpr (Pass::sums.count > 0)
    if (run.meeting != nullptr && !meet(*run.meeting, run.takes_sums, sums)) return;
  if constexpr (Pass::M.active() && count == 2) {
    if (run.is_scaled) {
      const double first = sums[0];
      sums[0] = sums[1];
      sums[1] = first;
    }
  }
  MethodScalars s = begun.get();
  end_pass<Pass>(s, sums);
  copy_scalars(s, *scalars);
  if (run.place == RunPlace::last) {
    RunState& state = *run.state;
    log_iteration<Pass>(s, state.iterations, state.history, state.energy_gains);
    ++state.iterations;
    if (run_is_over(state, s)) stop_run(state, *run.outcome);
  } else if (run.place == RunPlace::finish) {
    tell_outcome(run, s);
  }
}

/// `wave` counts where there are sums only.
template <int wave, class V, class Pass, PassPart part>
CNC_GPU_DENSE_KERNEL(max_pass_threads, (PassWork<V, Pass, part>::resident_threads))
pass_kernel(index_t n, PreconditionerOperand<V> M, MethodVectors<V> v, MethodScalars* scalars,
            RunLink run, GridScratch scratch) {
  using Work = PassWork<V, Pass, part>;
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (run.state != nullptr && run.place != RunPlace::finish && run.state->stop) return;
  MethodScalars stored;
  copy_scalars(*scalars, stored);
  const MethodScalars begun = begin_pass<Pass>(stored);
  if (begun.breakdown != Breakdown::none) {
    // Every block comes to the same conclusion and moves nothing.
    if (block_index() == 0 && thread_index() == 0) give_up_pass(begun.breakdown, scalars, run);
    return;
  }
  CNC_GPU_SHARED KeptScalars kept;
  if (Work::stores_scalars && thread_index() == 0) kept.set(begun);
  const Pass pass(begun);
  SumsOf<Pass> add;
  // What passes alone read, and a number makes of another vector, is that vector, and not stored (StreamedRun::implies). So it is of
  // a scaled system.
  const bool stores_preconditioned =
      !(Work::preconditions && Pass::M.passes_only && v[Work::to] == v[Work::from]);
  V scale = 1;
  if constexpr (Pass::again.active() && Work::states)
    if (n > 0 && v[Pass::again.to] == v[Pass::again.from] && !run.is_scaled &&
        M.kind == PreconditionerKind::jacobi)  // vectors of no rows are all at the same place
      scale = M.inverse[0];
  const auto load = [&](Row<V>& row, index_t i) {
    for_vectors<Work::loads>([&](auto k) { row[k] = v[k][i]; });
  };
  const auto state = [&](Row<V>& row) {
    if constexpr (Work::states) {
      if constexpr (Pass::again.active()) row[Pass::again.to] = scale * row[Pass::again.to];
      pass(row);
    }
  };
  const auto store = [&](const Row<V>& row, index_t i) {
    for_vectors<Work::stores>([&](auto k) { v[k][i] = row[k]; });
  };
  const auto preconditioned_row = [&](Row<V>& row, index_t i, V z) {
    if constexpr (Work::preconditions) {
      row[Work::to] = z;
      if (stores_preconditioned) v[Work::to][i] = z;
    }
    if constexpr (Work::sums) pass.sums_of(row, add);
  };
  if (Work::preconditions && M.kind == PreconditionerKind::block_jacobi) {
    if constexpr (Work::preconditions) {
      const index_t per_tile = staged_rows(M.block_size);
      const index_t tiles = ceil_div(n, per_tile);
      for (index_t tile = block_index(); tile < tiles; tile += grid_blocks()) {
        const index_t begin = tile * per_tile;
        const index_t i = begin + thread_index();
        const bool mine = thread_index() < per_tile && i < n;
        Row<V> row{};
        if (mine) {
          load(row, i);
          state(row);
          store(row, i);
        }
        const V z = preconditioned_in_block(M, n, begin, row[Work::from]);
        if (mine) preconditioned_row(row, i, z);
      }
    }
  } else {
    Row<V> rows[entries_together] = {};
    V inverse[entries_together];
    const auto tile = [&](index_t which) {
      for_tile(
          which, n,
          [&](int k, index_t i) {
            load(rows[k], i);
            if constexpr (Work::preconditions)
              inverse[k] =
                  M.kind == PreconditionerKind::jacobi ? M.inverse[M.uniform ? 0 : i] : V(1);
          },
          [&](int k, index_t i) {
            state(rows[k]);
            store(rows[k], i);
            if constexpr (Work::preconditions)
              preconditioned_row(rows[k], i, inverse[k] * rows[k][Work::from]);
            else
              preconditioned_row(rows[k], i, V(0));
          });
    };
    if constexpr (Work::sums) {
      const index_t tiles = ceil_div(n, block_threads() * entries_together);
      for (index_t which = block_index(); which < tiles; which += grid_blocks()) tile(which);
    } else {
      tile(block_index());
    }
  }
  if constexpr (Work::stores_scalars) {
    bool last;
    if constexpr (Work::sums)
      last = grid_sum<wave>(add.sums, scratch);
    else
      last = last_block(scratch.ticket);
    if (last && thread_index() == 0) finish_pass<Pass>(kept, add.sums, scalars, run);
  } else if (run.place == RunPlace::finish && block_index() == 0 && thread_index() == 0) {
    tell_outcome(run, *scalars);
  }
}

template <int wave, class V, class Pass, PassPart part>
void launch_pass_part(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                      const MethodVectors<V>& v, MethodScalars* scalars, const RunLink& run) {
  using Work = PassWork<V, Pass, part>;
  Grid grid = Work::sums ? reducing_grid(queue, n, Pass::sums.count, max_pass_threads,
                                         Work::reducing_threads)
                         : vector_grid(queue, n, max_pass_threads);
  grid.blocks = std::max<index_t>(1, grid.blocks);  // scalars are due even without rows
  launch_behind(run.takes_sums, "pass", queue, grid, pass_kernel < Work::sums ? wave : 0, V, Pass,
                part >, n, Pass::M.transposed ? M.transposed() : M, v, scalars, run,
                grid_scratch(queue));
}

template <int wave, class V, class Pass>
void launch_pass(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                 const MethodVectors<V>& v, MethodScalars* scalars, PassPart part,
                 const RunLink& run) {
  constexpr bool undivided = !Pass::M.active() && !stores_scalars<Pass>;
  static_assert(!Pass::M.active() || Pass::writes != 0 || Pass::starts || stores_scalars<Pass>,
                "in two parts, nobody would store the breakdown of such a pass");
  if (part == PassPart::whole || (undivided && part == PassPart::before)) {
    launch_pass_part<wave, V, Pass, PassPart::whole>(queue, n, M, v, scalars, run);
  } else if (part == PassPart::before) {
    if constexpr (!undivided && Pass::writes != 0)
      launch_pass_part<wave, V, Pass, PassPart::before>(queue, n, M, v, scalars, run);
  } else {
    if constexpr (stores_scalars<Pass>)
      launch_pass_part<wave, V, Pass, PassPart::after>(queue, n, M, v, scalars, run);
  }
}

template <int wave, class V>
void PassEntries<wave, V>::launch(const Queue& queue, PassName name, index_t n,
                                  const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
                                  MethodScalars* scalars, PassPart part, const RunLink& run) {
  Methods<V>::for_each([&]<class Method>(int m) {
    if (m != name.method) return;
    for_pass<Method>(name, [&]<class Pass>() {
      launch_pass<wave, V, Pass>(queue, n, M, v, scalars, part, run);
    });
  });
}

// --- the two ends of a run --------------------------------------------------------------------------------

template <int wave>
CNC_GPU_KERNEL(wave)
begin_run_kernel(RunLink run, RunState initial, const MethodScalars* scalars) {
  if (thread_index() != 0) return;
  *run.state = initial;
  if (run_is_over(initial, *scalars)) stop_run(*run.state, *run.outcome);
}

template <int wave>
CNC_GPU_KERNEL(wave)
end_run_kernel(RunLink run, const MethodScalars* scalars) {
  if (thread_index() == 0) tell_outcome(run, *scalars);
}

template <int wave, class V>
void PassEntries<wave, V>::begin_run(const Queue& queue, const RunLink& run,
                                     const RunState& initial, const MethodScalars* scalars) {
  gpu::launch("begin_run", queue, {1, wave}, begin_run_kernel<wave>, run, initial, scalars);
}

template <int wave, class V>
void PassEntries<wave, V>::end_run(const Queue& queue, const RunLink& run,
                                   const MethodScalars* scalars) {
  gpu::launch("end_run", queue, {1, wave}, end_run_kernel<wave>, run, scalars);
}

// --- a preconditioner alone -------------------------------------------------------------------------------

template <class V>
CNC_GPU_KERNEL(max_vector_threads)
precondition_kernel(index_t n, PreconditionerOperand<V> M, const V* r, V* z) {
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  if (i < n) z[i] = preconditioned(M, n, static_cast<index_t>(i), [&](index_t j) { return r[j]; });
}

template <int wave, class V>
void VectorEntries<wave, V>::precondition(const Queue& queue, index_t n,
                                          const PreconditionerOperand<V>& M, const V* r, V* z) {
  const int threads = vector_threads(queue);
  launch("precondition", queue, {ceil_div(n, threads), threads}, precondition_kernel<V>, n, M, r,
         z);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
