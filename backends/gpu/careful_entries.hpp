#pragma once

#include <cnc/contract/careful_rows.hpp>

#include <gpu/entries.hpp>
#include <gpu/pass_kernel.hpp>

#include <algorithm>

// Compensated sums, and products in a given arithmetic (cnc/contract/arithmetic.hpp). Sources that instantiate them are compiled
// without contraction. A thread has one row at a time: they are about digits, not about time.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// N compensated sums of the rows [0, n), of which row i adds its part by add(terms, i). True on the threads of the block that
/// then holds the totals. Collective.
template <int wave, int N, class Add>
CNC_GPU_DEVICE bool sum_rows(index_t n, const Add& add, const GridScratch& scratch,
                             double (&totals)[N]) {
  CompensatedTerms<N> terms{};
  const offset_t step = offset_t(grid_blocks()) * block_threads();
  for (offset_t i = offset_t(block_index()) * block_threads() + thread_index(); i < n; i += step)
    add(terms, static_cast<index_t>(i));
  if (!grid_sum<wave>(terms.sums, scratch)) return false;
  for (int k = 0; k < N; ++k) totals[k] = terms.sums[k].value();
  return true;
}

template <int wave, class V>
CNC_GPU_KERNEL(max_pass_threads)
careful_dot_kernel(index_t n, const V* x, const V* y, GridScratch scratch, double* result) {
  double sum[1];
  const auto add = [&](CompensatedTerms<1>& terms, index_t i) { terms(0, x[i], y[i]); };
  if (sum_rows<wave>(n, add, scratch, sum) && thread_index() == 0) *result = sum[0];
}

/// What PassPart::after does of a pass with sums.
template <int wave, class V, class Pass>
CNC_GPU_KERNEL(max_pass_threads)
careful_sums_kernel(index_t n, MethodVectors<V> v, MethodScalars* scalars, GridScratch scratch) {
  MethodScalars stored;
  copy_scalars(*scalars, stored);
  const MethodScalars begun = begin_pass<Pass>(stored);
  if (begun.breakdown != Breakdown::none) {
    if (block_index() == 0 && thread_index() == 0) scalars->breakdown = begun.breakdown;
    return;
  }
  CNC_GPU_SHARED KeptScalars kept;
  if (thread_index() == 0) kept.set(begun);
  const Pass pass(begun);
  double sums[Pass::sums.count];
  const auto add = [&](auto& terms, index_t i) {
    Row<V> row;
    for_vectors<Pass::summed>([&](auto k) { row[k] = v[k][i]; });
    pass.sums_of(row, terms);
  };
  if (sum_rows<wave>(n, add, scratch, sums) && thread_index() == 0)
    finish_pass<Pass>(kept, sums, scalars, RunLink());
}

template <class Rows, class V>
CNC_GPU_KERNEL(max_spmv_threads)
careful_product_kernel(Rows rows, Arithmetic arithmetic, const V* x, V* y) {
  const offset_t step = offset_t(grid_blocks()) * block_threads();
  for (offset_t t = offset_t(block_index()) * block_threads() + thread_index(); t < rows.count();
       t += step)
    detail::careful_row(rows, t, arithmetic, x, y);
}

/// Blocks that each leave `sums` compensated sums, of two numbers.
inline Grid careful_grid(const Queue& queue, index_t n, int sums) {
  const int threads = vector_threads(queue, max_pass_threads);
  return {reducing_blocks(queue, ceil_div(n, threads), threads, 2 * sums), threads};
}

template <int wave, class V>
void CarefulEntries<wave, V>::dot(const Queue& queue, index_t n, const V* x, const V* y,
                                  double* result) {
  launch("careful_dot", queue, careful_grid(queue, n, 1), careful_dot_kernel<wave, V>, n, x, y,
         grid_scratch(queue), result);
}

template <int wave, class V>
void CarefulEntries<wave, V>::sums(const Queue& queue, PassName name, index_t n,
                                   const MethodVectors<V>& v, MethodScalars* scalars) {
  for_summing_pass<V>(name, [&]<class Pass>() {
    launch("careful_sums", queue, careful_grid(queue, n, Pass::sums.count),
           careful_sums_kernel<wave, V, Pass>, n, v, scalars, grid_scratch(queue));
  });
}

template <class Operand, class V>
void CarefulProducts<Operand, V>::spmv(const Queue& queue, Arithmetic arithmetic, const Operand& A,
                                       const V* x, V* y) {
  using Rows = detail::StoredRows<Operand, 0>;
  const Rows rows{A};
  const int threads = chosen_threads(queue, tuning::csr_threads);
  constexpr offset_t most = offset_t(1) << 22;
  const offset_t blocks = std::min((rows.count() + threads - 1) / threads, most);
  launch("careful_product", queue, {static_cast<index_t>(blocks), threads},
         careful_product_kernel<Rows, V>, rows, arithmetic, x, y);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
