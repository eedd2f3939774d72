#pragma once

#include <openmp/bcsr_spmv.hpp>

namespace cnc::openmp::CNC_ISA {

// Products of slices [begin, end) of a BSELL matrix with x: W block rows side by side in the
// lanes of a register, so rows need no sum across lanes however short they are.

/// The B rows of W lanes starting at `lane` of slice s, for full slices.
template <int B, int W, bool by_instruction, class V, class T, class Store>
CNC_INLINE void slice_lanes(const BsellOperand<T>& A, const V* x, const Store& store, index_t s,
                            int lane) {
  const int C = A.slice_height;
  const offset_t first = A.slice_offsets[s], last = A.slice_offsets[s + 1];
  const index_t last_col = A.cols - 1;
  const bool partial = A.cols % B != 0;
  Vec<V, W> sums[B] = {};
  for (offset_t slot = first; slot < last; slot += C) {
    const Vec<index_t, W> column = load<index_t, W>(A.columns + slot + lane) * B;
    const T* block = A.values + slot * (B * B) + lane;
    for (int c = 0; c < B; ++c) {
      Vec<index_t, W> index = column + c;
      // Out of range only where a partial block stores zeros; any x in range will do there.
      if (partial) index = index < last_col ? index : Vec<index_t, W>{} + last_col;
      const Vec<V, W> xc = gather<V, W, by_instruction>(x, index);
      for (int r = 0; r < B; ++r) sums[r] += load<V, W>(block + (r * B + c) * C) * xc;
    }
  }
  for (int l = 0; l < W; ++l) {
    const index_t block_row = A.row_permutation[static_cast<offset_t>(s) * C + lane + l];
    if (block_row < 0) continue;
    for (int r = 0; r < B; ++r) {
      const index_t row = block_row * B + r;
      if (row < A.rows) store(row, V(sums[r][l]));
    }
  }
}

/// One lane of a slice at any block size: slice heights that no register divides, general blocks.
template <class V, class T, class Store>
void slice_lane(const BsellOperand<T>& A, const V* x, const Store& store, index_t s, int lane) {
  const int b = A.block_size;
  const int C = A.slice_height;
  const index_t block_row = A.row_permutation[static_cast<offset_t>(s) * C + lane];
  if (block_row < 0) return;
  V sums[max_block_size] = {};
  for (offset_t slot = A.slice_offsets[s]; slot < A.slice_offsets[s + 1]; slot += C) {
    const index_t col = A.columns[slot + lane] * b;
    const T* block = A.values + slot * b * b + lane;
    const int width = A.cols - col < b ? A.cols - col : b;
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < width; ++c)
        sums[r] += static_cast<V>(block[static_cast<offset_t>(r * b + c) * C]) * x[col + c];
  }
  for (int r = 0; r < b; ++r) {
    const index_t row = block_row * b + r;
    if (row < A.rows) store(row, sums[r]);
  }
}

/// `by_instruction`: gathered so.
template <int B, bool by_instruction = true, class V, class T, class Store>
void slices(const BsellOperand<T>& A, const V* x, const Store& store, index_t begin, index_t end) {
  constexpr int W = lanes<V>;
  for (index_t s = begin; s < end; ++s) {
    int lane = 0;
    for (; lane + W <= A.slice_height; lane += W)
      slice_lanes<B, W, by_instruction>(A, x, store, s, lane);
    if constexpr (sizeof(V) == sizeof(float))  // slices that were laid out for doubles
      for (; lane + W / 2 <= A.slice_height; lane += W / 2)
        slice_lanes<B, W / 2, by_instruction>(A, x, store, s, lane);
    for (; lane < A.slice_height; ++lane) slice_lane(A, x, store, s, lane);
  }
}

template <class T, class V>
struct FormatKernel<BsellOperand<T>, V> {
  using Operand = BsellOperand<T>;

  static index_t units(const Operand& A) { return A.slices(); }
  static index_t units_per_group(const Operand& A) {
    const index_t per_group = group_rows(A.block_size) / (A.slice_height * A.block_size);
    return per_group > 0 ? per_group : 1;
  }
  static index_t rows_before(const Operand& A, index_t unit) {
    const offset_t row = static_cast<offset_t>(unit) * A.slice_height * A.block_size;
    return row < A.rows ? static_cast<index_t>(row) : A.rows;
  }
  static double work_before(const Operand& A, index_t unit) {
    return double(A.slice_offsets[unit]) * A.block_size * A.block_size + 2.0 * rows_before(A, unit);
  }

  template <class Store>
  static void multiply(const Operand& A, const V* x, const Store& store, index_t begin,
                       index_t end) {
    switch (A.block_size) {
      case 1:
        return gathers_are_fast ? slices<1>(A, x, store, begin, end)
                                : slices<1, false>(A, x, store, begin, end);
      case 2: return slices<2>(A, x, store, begin, end);
      case 3: return slices<3>(A, x, store, begin, end);
      case 4: return slices<4>(A, x, store, begin, end);
      case 5: return slices<5>(A, x, store, begin, end);
      case 6: return slices<6>(A, x, store, begin, end);
      case 8: return slices<8>(A, x, store, begin, end);
      default:
        for (index_t s = begin; s < end; ++s)
          for (int lane = 0; lane < A.slice_height; ++lane) slice_lane(A, x, store, s, lane);
    }
  }

  /// x . y over the rows of slices [begin, end). Where rows were sorted in windows of which these slices are some, they follow
  /// each other, and their terms are added as those of any rows; else in sorted order.
  static double dot(const Operand& A, const V* x, const V* y, index_t begin, index_t end) {
    const int b = A.block_size;
    const offset_t first = static_cast<offset_t>(begin) * A.slice_height;
    const offset_t last = static_cast<offset_t>(end) * A.slice_height;
    std::uint32_t lowest = ~0u, absent = 0;  // -1 is the largest number without a sign
    index_t highest = -1;
#pragma omp simd reduction(min : lowest) reduction(max : highest) reduction(+ : absent)
    for (offset_t i = first; i < last; ++i) {
      const index_t row = A.row_permutation[i];
      const auto number = static_cast<std::uint32_t>(row);
      lowest = number < lowest ? number : lowest;
      highest = row > highest ? row : highest;
      absent += number >> 31;
    }
    const bool follow = offset_t(highest) - offset_t(lowest) + 1 == last - first - offset_t(absent);
    const auto end_of = [&](index_t block_row) {
      return A.rows - block_row * b < b ? A.rows : (block_row + 1) * b;
    };
    if (follow) return dot_range(x, y, static_cast<index_t>(lowest) * b, end_of(highest));
    double sum = 0;
    for (offset_t i = first; i < last; ++i) {
      if (A.row_permutation[i] < 0) continue;
      const index_t row = A.row_permutation[i];
      for (index_t k = row * b; k < end_of(row); ++k) sum += double(x[k]) * double(y[k]);
    }
    return sum;
  }
};

}  // namespace cnc::openmp::CNC_ISA
