#pragma once

#include <cnc/contract/ops.hpp>

#include <gpu/peer_words.hpp>
#include <gpu/run_state.hpp>
#include <gpu/spmv_kernel.hpp>

#include <cmath>

// The product of a phase: with its dots, alone or in a run. It knows no method, and takes no scalar step.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// y := sum, and this thread's share of the dots: with . y, then y . y.
/// unit: of a matrix whose diagonal is one and not stored; `with` is x.
template <class V, int dots, bool unit>
struct StoreProductAndDots {
  const V* with;
  V* y;
  double dot[dots > 0 ? dots : 1] = {};
  CNC_GPU_DEVICE void operator()(index_t, int, index_t row, V sum) {
    if constexpr (unit) sum += with[row];
    y[row] = sum;
    if constexpr (dots > 0) dot[0] += double(with[row]) * double(sum);  // `with` may be y
    if constexpr (dots > 1) dot[1] += double(sum) * double(sum);
  }
};

/// What registers are rationed by: a second sum needs some more.
template <class Rows, int dots>
inline constexpr int product_threads =
    dots > 1 && Rows::summing_threads > 1024 ? 1024 : Rows::summing_threads;

template <class Rows>
inline constexpr bool fills_processors = false;
template <class Rows>
requires requires { Rows::fills_processors; }
inline constexpr bool fills_processors<Rows> = Rows::fills_processors;

/// `run` may be null.
template <int wave, int dots, bool unit, class Rows, class V>
CNC_GPU_DENSE_KERNEL(max_spmv_threads, (product_threads<Rows, dots>))
product_kernel(Rows rows, const V* x, V* y, ProductDots<V> results, const RunState* run,
               GridScratch scratch) {
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (run != nullptr && run->stop) return;
  StoreProductAndDots<V, dots, unit> sink{results.with, y};
  walk_all(rows, WrittenVector<V>{x}, sink);
  if constexpr (dots > 0) {
    if (!grid_sum<wave>(sink.dot, scratch) || thread_index() != 0) return;
    *results.with_result = sink.dot[0];
    if constexpr (dots > 1) *results.self_result = sink.dot[1];
  }
}

/// y := sum, with what columns of other ranks add, and this thread's share of the dots.
template <int together, class V, int dots>
struct StoreProductAmongPeers {
  const PeerOperand<V>& peers;
  StoreProductAndDots<V, dots, false> store;
  CNC_GPU_DEVICE void operator()(index_t unit, int part, index_t row, V sum) {
    add_halo<together>(peers, row, sum);
    store(unit, part, row, sum);
  }
};

/// As walk_all, from the middle on and then from the first unit to there.
template <class Rows, class X, class Sink>
CNC_GPU_DEVICE void walk_all_from_middle(const Rows& rows, const X& x, Sink& sink) {
  const index_t per_pass = rows.units_per_pass(block_threads());
  const index_t units = rows.units();
  const index_t passes = ceil_div(units, per_pass), middle = passes / 2;
  for (index_t pass = block_index(); pass < passes; pass += grid_blocks()) {
    const index_t begin =
        (pass < passes - middle ? pass + middle : pass - (passes - middle)) * per_pass;
    rows.walk(begin, units - begin < per_pass ? units : begin + per_pass, x, sink);
  }
}

/// A product with the whole matrix by ranks whose devices reach each other's memory, and its dots. Entries of x that others wait for go first, by
/// the `senders` that the device starts first: whoever waits, waits for blocks that run.
template <int wave, int dots, class Rows, class V>
CNC_GPU_DENSE_KERNEL(max_spmv_threads, (product_threads<Rows, dots>))
product_among_peers_kernel(Rows rows, const V* x, V* y, ProductDots<V> results,
                           PeerOperand<V> peers, index_t senders, const RunState* run,
                           GridScratch scratch) {
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (run != nullptr && run->stop) return;
  if (start_index() < senders)
    send_entries(peers, x, start_index() * block_threads() + thread_index(),
                 senders * block_threads());
  // Where a thread has few registers, loads that are under way together would take those of the product.
  constexpr int resident = product_threads<Rows, dots>;
  constexpr int together = resident > 1024 ? 1 : 4;
  StoreProductAmongPeers<together, V, dots> sink{peers, {results.with, y}};
  // Rows with entries of others are mostly the first and the last: from the middle on, what they wait for has come by then.
  walk_all_from_middle(rows, WrittenVector<V>{x}, sink);
  if (block_index() == 0) wait_for_neighbours(peers, thread_index(), block_threads());
  if constexpr (dots > 0) {
    if (!grid_sum<wave>(sink.store.dot, scratch)) return;
  } else {
    if (!last_block(scratch.ticket)) return;
  }
  if (thread_index() != 0) return;
  *peers.exchanges += 1;
  if constexpr (dots > 0) {
    meet_peers(*peers.meeting, sink.store.dot);
    *results.with_result = sink.store.dot[0];
    if constexpr (dots > 1) *results.self_result = sink.store.dot[1];
  }
}

/// The grid of a product with so many dots.
template <int dots, class Rows>
Grid product_shape(const Queue& queue, const Rows& rows, int threads) {
  const index_t passes = ceil_div(rows.units(), rows.units_per_pass(threads));
  int on_processor = 1024;
  if constexpr (requires { Rows::reducing_threads; }) on_processor = Rows::reducing_threads;
  if constexpr (fills_processors<Rows>) on_processor = product_threads<Rows, dots>;
  return {reducing_blocks(queue, passes, threads, std::max(1, dots), on_processor), threads};
}

template <int wave, int dots, bool unit, class Rows, class V>
void launch_product(const Queue& queue, const Rows& rows, int threads, const V* x, V* y,
                    const ProductDots<V>& results, const RunState* run) {
  launch_overlapping("product", queue, product_shape<dots>(queue, rows, threads),
                     product_kernel<wave, dots, unit, Rows, V>, rows, x, y, results, run,
                     grid_scratch(queue));
}

template <int wave, int dots, class Rows, class V>
void launch_product_among_peers(const Queue& queue, const Rows& rows, int threads, const V* x, V* y,
                                const ProductDots<V>& results, const PeerOperand<V>& peers,
                                const RunState* run) {
  const Grid grid = product_shape<dots>(queue, rows, threads);
  // Any processor has room for two blocks, where registers are rationed.
  constexpr int on_processor = product_threads<Rows, dots> >= 2 * max_spmv_threads ? 2 : 1;
  launch_senders_first(
      "product", queue, grid, product_among_peers_kernel<wave, dots, Rows, V>, rows, x, y, results,
      peers, std::min(grid.blocks, senders(queue, on_processor)), run, grid_scratch(queue));
}

/// r := b - sum, and this thread's share of r . r and b . b.
template <class V>
struct StoreResidual {
  const V* b;
  V* r;
  double squares[2] = {};
  CNC_GPU_DEVICE void operator()(index_t, int, index_t row, V sum) {
    const V of_b = b[row], of_r = of_b - sum;
    r[row] = of_r;
    squares[0] += double(of_r) * double(of_r);
    squares[1] += double(of_b) * double(of_b);
  }
};

template <int wave, class Rows, class V>
CNC_GPU_DENSE_KERNEL(max_spmv_threads, (product_threads<Rows, 2>))
residual_kernel(Rows rows, const V* b, const V* x, V* r, double* norm, double* norm_of_b,
                GridScratch scratch) {
  StoreResidual<V> sink{b, r};
  walk_all(rows, PlainVector<V>{x}, sink);
  if (!grid_sum<wave>(sink.squares, scratch) || thread_index() != 0) return;
  *norm = std::sqrt(sink.squares[0]);
  if (norm_of_b != nullptr) *norm_of_b = std::sqrt(sink.squares[1]);
}

template <int wave, class Rows, class V>
void launch_residual(const Queue& queue, const Rows& rows, int threads, const V* b, const V* x,
                     V* r, double* norm, double* norm_of_b) {
  launch("residual", queue, product_shape<2>(queue, rows, threads), residual_kernel<wave, Rows, V>,
         rows, b, x, r, norm, norm_of_b, grid_scratch(queue));
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
