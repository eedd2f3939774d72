#pragma once

#include <gpu/pcg_scalars.hpp>
#include <gpu/spmv_kernel.hpp>

// The product of an iteration with its dot.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// The new direction is in use, and x has caught up.
CNC_GPU_DEVICE void finish_direction(PcgScalars& s, RunState& run) {
  s.beta = direction_coefficient(s);
  run.solution_behind = false;
}

/// q := A v with v . q, where v is p (classic) or z (Chronopoulos-Gear).
template <int wave, class Rows, class V>
CNC_GPU_DENSE_KERNEL(max_spmv_threads, Rows::summing_threads)
pcg_product_kernel(Rows rows, const V* v, V* q, bool classic, PcgScalars* scalars, RunState* run,
                   GridScratch scratch) {
  if (run->stop) return;
  StoreProductAndDot<V> sink{v, q};
  walk_all(rows, PlainVector<V>{v}, sink);
  double dot[1] = {sink.dot};
  if (!grid_sum<wave>(dot, scratch) || thread_index() != 0) return;
  if (classic) finish_direction(*scalars, *run);
  scalars->pq = dot[0];
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
