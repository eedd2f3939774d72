#pragma once

#include <openmp/repeated_rows.hpp>

namespace cnc::openmp::CNC_ISA {

// Products of rows [begin, end) of a matrix stored by diagonals with x.
//
// Rows are taken in tiles that stay in the first-level cache, and a tile goes through the diagonals one
// after the other: each is then one consecutive run of values against one of x, with nothing gathered.

inline constexpr index_t dia_tile = 512;

/// One run of stored values and the run of x that it meets.
template <class V, class T>
struct DiagonalRun {
  const T* a;
  const V* x;
};

/// sums[i] += a[i] x[i] over `N` runs at once: a pass over the sums serves N diagonals.
template <int N, class V, class T>
CNC_INLINE void add_runs(V* __restrict sums, const DiagonalRun<V, T>* runs, index_t count) {
  const T* __restrict a0 = runs[0].a;
  const V* __restrict x0 = runs[0].x;
  if constexpr (N == 1) {
#pragma omp simd
    for (index_t i = 0; i < count; ++i) sums[i] += static_cast<V>(a0[i]) * x0[i];
  } else {
    static_assert(N == 4);
    const T* __restrict a1 = runs[1].a;
    const T* __restrict a2 = runs[2].a;
    const T* __restrict a3 = runs[3].a;
    const V* __restrict x1 = runs[1].x;
    const V* __restrict x2 = runs[2].x;
    const V* __restrict x3 = runs[3].x;
#pragma omp simd
    for (index_t i = 0; i < count; ++i)
      sums[i] += static_cast<V>(a0[i]) * x0[i] + static_cast<V>(a1[i]) * x1[i] +
                 static_cast<V>(a2[i]) * x2[i] + static_cast<V>(a3[i]) * x3[i];
  }
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
  const index_t rows = end - begin;
  DiagonalRun<V, T> waiting[4];  // runs over the whole tile, until there are four
  int count = 0;
  const auto add = [&](const T* diagonal, index_t column_shift, index_t value_shift, Range part) {
    const DiagonalRun<V, T> run{diagonal + part.begin + value_shift, x + part.begin + column_shift};
    if (part.end - part.begin < rows) {
      add_runs<1>(sums + (part.begin - begin), &run, part.end - part.begin);
      return;
    }
    waiting[count++] = run;
    if (count < 4) return;
    add_runs<4>(sums, waiting, rows);
    count = 0;
  };
  for (index_t i = 0; i < rows; ++i) sums[i] = V(0);
  for (index_t d = 0; d < A.diagonals; ++d) {
    const index_t offset = A.offsets[d];
    const T* diagonal = A.values + static_cast<offset_t>(d) * A.rows;
    add(diagonal, offset, 0, inside(A, offset, begin, end));
    if (A.symmetric && offset > 0) {  // entry (i, i - offset) equals the stored (i - offset, i)
      const index_t from = begin > offset ? begin : (offset < end ? offset : end);
      add(diagonal, -offset, -offset, {from, end});
    }
  }
  for (int k = 0; k < count; ++k) add_runs<1>(sums, waiting + k, rows);
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

  template <class Store>
  static void multiply(const Operand& A, const V* x, const Store& store, index_t begin,
                       index_t end) {
    if (A.dictionary.runs != nullptr)
      return repeated_rows(A.dictionary, A.cols, x, store, begin, end);
    V sums[dia_tile];
    for (index_t i = begin; i < end; i += dia_tile) {
      const index_t stop = end - i < dia_tile ? end : i + dia_tile;
      dia_tile_rows(A, x, sums, i, stop);
      store.rows(i, sums, stop - i);
    }
  }

  static double dot(const Operand&, const V* x, const V* y, index_t begin, index_t end) {
    return dot_range(x, y, begin, end);
  }
};

}  // namespace cnc::openmp::CNC_ISA
