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

/// Threads of a block of these kernels at most, and those that a processor should hold: registers are rationed by it, and
/// no more blocks leave sums, since what does not run at once would have to wait for all the others.
inline constexpr int max_column_threads = 256;
inline constexpr int resident_column_threads = 768;

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
  // Loads of several blocks under way at one time: there are many blocks for each of the few threads of a column.
  constexpr int together = N > 4 ? 2 : 8;
  const index_t step = block_threads() >> mine.shift;
  for (index_t block = thread_index() >> mine.shift; block < grid_blocks();
       block += together * step) {
    double of_block[together][N];
    CNC_GPU_UNROLL
    for (int u = 0; u < together; ++u)
      for (int k = 0; k < N; ++k)
        of_block[u][k] = block + u * step < grid_blocks() ? slot(block + u * step)[k] : 0.0;
    CNC_GPU_UNROLL
    for (int u = 0; u < together; ++u)
      for (int k = 0; k < N; ++k) sums[k] += of_block[u][k];
  }
  block_sum_of_columns<wave>(sums, mine);
  return true;
}

/// A thread for each of so many in all; where blocks leave `sums` sums each, no more than run at once and have room for them.
inline Grid column_grid(const Queue& queue, offset_t threads_in_all, int sums) {
  const int threads = chosen_threads(queue, max_column_threads, max_column_threads);
  constexpr offset_t most = offset_t(1) << 22;
  const auto blocks =
      static_cast<index_t>(std::clamp((threads_in_all + threads - 1) / threads, offset_t(1), most));
  if (sums == 0) return {blocks, threads};
  const index_t resident =
      device_facts(queue.device).processors * std::max(1, resident_column_threads / threads);
  return {std::min({blocks, resident, least_reduction_slots / sums}), threads};
}
inline int shift_of(int columns) { return std::countr_zero(static_cast<unsigned>(columns)); }

/// Entries of a row that a thread has under way together for W columns, where runs are single entries.
template <int W>
inline constexpr int column_entries_together = W == 1 ? 4 : 2;
/// Columns that a thread of a product has where there are that many: an entry of the matrix is read for all of them, and
/// what they need of x in loads of 16 bytes.
inline constexpr int columns_per_thread = 4;

/// W columns of a row that belong to a thread: packs of neighbours, so that the threads of a row read it side by side, one pack
/// of each after the other.
template <int W, class V>
struct ColumnPacks {
  static constexpr int n = pack_width<V>(W);
  int first, apart;  ///< the first column, and how far from one pack to the next
  bool aligned;      ///< whether packs may be read as such, by the addresses of the vectors
  CNC_GPU_DEVICE int column(int c) const { return first + c / n * apart + c % n; }
  CNC_GPU_DEVICE void load(const V* row, V (&to)[W]) const {
    CNC_GPU_UNROLL
    for (int c = 0; c < W; c += n) {
      if (n > 1 && aligned) {
        const Pack<V, n> pack = *reinterpret_cast<const Pack<V, n>*>(row + column(c));
        for (int k = 0; k < n; ++k) to[c + k] = pack.value[k];
      } else {
        for (int k = 0; k < n; ++k) to[c + k] = row[column(c + k)];
      }
    }
  }
  CNC_GPU_DEVICE void store(const V (&from)[W], V* row) const {
    CNC_GPU_UNROLL
    for (int c = 0; c < W; c += n) {
      if (n > 1 && aligned) {
        Pack<V, n> pack;
        for (int k = 0; k < n; ++k) pack.value[k] = from[c + k];
        *reinterpret_cast<Pack<V, n>*>(row + column(c)) = pack;
      } else {
        for (int k = 0; k < n; ++k) row[column(c + k)] = from[c + k];
      }
    }
  }
};

/// The row times the thread's columns of x.
template <int static_width, int W, class Row, class V>
CNC_GPU_DEVICE void row_times_columns(const Row& row, int width, index_t cols, const V* x,
                                      int shift, const ColumnPacks<W, V>& packs, V (&sums)[W]) {
  const auto inside = [&](index_t column) {
    return static_cast<std::uint32_t>(column) < static_cast<std::uint32_t>(cols);
  };
  if constexpr (static_width == 1) {
    constexpr int together = column_entries_together<W>;
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
          packs.load(x + (offset_t(column[u]) << shift), of_x[u]);
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
        packs.load(x + (offset_t(column + w) << shift), of_x);
        CNC_GPU_UNROLL
        for (int c = 0; c < W; ++c) sums[c] += value * of_x[c];
      }
    }
  }
}

/// 2^shift columns, of which a thread has W.
template <int wave, int static_width, int W, class Operand, class V>
CNC_GPU_DENSE_KERNEL(max_column_threads, resident_column_threads)
spmm_kernel(detail::StoredRows<Operand, static_width> rows, int shift, V alpha, const V* x, V beta,
            V* y, ColumnDots<V> dots, GridScratch scratch) {
  constexpr int shift_of_W = W == 1 ? 0 : 2;
  static_assert(1 << shift_of_W == W);
  using Packs = ColumnPacks<W, V>;
  const ColumnThread mine(shift - shift_of_W);
  const bool with_dots = dots.with != nullptr;
  const Packs packs{mine.column * Packs::n, mine.columns() * Packs::n,
                    aligned_for<V, Packs::n>(x) && aligned_for<V, Packs::n>(y) &&
                        aligned_for<V, Packs::n>(dots.with)};
  double sums[2 * W] = {};
  mine.for_rows(rows.count(), [&](offset_t t) {
    const auto row = rows.at(t);
    if (row.row < 0) return;
    V product[W] = {}, other[W];
    row_times_columns<static_width>(row, rows.width(), rows.A.cols, x, shift, packs, product);
    const offset_t place = offset_t(row.row) << shift;
    if (beta != V(0)) packs.load(y + place, other);
    CNC_GPU_UNROLL
    for (int c = 0; c < W; ++c)
      product[c] = beta == V(0) ? alpha * product[c] : alpha * product[c] + beta * other[c];
    packs.store(product, y + place);
    if (!with_dots) return;
    packs.load(dots.with + place, other);
    CNC_GPU_UNROLL
    for (int c = 0; c < W; ++c) {
      sums[c] += double(other[c]) * double(product[c]);
      sums[W + c] += double(product[c]) * double(product[c]);
    }
  });
  if (!with_dots || !grid_sum_of_columns<wave>(sums, mine, scratch)) return;
  if (thread_index() >= mine.columns()) return;
  CNC_GPU_UNROLL
  for (int c = 0; c < W; ++c) {
    MethodScalars& scalars = dots.scalars->of[packs.column(c)];
    scalars.value[dots.with_scalar] = sums[c];
    if (dots.self_scalar >= 0) scalars.value[dots.self_scalar] = sums[W + c];
  }
}

template <int wave, int static_width, class Operand, class V>
void launch_spmm(const Queue& queue, int columns, V alpha, const Operand& A, const V* x, V beta,
                 V* y, const ColumnDots<V>& dots) {
  const detail::StoredRows<Operand, static_width> rows{A};
  const auto launch_with = [&]<int W>(std::integral_constant<int, W>) {
    const int sums = dots.with != nullptr ? 2 * columns : 0;
    launch("spmm", queue, column_grid(queue, rows.count() * (columns / W), sums),
           spmm_kernel<wave, static_width, W, Operand, V>, rows, shift_of(columns), alpha, x, beta,
           y, dots, grid_scratch(queue));
  };
  if (columns >= columns_per_thread)
    launch_with(std::integral_constant<int, columns_per_thread>());
  else
    launch_with(std::integral_constant<int, 1>());
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
