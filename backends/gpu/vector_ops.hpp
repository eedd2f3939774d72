#pragma once

#include <gpu/entries.hpp>
#include <gpu/spmv_kernel.hpp>

#include <target/tuning.hpp>

#include <cmath>

// BLAS-1. Each thread has several entries under way at one time: one load per thread does not fill the
// memory system of a device.

namespace cnc::gpu::inline CNC_GPU_TARGET {

inline constexpr int max_vector_threads = 512;
/// Entries of a vector that a thread handles together.
inline constexpr int entries_together = 4;

/// Rows of a tile: load(k, i) for all that exist, then store(k, i), k = 0 .. entries_together - 1. In two steps,
/// because a compiler that must think of overlap does not load the next entry before it has stored the last.
/// Groups of threads have a run of rows each, so that a thread's rows are a constant distance apart: one address of
/// each vector is worked out, not one for each row, and the registers hold values instead.
template <class Load, class Store>
CNC_GPU_DEVICE void for_tile(index_t tile, index_t n, const Load& load, const Store& store) {
  constexpr int step = 32;  // divides the threads of every block
  const int lane = thread_index() % step;
  const offset_t begin =
      (offset_t(tile) * block_threads() + (thread_index() - lane)) * entries_together + lane;
  const auto left = static_cast<index_t>(n - begin);
  const auto first = static_cast<index_t>(begin);
  CNC_GPU_UNROLL
  for (int k = 0; k < entries_together; ++k)
    if (k * step < left) load(k, first + k * step);
  CNC_GPU_UNROLL
  for (int k = 0; k < entries_together; ++k)
    if (k * step < left) store(k, first + k * step);
}

template <class V>
CNC_GPU_KERNEL(max_vector_threads)
axpby_kernel(index_t n, V alpha, const V* x, V beta, V* y) {
  V of_x[entries_together], of_y[entries_together];
  for_tile(
      block_index(), n,
      [&](int k, index_t i) {
        of_x[k] = x[i];
        of_y[k] = beta == V(0) ? V(0) : y[i];
      },
      [&](int k, index_t i) {
        y[i] = beta == V(0) ? alpha * of_x[k] : alpha * of_x[k] + beta * of_y[k];
      });
}

template <class V>
CNC_GPU_KERNEL(max_vector_threads)
scal_kernel(index_t n, V alpha, V* x) {
  V of_x[entries_together];
  for_tile(
      block_index(), n, [&](int k, index_t i) { of_x[k] = alpha == V(0) ? V(0) : x[i]; },
      [&](int k, index_t i) { x[i] = alpha == V(0) ? V(0) : alpha * of_x[k]; });
}

template <class V>
CNC_GPU_KERNEL(max_vector_threads)
multiply_kernel(index_t n, const V* x, const V* y, V* z) {
  V product[entries_together];
  for_tile(
      block_index(), n, [&](int k, index_t i) { product[k] = x[i] * y[i]; },
      [&](int k, index_t i) { z[i] = product[k]; });
}

template <int wave, class V>
CNC_GPU_KERNEL(max_vector_threads)
dot_kernel(index_t n, const V* x, const V* y, bool root, GridScratch scratch, double* result) {
  double sum[1] = {0};
  V of_x[entries_together], of_y[entries_together];
  const index_t tiles = ceil_div(n, block_threads() * entries_together);
  for (index_t tile = block_index(); tile < tiles; tile += grid_blocks())
    for_tile(
        tile, n,
        [&](int k, index_t i) {
          of_x[k] = x[i];
          of_y[k] = y[i];
        },
        [&](int k, index_t) { sum[0] += double(of_x[k]) * double(of_y[k]); });
  if (grid_sum<wave>(sum, scratch) && thread_index() == 0)
    *result = root ? std::sqrt(sum[0]) : sum[0];
}

/// Several dots with one vector, which is read once. The loads of all vectors are under way at one time: one vector after the
/// other took twice as long.
template <int wave, class V>
CNC_GPU_KERNEL(max_vector_threads)
mdot_kernel(index_t n, int count, const V* y, offset_t stride, const V* x, GridScratch scratch,
            double* result) {
  double sums[max_vectors_together] = {};
  V of_x[entries_together], of_y[entries_together][max_vectors_together];
  const index_t tiles = ceil_div(n, block_threads() * entries_together);
  for (index_t tile = block_index(); tile < tiles; tile += grid_blocks())
    for_tile(
        tile, n,
        [&](int k, index_t i) {
          of_x[k] = x[i];
          CNC_GPU_UNROLL
          for (int j = 0; j < max_vectors_together; ++j)
            of_y[k][j] = j < count ? y[j * stride + i] : V(0);
        },
        [&](int k, index_t) {
          CNC_GPU_UNROLL
          for (int j = 0; j < max_vectors_together; ++j)
            sums[j] += double(of_x[k]) * double(of_y[k][j]);
        });
  if (!grid_sum<wave>(sums, scratch) || thread_index() != 0) return;
  CNC_GPU_UNROLL
  for (int j = 0; j < max_vectors_together; ++j)  // sums stay in registers
    if (j < count) result[j] = sums[j];
}

/// The loads of max_vectors_together vectors are under way at one time; x is read and written once.
template <int wave, class V>
CNC_GPU_KERNEL(max_vector_threads)
maxpy_kernel(index_t n, int count, double scale, const double* c, const V* y, offset_t stride, V* x,
             GridScratch scratch, double* xx) {
  double sum[1] = {0};
  V of_x[entries_together], of_y[entries_together][max_vectors_together];
  const auto nothing = [](int, index_t) {};
  const index_t tiles = ceil_div(n, block_threads() * entries_together);
  for (index_t tile = block_index(); tile < tiles; tile += grid_blocks()) {
    for_tile(
        tile, n, [&](int k, index_t i) { of_x[k] = x[i]; }, nothing);
    for (int first = 0; first < count; first += max_vectors_together) {
      V factors[max_vectors_together];
      CNC_GPU_UNROLL
      for (int j = 0; j < max_vectors_together; ++j)
        factors[j] = first + j < count ? static_cast<V>(scale * c[first + j]) : V(0);
      for_tile(
          tile, n,
          [&](int k, index_t i) {
            CNC_GPU_UNROLL
            for (int j = 0; j < max_vectors_together; ++j)
              of_y[k][j] = first + j < count ? y[(first + j) * stride + i] : V(0);
          },
          [&](int k, index_t) {
            CNC_GPU_UNROLL
            for (int j = 0; j < max_vectors_together; ++j) of_x[k] += factors[j] * of_y[k][j];
          });
    }
    for_tile(tile, n, nothing, [&](int k, index_t i) {
      x[i] = of_x[k];
      sum[0] += double(of_x[k]) * double(of_x[k]);
    });
  }
  if (xx == nullptr) return;
  if (grid_sum<wave>(sum, scratch) && thread_index() == 0) *xx = sum[0];
}

template <class V>
CNC_GPU_KERNEL(max_vector_threads)
normalize_kernel(index_t n, const V* x, const double* xx, V* y) {
  const V factor = *xx > 0 ? static_cast<V>(1 / std::sqrt(*xx)) : V(0);
  V of_x[entries_together];
  for_tile(
      block_index(), n, [&](int k, index_t i) { of_x[k] = x[i]; },
      [&](int k, index_t i) { y[i] = *xx > 0 ? factor * of_x[k] : V(0); });
}

/// What a recurrence holds, from the system as given to the scaled one, or back with z := M^-1 r.
template <bool enters, class V>
CNC_GPU_KERNEL(max_vector_threads)
change_system_kernel(index_t n, const V* root, V* r, V* p, V* x, V* z) {
  V s[entries_together], of_r[entries_together], of_p[entries_together], of_x[entries_together];
  for_tile(
      block_index(), n,
      [&](int k, index_t i) {
        s[k] = root[i];
        of_r[k] = r[i];
        of_p[k] = p[i];
        of_x[k] = x[i];
      },
      [&](int k, index_t i) {
        r[i] = enters ? s[k] * of_r[k] : of_r[k] / s[k];
        p[i] = enters ? of_p[k] / s[k] : s[k] * of_p[k];
        x[i] = enters ? of_x[k] / s[k] : s[k] * of_x[k];
        if constexpr (!enters) z[i] = s[k] * of_r[k];
      });
}

inline int vector_threads(const Queue& queue, int most = max_vector_threads) {
  return chosen_threads(queue, tuning::vector_threads, most);
}
/// Threads for all entries of a vector, at most so many in a block.
inline Grid vector_grid(const Queue& queue, index_t n, int most = max_vector_threads) {
  const int threads = vector_threads(queue, most);
  return {ceil_div(n, threads * entries_together), threads};
}
/// The same for kernels whose blocks leave `sums` partial sums each.
inline Grid reducing_grid(const Queue& queue, index_t n, int sums, int most = max_vector_threads,
                          int on_processor = 1024) {
  Grid grid = vector_grid(queue, n, most);
  grid.blocks = reducing_blocks(queue, grid.blocks, grid.threads, sums, on_processor);
  return grid;
}

template <int wave, class V>
void VectorEntries<wave, V>::axpby(const Queue& queue, index_t n, V alpha, const V* x, V beta,
                                   V* y) {
  launch("axpby", queue, vector_grid(queue, n), axpby_kernel<V>, n, alpha, x, beta, y);
}
template <int wave, class V>
void VectorEntries<wave, V>::axpy(const Queue& queue, index_t n, V alpha, const V* x, V* y) {
  axpby(queue, n, alpha, x, V(1), y);
}
template <int wave, class V>
void VectorEntries<wave, V>::scal(const Queue& queue, index_t n, V alpha, V* x) {
  launch("scal", queue, vector_grid(queue, n), scal_kernel<V>, n, alpha, x);
}
template <int wave, class V>
void VectorEntries<wave, V>::multiply(const Queue& queue, index_t n, const V* x, const V* y, V* z) {
  launch("multiply", queue, vector_grid(queue, n), multiply_kernel<V>, n, x, y, z);
}
template <int wave, class V>
void VectorEntries<wave, V>::dot(const Queue& queue, index_t n, const V* x, const V* y,
                                 double* result) {
  launch("dot", queue, reducing_grid(queue, n, 1), dot_kernel<wave, V>, n, x, y, false,
         grid_scratch(queue), result);
}
template <int wave, class V>
void VectorEntries<wave, V>::nrm2(const Queue& queue, index_t n, const V* x, double* result) {
  launch("nrm2", queue, reducing_grid(queue, n, 1), dot_kernel<wave, V>, n, x, x, true,
         grid_scratch(queue), result);
}

template <int wave, class V>
void VectorEntries<wave, V>::mdot(const Queue& queue, index_t n, int count, const V* y,
                                  offset_t stride, const V* x, double* result) {
  launch("mdot", queue, reducing_grid(queue, n, max_vectors_together), mdot_kernel<wave, V>, n,
         count, y, stride, x, grid_scratch(queue), result);
}
template <int wave, class V>
void VectorEntries<wave, V>::maxpy(const Queue& queue, index_t n, int count, double scale,
                                   const double* c, const V* y, offset_t stride, V* x, double* xx) {
  launch("maxpy", queue, reducing_grid(queue, n, 1), maxpy_kernel<wave, V>, n, count, scale, c, y,
         stride, x, grid_scratch(queue), xx);
}
template <int wave, class V>
void VectorEntries<wave, V>::normalize(const Queue& queue, index_t n, const V* x, const double* xx,
                                       V* y) {
  launch("normalize", queue, vector_grid(queue, n), normalize_kernel<V>, n, x, xx, y);
}
template <int wave, class V>
void VectorEntries<wave, V>::change_system(const Queue& queue, index_t n, bool enters,
                                           const V* root, V* r, V* p, V* x, V* z) {
  const auto kernel = enters ? change_system_kernel<true, V> : change_system_kernel<false, V>;
  launch("change_system", queue, vector_grid(queue, n), kernel, n, root, r, p, x, z);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
