#pragma once

#include <cnc/contract/arithmetic.hpp>
#include <cnc/contract/stored_rows.hpp>

#include <cstdint>

// A row of a product in a given arithmetic, for any format: one thread sums it in the order of storage, in V. What is not
// compensated has the same bits wherever it is computed.

namespace cnc::detail {

template <class V>
struct SeparateSum {
  V sum;
  constexpr void add_product(V a, V b) {
    const V product = a * b;
    sum = sum + product;
  }
  constexpr V value() const { return sum; }
};
template <class V>
struct FusedSum {
  V sum;
  constexpr void add_product(V a, V b) { sum = std::fma(a, b, sum); }
  constexpr V value() const { return sum; }
};
template <class V>
struct SumOfRounded : CompensatedSum<V> {
  constexpr void add_product(V a, V b) {
    const V product = a * b;
    this->add(product);
  }
};
template <class V>
struct SumOfExact : CompensatedSum<V> {
  constexpr void add_product(V a, V b) { this->add_exact(a, b); }
};

template <class Sum, class V, class Rows, class Row>
constexpr V row_sum(const Rows& rows, const Row& row, const V* x) {
  const auto cols = static_cast<std::uint32_t>(rows.A.cols);
  Sum sum{};
  for (auto k = row.begin; k < row.end; k += row.step) {
    const index_t column = row.column(k);
    for (int w = 0; w < rows.width(); ++w)
      if (static_cast<std::uint32_t>(column + w) < cols)
        sum.add_product(static_cast<V>(row.value(k, w)), x[column + w]);
  }
  return sum.value();
}

/// y := A x in row t of the order of storage.
template <class Rows, class V>
constexpr void careful_row(const Rows& rows, offset_t t, Arithmetic arithmetic, const V* x, V* y) {
  const auto row = rows.at(t);
  if (row.row < 0) return;
  switch (arithmetic) {
    case Arithmetic::fast:
    case Arithmetic::separate: y[row.row] = row_sum<SeparateSum<V>>(rows, row, x); return;
    case Arithmetic::fused: y[row.row] = row_sum<FusedSum<V>>(rows, row, x); return;
    case Arithmetic::compensated_separate:
      y[row.row] = row_sum<SumOfRounded<V>>(rows, row, x);
      return;
    case Arithmetic::compensated_fused: y[row.row] = row_sum<SumOfExact<V>>(rows, row, x); return;
  }
}

}  // namespace cnc::detail
