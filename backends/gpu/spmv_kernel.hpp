#pragma once

#include <cnc/contract/ops.hpp>

#include <gpu/reduce.hpp>
#include <gpu/rows.hpp>
#include <target/launch.hpp>

#include <algorithm>

// The product as a kernel, for any format's rows.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Threads of a product's block at most. Fewer than max_block leave each thread more registers.
inline constexpr int max_spmv_threads = 256;

/// y := alpha sum + beta y; beta == 0 never reads y.
template <class V>
struct StoreProduct {
  V alpha;
  V beta;
  V* y;
  CNC_GPU_DEVICE void operator()(index_t, int, index_t row, V sum) {
    y[row] = beta == V(0) ? alpha * sum : alpha * sum + beta * y[row];
  }
};

/// A step of a relaxation.
template <class V>
struct StoreRelaxed {
  RelaxationStep<V> step;
  const V* x;
  V* y;
  CNC_GPU_DEVICE void operator()(index_t, int, index_t row, V sum) {
    y[row] = step(row, sum, x, y);
  }
};

/// Works through all units of the matrix, the passes dealt out to the blocks in turn.
template <class Rows, class X, class Sink>
CNC_GPU_DEVICE void walk_all(const Rows& rows, const X& x, Sink& sink) {
  const index_t per_pass = rows.units_per_pass(block_threads());
  const index_t units = rows.units();
  const index_t passes = ceil_div(units, per_pass);
  for (index_t pass = block_index(); pass < passes; pass += grid_blocks()) {
    const index_t begin = pass * per_pass;
    rows.walk(begin, units - begin < per_pass ? units : begin + per_pass, x, sink);
  }
}

template <class Rows, class V>
CNC_GPU_DENSE_KERNEL(max_spmv_threads, Rows::spmv_threads)
spmv_kernel(Rows rows, V alpha, const V* x, V beta, V* y) {
  StoreProduct<V> sink{alpha, beta, y};
  walk_all(rows, PlainVector<V>{x}, sink);
}

template <class Rows>
inline constexpr int relaxing_threads = Rows::spmv_threads;
template <class Rows>
requires requires { Rows::relaxing_threads; }
inline constexpr int relaxing_threads<Rows> = Rows::relaxing_threads;

template <class Rows, class V>
CNC_GPU_DENSE_KERNEL(max_spmv_threads, relaxing_threads<Rows>)
relax_kernel(Rows rows, RelaxationStep<V> step, const V* x, V* y) {
  StoreRelaxed<V> sink{step, x, y};
  walk_all(rows, PlainVector<V>{x}, sink);
}

/// Blocks of a kernel whose blocks leave partial sums: enough to fill the device, few enough that the last
/// one adds them up in no time, and never more than the scratch of `sums` sums each has room for.
/// `on_processor`: threads of them that a processor is to have.
inline index_t reducing_blocks(const Queue& queue, index_t passes, int threads, int sums,
                               int on_processor = 1024) {
  const index_t resident =
      device_facts(queue.device).processors * std::max(1, on_processor / threads);
  const index_t most = std::min<index_t>(resident, least_reduction_slots / sums);
  return std::clamp<index_t>(passes, 1, most);
}

inline GridScratch grid_scratch(const Queue& queue) { return {queue.partials, queue.tickets}; }

/// Threads per block: the caller's wish if there is one that this kernel can take, else the table's.
inline int chosen_threads(const Queue& queue, int tuned, int most = max_spmv_threads) {
  return queue.block_threads > 0 ? std::min(queue.block_threads, most) : tuned;
}

/// The grid of a product: a block for each pass, or, for rows that take little beside x, as many as a device has room for, which go on
/// to the next pass (at 256^3 rows of seven points a quarter less time).
template <class Rows>
Grid spmv_shape(const Queue& queue, const Rows& rows, int threads) {
  constexpr index_t most_threads = index_t(1)
                                   << 30;  // of a grid; some run-time libraries end at 2^32
  const index_t passes = ceil_div(rows.units(), rows.units_per_pass(threads));
  index_t most = most_threads / threads;
  if constexpr (requires { Rows::reducing_threads; })
    most = device_facts(queue.device).processors * std::max(1, Rows::reducing_threads / threads);
  return {std::min(passes, most), threads};
}

template <class Rows, class V>
void launch_spmv(const Queue& queue, const Rows& rows, int threads, V alpha, const V* x, V beta,
                 V* y) {
  launch("spmv", queue, spmv_shape(queue, rows, threads), spmv_kernel<Rows, V>, rows, alpha, x,
         beta, y);
}

template <class Rows, class V>
void launch_relax(const Queue& queue, const Rows& rows, int threads, const RelaxationStep<V>& step,
                  const V* x, V* y) {
  launch("relax", queue, spmv_shape(queue, rows, threads), relax_kernel<Rows, V>, rows, step, x, y);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
