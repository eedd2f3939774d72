#pragma once

#include <cnc/contract/cost.hpp>
#include <cnc/contract/operands.hpp>
#include <cnc/row_dictionary.hpp>
#include <cnc/value_table.hpp>
#include <cnc/vector.hpp>

namespace cnc {

/// Slice height that to_bsell takes on the host: one widest SIMD register (64 bytes) of T, so 8 for
/// double and 16 for float. A float matrix under double vectors keeps the 16: two registers of double.
template <class T>
inline constexpr int host_slice_height = 64 / static_cast<int>(sizeof(T));

/// Largest slice height: a whole thread block of a device.
inline constexpr int max_slice_height = 1024;

/// Slices that the default sort window spans: wide enough to level uneven rows, narrow enough to keep
/// rows that share entries of x close together (Kreutzer et al. 2014, section 4).
inline constexpr int default_sort_slices = 32;

/// Sliced, row-sorted, block-reordered BCSR; block_size 1 is SELL-C-sigma. See BsellOperand for the
/// layout. Made by to_bsell; on hosts the fastest for most rows of scalars, on GPUs for short and irregular ones.
///
/// Source   Verschoor & Jalba 2012, section 4 (multiple block rows, block reordering, row sorting);
///          Kreutzer et al., "A unified sparse matrix data format for efficient general sparse
///          matrix-vector multiplication on modern processors with wide SIMD units", 2014.
template <class T, class Space = HostSpace>
struct BsellMatrix {
  using value_type = T;
  using memory_space = Space;

  index_t rows = 0;
  index_t cols = 0;
  int block_size = 1;
  int slice_height = 1;     ///< C, block rows per slice
  index_t sort_window = 1;  ///< sigma, block rows within which rows were sorted by length
  Kokkos::View<const offset_t*, Space> slice_offsets;  ///< [slices + 1], in slots
  Kokkos::View<const index_t*, Space> columns;         ///< [slots]
  Kokkos::View<const index_t*, Space>
      row_permutation;                      ///< [slices C]: sorted position -> block row
  Vector<T, Space> values;                  ///< [slots b^2]
  offset_t nonzeros = 0;                    ///< useful entries
  RowDictionary<T, Space> dictionary = {};  ///< empty, or the scalar rows that repeat
  Kokkos::View<const ShortColumn*, Space> short_columns =
      {};                                 ///< empty, or of all blocks: see find_short_columns
  ValueTable<T, Space> value_table = {};  ///< empty, or of all values of scalar rows

  const char* format_name() const { return "bsell"; }
  index_t block_rows() const { return ceil_div(rows, block_size); }
  /// A partial last one included.
  index_t slices() const { return ceil_div(block_rows(), slice_height); }
  /// Places for blocks, padding included.
  offset_t slots() const { return static_cast<offset_t>(columns.extent(0)); }
  offset_t stored() const { return static_cast<offset_t>(values.extent(0)); }

  /// What kernels see.
  BsellOperand<T> operand() const {
    BsellOperand<T> A{rows,
                      cols,
                      block_size,
                      slice_height,
                      slice_offsets.data(),
                      columns.data(),
                      row_permutation.data(),
                      values.data(),
                      slots()};
    A.dictionary = dictionary.operand();
    A.short_columns = short_columns.data();
    A.value_table = value_table.operand();
    return A;
  }
  /// Compulsory bytes and useful flops of one SpMV under vectors of `vector_bytes` a scalar.
  Cost spmv_cost(int vector_bytes) const {
    return cost::spmv(operand(), slots(), nonzeros, vector_bytes);
  }
  /// Checks extents, slice offsets (start 0, ascending, whole slots, end at slots), the permutation,
  /// columns (in range, ascending up to the padding), padding and zero fill. Host matrices only.
  /// O(stored), in parallel. Throws InvalidArgument naming the first fault.
  void validate() const;
};

}  // namespace cnc
