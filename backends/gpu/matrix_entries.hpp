#pragma once

#include <gpu/csr_balanced.hpp>
#include <gpu/entries.hpp>
#include <gpu/pcg_run.hpp>

// From an operation of the table to the launch of a kernel. A source that includes this instantiates
// the entries of one format in one precision, or the products of one mapping.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::spmv(const Queue& queue, V alpha, const Operand& A,
                                           const V* x, V beta, V* y) {
  with_rows<wave, V>(queue, A, [&](const auto& rows, int threads) {
    launch_spmv(queue, rows, chosen_threads(queue, threads), alpha, x, beta, y);
  });
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::spmv_dot(const Queue& queue, const Operand& A, const V* x,
                                               V* y, double* result) {
  with_rows<wave, V>(queue, A, [&](const auto& rows, int threads) {
    launch_spmv_dot<wave>(queue, rows, chosen_threads(queue, threads), x, y, result);
  });
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::pcg_run(const Queue& queue, const Operand& A,
                                              const PreconditionerOperand<V>& M,
                                              const PcgVectors<V>& v, PcgScalars* scalars,
                                              PcgRun* run) {
  PcgRunner<wave, Operand, V>::run_iterations(queue, A, M, v, scalars, run);
}

template <int wave, class Operand, class V>
std::unique_ptr<PcgPlan> MatrixEntries<wave, Operand, V>::pcg_plan(const Queue& queue,
                                                                   const Operand& A) {
  return PcgRunner<wave, Operand, V>::make_plan(queue, A);
}

template <int wave, RowMapping mapping, class M, class V>
void MappingEntries<wave, mapping, M, V>::spmv(const Queue& queue, V alpha, const BcsrOperand<M>& A,
                                               const V* x, V beta, V* y) {
  if constexpr (mapping == RowMapping::balanced) {
    balanced_spmv<wave>(queue, alpha, A, x, beta, y);
  } else {
    constexpr bool per_block = mapping == RowMapping::row_per_block;
    with_block_size(A.block_size, [&](auto size) {
      const BcsrRows<wave, decltype(size)::value, wave, per_block, M, V> rows{A};
      const int tuned = per_block ? tuning::row_per_block_threads : tuning::bcsr_threads;
      launch_spmv(queue, rows, chosen_threads(queue, tuned), alpha, x, beta, y);
    });
  }
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
