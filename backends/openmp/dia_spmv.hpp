#pragma once

#include <openmp/matrix_ops.hpp>

namespace cnc::openmp::CNC_ISA {

// y := alpha A x + beta y for rows [begin, end) of a matrix stored by diagonals.
//
// Rows are taken in tiles that stay in the first-level cache, and a tile goes through the diagonals one
// after the other: each is then one consecutive run of values against one of x, with nothing gathered.

inline constexpr index_t dia_tile = 512;

/// sums[i - begin] += a[i] x[i] on [from, to).
template <class V, class T>
CNC_INLINE void add_diagonal(V* __restrict sums, const T* __restrict a, const V* __restrict x,
                             index_t count) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) sums[i] += static_cast<V>(a[i]) * x[i];
}

/// The part of [begin, end) in which row i and column i + offset are both inside the matrix.
template <class T>
CNC_INLINE Range inside(const DiaOperand<T>& A, index_t offset, index_t begin, index_t end) {
  const offset_t first = -static_cast<offset_t>(offset);
  const offset_t last = static_cast<offset_t>(A.cols) - offset;
  const index_t from = first > begin ? static_cast<index_t>(first < end ? first : end) : begin;
  const index_t to = last < end ? static_cast<index_t>(last > from ? last : from) : end;
  return {from, to < from ? from : to};
}

template <class V, class T>
CNC_INLINE void dia_tile_rows(const DiaOperand<T>& A, const V* x, V* sums, index_t begin,
                              index_t end) {
  for (index_t i = 0; i < end - begin; ++i) sums[i] = V(0);
  for (index_t d = 0; d < A.diagonals; ++d) {
    const index_t offset = A.offsets[d];
    const T* a = A.values + static_cast<offset_t>(d) * A.rows;
    const Range upper = inside(A, offset, begin, end);
    add_diagonal(sums + (upper.begin - begin), a + upper.begin, x + upper.begin + offset,
                 upper.end - upper.begin);
    if (A.symmetric && offset > 0) {  // entry (i, i - offset) equals the stored (i - offset, i)
      const index_t from = begin > offset ? begin : (offset < end ? offset : end);
      add_diagonal(sums + (from - begin), a + from - offset, x + from - offset, end - from);
    }
  }
}

template <class T, class V>
struct FormatKernel<DiaOperand<T>, V> {
  using Operand = DiaOperand<T>;

  static index_t units(const Operand& A) { return A.rows; }
  static index_t units_per_group(const Operand&) { return reduction_block; }
  static index_t rows_before(const Operand&, index_t unit) { return unit; }
  static double work_before(const Operand& A, index_t unit) {
    return double(unit) * (A.symmetric ? 2.0 * A.diagonals : A.diagonals);
  }

  static void spmv(const Operand& A, V alpha, const V* x, V beta, V* y, index_t begin,
                   index_t end) {
    V sums[dia_tile];
    for (index_t i = begin; i < end; i += dia_tile) {
      const index_t stop = end - i < dia_tile ? end : i + dia_tile;
      dia_tile_rows(A, x, sums, i, stop);
      V* target = y + i;
      if (beta == V(0)) {
#pragma omp simd
        for (index_t k = 0; k < stop - i; ++k) target[k] = alpha * sums[k];
      } else {
#pragma omp simd
        for (index_t k = 0; k < stop - i; ++k) target[k] = alpha * sums[k] + beta * target[k];
      }
    }
  }

  static double dot(const Operand&, const V* x, const V* y, index_t begin, index_t end) {
    return dot_range(x, y, begin, end);
  }
};

}  // namespace cnc::openmp::CNC_ISA
