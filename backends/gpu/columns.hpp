#pragma once

#include <cnc/contract/ops.hpp>
#include <cnc/contract/stored_rows.hpp>

#include <gpu/pack.hpp>
#include <gpu/spmv_kernel.hpp>

#include <bit>

// Several interleaved columns (cnc/contract/columns.hpp). A thread has a row and a column: neighbours have the other columns
// of the row, so that they read the same entries of the matrix and neighbouring entries of vectors, whatever the format.
// (A thread of a product has a few columns.)
// How many columns there are, a power of two, is no constant: nothing is compiled once for each.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Threads of a block of these kernels at most.
inline constexpr int max_column_threads = 256;

/// Which entries of interleaved columns a thread has: always of the same column.
struct ColumnThread {
  int shift;  ///< 2^shift columns
  int column;
  CNC_GPU_DEVICE explicit ColumnThread(int shift_)
      : shift(shift_), column(thread_index() & ((1 << shift_) - 1)) {}
  CNC_GPU_DEVICE int columns() const { return 1 << shift; }
  CNC_GPU_DEVICE offset_t place(offset_t row) const { return (row << shift) + column; }
  /// Calls use(row) for the thread's share of `count` rows.
  template <class Use>
  CNC_GPU_DEVICE void for_rows(offset_t count, const Use& use) const {
    const offset_t step = (offset_t(grid_blocks()) * block_threads()) >> shift;
    for (offset_t row = (offset_t(block_index()) * block_threads() + thread_index()) >> shift;
         row < count; row += step)
      use(row);
  }
};

/// N sums over the threads of a block with the same column, the same on all of these afterwards. Collective.
template <int wave, int N>
CNC_GPU_DEVICE void block_sum_of_columns(double (&sums)[N], const ColumnThread& mine) {
  constexpr int most_columns = N > 6 ? max_columns / 4 : max_columns;
  CNC_GPU_SHARED double of_wave[N * (max_column_threads / 32) * most_columns];
  const int lane = thread_index() % wave, waves = block_threads() / wave;
  block_barrier();  // an earlier sum may still be read
  for (int k = 0; k < N; ++k) {
    for (int delta = wave / 2; delta >= mine.columns(); delta /= 2)
      sums[k] += shuffle_xor<wave>(sums[k], delta);
    if (lane < mine.columns())
      of_wave[(k * waves + thread_index() / wave) * most_columns + lane] = sums[k];
  }
  block_barrier();
  for (int k = 0; k < N; ++k) {
    sums[k] = 0;
    for (int w = 0; w < waves; ++w)
      sums[k] += of_wave[(k * waves + w) * most_columns + mine.column];
  }
}

/// N sums of each column across the grid. True on all threads of one block, which then holds the totals of its threads'
/// columns; false on all threads of the others. Collective.
template <int wave, int N>
CNC_GPU_DEVICE bool grid_sum_of_columns(double (&sums)[N], const ColumnThread& mine,
                                        const GridScratch& scratch) {
  block_sum_of_columns<wave>(sums, mine);
  const auto slot = [&](index_t block) {
    return scratch.partials + ((offset_t(block) << mine.shift) + mine.column) * N;
  };
  if (thread_index() < mine.columns())
    for (int k = 0; k < N; ++k) slot(block_index())[k] = sums[k];
  if (!last_block(scratch.ticket)) return false;
  for (int k = 0; k < N; ++k) sums[k] = 0;
  for (index_t block = thread_index() >> mine.shift; block < grid_blocks();
       block += block_threads() >> mine.shift)
    for (int k = 0; k < N; ++k) sums[k] += slot(block)[k];
  block_sum_of_columns<wave>(sums, mine);
  return true;
}

/// A thread for each entry of `columns` columns of n rows; no more blocks than have room for `sums` sums of each column.
inline Grid column_grid(const Queue& queue, offset_t rows, int columns, int sums) {
  const int threads = chosen_threads(queue, max_column_threads, max_column_threads);
  constexpr offset_t most = offset_t(1) << 22;
  const offset_t blocks = std::min((rows * columns + threads - 1) / threads, most);
  return {sums > 0 ? reducing_blocks(queue, static_cast<index_t>(blocks), threads, sums * columns)
                   : std::max<index_t>(1, static_cast<index_t>(blocks)),
          threads};
}
inline int shift_of(int columns) { return std::countr_zero(static_cast<unsigned>(columns)); }

/// Entries of a row that a thread has under way together, where runs are single entries.
inline constexpr int column_entries_together = 4;
/// Columns that a thread of a product has where there are that many: an entry of the matrix is read for all of them, and
/// what they need of x in loads of 16 bytes.
inline constexpr int columns_per_thread = 4;

/// W neighbouring columns of a row of x; packs where `aligned` says that they may be read so.
template <int W, class V>
CNC_GPU_DEVICE void load_columns(const V* from, bool aligned, V (&to)[W]) {
  constexpr int n = pack_width<V>(W);
  if (n > 1 && aligned) {
    CNC_GPU_UNROLL
    for (int c = 0; c < W; c += n) {
      const Pack<V, n> pack = *reinterpret_cast<const Pack<V, n>*>(from + c);
      for (int k = 0; k < n; ++k) to[c + k] = pack.value[k];
    }
  } else {
    CNC_GPU_UNROLL
    for (int c = 0; c < W; ++c) to[c] = load_cached(from + c);
  }
}

/// The row times W columns of x, of which the first is given, 2^shift entries from those of the next row.
template <int static_width, int W, class Row, class V>
CNC_GPU_DEVICE void row_times_columns(const Row& row, int width, index_t cols, const V* x,
                                      int shift, bool aligned, V (&sums)[W]) {
  const auto inside = [&](index_t column) {
    return static_cast<std::uint32_t>(column) < static_cast<std::uint32_t>(cols);
  };
  if constexpr (static_width == 1) {
    constexpr int together = column_entries_together;
    for (auto k = row.begin; k < row.end; k += together * row.step) {
      index_t column[together];
      V value[together], of_x[together][W];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        column[u] = k + u * row.step < row.end ? row.column(k + u * row.step) : -1;
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (inside(column[u])) {
          value[u] = static_cast<V>(row.value(k + u * row.step, 0));
          load_columns(x + (offset_t(column[u]) << shift), aligned, of_x[u]);
        }
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        if (inside(column[u])) {
          CNC_GPU_UNROLL
          for (int c = 0; c < W; ++c) sums[c] += value[u] * of_x[u][c];
        }
    }
  } else {
    for (auto k = row.begin; k < row.end; k += row.step) {
      const index_t column = row.column(k);
      for (int w = 0; w < width; ++w) {
        if (!inside(column + w)) continue;
        const V value = static_cast<V>(row.value(k, w));
        V of_x[W];
        load_columns(x + (offset_t(column + w) << shift), aligned, of_x);
        CNC_GPU_UNROLL
        for (int c = 0; c < W; ++c) sums[c] += value * of_x[c];
      }
    }
  }
}

/// 2^shift columns, of which a thread has W.
template <int wave, int static_width, int W, class Operand, class V>
CNC_GPU_KERNEL(max_column_threads)
spmm_kernel(StoredRows<Operand, static_width> rows, int shift, V alpha, const V* x, V beta, V* y,
            ColumnDots<V> dots, GridScratch scratch) {
  constexpr int shift_of_W = W == 1 ? 0 : 2;
  static_assert(1 << shift_of_W == W);
  const ColumnThread mine(shift - shift_of_W);
  const int first = mine.column * W;
  const bool aligned = aligned_for<V, pack_width<V>(W)>(x);
  double sums[2 * W] = {};
  mine.for_rows(rows.count(), [&](offset_t t) {
    const auto row = rows.at(t);
    if (row.row < 0) return;
    V product[W] = {};
    row_times_columns<static_width>(row, rows.width(), rows.A.cols, x + first, shift, aligned,
                                    product);
    const offset_t place = (offset_t(row.row) << shift) + first;
    CNC_GPU_UNROLL
    for (int c = 0; c < W; ++c) {
      V value = alpha * product[c];
      if (beta != V(0)) value += beta * y[place + c];
      y[place + c] = value;
      if (dots.with == nullptr) continue;
      sums[c] += double(dots.with == y ? value : dots.with[place + c]) * double(value);
      sums[W + c] += double(value) * double(value);
    }
  });
  if (dots.with == nullptr || !grid_sum_of_columns<wave>(sums, mine, scratch)) return;
  if (thread_index() >= mine.columns()) return;
  CNC_GPU_UNROLL
  for (int c = 0; c < W; ++c) {
    MethodScalars& scalars = dots.scalars->of[first + c];
    scalars.value[dots.with_scalar] = sums[c];
    if (dots.self_scalar >= 0) scalars.value[dots.self_scalar] = sums[W + c];
  }
}

template <int wave, int static_width, class Operand, class V>
void launch_spmm(const Queue& queue, int columns, V alpha, const Operand& A, const V* x, V beta,
                 V* y, const ColumnDots<V>& dots) {
  const StoredRows<Operand, static_width> rows{A};
  const auto launch_with = [&]<int W>(std::integral_constant<int, W>) {
    Grid grid = column_grid(queue, rows.count(), columns / W, 0);
    if (dots.with != nullptr)
      grid.blocks = reducing_blocks(queue, grid.blocks, grid.threads, 2 * columns);
    launch("spmm", queue, grid, spmm_kernel<wave, static_width, W, Operand, V>, rows,
           shift_of(columns), alpha, x, beta, y, dots, grid_scratch(queue));
  };
  if (columns >= columns_per_thread)
    launch_with(std::integral_constant<int, columns_per_thread>());
  else
    launch_with(std::integral_constant<int, 1>());
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
