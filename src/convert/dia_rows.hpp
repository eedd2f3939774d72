#pragma once

#include "convert/narrow.hpp"
#include "convert/search.hpp"
#include "on_each.hpp"

#include <cnc/contract/operands.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>

// What conversions do with one row of a DIA matrix. Called by host loops and inside kernels alike.

namespace cnc::detail {

/// Number of the stored diagonal with this offset, or -1.
template <class T>
KOKKOS_INLINE_FUNCTION index_t find_diagonal(const DiaOperand<T>& A, offset_t offset) {
  const index_t* end = A.offsets + A.diagonals;
  const index_t* found = first_not_less(A.offsets, end, offset);
  return found != end && *found == offset ? static_cast<index_t>(found - A.offsets) : -1;
}

/// Calls use(column, value) for the stored entries of row i that are not zero, columns ascending.
template <class T, class Use>
KOKKOS_INLINE_FUNCTION void walk_entries(const DiaOperand<T>& A, index_t i, const Use& use) {
  const auto entry = [&](index_t d, index_t row, offset_t column) {
    if (column < 0 || column >= A.cols) return;
    const T value = A.values[static_cast<offset_t>(d) * A.rows + row];
    if (value != T(0)) use(static_cast<index_t>(column), value);
  };
  if (A.symmetric)
    for (index_t d = A.diagonals - 1; d >= 0 && A.offsets[d] > 0; --d)
      if (A.offsets[d] <= i) entry(d, i - A.offsets[d], static_cast<offset_t>(i) - A.offsets[d]);
  for (index_t d = 0; d < A.diagonals; ++d) entry(d, i, static_cast<offset_t>(i) + A.offsets[d]);
}

/// Overwrites row i of every stored diagonal with the source's values, zeros where it has none. False:
/// an entry has no place or overflows T. Below the diagonal of a symmetric matrix only that is checked.
template <class T, class S>
KOKKOS_INLINE_FUNCTION bool refresh_row(const DiaOperand<T>& A, T* values,
                                        const BcsrOperand<S>& source, index_t i) {
  index_t k = source.row_offsets[i];
  const index_t end = source.row_offsets[i + 1];
  if (A.symmetric) {
    for (; k < end && source.columns[k] < i; ++k)
      if (find_diagonal(A, static_cast<offset_t>(i) - source.columns[k]) < 0 ||
          overflows<T>(source.values[k]))
        return false;
  }
  for (index_t d = 0; d < A.diagonals; ++d) {
    T value = 0;
    if (k < end && source.columns[k] == static_cast<offset_t>(i) + A.offsets[d]) {
      if (overflows<T>(source.values[k])) return false;
      value = static_cast<T>(source.values[k++]);
    }
    values[static_cast<offset_t>(d) * A.rows + i] = value;
  }
  return k == end;
}

/// Entries of one row on both sides of the diagonal, and whether the lower ones repeat what was placed
/// for their mirror images. Rows of a symmetric matrix, after all went through refresh_row.
struct MirrorFacts : Facts {
  offset_t lower = 0, upper = 0;
  index_t unlike = -1;  ///< first row whose lower entries differ from the upper ones

  KOKKOS_INLINE_FUNCTION MirrorFacts& operator+=(const MirrorFacts& other) {
    lower += other.lower;
    upper += other.upper;
    if (unlike < 0 || (other.unlike >= 0 && other.unlike < unlike)) unlike = other.unlike;
    return *this;
  }
};

template <class T, class S>
KOKKOS_INLINE_FUNCTION void compare_mirrors(const DiaOperand<T>& A, const BcsrOperand<S>& source,
                                            index_t i, MirrorFacts& facts) {
  for (index_t k = source.row_offsets[i]; k < source.row_offsets[i + 1]; ++k) {
    const index_t column = source.columns[k];
    facts.upper += column > i;
    if (column >= i) continue;
    ++facts.lower;
    const index_t d = find_diagonal(A, static_cast<offset_t>(i) - column);
    if (A.values[static_cast<offset_t>(d) * A.rows + column] != static_cast<T>(source.values[k]) &&
        (facts.unlike < 0 || i < facts.unlike))
      facts.unlike = i;
  }
}

}  // namespace cnc::detail
