#pragma once

#include <gpu/unit_diagonal.hpp>

#include <target/launch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// The kernels that scale a matrix to a unit diagonal. Among the products of its format: kernels beside those of the runs, which are
// many and large, would have the device load all of these for the first of them.

namespace cnc::gpu::inline CNC_GPU_TARGET {

inline constexpr int scaling_threads = 256;

/// D^-1/2 and D; a word for the host where an entry has no root.
template <class V>
CNC_GPU_KERNEL(scaling_threads)
root_kernel(index_t n, const V* inverse, V* root, V* diagonal, std::int32_t* unfit) {
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  if (i >= n) return;
  const V of_row = inverse[i], entry = V(1) / of_row;
  root[i] = std::sqrt(of_row);
  diagonal[i] = entry;
  constexpr V largest = std::numeric_limits<V>::max();
  if (!(of_row > 0 && of_row <= largest && entry > 0 && entry <= largest)) *unfit = 1;
}

/// Whether an entry is that of D, but for rounding: a preconditioner of the caller's may be another.
template <class V>
CNC_GPU_DEVICE bool is_entry_of_diagonal(V entry, V inverse) {
  const V distance = entry * inverse - V(1), most = 8 * std::numeric_limits<V>::epsilon();
  return distance >= -most && distance <= most;
}

/// The same for both of a symmetric pair.
template <class V>
CNC_GPU_DEVICE V scaled_entry(V root, V value, V other_root) {
  return value * (root * other_root);
}

/// A thread for each row, and one for the end of the last. Rows are one entry shorter than those of A.
template <class Column, class V>
CNC_GPU_KERNEL(scaling_threads)
scale_csr_kernel(BcsrOperand<V> A, const Column* from, const V* inverse, const V* root,
                 index_t* row_offsets, Column* columns, V* values, std::int32_t* unfit) {
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  if (i > A.rows) return;
  const auto row = static_cast<index_t>(i);
  index_t to = A.row_offsets[row] - row;
  row_offsets[row] = to;
  if (row == A.rows) return;
  const index_t begin = A.row_offsets[row], end = A.row_offsets[row + 1];
  const index_t last = std::min(end - row - 1, A.blocks - A.rows);
  bool found = false;
  for (index_t k = begin; k < end; ++k) {
    const index_t column = column_at(from[k], row);
    const V value = A.values[k];
    if (!found && column == row) {
      found = is_entry_of_diagonal(value, inverse[row]);
    } else if (to >= 0 && to < last) {  // in any case inside the arrays
      columns[to] = from[k];
      values[to++] = scaled_entry(root[row], value, root[column]);
    }
  }
  if (!found) *unfit = 1;
}

/// A thread for each place of the sorted rows. Slices are a slot for each lane shorter than those of A.
template <class Column, class V>
CNC_GPU_KERNEL(scaling_threads)
scale_slices_kernel(BsellOperand<V> A, const Column* from, const V* inverse, const V* root,
                    offset_t* slice_offsets, Column* columns, V* values, std::int32_t* unfit) {
  const offset_t C = A.slice_height;
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  const offset_t slice = i / C, lane = i % C;
  if (slice > A.slices() || (slice == A.slices() && lane > 0)) return;
  const offset_t begin = A.slice_offsets[slice], to_begin = begin - slice * C;
  if (lane == 0) slice_offsets[slice] = to_begin;
  if (slice == A.slices()) return;
  const offset_t size = A.slots - A.slices() * C;
  const offset_t last = std::min(A.slice_offsets[slice + 1] - (slice + 1) * C, size);
  const index_t row = A.row_permutation[i];
  const bool padding = row < 0;
  bool found = padding;
  offset_t to = to_begin + lane;
  for (offset_t k = begin + lane + (padding ? C : 0); k < A.slice_offsets[slice + 1]; k += C) {
    const index_t column = column_at(from[k], static_cast<index_t>(slice * C));
    const V value = A.values[k];
    if (!found && column == row) {
      found = is_entry_of_diagonal(value, inverse[row]);
    } else if (to >= 0 && to < last) {
      columns[to] = from[k];
      values[to] = padding ? V(0) : scaled_entry(root[row], value, root[column]);
      to += C;
    }
  }
  if (!found || last < to_begin) *unfit = 1;
}

/// A thread for each row, of all diagonals but the one at place `main`.
template <class V>
CNC_GPU_KERNEL(scaling_threads)
scale_diagonals_kernel(DiaOperand<V> A, index_t main, const V* inverse, const V* root, V* values,
                       std::int32_t* unfit) {
  const offset_t row = offset_t(block_index()) * block_threads() + thread_index();
  if (row >= A.rows) return;
  for (index_t d = 0; d < A.diagonals; ++d) {
    const V value = A.values[offset_t(d) * A.rows + row];
    if (d == main) {
      if (!is_entry_of_diagonal(value, inverse[row])) *unfit = 1;
    } else {
      const offset_t column = row + A.offsets[d];
      values[offset_t(d - (d > main)) * A.rows + row] =
          column >= 0 && column < A.cols ? scaled_entry(root[row], value, root[column]) : V(0);
    }
  }
}

inline Grid scaling_grid(offset_t threads) {
  return {static_cast<index_t>((threads + scaling_threads - 1) / scaling_threads), scaling_threads};
}

template <class Operand>
bool UnitDiagonal<Operand>::scale(const Queue& queue, const V* inverse) {
  if (!memory_) return false;
  if (inverse == inverse_) return true;
  forget_values();
  std::int32_t* const unfit = flag_.template as<std::int32_t>();
  *unfit = 0;
  const index_t rows = made_of_.rows;
  launch("root", queue, scaling_grid(rows), root_kernel<V>, rows, inverse, root_, diagonal_, unfit);
  scale_entries(queue, made_of_, inverse, unfit);
  synchronize(queue);
  if (*unfit != 0) return false;
  inverse_ = inverse;
  return true;
}

template <class Operand>
void UnitDiagonal<Operand>::scale_entries(const Queue& queue, const DiaOperand<V>& A,
                                          const V* inverse, std::int32_t* unfit) {
  launch("scale_diagonals", queue, scaling_grid(A.rows), scale_diagonals_kernel<V>, A, main_,
         inverse, root_, values_, unfit);
}

template <class Operand>
void UnitDiagonal<Operand>::scale_entries(const Queue& queue, const BsellOperand<V>& A,
                                          const V* inverse, std::int32_t* unfit) {
  const Grid threads = scaling_grid(offset_t(A.slices()) * A.slice_height + 1);
  if (A.short_columns != nullptr)
    launch("scale_slices", queue, threads, scale_slices_kernel<ShortColumn, V>, A, A.short_columns,
           inverse, root_, places_, short_columns_, values_, unfit);
  else
    launch("scale_slices", queue, threads, scale_slices_kernel<index_t, V>, A, A.columns, inverse,
           root_, places_, columns_, values_, unfit);
}

template <class Operand>
void UnitDiagonal<Operand>::scale_entries(const Queue& queue, const BcsrOperand<V>& A,
                                          const V* inverse, std::int32_t* unfit) {
  const Grid threads = scaling_grid(offset_t(A.rows) + 1);
  if (A.short_columns != nullptr)
    launch("scale_csr", queue, threads, scale_csr_kernel<ShortColumn, V>, A, A.short_columns,
           inverse, root_, places_, short_columns_, values_, unfit);
  else
    launch("scale_csr", queue, threads, scale_csr_kernel<index_t, V>, A, A.columns, inverse, root_,
           places_, columns_, values_, unfit);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
