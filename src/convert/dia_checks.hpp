#pragma once

#include "convert/dia_rows.hpp"

#include <cnc/convert.hpp>

#include <string>

// What building and checking DIA have in common on the host and on a device.

namespace cnc::detail {

template <class T, class Space>
void check_dia_extents(const DiaMatrix<T, Space>& A) {
  require(A.rows >= 0 && A.cols >= 0, "DiaMatrix: rows and cols must not be negative");
  require(A.values.extent(0) == A.offsets.extent(0) * static_cast<std::size_t>(A.rows),
          "DiaMatrix: values needs diagonals * rows entries");
  require(!A.symmetric || A.rows == A.cols, "DiaMatrix: a symmetric matrix must be square");
}

inline std::string of_diagonal(index_t d) { return " (diagonal " + std::to_string(d) + ")"; }

/// Checks offset d of a matrix; `offsets` in host memory.
template <class T, class Space>
void check_dia_offset(const DiaMatrix<T, Space>& A, const index_t* offsets, index_t d) {
  require(offsets[d] > -A.rows && offsets[d] < A.cols,
          [&] { return "DiaMatrix: offset outside the matrix" + of_diagonal(d); });
  require(d == 0 || offsets[d - 1] < offsets[d],
          [&] { return "DiaMatrix: offsets must ascend" + of_diagonal(d); });
  require(!A.symmetric || offsets[d] >= 0, [&] {
    return "DiaMatrix: a symmetric matrix stores no offset below 0" + of_diagonal(d);
  });
}

[[noreturn]] inline void throw_dia_value(index_t row, index_t d) {
  throw_invalid("DiaMatrix: value outside the matrix in row " + std::to_string(row) +
                of_diagonal(d));
}

/// Whether the value in row i of a diagonal lies outside the matrix and is not zero.
template <class T>
KOKKOS_INLINE_FUNCTION bool outside_and_not_zero(const DiaOperand<T>& A, index_t d, index_t i) {
  const offset_t column = static_cast<offset_t>(i) + A.offsets[d];
  return (column < 0 || column >= A.cols) &&
         A.values[static_cast<offset_t>(d) * A.rows + i] != T(0);
}

/// Refuses a number of diagonals that dia_holds does not take.
inline void require_dia_holds(offset_t diagonals, index_t rows, offset_t entries) {
  const offset_t stored = diagonals * rows;
  require(dia_holds(stored, entries), [&] {
    return "to_dia: " + std::to_string(diagonals) + " diagonals would store " +
           std::to_string(stored) + " values for " + std::to_string(entries) + " entries";
  });
}

/// A DIA matrix without arrays.
template <class T, class Space>
DiaMatrix<T, Space> sized_dia(const CsrMatrix<T, Space>& A, bool symmetric) {
  require(!symmetric || A.rows == A.cols, "to_dia: a symmetric matrix must be square");
  DiaMatrix<T, Space> B;
  B.rows = A.rows;
  B.cols = A.cols;
  B.symmetric = symmetric;
  B.nonzeros = A.nonzeros;
  return B;
}

template <class SparseMatrix, class Source>
void require_dia_refreshable(const SparseMatrix& A, const Source& source) {
  require(source.block_size == 1, "update_values: the source must be CSR (block size 1)");
  require(A.rows == source.rows && A.cols == source.cols,
          "update_values: source and matrix differ in rows or cols");
}

/// Throws what a refresh reported: the first row that has no place.
inline void require_placed(const Least& unplaced) {
  require(!unplaced.found(), [&] {
    return "update_values: an entry of row " + std::to_string(unplaced.key) +
           " has no place in the matrix's diagonals or is too large for its precision";
  });
}

/// Throws that the source is not symmetric, and in which row.
[[noreturn]] inline void throw_not_symmetric(index_t row, const char* fault) {
  throw_invalid("the matrix is not symmetric, as the format dia-symmetric requires: row " +
                std::to_string(row) + " (counted from 0) " + fault);
}

}  // namespace cnc::detail
