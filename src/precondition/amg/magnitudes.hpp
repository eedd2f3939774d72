#pragma once

#include "on_each.hpp"

#include <cnc/formats.hpp>
#include <cnc/preconditioner.hpp>

#include <cmath>
#include <variant>

// How large the entries of a matrix are, and whether float has room for them.

namespace cnc::detail {

/// The largest of numbers that are not negative.
struct Largest : Facts {
  double value = 0;
  /// What is no number stays.
  KOKKOS_INLINE_FUNCTION void take(double other) {
    if (value == value && !(other <= value)) value = other;
  }
  KOKKOS_INLINE_FUNCTION Largest& operator+=(const Largest& other) {
    take(other.value);
    return *this;
  }
};

/// How large entries are, and how many diagonal ones have an inverse that float holds.
struct Magnitudes : Facts {
  Largest largest;
  offset_t diagonals = 0;
  KOKKOS_INLINE_FUNCTION void take(double value, bool is_diagonal) {
    const double size = std::abs(value);
    largest.take(size);
    diagonals += is_diagonal && size > 1e-18;
  }
  KOKKOS_INLINE_FUNCTION Magnitudes& operator+=(const Magnitudes& other) {
    largest += other.largest;
    diagonals += other.diagonals;
    return *this;
  }
};
template <class Exec, class V>
struct GatherMagnitudes {
  BcsrOperand<V> A;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit, Magnitudes& magnitudes) const {
    constexpr int lanes = row_lanes<Exec>;
    const offset_t row = unit / lanes;
    const index_t end = A.row_offsets[row + 1];
    for (offset_t k = A.row_offsets[row] + unit % lanes; k < end; k += lanes)
      magnitudes.take(static_cast<double>(A.values[k]), A.columns[k] == row);
  }
};
/// The same of kinds of rows.
template <class V>
struct GatherMagnitudesOfKinds {
  RowDictionaryOperand<V> rows;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t kind, Magnitudes& magnitudes) const {
    for (index_t k = rows.starts[kind]; k < rows.starts[kind + 1]; ++k)
      magnitudes.take(static_cast<double>(rows.entries[k].value), rows.entries[k].offset == 0);
  }
};
/// A row with an entry that is not finite.
template <class V>
struct HasNoNumber {
  BcsrOperand<V> A;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      if (!std::isfinite(static_cast<double>(A.values[k]))) return true;
    return false;
  }
};
/// Of all entries of A, which has that layout; the largest is not finite where one of them is not. Waits.
template <class Exec, class V, class Space>
Magnitudes magnitudes_of(const Exec& exec, const CsrMatrix<V, Space>& A,
                         const Matrix<V, Space>& layout) {
  const auto rows = std::visit([](const auto& a) { return a.dictionary.operand(); }, layout);
  if (rows.kinds > 0) {
    auto found = sum_over<Magnitudes>(exec, rows.kinds, GatherMagnitudesOfKinds<V>{rows});
    found.diagonals = found.diagonals == rows.kinds ? A.rows : 0;
    return found;
  }
  return sum_over<Magnitudes>(exec, offset_t(A.rows) * row_lanes<Exec>,
                              GatherMagnitudes<Exec, V>{A.operand()});
}
/// The first row with an entry that is not finite, where there is one, as the outcome of a set-up. Waits.
template <class Exec, class V, class Space>
PreconditionerSetup row_without_number(const Exec& exec, const CsrMatrix<V, Space>& A) {
  return {.row = first_row(exec, A.rows, HasNoNumber<V>{A.operand()}),
          .fault = "has an entry that is not finite"};
}
/// Whether float has room above and below for the values of a matrix of so many rows, its products and its inverse.
inline bool range_is_float(const Magnitudes& magnitudes, index_t rows) {
  return magnitudes.largest.value < 1e18 && magnitudes.diagonals == rows;
}

}  // namespace cnc::detail
