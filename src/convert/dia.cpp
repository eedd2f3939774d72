#include "convert/checks.hpp"
#include "convert/narrow.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <string>
#include <vector>

// Build, check, unpack and refresh matrices stored by diagonals.

namespace cnc {
namespace {

/// The occupied diagonals of A: their offsets, and the number of each by column - row + rows - 1.
struct DiagonalIndex {
  std::vector<index_t> offsets;
  std::vector<index_t> number;

  template <class T>
  DiagonalIndex(const BcsrOperand<T>& A, bool upper_only)
      : number(static_cast<std::size_t>(std::max<offset_t>(offset_t(A.rows) + A.cols - 1, 0)), -1) {
    for (index_t i = 0; i < A.rows; ++i)
      for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
        number[static_cast<std::size_t>(offset_t(A.columns[k]) - i + A.rows - 1)] = 0;
    for (std::size_t place = 0; place < number.size(); ++place) {
      const auto offset = static_cast<index_t>(static_cast<offset_t>(place) - A.rows + 1);
      if (number[place] < 0 || (upper_only && offset < 0)) continue;
      number[place] = static_cast<index_t>(offsets.size());
      offsets.push_back(offset);
    }
  }
};

/// Row of the entry above the diagonal that stands for (i, j), and its offset.
struct Place {
  index_t row;
  index_t offset;
};
template <class T>
Place place_of(const DiaOperand<T>& A, index_t i, index_t j) {
  return A.symmetric && j < i ? Place{j, i - j} : Place{i, j - i};
}

/// Position of entry (i, j) in values, or -1 when its diagonal is not stored.
template <class T>
offset_t position_of(const DiaOperand<T>& A, index_t i, index_t j) {
  const Place place = place_of(A, i, j);
  const index_t* end = A.offsets + A.diagonals;
  const index_t* found = std::lower_bound(A.offsets, end, place.offset);
  if (found == end || *found != place.offset) return -1;
  return static_cast<offset_t>(found - A.offsets) * A.rows + place.row;
}

/// Calls use(column, value) for the stored entries of row i that are not zero, columns ascending.
template <class T, class Use>
void walk_row(const DiaOperand<T>& A, index_t i, const Use& use) {
  const auto entry = [&](index_t d, index_t row, offset_t column) {
    if (column < 0 || column >= A.cols) return;
    const T value = A.values[static_cast<offset_t>(d) * A.rows + row];
    if (value != T(0)) use(static_cast<index_t>(column), value);
  };
  if (A.symmetric)
    for (index_t d = A.diagonals - 1; d >= 0 && A.offsets[d] > 0; --d)
      if (A.offsets[d] <= i) entry(d, i - A.offsets[d], offset_t(i) - A.offsets[d]);
  for (index_t d = 0; d < A.diagonals; ++d) entry(d, i, offset_t(i) + A.offsets[d]);
}


/// Places the upper entries of one row (all of them unless symmetric). False: one has no place.
template <class T, class S>
bool place_row(const DiaOperand<T>& A, T* values, const BcsrOperand<S>& source, index_t i) {
  for (index_t k = source.row_offsets[i]; k < source.row_offsets[i + 1]; ++k) {
    const index_t j = source.columns[k];
    const offset_t position = position_of(A, i, j);
    if (position < 0 || detail::overflows<T>(source.values[k])) return false;
    if (!A.symmetric || j >= i) values[position] = static_cast<T>(source.values[k]);
  }
  return true;
}

/// Whether the lower entries of one row repeat what was placed for their mirror images.
template <class T, class S>
bool mirrors(const DiaOperand<T>& A, const BcsrOperand<S>& source, index_t i) {
  for (index_t k = source.row_offsets[i]; k < source.row_offsets[i + 1]; ++k)
    if (source.columns[k] < i &&
        A.values[position_of(A, i, source.columns[k])] != static_cast<T>(source.values[k]))
      return false;
  return true;
}

}  // namespace

template <class T, class Space>
void DiaMatrix<T, Space>::validate() const {
  require(rows >= 0 && cols >= 0, "DiaMatrix: rows and cols must not be negative");
  require(values.extent(0) == offsets.extent(0) * static_cast<std::size_t>(rows),
          "DiaMatrix: values needs diagonals * rows entries");
  require(!symmetric || rows == cols, "DiaMatrix: a symmetric matrix must be square");
  for (index_t d = 0; d < diagonals(); ++d) {
    const index_t offset = offsets(d);
    const auto where = [=] { return " (diagonal " + std::to_string(d) + ")"; };
    require(offset > -rows && offset < cols,
            [&] { return "DiaMatrix: offset outside the matrix" + where(); });
    require(d == 0 || offsets(d - 1) < offset,
            [&] { return "DiaMatrix: offsets must ascend" + where(); });
    require(!symmetric || offset >= 0,
            [&] { return "DiaMatrix: a symmetric matrix stores no offset below 0" + where(); });
    const T* diagonal = values.data() + static_cast<offset_t>(d) * rows;
    const index_t fault = detail::first_fault(rows, [=, this](index_t i) {
      const offset_t column = offset_t(i) + offset;
      return (column < 0 || column >= cols) && diagonal[i] != T(0);
    });
    require(fault < 0, [&] {
      return "DiaMatrix: value outside the matrix in row " + std::to_string(fault) + where();
    });
  }
}

template <class T>
DiaMatrix<T> to_dia(const CsrMatrix<T>& A, bool symmetric) {
  detail::require_csr(A);
  require(!symmetric || A.rows == A.cols, "to_dia: a symmetric matrix must be square");
  const auto source = A.operand();
  const DiagonalIndex index(source, symmetric);
  const auto stored = static_cast<offset_t>(index.offsets.size()) * A.rows;
  require(dia_holds(stored, A.blocks()), [&] {
    return "to_dia: " + std::to_string(index.offsets.size()) + " diagonals would store " +
           std::to_string(stored) + " values for " + std::to_string(A.blocks()) + " entries";
  });

  DiaMatrix<T> B;
  B.rows = A.rows;
  B.cols = A.cols;
  B.symmetric = symmetric;
  const auto offsets = uninitialized<index_t>("cnc::dia offsets", index.offsets.size());
  std::copy(index.offsets.begin(), index.offsets.end(), offsets.data());
  B.offsets = offsets;
  B.values = uninitialized<T>("cnc::dia values", static_cast<std::size_t>(stored));
  B.nonzeros = A.nonzeros;
  update_values(B, A);
  return B;
}

template <class T>
CsrMatrix<T> to_csr(const DiaMatrix<T>& A) {
  A.validate();
  const auto source = A.operand();
  const auto row_offsets =
      uninitialized<index_t>("cnc::csr row_offsets", static_cast<std::size_t>(A.rows) + 1);
  index_t* offsets = row_offsets.data();
  detail::parallel_for(A.rows, [=](index_t i) {
    index_t count = 0;
    walk_row(source, i, [&](index_t, T) { ++count; });
    offsets[i + 1] = count;
  });
  const auto nonzeros =
      static_cast<std::size_t>(detail::offsets_from_counts(offsets, A.rows, "nonzeros"));
  const auto columns = uninitialized<index_t>("cnc::csr columns", nonzeros);
  const auto values = uninitialized<T>("cnc::csr values", nonzeros);
  detail::parallel_for(A.rows, [=](index_t i) {
    index_t k = offsets[i];
    walk_row(source, i, [&](index_t column, T value) {
      columns.data()[k] = column;
      values.data()[k++] = value;
    });
  });
  return {A.rows, A.cols, 1, row_offsets, columns, values};
}

template <class T, class S>
void update_values(DiaMatrix<T>& A, const CsrMatrix<S>& source) {
  require(source.block_size == 1, "update_values: the source must be CSR (block size 1)");
  require(A.rows == source.rows && A.cols == source.cols,
          "update_values: source and matrix differ in rows or cols");
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  detail::parallel_for(A.stored(), [=](offset_t i) { values[i] = T(0); });
  const index_t unplaced =
      detail::first_fault(A.rows, [=](index_t i) { return !place_row(target, values, from, i); });
  require(unplaced < 0, [=] {
    return "update_values: an entry of row " + std::to_string(unplaced) +
           " has no place in the matrix's diagonals or is too large for its precision";
  });
  if (A.symmetric) {
    const index_t unlike =
        detail::first_fault(A.rows, [=](index_t i) { return !mirrors(target, from, i); });
    require(unlike < 0, [=] {
      return "update_values: row " + std::to_string(unlike) + " is not symmetric to its column";
    });
    offset_t lower = 0, upper = 0;
    for (index_t i = 0; i < A.rows; ++i) {
      for (index_t k = from.row_offsets[i]; k < from.row_offsets[i + 1]; ++k) {
        lower += from.columns[k] < i;
        upper += from.columns[k] > i;
      }
    }
    require(lower == upper, "update_values: entries without a mirror image in a symmetric matrix");
  }
  A.nonzeros = source.nonzeros;
}

#define CNC_INSTANTIATE(T)                                             \
  template void DiaMatrix<T>::validate() const;                        \
  template DiaMatrix<T> to_dia(const CsrMatrix<T>&, bool);             \
  template CsrMatrix<T> to_csr(const DiaMatrix<T>&);                   \
  template void update_values(DiaMatrix<T>&, const CsrMatrix<float>&); \
  template void update_values(DiaMatrix<T>&, const CsrMatrix<double>&);
CNC_INSTANTIATE(float)
CNC_INSTANTIATE(double)
#undef CNC_INSTANTIATE

}  // namespace cnc
