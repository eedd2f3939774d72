#pragma once

#include <cnc/contract/types.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace cnc {

// Operands are what a kernel sees of a matrix: sizes and raw pointers in the backend's memory space.
// They own nothing. `T` is the type in which the matrix values are stored.

/// What a backend works out once about a matrix, for many operations with it: the analysis of a vendor's library, say.
/// Opaque. It holds for the arrays that it was made for, whose values may change in place, and for one queue at a time.
struct MatrixPlan {
  virtual ~MatrixPlan() = default;
};

/// An entry of a row that stands for many: its value, and its column less the row.
template <class T>
struct alignas(2 * sizeof(T)) RowEntry {
  T value;         ///< of the entry
  index_t offset;  ///< its column less the row
};

/// What a row is of a stencil.
template <class T>
struct alignas(2 * sizeof(T)) RowPart {
  T diagonal;             ///< its own
  std::uint32_t entries;  ///< bit k: it has entry k
};

/// One row of which all others are parts, but for their diagonals: entries of other columns are the same or are not there.
/// Entry 0 is the diagonal's, the others ascend.
template <class T>
struct RowStencil {
  static constexpr index_t most = 27;  ///< entries
  index_t size = 0;                    ///< of its entries; 0: there is no such row
  index_t offset[most] = {};           ///< their columns less the row
  T value[most] = {};                  ///< that of the diagonal is not used; from `size` on 0
  const RowPart<T>* parts = nullptr;   ///< [kinds] where kernels read them
  std::uint64_t revision = 0;          ///< another number where any of this is another
  bool operator==(const RowStencil&) const = default;
};

/// The different rows of a matrix, where few of them stand for all: row i holds the entries of kind codes[i], in columns
/// i + offset. It says the same as the arrays of the layout beside it, and a product that reads it instead reads a byte
/// for a row of the matrix.
template <class T>
struct RowDictionaryOperand {
  const std::uint8_t* codes = nullptr;   ///< [rows]; null: there is none
  const index_t* starts = nullptr;       ///< [kinds + 1]
  const RowEntry<T>* entries = nullptr;  ///< [size], kind k from starts[k] on
  index_t kinds = 0;                     ///< different rows
  index_t size = 0;                      ///< starts[kinds], known to the host
  index_t longest = 0;                   ///< entries of the longest row, the same
  /// b = 2 or 3: rows b p to b p + b - 1 have entries in the same columns, whole blocks of b that begin at multiples of b; 1: they do not.
  int block_size = 1;
  /// [run_count + 1] rows at which one of another kind begins than before, and the last one's end; null: rows of one kind do
  /// not follow each other for long, or the matrix is in device memory. With a run_period of b = block_size, blocks of b rows that
  /// begin at multiples of b in place of rows.
  const index_t* runs = nullptr;
  index_t run_count = 0;   ///< of them
  index_t run_period = 1;  ///< 1 or block_size
  /// On the host, from which kernels are given it as an argument; null: there is none.
  const RowStencil<T>* stencil = nullptr;
  /// By which what was recorded with its stencil knows whether that is the same; 0: there is none.
  std::uint64_t stencil_revision() const { return stencil == nullptr ? 0 : stencil->revision; }
  bool operator==(const RowDictionaryOperand&) const = default;
};

/// The different values of a matrix, where a byte tells which of them each is: the same as `values`, which are beside it.
template <class T>
struct ValueTableOperand {
  const std::uint8_t* codes = nullptr;  ///< [stored values]; null: there is none
  const T* values = nullptr;            ///< [most_table_values], the first of which are used
  bool operator==(const ValueTableOperand&) const = default;
};
inline constexpr int most_table_values = 256;  ///< different values that such a table holds

/// A block column less where it is: the block row, or in slices C times the slice. Half the bytes of an index, where 16 bits hold that of
/// every block of a matrix.
using ShortColumn = std::int16_t;
/// Bytes of the values of a block up to which this saves a twentieth and more of what a product reads.
inline constexpr std::size_t largest_short_column_block = 36;

/// @{
/// The block column of a block, from either array of an operand.
constexpr index_t column_at(index_t column, index_t) { return column; }
constexpr index_t column_at(ShortColumn offset, index_t place) { return place + offset; }
/// @}

/// Block compressed sparse row; block_size 1 is CSR.
///
/// Block (i, k) covers rows [i b, (i+1) b) and columns [columns[k] b, (columns[k]+1) b).
/// Inside a block the values are row-major: entry (r, c) of block k is values[k b^2 + r b + c].
/// Columns ascend within a block row (b > 1). When rows or cols is no multiple of b, the last block row or
/// column is partial: its out-of-range entries are stored as zero and kernels touch neither x nor y
/// out of range.
template <class T>
struct BcsrOperand {
  using value_type = T;
  index_t rows = 0;  ///< scalars
  index_t cols = 0;  ///< scalars
  int block_size = 1;
  const index_t* row_offsets = nullptr;  ///< [block_rows + 1]
  const index_t* columns = nullptr;      ///< [blocks]
  const T* values = nullptr;             ///< [blocks b^2]
  index_t blocks = 0;  ///< row_offsets[block_rows], known to the host: launches depend on it

  constexpr index_t block_rows() const { return ceil_div(rows, block_size); }
  constexpr index_t block_cols() const { return ceil_div(cols, block_size); }
  const BcsrOperand* transpose = nullptr;  ///< A^T in the same format, for what needs it; else null
  const MatrixPlan* plan = nullptr;  ///< what `plan` of the table returned; null where it has none
  RowDictionaryOperand<T> dictionary =
      {};  ///< scalar rows that repeat; backends may leave it alone
  const ShortColumn* short_columns = nullptr;  ///< [blocks] the same as `columns`; null: none
  ValueTableOperand<T> value_table = {};       ///< of scalar rows
  bool operator==(const BcsrOperand&) const = default;
};

/// Sliced BCSR with sorted rows: `slice_height` block rows side by side, one per SIMD lane or thread
/// (block_size 1 is SELL-C-sigma; larger blocks are the "multiple block rows" mapping of Verschoor &
/// Jalba 2012, section 4, with its block reordering and row sorting).
///
/// Slice s covers the sorted block rows [s C, (s+1) C). Its slots are [slice_offsets[s],
/// slice_offsets[s+1]), a multiple of C: slot slice_offsets[s] + j C + lane is the lane's j-th block.
/// Entry (r, c) of the j-th block of a lane is
/// values[(slice_offsets[s] + j C) b^2 + (r b + c) C + lane], so C lanes read consecutive values.
/// Sorted block row i is block row row_permutation[i] of the matrix (padding lanes of the last slice
/// hold -1). Padding slots hold zero values and repeat a column of their own row (column 0 in an
/// empty row), so an Inf or NaN in x spreads no further than CSR would spread it, empty rows excepted.
template <class T>
struct BsellOperand {
  using value_type = T;
  index_t rows = 0;  ///< scalars
  index_t cols = 0;  ///< scalars
  int block_size = 1;
  int slice_height = 1;                      ///< C, block rows per slice
  const offset_t* slice_offsets = nullptr;   ///< [slices + 1], in slots
  const index_t* columns = nullptr;          ///< [slots]
  const index_t* row_permutation = nullptr;  ///< [slices C]
  const T* values = nullptr;                 ///< [slots b^2]
  offset_t slots = 0;  ///< slice_offsets[slices], known to the host: launches depend on it

  constexpr index_t block_rows() const { return ceil_div(rows, block_size); }
  /// A partial last one included.
  constexpr index_t slices() const { return ceil_div(block_rows(), slice_height); }
  const BsellOperand* transpose =
      nullptr;                       ///< A^T in the same format, for what needs it; else null
  const MatrixPlan* plan = nullptr;  ///< what `plan` of the table returned; null where it has none
  RowDictionaryOperand<T> dictionary =
      {};  ///< scalar rows that repeat; backends may leave it alone
  /// [slots] the same as `columns`, but any place in range for padding lanes; null: there are none.
  const ShortColumn* short_columns = nullptr;
  ValueTableOperand<T> value_table = {};  ///< of scalar rows
  bool operator==(const BsellOperand&) const = default;
};

/// Diagonals, for matrices of structured grids. Row i of diagonal d holds the entry in column
/// i + offsets[d]: values[d rows + i]; places outside the matrix are stored as zero and never meet x.
/// When `symmetric`, only offsets >= 0 are stored and every entry above the diagonal also stands for
/// its mirror image below it: row i takes a(i, i - k) from values[d rows + i - k].
template <class T>
struct DiaOperand {
  using value_type = T;
  index_t rows = 0;
  index_t cols = 0;
  index_t diagonals = 0;                  ///< stored ones
  bool symmetric = false;                 ///< the lower half is implied
  const index_t* offsets = nullptr;       ///< [diagonals], ascending: column - row
  const T* values = nullptr;              ///< [diagonals rows]
  const DiaOperand* transpose = nullptr;  ///< A^T in the same format, for what needs it; else null
  const MatrixPlan* plan = nullptr;  ///< what `plan` of the table returned; null where it has none
  RowDictionaryOperand<T> dictionary =
      {};  ///< scalar rows that repeat; backends may leave it alone
  bool operator==(const DiaOperand&) const = default;
};

/// The formats. The only list: tables follow it, and CMake reads it here.
template <class T>
using Formats = std::tuple<BcsrOperand<T>, BsellOperand<T>, DiaOperand<T>>;

}  // namespace cnc
