#pragma once

#include <cnc/contract/operands.hpp>

#include "parts/row_pattern.hpp"

#include <gpu/runtime.hpp>

#include <cstddef>
#include <limits>
#include <vector>

// What the host has to know of a matrix on the device before it can cut it into parts.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <class T>
std::vector<T> on_host(const Queue& queue, const T* from, std::size_t n) {
  std::vector<T> copy(n);
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
cnc::detail::DiaPattern<M> host_pattern(const Queue& queue, const DiaOperand<M>& A) {
  return {A.rows, A.symmetric, on_host(queue, A.offsets, std::size_t(A.diagonals)),
          on_host(queue, A.values, std::size_t(A.diagonals) * std::size_t(A.rows))};
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
