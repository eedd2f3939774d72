#pragma once

#include "convert/block_row.hpp"
#include "convert/bsell_layout.hpp"
#include "convert/place_row.hpp"

// What conversions do with one lane of a BSELL matrix. Called by host loops and inside kernels alike.

namespace cnc::detail {

/// Writes columns and values of one lane; its values are zero on entry.
template <class T>
KOKKOS_INLINE_FUNCTION void fill_lane(const BcsrOperand<T>& source, const Lane<T>& lane,
                                      index_t* columns, T* values) {
  const int b = lane.block_size;
  const offset_t C = lane.slice_height;
  const offset_t block_stride = C * b * b;
  offset_t j = 0;
  T* block = values;
  const auto on_block = [&](index_t column) {
    columns[j * C] = column;
    block = values + j * block_stride;
    ++j;
  };
  const auto on_entry = [&](int r, int c, index_t k) { block[(r * b + c) * C] = source.values[k]; };
  if (lane.block_row >= 0) {
    if (b == 1)
      walk_row(source, lane.block_row, on_block, on_entry);
    else
      walk_block_row(source, b, lane.block_row, on_block, on_entry);
  }
  const index_t padding = j > 0 ? columns[(j - 1) * C] : 0;
  for (; j < lane.width; ++j) columns[j * C] = padding;
}

/// Row r of a lane as a row of the matrix, -1 in a padding lane and beyond the last row.
template <class T>
KOKKOS_INLINE_FUNCTION index_t row_of(const Lane<T>& lane, int r) {
  return r < lane.height ? lane.block_row * lane.block_size + r : -1;
}

/// Calls use(column, value) for the entries of row r of a lane that are not zero, columns ascending.
template <class T, class Use>
KOKKOS_INLINE_FUNCTION void walk_entries(const BsellOperand<T>& A, const Lane<T>& lane, int r,
                                         const Use& use) {
  const offset_t C = lane.slice_height;
  const int b = lane.block_size;
  offset_t at = lane.position(0, r, 0);
  for (offset_t j = 0; j < lane.width; ++j, at += b * b * C) {
    const index_t first = lane.column(j) * b;
    for (int c = 0; c < b; ++c)
      if (const T value = A.values[at + c * C]; value != T(0)) use(first + c, value);
  }
}

/// Overwrites row r of a lane with the source's values; place_row's result.
template <class T, class S>
KOKKOS_INLINE_FUNCTION index_t refresh_row(const Lane<T>& lane, T* values,
                                           const BcsrOperand<S>& source, int r) {
  const offset_t C = lane.slice_height;
  const offset_t first = lane.position(0, r, 0);
  const offset_t stride = C * lane.block_size * lane.block_size;
  return place_row<T>(
      source, row_of(lane, r), lane.block_size, lane.width,
      [&](offset_t j) { return lane.column(j); },
      [&](offset_t j, int c, T value) { values[first + j * stride + c * C] = value; });
}

/// What can be wrong with a slice.
enum class SliceFault : int { none, offsets, slots, range, fill, order, padding };

inline const char* fault_text(SliceFault fault) {
  switch (fault) {
    case SliceFault::none: break;
    case SliceFault::offsets: return "slice offsets do not ascend from 0 to the number of slots";
    case SliceFault::slots: return "its slots are no multiple of the slice height";
    case SliceFault::range: return "a column is out of range";
    case SliceFault::fill: return "an entry outside the matrix is not zero";
    case SliceFault::order: return "columns do not ascend, or padding repeats no column of its row";
    case SliceFault::padding: return "padding is not zero";
  }
  return "";
}

template <class T>
KOKKOS_INLINE_FUNCTION bool block_is_zero(const BsellOperand<T>& A, const Lane<T>& lane, offset_t j,
                                          int first_row, int first_col) {
  for (int r = 0; r < A.block_size; ++r)
    for (int c = r < first_row ? first_col : 0; c < A.block_size; ++c)
      if (A.values[lane.position(j, r, c)] != T(0)) return false;
  return true;
}

/// Blocks of the lane before its padding: columns ascend up to there.
template <class T>
KOKKOS_INLINE_FUNCTION offset_t used_width(const Lane<T>& lane) {
  offset_t j = lane.block_row < 0 || lane.width == 0 ? 0 : 1;
  while (j > 0 && j < lane.width && lane.column(j) > lane.column(j - 1)) ++j;
  return j;
}

/// What is wrong with the slots of a slice as a whole.
template <class T>
KOKKOS_INLINE_FUNCTION SliceFault slots_fault(const BsellOperand<T>& A, offset_t slots,
                                              index_t slice) {
  const offset_t begin = A.slice_offsets[slice];
  const offset_t end = A.slice_offsets[slice + 1];
  if (begin < 0 || end < begin || end > slots) return SliceFault::offsets;
  return (end - begin) % A.slice_height == 0 ? SliceFault::none : SliceFault::slots;
}

/// What is wrong with one lane of a slice whose slots are in order.
template <class T>
KOKKOS_INLINE_FUNCTION SliceFault lane_fault(const BsellOperand<T>& A, const Lane<T>& lane) {
  const index_t block_cols = ceil_div(A.cols, A.block_size);
  const offset_t used = used_width(lane);
  if (used > 0 && (lane.column(0) < 0 || lane.column(used - 1) >= block_cols))
    return SliceFault::range;
  for (offset_t j = used; j < lane.width; ++j)
    if (lane.column(j) < 0 || lane.column(j) >= block_cols) return SliceFault::range;
  // Only blocks of the last block row and a block of the last block column can be partial.
  for (offset_t j = lane.height < A.block_size ? 0 : std::max<offset_t>(used - 1, 0); j < used;
       ++j) {
    const int width = std::min<index_t>(A.block_size, A.cols - lane.column(j) * A.block_size);
    if (!block_is_zero(A, lane, j, lane.height, width)) return SliceFault::fill;
  }
  for (offset_t j = used; j < lane.width; ++j) {
    bool own = used == 0 || lane.column(j) == lane.column(used - 1);
    for (offset_t i = 0; i < used && !own; ++i) own = lane.column(i) == lane.column(j);
    if (!own) return SliceFault::order;
    if (!block_is_zero(A, lane, j, 0, 0)) return SliceFault::padding;
  }
  return SliceFault::none;
}

}  // namespace cnc::detail
