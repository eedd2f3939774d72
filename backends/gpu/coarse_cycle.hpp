#pragma once

#include <cnc/contract/error.hpp>

#include <gpu/choose_rows.hpp>
#include <gpu/entries.hpp>
#include <gpu/grid_barrier.hpp>
#include <gpu/resident_rows.hpp>
#include <gpu/runtime.hpp>
#include <gpu/spmv_kernel.hpp>

#include <algorithm>

// The coarse levels of a multigrid cycle in one resident launch. Their products take less time than a launch: between two of
// them is a meeting of the grid instead.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// y := of_x x + of_y y + of_residual D^-1 (f - product), f null: zeros; then, unless that is null, started := first
/// start_inverse y: the first step on the level that y is the right-hand side of.
template <class V>
struct StoreOnLevel {
  V of_x, of_y, of_residual;
  const V* f;
  const V* inverse;
  const V* x;
  V* y;
  V first = 0;
  const V* start_inverse = nullptr;
  V* started = nullptr;

  CNC_GPU_DEVICE void operator()(index_t, int, index_t row, V product) const {
    V value = of_residual * (f != nullptr ? f[row] - product : -product);
    if (inverse != nullptr) value *= inverse[row];
    if (of_x != V(0)) value += of_x * x[row];
    if (of_y != V(0)) value += of_y * y[row];
    y[row] = value;
    if (started != nullptr) started[row] = first * start_inverse[row] * value;
  }
};

/// Lanes for each row of a level's matrices.
struct CoarseLanes {
  int A = 2, restriction = 2, prolongation = 2;
};

template <int wave, class V>
struct ResidentCycle {
  CoarseCycle<V> cycle;
  CoarseLanes lanes[max_coarse_levels];

  using Barrier = GridBarrier<1>;
  using Level = CoarseLevel<V>;

  CNC_GPU_DEVICE void run(Barrier& barrier) const {
    const int last = cycle.count - 1;
    start(barrier, cycle.levels[0]);
    for (int l = 0; l < last; ++l) {
      V* const x = smooth(barrier, l, 1);
      const Level &here = cycle.levels[l], &next = cycle.levels[l + 1];
      multiply(here.A, lanes[l].A, x, {V(0), V(0), V(1), here.f, nullptr, x, here.r});
      barrier.meet();
      StoreOnLevel<V> restrict_to{V(0), V(0), V(-1), nullptr, nullptr, nullptr, next.f};
      const bool starts = next.dense == nullptr && next.block_size == 1;
      if (starts) {
        restrict_to.first = next.factor * cycle.of_residual[0];
        restrict_to.start_inverse = next.inverse;
        restrict_to.started = next.y;
      }
      multiply(here.restriction, lanes[l].restriction, here.r, restrict_to);
      barrier.meet();
      if (next.dense == nullptr && !starts) start(barrier, next);
    }
    solve(cycle.levels[last]);
    barrier.meet();
    for (int l = last - 1; l >= 0; --l) {
      const Level &here = cycle.levels[l], &next = cycle.levels[l + 1];
      V* const x = now(here, cycle.steps - 1);
      multiply(here.prolongation, lanes[l].prolongation, next.x,
               {V(0), V(1), V(-1), nullptr, nullptr, nullptr, x});
      barrier.meet();
      smooth(barrier, l, 0);
    }
  }

 private:
  /// Where the iterate is after so many steps besides the first one from zero: after all of them in x.
  CNC_GPU_DEVICE static V* now(const Level& level, int steps) {
    return steps % 2 == 0 ? level.y : level.x;
  }

  /// The first step from zero.
  CNC_GPU_DEVICE void start(Barrier& barrier, const Level& level) const {
    relax_blocks(level, V(0), V(0), level.factor * cycle.of_residual[0], level.f, nullptr, level.y);
    barrier.meet();
  }

  /// The steps from `first` on. Where the last one has put the iterate.
  CNC_GPU_DEVICE V* smooth(Barrier& barrier, int l, int first) const {
    const Level& level = cycle.levels[l];
    const int before = first > 0 ? 0 : cycle.steps - 1;
    for (int k = first; k < cycle.steps; ++k) {
      const int done = before + (k - first);
      V *const x = now(level, done), *const y = now(level, done + 1);
      const V of_last = cycle.of_last[k], of_residual = level.factor * cycle.of_residual[k];
      const V of_before = first > 0 && k == 1 ? V(0) : -of_last;  // the iterate before was zero
      if (level.block_size == 1) {
        multiply(level.A, lanes[l].A, x,
                 {V(1) + of_last, of_before, of_residual, level.f, level.inverse, x, y});
      } else {
        multiply(level.A, lanes[l].A, x, {V(0), V(0), V(1), level.f, nullptr, x, level.r});
        barrier.meet();
        relax_blocks(level, V(1) + of_last, of_before, of_residual, level.r, x, y);
      }
      barrier.meet();
    }
    return now(level, before + cycle.steps - first);
  }

  /// y := of_x x + of_y y + of_residual D^-1 r; a factor of zero leaves its vector unread.
  CNC_GPU_DEVICE void relax_blocks(const Level& level, V of_x, V of_y, V of_residual, const V* r,
                                   const V* x, V* y) const {
    const int b = level.block_size;
    for_rows(level.rows, [&](index_t row) {
      const index_t first = row / b * b;
      V sum = 0;
      for (int k = 0; k < b && first + k < level.rows; ++k)
        sum += level.inverse[offset_t(row) * b + k] * r[first + k];
      V value = of_residual * sum;
      if (of_x != V(0)) value += of_x * x[row];
      if (of_y != V(0)) value += of_y * y[row];
      y[row] = value;
    });
  }

  /// x := dense f, a row by each wave.
  CNC_GPU_DEVICE void solve(const Level& level) const {
    const int waves = block_threads() / wave, lane = thread_index() % wave;
    const index_t all = grid_blocks() * waves;
    for (index_t row = block_index() * waves + thread_index() / wave; row < level.rows;
         row += all) {
      const V* const of_row = level.dense + offset_t(row) * level.rows;
      V sum = 0;
      for (index_t j = lane; j < level.rows; j += wave) sum += of_row[j] * level.f[j];
      sum = lane_sum<wave>(sum, wave);
      if (lane == 0) level.x[row] = sum;
    }
  }

  template <class Body>
  CNC_GPU_DEVICE static void for_rows(index_t rows, const Body& body) {
    const index_t all = grid_blocks() * block_threads();
    for (index_t row = block_index() * block_threads() + thread_index(); row < rows; row += all)
      body(row);
  }

  CNC_GPU_DEVICE void multiply(const BcsrOperand<V>& A, int lanes_per_row, const V* x,
                               const StoreOnLevel<V>& store) const {
    switch (lanes_per_row) {
      case 2: return multiply_by<2>(A, x, store);
      case 4: return multiply_by<4>(A, x, store);
      case 8: return multiply_by<8>(A, x, store);
      case 16: return multiply_by<16>(A, x, store);
      default: return multiply_by<32>(A, x, store);
    }
  }
  template <int lanes_per_row>
  CNC_GPU_DEVICE void multiply_by(const BcsrOperand<V>& A, const V* x,
                                  const StoreOnLevel<V>& store) const {
    walk_all(BcsrRows<wave, 1, lanes_per_row, false, V, V>{A}, WrittenVector<V>{x}, store);
  }
};

/// `barriers`: that all launches so far have passed, since the counter goes on from launch to launch: a memory set between them
/// would cost as much as a product. No block comes to the end before all have begun, so it is read before it is written.
template <int threads, int wave, class V>
CNC_GPU_KERNEL(threads)
coarse_kernel(ResidentCycle<wave, V> it, GridBarrier<1> barrier, std::uint32_t* barriers) {
  barrier.barriers = *barriers;
  it.run(barrier);
  if (block_index() == 0 && thread_index() == 0) *barriers = barrier.barriers;
}

/// The launch, and memory for its meetings.
template <int wave, class V>
struct DeviceCoarsePlan final : CoarsePlan {
  CoarseLanes lanes[max_coarse_levels];
  Grid grid;
  DeviceBuffer arrived;  ///< the counter of the barrier, and barriers passed
  DeviceCoarsePlan(int device) : arrived(device, 2 * sizeof(std::uint32_t)) {}
};

template <int wave, class V>
std::unique_ptr<CoarsePlan> CoarseEntries<wave, V>::plan(const Queue& queue,
                                                         const CoarseCycle<V>& cycle) {
  constexpr int threads = tuning::resident_threads;
  auto plan = std::make_unique<DeviceCoarsePlan<wave, V>>(queue.device);
  const double room = double(device_facts(queue.device).processors) * threads;
  double most_threads = 1;
  const auto lanes_of = [&](const BcsrOperand<V>& A) {
    const int lanes = csr_lanes(queue, A.rows, A.blocks, wave);
    most_threads = std::max(most_threads, double(A.rows) * lanes);
    return lanes;
  };
  for (int l = 0; l + 1 < cycle.count; ++l) {
    const CoarseLevel<V>& level = cycle.levels[l];
    // Level by level a smoother with blocks takes two launches for each step.
    const double most = room * tuning::coarse_entries_per_thread * (level.block_size > 1 ? 2 : 1);
    if (level.A.blocks > most) return nullptr;
    plan->lanes[l] = {lanes_of(level.A), lanes_of(level.restriction), lanes_of(level.prolongation)};
  }
  most_threads = std::max(most_threads, double(cycle.levels[cycle.count - 1].rows) * wave);
  const auto kernel = coarse_kernel<threads, wave, V>;
  const index_t blocks = resident_blocks(queue, kernel, threads, 0);
  if (blocks < 1) return nullptr;
  const auto wanted = static_cast<index_t>(std::min(most_threads, room) / threads) + 1;
  fill_bytes(queue, plan->arrived.template as<std::uint32_t>(), 0, 2 * sizeof(std::uint32_t));
  plan->grid = {std::min({blocks, wanted, device_facts(queue.device).processors}), threads, 0};
  return plan;
}

template <int wave, class V>
bool CoarseEntries<wave, V>::run(const Queue& queue, CoarsePlan& made,
                                 const CoarseCycle<V>& cycle) {
  auto& plan = static_cast<DeviceCoarsePlan<wave, V>&>(made);
  auto* const arrived = plan.arrived.template as<std::uint32_t>();
  constexpr std::size_t most_argument_bytes = 4096;  // some tool chains allow no more
  static_assert(sizeof(ResidentCycle<wave, V>) + sizeof(GridBarrier<1>) + sizeof(arrived) <=
                most_argument_bytes);
  ResidentCycle<wave, V> resident{cycle, {}};
  std::copy(std::begin(plan.lanes), std::end(plan.lanes), resident.lanes);
  return launch_resident("coarse_cycle", queue, plan.grid,
                         coarse_kernel<tuning::resident_threads, wave, V>, resident,
                         GridBarrier<1>{nullptr, arrived}, arrived + 1);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
