#pragma once

#include "convert/transposed_pattern.hpp"
#include "huge_pages.hpp"
#include "on_each.hpp"

#include <cnc/vector.hpp>

#include <utility>

// Sparse matrices of small blocks, square or not, as multigrid and products of matrices have them.

namespace cnc::detail {

/// A sparse matrix of blocks of `height` x `width`, row-major, columns ascending in each row. Blocks of one entry: CSR.
template <class T, class Space>
struct SparseBlocks {
  index_t rows = 0;  ///< of blocks
  index_t cols = 0;  ///< of blocks
  int height = 1, width = 1;
  Kokkos::View<const index_t*, Space> row_offsets;  ///< [rows + 1]
  Kokkos::View<const index_t*, Space> columns;      ///< [blocks]
  Vector<T, Space> values;                          ///< [blocks height width]

  offset_t blocks() const { return static_cast<offset_t>(columns.extent(0)); }
  /// Blocks of a row in the mean.
  double row_length() const { return rows > 0 ? double(blocks()) / rows : 0; }
  int block_values() const { return height * width; }
  offset_t entries() const { return blocks() * block_values(); }
};

/// What loops see of one.
template <class T>
struct BlocksOperand {
  index_t rows, cols;
  int height, width;
  const index_t* row_offsets;
  const index_t* columns;
  T* values;

  KOKKOS_INLINE_FUNCTION T* block(index_t k) const {
    return values + static_cast<offset_t>(k) * (height * width);
  }
};
template <class T, class Space>
BlocksOperand<T> operand_of(const SparseBlocks<T, Space>& A) {
  return {A.rows,           A.cols,         A.height, A.width, A.row_offsets.data(),
          A.columns.data(), A.values.data()};
}

/// CSR as blocks of one entry, over the same memory. Rows ascend.
template <class T, class Space>
SparseBlocks<T, Space> as_blocks(const CsrMatrix<T, Space>& A) {
  return {A.rows, A.cols, 1, 1, A.row_offsets, A.columns, A.values};
}

/// The pattern of A^T, and which block of A each of its blocks is. Waits.
template <class T, class Space>
TransposedPattern<Space> transposed_blocks(const SparseBlocks<T, Space>& A) {
  const CsrMatrix<T, Space> pattern(
      A.rows, A.cols, 1, A.row_offsets, A.columns,
      Vector<T, Space>(A.values.data(), static_cast<std::size_t>(A.blocks())));
  return transposed_pattern(pattern);
}

/// block k := block origins[k] of another matrix, transposed. On a device `threads` of them share it.
template <class T>
struct TakeTransposed {
  BlocksOperand<T> from, to;
  const index_t* origins;
  int threads;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const auto k = static_cast<index_t>(unit / threads);
    const T* const a = from.block(origins[k]);
    T* const b = to.block(k);
    for (auto e = static_cast<int>(unit % threads); e < to.height * to.width; e += threads)
      b[e] = a[e % to.width * to.height + e / to.width];
  }
};
/// `to` := the transpose, whose pattern is there. Enqueued on a device.
template <class Exec, class T, class Space>
void take_transposed(const Exec& exec, const SparseBlocks<T, Space>& from,
                     const Vector<index_t, Space>& origins, const SparseBlocks<T, Space>& to) {
  const int threads = sharing<Exec>(to.block_values());
  on_each(exec, to.blocks() * threads,
          TakeTransposed<T>{operand_of(from), operand_of(to), origins.data(), threads});
}

/// A^T, and which block of A each of its blocks is. Waits.
template <class Exec, class T, class Space>
std::pair<SparseBlocks<T, Space>, Vector<index_t, Space>> transpose_of(
    const Exec& exec, const SparseBlocks<T, Space>& A) {
  const TransposedPattern<Space> pattern = transposed_blocks(A);
  const SparseBlocks<T, Space> to{A.cols,
                                  A.rows,
                                  A.width,
                                  A.height,
                                  pattern.row_offsets,
                                  pattern.columns,
                                  in_large_pages<T, Space>("cnc::transpose", A.values.extent(0))};
  take_transposed(exec, A, pattern.origins, to);
  exec.fence();
  return {to, pattern.origins};
}

/// What the rows of B that row i of A names hold between them.
template <class T>
struct MeasureRoom {
  BlocksOperand<T> A, B;
  KOKKOS_INLINE_FUNCTION offset_t of(offset_t i) const {
    offset_t sum = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      sum += B.row_offsets[A.columns[k] + 1] - B.row_offsets[A.columns[k]];
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const { sum += of(i); }
};

/// Products of blocks that A B takes, and blocks that it has at most. Waits.
template <class Exec, class T, class Space>
offset_t product_work(const Exec& exec, const SparseBlocks<T, Space>& A,
                      const SparseBlocks<T, Space>& B) {
  return sum_over(exec, A.rows, MeasureRoom<T>{operand_of(A), operand_of(B)});
}

}  // namespace cnc::detail
