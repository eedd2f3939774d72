#pragma once

#include <cnc/contract/cost.hpp>
#include <cnc/contract/operands.hpp>
#include <cnc/vector.hpp>

namespace cnc {

/// Block compressed sparse row matrix: a small struct of views that share ownership with the caller's.
/// block_size 1 is CSR. The layout inside a block is row-major; see BcsrOperand for all of it.
///
/// Sizes    rows, cols count scalars and need not be multiples of block_size.
/// Errors   the constructor checks extents in O(1); validate() checks everything in O(blocks).
/// Source   BCRS of Buatois, Caumon & Levy 2009, section 3.2; BCSR of Verschoor & Jalba 2012, section 4.
template <class T, class Space = HostSpace>
struct BcsrMatrix {
  using value_type = T;
  using memory_space = Space;
  using Offsets = Kokkos::View<const index_t*, Space>;  ///< of the block rows
  using Columns = Kokkos::View<const index_t*, Space>;  ///< of the blocks

  index_t rows = 0;
  index_t cols = 0;
  int block_size = 1;
  Offsets row_offsets;      ///< [block_rows + 1]
  Columns columns;          ///< [blocks], ascending within a block row
  Vector<T, Space> values;  ///< [blocks b^2]
  offset_t nonzeros = 0;    ///< useful entries; blocks b^2 when fill was not counted

  BcsrMatrix() = default;

  /// Takes the caller's views as they are (no copy). Set `useful_nonzeros` when part of the blocks is
  /// fill; by default every stored entry counts.
  BcsrMatrix(index_t rows_, index_t cols_, int block_size_, Offsets row_offsets_, Columns columns_,
             Vector<T, Space> values_, offset_t useful_nonzeros = -1)
      : rows(rows_),
        cols(cols_),
        block_size(block_size_),
        row_offsets(row_offsets_),
        columns(columns_),
        values(values_),
        nonzeros(useful_nonzeros < 0 ? static_cast<offset_t>(values_.extent(0)) : useful_nonzeros) {
    check_extents();
  }

  /// Arrays must be contiguous: a strided view does not compile.
  template <class O, class C, class W>
  requires(detail::may_be_strided<O> || detail::may_be_strided<C> || detail::may_be_strided<W>)
      BcsrMatrix(index_t, index_t, int, const O&, const C&, const W&, offset_t = -1)
  = delete;

  const char* format_name() const { return block_size == 1 ? "csr" : "bcsr"; }
  index_t block_rows() const { return ceil_div(rows, block_size); }
  index_t block_cols() const { return ceil_div(cols, block_size); }
  offset_t blocks() const { return static_cast<offset_t>(columns.extent(0)); }  ///< stored ones
  offset_t stored() const { return static_cast<offset_t>(values.extent(0)); }

  /// What kernels see.
  BcsrOperand<T> operand() const {
    return {rows,
            cols,
            block_size,
            row_offsets.data(),
            columns.data(),
            values.data(),
            static_cast<index_t>(blocks())};
  }
  /// Compulsory bytes and useful flops of one SpMV under vectors of `vector_bytes` a scalar.
  Cost spmv_cost(int vector_bytes) const {
    return cost::spmv(operand(), blocks(), nonzeros, vector_bytes);
  }
  /// Checks offsets (start 0, ascending, end at blocks), columns (in range, ascending), zero fill out
  /// of range and the extents. Host matrices only. O(blocks), in parallel, allocates nothing.
  /// Throws InvalidArgument naming the first fault.
  void validate() const;

 private:
  void check_extents() const {
    require(rows >= 0 && cols >= 0, "BcsrMatrix: rows and cols must not be negative");
    require(block_size >= 1 && block_size <= max_block_size,
            "BcsrMatrix: block size must be 1 to 16");
    require(row_offsets.extent(0) == static_cast<std::size_t>(block_rows()) + 1,
            "BcsrMatrix: row_offsets needs block_rows + 1 entries");
    require(columns.extent(0) <= 2147483647u, "BcsrMatrix: more than 2^31 - 1 blocks");
    require(
        values.extent(0) == columns.extent(0) * static_cast<std::size_t>(block_size * block_size),
        "BcsrMatrix: values needs blocks * block_size^2 entries");
  }
};

/// CSR is BCSR with block size 1.
template <class T, class Space = HostSpace>
using CsrMatrix = BcsrMatrix<T, Space>;

/// A CSR matrix over the caller's arrays: nothing is copied and nothing freed.
///
/// Shapes   row_offsets: [rows + 1]; columns, values: [row_offsets[rows]].
/// Errors   InvalidArgument (negative sizes, null arrays that should hold entries).
template <class Space = HostSpace, class T>
CsrMatrix<T, Space> wrap_csr(index_t rows, index_t cols, index_t nonzeros,
                             const index_t* row_offsets, const index_t* columns, T* values) {
  require(nonzeros >= 0 && rows >= 0 && cols >= 0, "wrap_csr: sizes must not be negative");
  require(row_offsets != nullptr && (nonzeros == 0 || (columns != nullptr && values != nullptr)),
          "wrap_csr: row_offsets, columns and values must not be null");
  const auto n = static_cast<std::size_t>(nonzeros);
  return {rows,
          cols,
          1,
          typename CsrMatrix<T, Space>::Offsets(row_offsets, static_cast<std::size_t>(rows) + 1),
          typename CsrMatrix<T, Space>::Columns(columns, n),
          Vector<T, Space>(values, n)};
}

/// A BCSR matrix over the caller's arrays (row-major blocks): nothing is copied and nothing freed.
///
/// Shapes   row_offsets: [block_rows + 1]; columns: [blocks]; values: [blocks b^2].
/// Errors   InvalidArgument (negative sizes, block size, null arrays that should hold entries).
template <class Space = HostSpace, class T>
BcsrMatrix<T, Space> wrap_bcsr(index_t rows, index_t cols, int block_size, index_t blocks,
                               const index_t* row_offsets, const index_t* columns, T* values) {
  require(rows >= 0 && cols >= 0 && blocks >= 0, "wrap_bcsr: sizes must not be negative");
  require(block_size >= 1 && block_size <= max_block_size, "wrap_bcsr: block size must be 1 to 16");
  require(row_offsets != nullptr && (blocks == 0 || (columns != nullptr && values != nullptr)),
          "wrap_bcsr: row_offsets, columns and values must not be null");
  const auto n = static_cast<std::size_t>(blocks);
  return {rows,
          cols,
          block_size,
          typename BcsrMatrix<T, Space>::Offsets(
              row_offsets, static_cast<std::size_t>(ceil_div(rows, block_size)) + 1),
          typename BcsrMatrix<T, Space>::Columns(columns, n),
          Vector<T, Space>(values, n * static_cast<std::size_t>(block_size * block_size))};
}

}  // namespace cnc
