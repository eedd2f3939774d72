#pragma once

#include <cnc/contract/cost.hpp>
#include <cnc/contract/operands.hpp>
#include <cnc/row_dictionary.hpp>
#include <cnc/vector.hpp>

namespace cnc {

/// Matrix stored by diagonals; the symmetric variant keeps the upper half only. See DiaOperand for the
/// layout. Made by to_dia; best for structured grids, where it needs no column indices at all.
template <class T, class Space = HostSpace>
struct DiaMatrix {
  using value_type = T;
  using memory_space = Space;

  index_t rows = 0;
  index_t cols = 0;
  bool symmetric = false;                       ///< offsets >= 0 only, the lower half is implied
  Kokkos::View<const index_t*, Space> offsets;  ///< [diagonals], ascending: column - row
  Vector<T, Space> values;                      ///< [diagonals rows]
  offset_t nonzeros = 0;                        ///< useful entries, both halves
  RowDictionary<T, Space> dictionary = {};      ///< empty, or the rows that repeat

  const char* format_name() const { return symmetric ? "dia-symmetric" : "dia"; }
  index_t diagonals() const { return static_cast<index_t>(offsets.extent(0)); }  ///< stored ones
  offset_t stored() const { return static_cast<offset_t>(values.extent(0)); }

  /// What kernels see.
  DiaOperand<T> operand() const {
    DiaOperand<T> A{rows, cols, diagonals(), symmetric, offsets.data(), values.data()};
    A.dictionary = dictionary.operand();
    return A;
  }
  /// Compulsory bytes and useful flops of one SpMV under vectors of `vector_bytes` a scalar.
  Cost spmv_cost(int vector_bytes) const { return cost::spmv(operand(), nonzeros, vector_bytes); }
  /// Checks offsets (ascending, inside the matrix, not negative if symmetric) and zeros out of range.
  /// Host matrices only. O(stored). Throws InvalidArgument naming the first fault.
  void validate() const;
};

}  // namespace cnc
