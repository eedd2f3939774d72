#pragma once

#include "convert/transposed_pattern.hpp"

#include <vector>

// Colours of the rows of a matrix, for sweeps and factorisations that take neighbours one after the other.

namespace cnc::detail {

/// Rows [0, n) in the order in which they are taken, and the colour of each.
struct OrderOfRows {
  std::vector<index_t> rows, colour;
  std::vector<index_t> begins;  ///< of colours among rows; empty in their own order
  bool comes_before(index_t i, index_t j) const {
    return begins.empty()
               ? i < j
               : colour[static_cast<std::size_t>(i)] < colour[static_cast<std::size_t>(j)];
  }
};

/// The rows by colours, no two neighbours of one colour, in A or its transpose; each takes the least that no neighbour has.
template <class V>
OrderOfRows coloured(const CsrMatrix<V>& A) {
  const TransposedPattern<HostSpace> At = transposed_pattern(A);
  OrderOfRows order;
  const auto n = static_cast<std::size_t>(A.rows);
  order.colour.assign(n, -1);
  std::vector<index_t> used_by;  // of each colour, the last row that met it
  for (index_t i = 0; i < A.rows; ++i) {
    const auto meet = [&](index_t j) {
      const index_t colour = order.colour[static_cast<std::size_t>(j)];
      if (colour >= 0) used_by[static_cast<std::size_t>(colour)] = i;
    };
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) meet(A.columns(k));
    for (index_t k = At.row_offsets(i); k < At.row_offsets(i + 1); ++k) meet(At.columns(k));
    std::size_t colour = 0;
    while (colour < used_by.size() && used_by[colour] == i) ++colour;
    if (colour == used_by.size()) used_by.push_back(-1);
    order.colour[static_cast<std::size_t>(i)] = static_cast<index_t>(colour);
  }
  order.begins.assign(used_by.size() + 1, 0);
  for (const index_t colour : order.colour) ++order.begins[static_cast<std::size_t>(colour) + 1];
  for (std::size_t c = 0; c < used_by.size(); ++c) order.begins[c + 1] += order.begins[c];
  std::vector<index_t> next = order.begins;
  order.rows.resize(n);
  for (index_t i = 0; i < A.rows; ++i) {
    index_t& place = next[static_cast<std::size_t>(order.colour[static_cast<std::size_t>(i)])];
    order.rows[static_cast<std::size_t>(place++)] = i;
  }
  return order;
}

}  // namespace cnc::detail
