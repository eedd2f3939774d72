#pragma once

#include "convert/dia_checks.hpp"
#include "convert/portable/bcsr.hpp"
#include "convert/portable/loops.hpp"

#include <cnc/convert.hpp>

// Check, build and refresh DIA on any execution space. Neighbouring threads work on neighbouring rows
// and so write side by side on every diagonal.

// Tells Kokkos::Sum where to start.
template <>
struct Kokkos::reduction_identity<cnc::detail::MirrorFacts> {
  KOKKOS_FORCEINLINE_FUNCTION static cnc::detail::MirrorFacts sum() { return {}; }
};

namespace cnc::portable {

/// As DiaMatrix::validate, all offsets first.
template <class Exec, class T, class Space>
void validate(const DiaMatrix<T, Space>& matrix) {
  detail::check_dia_extents(matrix);
  const auto offsets = Kokkos::create_mirror_view_and_copy(HostSpace(), matrix.offsets);
  for (index_t d = 0; d < matrix.diagonals(); ++d)
    detail::check_dia_offset(matrix, offsets.data(), d);
  const auto A = matrix.operand();
  const offset_t found = least<Exec>(
      "cnc::validate", matrix.stored(), KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        if (detail::outside_and_not_zero(A, static_cast<index_t>(i / A.rows),
                                         static_cast<index_t>(i % A.rows)))
          lower(value, i);
      });
  if (found != nothing)
    detail::throw_dia_value(static_cast<index_t>(found % A.rows),
                            static_cast<index_t>(found / A.rows));
}

/// One mark for every possible diagonal, by column - row + rows.
template <class Space>
using Marks = Kokkos::View<unsigned char*, Space>;

template <class Space>
Marks<Space> no_marks(index_t rows, index_t cols) {
  return zeroed<unsigned char, Space>(
      "cnc::marks", static_cast<std::size_t>(rows) + static_cast<std::size_t>(cols));
}

/// Marks the diagonal of an entry. All threads write the same value; reading first keeps the marks of a
/// structured matrix in every cache.
KOKKOS_INLINE_FUNCTION void mark(unsigned char* marks, index_t rows, index_t row, index_t column) {
  unsigned char* place = marks + (static_cast<offset_t>(column) - row + rows);
  if (*place == 0) *place = 1;
}

/// Marks from place `begin` on. Waits.
template <class Exec, class Space>
offset_t count_marks(const Marks<Space>& view, offset_t begin = 0) {
  offset_t count = 0;
  const unsigned char* marks = view.data();
  Kokkos::parallel_reduce(
      "cnc::count", range<Exec>(begin, static_cast<offset_t>(view.extent(0))),
      KOKKOS_LAMBDA(const offset_t i, offset_t& sum) { sum += marks[i]; }, count);
  return count;
}

template <class Exec, class T, class S, class Space>
void update_values(DiaMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  detail::require_dia_refreshable(A, given);
  const CsrMatrix<S, Space> source = detail::ascending_csr<Exec>(given);
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const offset_t unplaced = least<Exec>(
      "cnc::refresh", A.rows, KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        if (!detail::refresh_row(target, values, from, static_cast<index_t>(i))) lower(value, i);
      });
  detail::require_placed(unplaced == nothing ? -1 : static_cast<index_t>(unplaced));
  if (A.symmetric) {
    detail::MirrorFacts all;
    Kokkos::parallel_reduce(
        "cnc::mirrors", range<Exec>(0, A.rows),
        KOKKOS_LAMBDA(const offset_t i, detail::MirrorFacts& facts) {
          detail::compare_mirrors(target, from, static_cast<index_t>(i), facts);
        },
        Kokkos::Sum<detail::MirrorFacts>(all));
    detail::require_mirrored(all);
  }
  A.nonzeros = source.nonzeros;
}

template <class Exec, class T, class Space>
DiaMatrix<T, Space> to_dia(const CsrMatrix<T, Space>& given, bool symmetric = false) {
  const CsrMatrix<T, Space> A = detail::ascending_csr<Exec>(given);
  DiaMatrix<T, Space> B = detail::sized_dia(A, symmetric);
  const auto source = A.operand();
  const Marks<Space> mark_view = no_marks<Space>(A.rows, A.cols);
  unsigned char* marks = mark_view.data();
  constexpr int lanes = row_lanes<Exec>;
  Kokkos::parallel_for(
      "cnc::mark", range<Exec>(0, static_cast<offset_t>(A.rows) * lanes),
      KOKKOS_LAMBDA(const offset_t thread) {
        const auto row = static_cast<index_t>(thread / lanes);
        for (offset_t k = source.row_offsets[row] + thread % lanes; k < source.row_offsets[row + 1];
             k += lanes)
          mark(marks, source.rows, row, source.columns[k]);
      });
  const offset_t begin = symmetric ? A.rows : 0;
  const offset_t diagonals = count_marks<Exec>(mark_view, begin);
  detail::require_dia_holds(diagonals, A.rows, A.blocks());

  const auto offset_view =
      uninitialized<index_t, Space>("cnc::dia offsets", static_cast<std::size_t>(diagonals));
  index_t* offsets = offset_view.data();
  Kokkos::parallel_scan(
      "cnc::offsets", range<Exec>(begin, static_cast<offset_t>(mark_view.extent(0))),
      KOKKOS_LAMBDA(const offset_t i, offset_t& sum, const bool last) {
        if (last && marks[i] != 0) offsets[sum] = static_cast<index_t>(i - source.rows);
        sum += marks[i];
      });
  B.offsets = offset_view;
  B.values = uninitialized<T, Space>(
      "cnc::dia values", static_cast<std::size_t>(diagonals) * static_cast<std::size_t>(A.rows));
  update_values<Exec>(B, A);
  return B;
}

}  // namespace cnc::portable
