#pragma once

#include "on_each.hpp"

#include <cnc/copy.hpp>

#include <algorithm>
#include <vector>

// Rows of a triangle one after the other, or group by group: colours of a relaxation, levels of a factorisation.

namespace cnc::detail {

/// The rows of a triangle in the order in which they are taken, as kernels see them.
template <class V>
struct OrderedRows {
  const index_t* rows;
  const index_t* row_offsets;
  const index_t* columns;
  const V* values;

  /// The row at `place` times z.
  KOKKOS_INLINE_FUNCTION V times(offset_t place, const V* z) const {
    V sum = 0;
    for (index_t k = row_offsets[place]; k < row_offsets[place + 1]; ++k)
      sum += values[k] * z[columns[k]];
    return sum;
  }
  /// Those from `place` on.
  OrderedRows from(index_t place) const {
    return {rows + place, row_offsets + place, columns, values};
  }
};

/// z(i) := inverse(i) (r(i) - row i of the triangle times `from`), which is z where rows are solved one after the other, or the step
/// before. inverse null: ones. r may be z then.
template <class V>
struct SubstituteRow {
  OrderedRows<V> triangle;
  const V* inverse;
  const V* r;
  const V* from;
  V* z;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t place) const {
    const index_t row = triangle.rows[place];
    const V rest = r[row] - triangle.times(place, from);
    z[row] = inverse == nullptr ? rest : inverse[row] * rest;
  }
};

/// body(place) for n rows, whose triangle is body.triangle: those of a group side by side, one group after the other, from the last
/// one on where it goes back. `begins`: of groups; empty: row after row, on a host alone.
template <class Exec, class Body>
void in_order(const Context<Exec>& ctx, const std::vector<index_t>& begins, std::size_t n,
              bool back, const Body& body) {
  if (begins.empty()) {
    if constexpr (is_host_space<typename Exec::memory_space>)
      for (std::size_t k = 0; k < n; ++k) body(static_cast<offset_t>(back ? n - 1 - k : k));
    return;
  }
  const std::size_t groups = begins.size() - 1;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t group = back ? groups - 1 - g : g;
    Body of_group = body;
    of_group.triangle = body.triangle.from(begins[group]);
    on_each(ctx, begins[group + 1] - begins[group], of_group);
  }
}

/// A copy of what the host has, where a preconditioner works.
template <class Space, class T>
Vector<T, Space> copied_to(const std::vector<T>& entries) {
  const auto host = uninitialized<T>("cnc::preconditioner", entries.size());
  std::copy(entries.begin(), entries.end(), host.data());
  return copy_to<Space>(host);
}

}  // namespace cnc::detail
