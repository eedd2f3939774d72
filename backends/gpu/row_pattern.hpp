#pragma once

#include <cnc/contract/operands.hpp>

#include "parts/row_pattern.hpp"

#include <gpu/runtime.hpp>

#include <target/launch.hpp>

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

inline constexpr int present_threads = 256;

/// The bits of a DiaPattern, a thread for each row: a fraction of the values that they are told from.
template <class M>
CNC_GPU_KERNEL(present_threads)
present_kernel(index_t rows, index_t diagonals, const M* values, index_t bytes_per_row,
               std::uint8_t* present) {
  const offset_t row = offset_t(block_index()) * block_threads() + thread_index();
  if (row >= rows) return;
  for (index_t byte = 0; byte < bytes_per_row; ++byte) {
    unsigned bits = 0;
    for (index_t d = 8 * byte; d < 8 * byte + 8 && d < diagonals; ++d)
      bits |= (values[offset_t(d) * rows + row] != M(0) ? 1u : 0u) << (d % 8);
    present[row * bytes_per_row + byte] = static_cast<std::uint8_t>(bits);
  }
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
  cnc::detail::DiaPattern pattern{
      A.rows, A.symmetric, on_host(queue, A.offsets, std::size_t(A.diagonals)), {}};
  const std::size_t bytes = std::size_t(A.rows) * pattern.bytes_per_row();
  const DeviceBuffer present(queue.device, std::max<std::size_t>(1, bytes));
  launch("present", queue, {ceil_div(A.rows, present_threads), present_threads}, present_kernel<M>,
         A.rows, A.diagonals, A.values, static_cast<index_t>(pattern.bytes_per_row()),
         present.as<std::uint8_t>());
  pattern.present = on_host(queue, present.as<std::uint8_t>(), bytes);
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
