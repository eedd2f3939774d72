#pragma once

#include <cnc/contract/cost.hpp>
#include <cnc/contract/operands.hpp>
#include <cnc/row_dictionary.hpp>
#include <cnc/value_table.hpp>
#include <cnc/vector.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace cnc {

/// What is known of the index arrays of a matrix. Where a matrix comes in, what is not known is checked.
enum class Checked {
  no,         ///< nothing
  valid,      ///< offsets and columns in range, no column twice in a row
  ascending,  ///< and the columns of every row ascend
};

/// Block compressed sparse row matrix: a small struct of views that share ownership with the caller's.
/// block_size 1 is CSR. The layout inside a block is row-major; see BcsrOperand for all of it.
///
/// Sizes    rows, cols count scalars and need not be multiples of block_size.
///          Rows of CSR may hold their columns in any order (diagonal first, say); see validate().
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
  Columns columns;          ///< [blocks], ascending within a block row (CSR: in any order)
  Vector<T, Space> values;  ///< [blocks b^2]
  offset_t nonzeros = 0;    ///< useful entries; blocks b^2 when fill was not counted
  /// What the caller vouches for: conversions, set-up and solvers skip that part of their check. Wrong
  /// promises are reads and writes out of bounds.
  Checked checked = Checked::no;
  bool read_only =
      false;  ///< the values are the caller's and const: update_values refuses to write
  RowDictionary<T, Space> dictionary = {};  ///< empty, or the scalar rows that repeat
  Kokkos::View<const ShortColumn*, Space> short_columns =
      {};                                 ///< empty, or of all blocks: see find_short_columns
  ValueTable<T, Space> value_table = {};  ///< empty, or of all values of scalar rows

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
    BcsrOperand<T> A{rows,
                     cols,
                     block_size,
                     row_offsets.data(),
                     columns.data(),
                     values.data(),
                     static_cast<index_t>(blocks())};
    A.dictionary = dictionary.operand();
    A.short_columns = short_columns.data();
    A.value_table = value_table.operand();
    return A;
  }
  /// Compulsory bytes and useful flops of one SpMV under vectors of `vector_bytes` a scalar.
  Cost spmv_cost(int vector_bytes) const {
    return cost::spmv(operand(), blocks(), nonzeros, vector_bytes);
  }
  /// Throws InvalidArgument unless sizes and extents agree. O(1).
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
  /// Checks everything, whatever `checked` says: extents, offsets (start 0, never descend, end at blocks),
  /// columns (in range, none twice in a row, ascending unless the matrix is CSR) and zero fill out of
  /// range. In parallel where the matrix is.
  ///
  /// Returns  Checked::ascending, or Checked::valid for CSR with rows in another order.
  /// Errors   InvalidArgument naming the first row at fault and its column. OutOfMemory.
  /// Cost     reads the indices once: 0.4 of a product at 72 entries a row, 0.8 at 5. Allocates nothing, but
  ///          where rows are in another order it sorts a copy of them (8 bytes per entry) to find
  ///          columns that come twice.
  Checked validate() const;
};

/// CSR is BCSR with block size 1.
template <class T, class Space = HostSpace>
using CsrMatrix = BcsrMatrix<T, Space>;

/// What wrap_csr and wrap_bcsr are told about the caller's arrays.
struct WrapOptions {
  int index_base = 0;             ///< 0, or 1 for offsets and columns that count from 1
  Checked checked = Checked::no;  ///< what the caller vouches for
};

namespace detail {
/// The caller's indices as index_t counted from 0, copied within their memory. Those below the base
/// become negative, which the check of the matrix refuses by row and column.
/// Errors   InvalidArgument (an index that 32 bits do not hold), OutOfMemory.
template <class Space, class Index>
Vector<index_t, Space> narrowed(const char* name, const Index* indices, std::size_t n, int base);

template <class Index>
concept WiderIndex = std::integral<Index> && !std::same_as<Index, index_t> && sizeof(Index) >= 4;

/// The caller's indices themselves where they are index_t counted from 0, else narrowed.
template <class Space, class Index>
Kokkos::View<const index_t*, Space> indices_of(const char* name, const Index* indices,
                                               std::size_t n, int base) {
  if constexpr (std::is_same_v<Index, index_t>)
    if (base == 0) return Kokkos::View<const index_t*, Space>(indices, n);
  return narrowed<Space>(name, indices, n, base);
}

/// wrap_bcsr for any type of index. Offsets and columns are copied one by one: only what has to be.
template <class Space, class T, class Offset, class Column>
BcsrMatrix<std::remove_const_t<T>, Space> wrap_blocks(index_t rows, index_t cols, int block_size,
                                                      offset_t blocks, const Offset* row_offsets,
                                                      const Column* columns, T* values,
                                                      const WrapOptions& options) {
  using Value = std::remove_const_t<T>;
  require(rows >= 0 && cols >= 0 && blocks >= 0, "wrap: sizes must not be negative");
  require(blocks <= 2147483647, "wrap: more than 2^31 - 1 entries or blocks");
  require(block_size >= 1 && block_size <= max_block_size, "wrap: block size must be 1 to 16");
  require(options.index_base == 0 || options.index_base == 1, "wrap: index base must be 0 or 1");
  require(row_offsets != nullptr && (blocks == 0 || (columns != nullptr && values != nullptr)),
          "wrap: row_offsets, columns and values must not be null");
  const auto n = static_cast<std::size_t>(blocks);
  const auto block_rows = static_cast<std::size_t>(ceil_div(rows, block_size));
  const auto offset_view =
      indices_of<Space>("row_offsets", row_offsets, block_rows + 1, options.index_base);
  const auto column_view = indices_of<Space>("columns", columns, n, options.index_base);
  // Nothing of the library writes to the values of a matrix that is read_only.
  const Vector<Value, Space> value_view(const_cast<Value*>(values),
                                        n * static_cast<std::size_t>(block_size * block_size));
  BcsrMatrix<Value, Space> A(rows, cols, block_size, offset_view, column_view, value_view);
  A.checked = options.checked;
  A.read_only = std::is_const_v<T>;
  return A;
}
}  // namespace detail

/// A CSR matrix over the caller's arrays: nothing is copied and nothing freed. Rows may hold their columns
/// in any order. The values may be const: the matrix is then read_only.
///
/// Shapes   row_offsets: [rows + 1]; columns, values: [nonzeros], in memory of Space, valid for as long as
///          the matrix is used.
/// Errors   InvalidArgument (negative sizes, more than 2^31 - 1 nonzeros, null arrays that should hold
///          entries). What the arrays hold is checked where the matrix is used (see validate()), unless
///          options.checked vouches for it.
/// Cost     O(1); index base 1 costs a copy of row_offsets and columns in their memory.
template <class Space = HostSpace, class T>
CsrMatrix<std::remove_const_t<T>, Space> wrap_csr(index_t rows, index_t cols, offset_t nonzeros,
                                                  const index_t* row_offsets,
                                                  const index_t* columns, T* values,
                                                  const WrapOptions& options = {}) {
  return detail::wrap_blocks<Space>(rows, cols, 1, nonzeros, row_offsets, columns, values, options);
}

/// The same from offsets, or offsets and columns, of another integer type (std::int64_t, std::size_t,
/// unsigned ...): each array of another type is copied to 32 bits, in the memory where it is.
/// Errors   InvalidArgument, also for an index that 32 bits do not hold; OutOfMemory.
template <class Space = HostSpace, class T, class Offset, class Column>
requires(detail::WiderIndex<Offset> || detail::WiderIndex<Column>)
    CsrMatrix<std::remove_const_t<T>, Space> wrap_csr(index_t rows, index_t cols, offset_t nonzeros,
                                                      const Offset* row_offsets,
                                                      const Column* columns, T* values,
                                                      const WrapOptions& options = {}) {
  return detail::wrap_blocks<Space>(rows, cols, 1, nonzeros, row_offsets, columns, values, options);
}

/// A BCSR matrix over the caller's arrays (row-major blocks): nothing is copied and nothing freed, as with
/// wrap_csr. Block columns must ascend within a block row.
///
/// Shapes   row_offsets: [block_rows + 1]; columns: [blocks]; values: [blocks b^2].
/// Errors   InvalidArgument (negative sizes, block size, null arrays that should hold entries).
template <class Space = HostSpace, class T>
BcsrMatrix<std::remove_const_t<T>, Space> wrap_bcsr(index_t rows, index_t cols, int block_size,
                                                    offset_t blocks, const index_t* row_offsets,
                                                    const index_t* columns, T* values,
                                                    const WrapOptions& options = {}) {
  return detail::wrap_blocks<Space>(rows, cols, block_size, blocks, row_offsets, columns, values,
                                    options);
}

}  // namespace cnc
