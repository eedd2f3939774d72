#pragma once

#include <gpu/pcg_product.hpp>
#include <gpu/pcg_update.hpp>

// Runs of an iteration in two or three kernels, whose scalars and stop test stay on the device: enqueued one after
// the other (streamed) or replayed (graph). Once the run is over, what is still enqueued does nothing.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <class V>
CNC_GPU_KERNEL(32)
pcg_begin_run_kernel(RunState* run, RunState initial, const PcgScalars* scalars,
                     RunOutcome* outcome) {
  if (thread_index() != 0) return;
  initial.stop = run_is_over(initial, *scalars);
  *run = initial;
  if (initial.stop) *static_cast<volatile std::int32_t*>(&outcome->stop) = 1;
}

/// Leaves x as the contract wants it, and tells the host how it went. `classic`: x may be behind.
template <class V>
CNC_GPU_KERNEL(max_vector_threads)
pcg_finish_run_kernel(index_t n, PcgVectors<V> v, bool classic, const PcgScalars* scalars,
                      const RunState* run, RunOutcome* outcome) {
  if (classic && run->solution_behind) {
    const V alpha = static_cast<V>(scalars->alpha);
    V p[entries_together], x[entries_together];
    for_tile(
        block_index(), n,
        [&](int k, index_t i) {
          p[k] = v.p[i];
          x[k] = v.x[i];
        },
        [&](int k, index_t i) { v.x[i] = x[k] + alpha * p[k]; });
  }
  if (block_index() == 0 && thread_index() == 0) {
    outcome->scalars = *scalars;
    outcome->iterations = run->iterations;
  }
}

/// One matrix, one set of vectors, one method: the kernels of its iterations.
///
/// Classic   direction (z, p, x -> p, x), product (p -> q), update (r, q, 1/diag -> r, z): 12 vector passes.
///           x takes its step one iteration later, in the direction, where p is at hand anyway.
/// Chronopoulos-Gear   product (z -> q), update (everything else): 14 vector passes.
template <int wave, class Rows, class V>
struct StreamedPcg {
  Rows rows;
  int threads;  ///< of the product
  index_t n;
  PreconditionerOperand<V> M;
  PcgVectors<V> v;
  PcgScalars* scalars;
  RunState* run;
  RunOutcome* outcome;
  bool single_reduction;

  int launches_per_iteration() const { return single_reduction ? 2 : 3; }

  void begin(const Queue& queue, const RunState& initial) const {
    launch("pcg_begin_run", queue, {1, 32}, pcg_begin_run_kernel<V>, run, initial,
           static_cast<const PcgScalars*>(scalars), outcome);
  }

  void iterate(const Queue& queue, index_t iterations) const {
    for (index_t i = 0; i < iterations; ++i) {
      if (single_reduction) {
        product(queue, v.z);
        update<SingleReductionStep<V>>(queue);
      } else {
        launch_direction(queue, n, v, scalars, run);
        product(queue, v.p);
        update<ClassicStep<V, false>>(queue);
      }
    }
  }

  void finish(const Queue& queue) const {
    Grid grid = vector_grid(queue, n);
    grid.blocks = single_reduction ? 1 : std::max<index_t>(1, grid.blocks);
    launch("pcg_finish_run", queue, grid, pcg_finish_run_kernel<V>, n, v, !single_reduction,
           static_cast<const PcgScalars*>(scalars), static_cast<const RunState*>(run), outcome);
  }

 private:
  void product(const Queue& queue, const V* of) const {
    const index_t passes = ceil_div(rows.units(), rows.units_per_pass(threads));
    launch("pcg_product", queue, {reducing_blocks(queue, passes, threads, 1), threads},
           pcg_product_kernel<wave, Rows, V>, rows, of, v.q, !single_reduction, scalars, run,
           grid_scratch(queue));
  }
  template <class Step>
  void update(const Queue& queue) const {
    launch_update<wave, V, Step>("pcg_update", queue, n, M, v, scalars, run, outcome);
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
