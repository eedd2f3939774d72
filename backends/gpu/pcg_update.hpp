#pragma once

#include <gpu/pcg_scalars.hpp>
#include <gpu/preconditioner.hpp>
#include <gpu/vector_ops.hpp>

// The part of an iteration after the product: all vector updates, the preconditioner and both sums in one
// pass over memory. One kernel; what differs between the methods is the Step that it is given:
//
//   PcgBreakdown prepare(scalars)            coefficients, before anything moves
//   Entry load(vectors, i)                   what row i needs
//   V move(vectors, entry, i)                stores what moves and returns the new r(i)
//   static void finish(scalars, rz, rr)      after the sums

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// z := M^-1 r and both sums, nothing moves: the start of a recurrence.
template <class V>
struct StartStep {
  struct Entry {
    V r;
  };
  CNC_GPU_DEVICE PcgBreakdown prepare(PcgScalars& s) {
    s = PcgScalars();
    return PcgBreakdown::none;
  }
  CNC_GPU_DEVICE Entry load(const PcgVectors<V>& v, index_t i) const { return {v.r[i]}; }
  CNC_GPU_DEVICE V move(const PcgVectors<V>&, const Entry& entry, index_t) const { return entry.r; }
  CNC_GPU_DEVICE static void finish(PcgScalars& s, double rz, double rr) {
    s.rz = rz;
    s.rr = rr;
  }
};

/// Classic update. In a run x follows one iteration later, with the direction, where p passes by anyway.
template <class V, bool moves_solution>
struct ClassicStep {
  V alpha = 0;
  struct Entry {
    V r, q, x, p;
  };
  CNC_GPU_DEVICE PcgBreakdown prepare(PcgScalars& s) {
    const PcgBreakdown breakdown = classic_step(s);
    alpha = static_cast<V>(s.alpha);
    return breakdown;
  }
  CNC_GPU_DEVICE Entry load(const PcgVectors<V>& v, index_t i) const {
    if constexpr (moves_solution)
      return {v.r[i], v.q[i], v.x[i], v.p[i]};
    else
      return {v.r[i], v.q[i], V(0), V(0)};
  }
  CNC_GPU_DEVICE V move(const PcgVectors<V>& v, const Entry& entry, index_t i) const {
    if constexpr (moves_solution) v.x[i] = entry.x + alpha * entry.p;
    return v.r[i] = entry.r - alpha * entry.q;
  }
  CNC_GPU_DEVICE static void finish(PcgScalars& s, double rz, double rr) { advance(s, rz, rr); }
};

/// Chronopoulos-Gear update.
template <class V>
struct SingleReductionStep {
  V alpha = 0;
  V beta = 0;
  bool first = false;
  struct Entry {
    V z, q, p, s, x, r;
  };
  CNC_GPU_DEVICE PcgBreakdown prepare(PcgScalars& s) {
    first = at_start(s);
    const PcgBreakdown breakdown = single_reduction_step(s);
    alpha = static_cast<V>(s.alpha);
    beta = static_cast<V>(s.beta);
    return breakdown;
  }
  CNC_GPU_DEVICE Entry load(const PcgVectors<V>& v, index_t i) const {
    return {v.z[i], v.q[i], first ? V(0) : v.p[i], first ? V(0) : v.s[i], v.x[i], v.r[i]};
  }
  CNC_GPU_DEVICE V move(const PcgVectors<V>& v, const Entry& entry, index_t i) const {
    const V p = entry.z + beta * entry.p;
    const V s = entry.q + beta * entry.s;
    v.p[i] = p;
    v.s[i] = s;
    v.x[i] = entry.x + alpha * p;
    return v.r[i] = entry.r - alpha * s;
  }
  CNC_GPU_DEVICE static void finish(PcgScalars& s, double rz, double rr) { advance(s, rz, rr); }
};

/// The last block's last act: scalars, log, and whether the run goes on. `run` may be null.
template <class Step>
CNC_GPU_DEVICE void finish_update(const double (&sums)[2], PcgScalars s, PcgScalars* scalars,
                                  RunState* run, RunOutcome* outcome) {
  Step::finish(s, sums[0], sums[1]);
  *scalars = s;
  if (run == nullptr) return;
  if (run->history != nullptr) run->history[run->iterations] = s.rr;
  ++run->iterations;
  run->solution_behind = true;
  run->stop = run_is_over(*run, s);
  if (run->stop) *static_cast<volatile std::int32_t*>(&outcome->stop) = 1;
}

template <int wave, class V, class Step>
CNC_GPU_KERNEL(max_vector_threads)
pcg_update_kernel(index_t n, PreconditionerOperand<V> M, PcgVectors<V> v, PcgScalars* scalars,
                  RunState* run, RunOutcome* outcome, GridScratch scratch) {
  Step step;
  PcgScalars s = *scalars;
  if constexpr (!std::is_same_v<Step, StartStep<V>>)
    if (s.breakdown != PcgBreakdown::none || (run != nullptr && run->stop)) return;
  const PcgBreakdown breakdown = step.prepare(s);
  if (breakdown != PcgBreakdown::none) {
    // Every block comes to the same conclusion and moves nothing.
    if (block_index() == 0 && thread_index() == 0) {
      scalars->breakdown = breakdown;
      if (run != nullptr) {
        run->stop = true;
        *static_cast<volatile std::int32_t*>(&outcome->stop) = 1;
      }
    }
    return;
  }
  double sums[2] = {0, 0};
  const auto add = [&](V r, V z) {
    sums[0] += double(r) * double(z);
    sums[1] += double(r) * double(r);
  };
  if (M.kind == PreconditionerKind::block_jacobi) {
    const index_t per_tile = staged_rows(M.block_size);
    const index_t tiles = ceil_div(n, per_tile);
    for (index_t tile = block_index(); tile < tiles; tile += grid_blocks()) {
      const index_t begin = tile * per_tile;
      const index_t i = begin + thread_index();
      const bool mine = thread_index() < per_tile && i < n;
      V r = 0;
      if (mine) r = step.move(v, step.load(v, i), i);
      const V z = preconditioned_in_block(M, n, begin, r);
      if (mine) {
        v.z[i] = z;
        add(r, z);
      }
    }
  } else {
    typename Step::Entry entries[entries_together];
    V inverse[entries_together];
    const index_t tiles = ceil_div(n, block_threads() * entries_together);
    for (index_t tile = block_index(); tile < tiles; tile += grid_blocks())
      for_tile(
          tile, n,
          [&](int k, index_t i) {
            entries[k] = step.load(v, i);
            inverse[k] = M.kind == PreconditionerKind::jacobi ? M.inverse[i] : V(1);
          },
          [&](int k, index_t i) {
            const V r = step.move(v, entries[k], i);
            const V z = inverse[k] * r;
            v.z[i] = z;
            add(r, z);
          });
  }
  if (grid_sum<wave>(sums, scratch) && thread_index() == 0)
    finish_update<Step>(sums, s, scalars, run, outcome);
}

/// p := z + beta p. In a run, x also takes the step that it is behind: alpha times the old p.
template <class V>
CNC_GPU_KERNEL(max_vector_threads)
pcg_direction_kernel(index_t n, PcgVectors<V> v, PcgScalars* scalars, const RunState* run) {
  if (run != nullptr && run->stop) return;
  const bool first = at_start(*scalars);
  const bool behind = run != nullptr && run->solution_behind;
  const V beta = static_cast<V>(direction_coefficient(*scalars));
  const V alpha = static_cast<V>(scalars->alpha);
  V z[entries_together], p[entries_together], x[entries_together];
  for_tile(
      block_index(), n,
      [&](int k, index_t i) {
        z[k] = v.z[i];
        p[k] = first ? V(0) : v.p[i];
        x[k] = behind ? v.x[i] : V(0);
      },
      [&](int k, index_t i) {
        v.p[i] = z[k] + beta * p[k];
        if (behind) v.x[i] = x[k] + alpha * p[k];
      });
  if (run == nullptr && block_index() == 0 && thread_index() == 0)
    scalars->beta = direction_coefficient(*scalars);
}

template <class V>
CNC_GPU_KERNEL(max_vector_threads)
precondition_kernel(index_t n, PreconditionerOperand<V> M, const V* r, V* z) {
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  if (i < n) z[i] = preconditioned(M, n, static_cast<index_t>(i), [&](index_t j) { return r[j]; });
}

template <int wave, class V, class Step>
void launch_update(const char* operation, const Queue& queue, index_t n,
                   const PreconditionerOperand<V>& M, const PcgVectors<V>& v, PcgScalars* scalars,
                   RunState* run = nullptr, RunOutcome* outcome = nullptr) {
  launch(operation, queue, reducing_grid(queue, n, 2), pcg_update_kernel<wave, V, Step>, n, M, v,
         scalars, run, outcome, grid_scratch(queue));
}

template <class V>
void launch_direction(const Queue& queue, index_t n, const PcgVectors<V>& v, PcgScalars* scalars,
                      const RunState* run = nullptr) {
  Grid grid = vector_grid(queue, n);
  grid.blocks = std::max<index_t>(1, grid.blocks);  // beta is due even without rows
  launch("pcg_direction", queue, grid, pcg_direction_kernel<V>, n, v, scalars, run);
}

template <int wave, class V>
void VectorEntries<wave, V>::precondition(const Queue& queue, index_t n, const Preconditioner& M,
                                          const V* r, V* z) {
  const int threads = vector_threads(queue);
  launch("precondition", queue, {ceil_div(n, threads), threads}, precondition_kernel<V>, n, M, r,
         z);
}
template <int wave, class V>
void VectorEntries<wave, V>::start(const Queue& queue, index_t n, const Preconditioner& M,
                                   const Vectors& v, PcgScalars* scalars) {
  launch_update<wave, V, StartStep<V>>("pcg_start", queue, n, M, v, scalars);
}
template <int wave, class V>
void VectorEntries<wave, V>::direction(const Queue& queue, index_t n, const Vectors& v,
                                       PcgScalars* scalars) {
  launch_direction(queue, n, v, scalars);
}
template <int wave, class V>
void VectorEntries<wave, V>::classic(const Queue& queue, index_t n, const Preconditioner& M,
                                     const Vectors& v, PcgScalars* scalars) {
  launch_update<wave, V, ClassicStep<V, true>>("pcg_update", queue, n, M, v, scalars);
}
template <int wave, class V>
void VectorEntries<wave, V>::single_reduction(const Queue& queue, index_t n,
                                              const Preconditioner& M, const Vectors& v,
                                              PcgScalars* scalars) {
  launch_update<wave, V, SingleReductionStep<V>>("pcg_single_reduction_update", queue, n, M, v,
                                                 scalars);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
