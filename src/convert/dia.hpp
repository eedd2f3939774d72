#pragma once

#include "convert/dia_checks.hpp"
#include "convert/row_dictionary.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/structure_facts.hpp"
#include "convert/unpack.hpp"

#include <cnc/convert.hpp>

#include <utility>

// Check, build, unpack and refresh DIA. Neighbouring threads work on neighbouring rows and so write side by side
// on every diagonal.

namespace cnc::detail {

/// Reports the first diagonal, and on it the first row, with a value outside the matrix.
template <class T>
struct FindValueOutside {
  DiaOperand<T> A;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& found) const {
    for (index_t d = 0; d < A.diagonals; ++d)
      if (outside_and_not_zero(A, d, static_cast<index_t>(i))) found.report(d, i);
  }
};

/// One mark for every possible diagonal, by column - row + rows.
template <class Space>
Vector<unsigned char, Space> no_marks(index_t rows, index_t cols) {
  return zeroed<unsigned char, Space>(
      "cnc::marks", static_cast<std::size_t>(rows) + static_cast<std::size_t>(cols));
}

/// Marks the diagonal of an entry. All threads write the same value; reading first keeps the marks of a
/// structured matrix in every cache.
KOKKOS_INLINE_FUNCTION void mark(unsigned char* marks, index_t rows, index_t row, index_t column) {
  unsigned char& place = marks[static_cast<offset_t>(column) - row + rows];
  if (load_shared(place) == 0) store_shared<unsigned char>(place, 1);
}

template <class Exec, class T>
struct MarkDiagonals {
  BcsrOperand<T> A;
  unsigned char* marks;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    constexpr int lanes = row_lanes<Exec>;
    const auto row = static_cast<index_t>(i / lanes);
    for (offset_t k = A.row_offsets[row] + i % lanes; k < A.row_offsets[row + 1]; k += lanes)
      mark(marks, A.rows, row, A.columns[k]);
  }
};

struct CountMarks {
  const unsigned char* marks;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const { sum += marks[i]; }
};

/// Writes the offsets of the marked diagonals.
struct ListMarks {
  const unsigned char* marks;
  index_t rows;
  index_t* offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum, bool last) const {
    if (last && marks[i] != 0) offsets[sum] = static_cast<index_t>(i - rows);
    sum += marks[i];
  }
};

/// Overwrites row i of every diagonal; reports the first row that has no place there.
template <class T, class S>
struct RefreshDiaRow {
  DiaOperand<T> A;
  T* values;
  BcsrOperand<S> source;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& unplaced) const {
    if (!refresh_row(A, values, source, static_cast<index_t>(i))) unplaced.report(i);
  }
};

template <class T, class S>
struct CompareMirrors {
  DiaOperand<T> A;
  BcsrOperand<S> source;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, MirrorFacts& facts) const {
    compare_mirrors(A, source, static_cast<index_t>(i), facts);
  }
};

/// Whether a row has an entry whose mirror image is not stored.
template <class S>
struct LacksMirror {
  BcsrOperand<S> source;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    const auto row = static_cast<index_t>(i);
    for (index_t k = source.row_offsets[row]; k < source.row_offsets[row + 1]; ++k)
      if (find_entry(source, source.columns[k], row) < 0) return true;
    return false;
  }
};

namespace set_up {

/// The first row with an entry without a mirror image, or -1. A search for the message alone: faster checks have failed before.
template <class Exec, class S>
index_t first_unpaired(const Exec& exec, const BcsrOperand<S>& source, index_t rows) {
  return first_row(exec, rows, LacksMirror<S>{source});
}
inline constexpr const char* unpaired = "has an entry without a mirror image";

/// Throws unless every entry of the source, which is in the diagonals of A now, has a mirror image of the same value.
template <class Exec, class T, class S>
void require_mirrored(const Exec& exec, const DiaOperand<T>& A, const BcsrOperand<S>& source) {
  const auto facts = sum_over<MirrorFacts>(exec, A.rows, CompareMirrors<T, S>{A, source});
  if (facts.unlike >= 0) throw_not_symmetric(facts.unlike, "differs from its column");
  if (facts.lower != facts.upper)
    throw_not_symmetric(first_unpaired(exec, source, A.rows), unpaired);
}

/// As DiaMatrix::validate, all offsets first.
template <class Exec, class T, class Space>
void validate(const DiaMatrix<T, Space>& A) {
  check_dia_extents(A);
  const auto offsets = Kokkos::create_mirror_view_and_copy(HostSpace(), A.offsets);
  for (index_t d = 0; d < A.diagonals(); ++d) check_dia_offset(A, offsets.data(), d);
  const auto found = sum_over<Least>(instance<Exec>(), A.rows, FindValueOutside<T>{A.operand()});
  if (found.found()) throw_dia_value(found.second(), static_cast<index_t>(found.first()));
}

template <class Exec, class T, class S, class Space>
void update_values(DiaMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  require_dia_refreshable(A, given);
  const CsrMatrix<S, Space> source = ascending_csr<Exec>(given);
  const auto before = std::exchange(A.dictionary, {});  // none, should this fail half way
  const Exec exec = instance<Exec>();
  const auto target = A.operand();
  const auto unplaced =
      sum_over<Least>(exec, A.rows, RefreshDiaRow<T, S>{target, A.values.data(), source.operand()});
  // A diagonal below the main one has its place where the one above has entries.
  if (A.symmetric && unplaced.found()) {
    const index_t row = first_unpaired(exec, source.operand(), A.rows);
    if (row >= 0) throw_not_symmetric(row, unpaired);
  }
  require_placed(unplaced);
  if (A.symmetric) require_mirrored(exec, target, source.operand());
  A.nonzeros = source.nonzeros;
  if (!before.empty()) A.dictionary = row_dictionary<Exec, T>(source, before);
}

template <class Exec, class T, class Space>
DiaMatrix<T, Space> to_dia(const CsrMatrix<T, Space>& given, bool symmetric = false) {
  const CsrMatrix<T, Space> A = ascending_csr<Exec>(given);
  DiaMatrix<T, Space> B = sized_dia(A, symmetric);
  const Exec exec = instance<Exec>();
  const auto marks = no_marks<Space>(A.rows, A.cols);
  on_each(exec, static_cast<offset_t>(A.rows) * row_lanes<Exec>,
          MarkDiagonals<Exec, T>{A.operand(), marks.data()});
  const offset_t begin = symmetric ? A.rows : 0;
  const auto end = static_cast<offset_t>(marks.extent(0));
  const offset_t diagonals = sum_over(exec, end - begin, CountMarks{marks.data() + begin});
  require_dia_holds(diagonals, A.rows, A.blocks());

  const auto offsets =
      uninitialized<index_t, Space>("cnc::dia offsets", static_cast<std::size_t>(diagonals));
  scan(exec, begin, end, ListMarks{marks.data(), A.rows, offsets.data()});
  B.offsets = offsets;
  B.values = uninitialized<T, Space>(
      "cnc::dia values", static_cast<std::size_t>(diagonals) * static_cast<std::size_t>(A.rows));
  update_values<Exec>(B, A);
  return B;
}

template <class Exec, class T, class Space>
CsrMatrix<T, Space> to_csr(const DiaMatrix<T, Space>& A) {
  validate<Exec>(A);
  return unpack<Exec, T>(A, Rows<Exec, DiaOperand<T>>{A.operand()});
}

}  // namespace set_up
}  // namespace cnc::detail
