#pragma once

#include <cnc/contract/operands.hpp>

#include "parts/row_pattern.hpp"

#include <gpu/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

// What the host has to know of a matrix on the device before it can cut it into parts.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <class T>
cnc::detail::HostArray<T> on_host(const Queue& queue, const T* from, std::size_t n) {
  cnc::detail::HostArray<T> copy(n);
  if (n > 0) copy_to_host(queue, copy.data(), from, n * sizeof(T));
  return copy;
}

/// @{
/// The arrays of an operand that say where its entries are. Waits for what is under way on the queue.
template <class M>
cnc::detail::BcsrPattern host_pattern(const Queue& queue, const BcsrOperand<M>& A) {
  return {A.rows, A.block_size, on_host(queue, A.row_offsets, std::size_t(A.block_rows()) + 1),
          on_host(queue, A.columns, std::size_t(A.blocks))};
}
template <class M>
cnc::detail::BsellPattern host_pattern(const Queue& queue, const BsellOperand<M>& A) {
  const auto lanes = std::size_t(A.slices()) * std::size_t(A.slice_height);
  return {A.rows,
          A.block_size,
          A.slice_height,
          on_host(queue, A.slice_offsets, std::size_t(A.slices()) + 1),
          on_host(queue, A.columns, std::size_t(A.slots)),
          on_host(queue, A.row_permutation, lanes)};
}
template <class M>
cnc::detail::DiaPattern host_pattern(const Queue& queue, const DiaOperand<M>& A) {
  constexpr index_t piece_rows = 1 << 15;  // of a diagonal, which is as long as the matrix
  cnc::detail::DiaPattern pattern{
      A.rows, A.symmetric, on_host(queue, A.offsets, std::size_t(A.diagonals)), {}};
  const std::size_t bytes = pattern.bytes_per_row();
  pattern.present.allocate(std::size_t(A.rows) * bytes);
  std::fill(pattern.present.begin(), pattern.present.end(), std::uint8_t(0));
  cnc::detail::HostArray<M> piece(std::size_t(std::min(A.rows, piece_rows)));
  for (index_t d = 0; d < A.diagonals; ++d)
    for (index_t first = 0; first < A.rows; first += piece_rows) {
      const auto n = std::size_t(std::min(piece_rows, A.rows - first));
      copy_to_host(queue, piece.data(), A.values + offset_t(d) * A.rows + first, n * sizeof(M));
      std::uint8_t* const to =
          pattern.present.data() + std::size_t(first) * bytes + std::size_t(d) / 8;
      for (std::size_t k = 0; k < n; ++k)
        to[k * bytes] |= static_cast<std::uint8_t>((piece[k] != M(0) ? 1 : 0) << (d % 8));
    }
  return pattern;
}
/// @}

/// @{
/// Values that an operand stores.
template <class M>
offset_t stored_values(const BcsrOperand<M>& A) {
  return offset_t(A.blocks) * A.block_size * A.block_size;
}
template <class M>
offset_t stored_values(const BsellOperand<M>& A) {
  return A.slots * A.block_size * A.block_size;
}
template <class M>
offset_t stored_values(const DiaOperand<M>& A) {
  return offset_t(A.diagonals) * A.rows;
}
/// @}

/// Whether matrices in a format are grids as a rule.
template <class Operand>
inline constexpr bool holds_grids = false;
template <class M>
inline constexpr bool holds_grids<DiaOperand<M>> = true;

/// Whether the places of values can be counted.
template <class Operand>
bool has_row_pattern(const Operand& A) {
  return A.rows == A.cols && stored_values(A) <= std::numeric_limits<index_t>::max();
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
