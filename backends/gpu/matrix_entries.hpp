#pragma once

#include <gpu/choose_rows.hpp>
#include <gpu/columns.hpp>
#include <gpu/csr_balanced.hpp>
#include <gpu/entries.hpp>
#include <gpu/product_kernel.hpp>
#include <gpu/scale_matrix.hpp>

// From an operation of the table to the launch of a kernel. A source that includes this instantiates
// the entries of one format in one precision, or the products of one mapping.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::spmv(const Queue& queue, V alpha, const Operand& A,
                                           const V* x, V beta, V* y) {
  with_product_rows<wave, V>(queue, A, [&](const auto& rows, int threads) {
    launch_spmv(queue, rows, chosen_threads(queue, threads), alpha, x, beta, y);
  });
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::relax(const Queue& queue, const Operand& A,
                                            const RelaxationStep<V>& step, const V* x, V* y) {
  with_product_rows<wave, V>(queue, A, [&](const auto& rows, int threads) {
    launch_relax(queue, rows, chosen_threads(queue, threads), step, x, y);
  });
}

template <int wave, class Operand, class V>
bool MatrixEntries<wave, Operand, V>::residual(const Queue& queue, const Operand& A, const V* b,
                                               const V* x, V* r, double* norm, double* norm_of_b) {
  const auto start = [&](const auto& rows, int threads) {
    launch_residual<wave>(queue, rows, chosen_threads(queue, threads), b, x, r, norm, norm_of_b);
  };
  if (with_rows_beside<wave, V>(A, start)) return true;
  if constexpr (requires { A.block_size; })
    if (A.block_size != 1) return false;
  with_scalar_rows<wave, V>(queue, A, start);
  return true;
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::spmv_dot(const Queue& queue, const Operand& A, const V* x,
                                               V* y, const ProductDots<V>& dots) {
  product(queue, A, x, y, dots, nullptr);
}

/// Calls f with the number of dots as a constant: none, with . y, and y . y as well.
template <class V, class F>
void with_count(const ProductDots<V>& dots, const F& f) {
  if (dots.with == nullptr)
    f(std::integral_constant<int, 0>());
  else if (dots.self_result == nullptr)
    f(std::integral_constant<int, 1>());
  else
    f(std::integral_constant<int, 2>());
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::product(const Queue& queue, const Operand& A, const V* x,
                                              V* y, const ProductDots<V>& dots,
                                              const RunState* run) {
  if (dots.with == nullptr && run == nullptr) return spmv(queue, V(1), A, x, V(0), y);
  with_product_rows<wave, V>(queue, A, [&](const auto& rows, int tuned) {
    const int threads = chosen_threads(queue, tuned);
    with_count(dots, [&](auto count) {
      launch_product<wave, count, false>(queue, rows, threads, x, y, dots, run);
    });
  });
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::product_among_peers(const Queue& queue, const Operand& A,
                                                          const V* x, V* y,
                                                          const ProductDots<V>& dots,
                                                          const PeerOperand<V>& peers,
                                                          const RunState* run) {
  with_product_rows<wave, V>(queue, A, [&](const auto& rows, int tuned) {
    const int threads = chosen_threads(queue, tuned);
    with_count(dots, [&](auto count) {
      launch_product_among_peers<wave, count>(queue, rows, threads, x, y, dots, peers, run);
    });
  });
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::product_of_scaled(const Queue& queue, const Operand& A,
                                                        const V* x, V* y,
                                                        const ProductDots<V>& dots,
                                                        const RunState* run) {
  if constexpr (std::is_same_v<typename Operand::value_type, V>) {
    const auto multiply = [&](const auto& rows, int tuned) {
      launch_product<wave, 1, true>(queue, rows, chosen_threads(queue, tuned), x, y, dots, run);
    };
    with_scalar_rows<wave, V>(queue, A, multiply);
  }
}

template <int wave, class Operand, class V>
bool MatrixEntries<wave, Operand, V>::scale(const Queue& queue, UnitDiagonal<Operand>& scaled,
                                            const V* inverse) {
  if constexpr (std::is_same_v<typename Operand::value_type, V>)
    return scaled.scale(queue, inverse);
  else
    return false;
}

template <int wave, class Operand, class V>
std::unique_ptr<MatrixPlan> MatrixEntries<wave, Operand, V>::plan(const Queue& queue,
                                                                  const Operand& A) {
  if constexpr (requires { A.row_offsets; }) {
    constexpr int together = BcsrRows<wave, 1, 2, false, typename Operand::value_type, V>::together;
    const int most = csr_lanes(queue, A.rows, A.blocks, wave) * together * tuning::most_row_steps;
    if (A.block_size != 1 || A.rows == 0 || A.blocks <= most) return nullptr;
    const DeviceBuffer flag(queue.device, sizeof(std::int32_t));
    auto* const found = flag.as<std::int32_t>();
    fill_bytes(queue, found, 0, sizeof *found);
    launch("longest", queue, {ceil_div(A.rows, longest_threads), longest_threads},
           longest_kernel<wave>, A.rows, A.row_offsets, most, found);
    std::int32_t is_uneven = 0;
    copy_to_host(queue, &is_uneven, found, sizeof is_uneven);
    if (is_uneven != 0) return std::make_unique<BalancedPlan>();
  }
  return nullptr;
}

template <int wave, class Operand, class V>
void MatrixEntries<wave, Operand, V>::spmm(const Queue& queue, int columns, V alpha,
                                           const Operand& A, const V* x, V beta, V* y,
                                           const ColumnDots<V>& dots) {
  if constexpr (requires { A.block_size; })
    if (A.block_size != 1) return launch_spmm<wave, 0>(queue, columns, alpha, A, x, beta, y, dots);
  launch_spmm<wave, 1>(queue, columns, alpha, A, x, beta, y, dots);
}

template <int wave, RowMapping mapping, class M, class V>
void MappingEntries<wave, mapping, M, V>::spmv(const Queue& queue, V alpha, const BcsrOperand<M>& A,
                                               const V* x, V beta, V* y) {
  if constexpr (mapping == RowMapping::balanced) {
    if (A.block_size != 1)
      throw UnsupportedOperation("equal shares of nonzeros are for block size 1 (csr)");
    using Balanced = BalancedCsr<wave, M, V>;
    launch_spmv(queue, Balanced{A}, chosen_threads(queue, Balanced::most_threads), alpha, x, beta,
                y);
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
