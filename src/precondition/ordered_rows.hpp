#pragma once

#include "copied_there.hpp"
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
  bool are_chained;  ///< as a rule a row's last entry is that of the row before

  /// rest less entries [begin, end) times z, one after the other.
  KOKKOS_INLINE_FUNCTION V take_off(V rest, index_t begin, index_t end, const V* z) const {
    for (index_t k = begin; k < end; ++k) rest -= values[k] * z[columns[k]];
    return rest;
  }
  /// Those from `place` on.
  OrderedRows from(index_t place) const {
    return {rows + place, row_offsets + place, columns, values, are_chained};
  }
};

/// OrderedRows::are_chained of rows that are taken from the first or from the last on. Four rows of five must be: a branch that is
/// foreseen wrongly costs some three times what one that is foreseen gains.
inline bool are_chained(const std::vector<index_t>& rows, const std::vector<index_t>& row_offsets,
                        const std::vector<index_t>& columns, bool back = false) {
  const std::size_t n = rows.size();
  std::size_t chained = 0;
  for (std::size_t k = 1; k < n; ++k) {
    const std::size_t place = back ? n - 1 - k : k, before = back ? place + 1 : place - 1;
    if (row_offsets[place] < row_offsets[place + 1])
      chained += columns[static_cast<std::size_t>(row_offsets[place + 1]) - 1] == rows[before];
  }
  return 5 * chained > 4 * n;
}

/// z(i) := scale(i) r(i) - row i of the triangle times z; scale null: `factor` for every row. r may be z.
template <class V>
struct SolveRow {
  OrderedRows<V> triangle;
  const V* scale;
  V factor;
  const V* r;
  V* z;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t place) const { rows<false>(place, place + 1, 1); }

  /// Places first, first + step, ... before `last`, each after the one before.
  KOKKOS_INLINE_FUNCTION void one_by_one(offset_t first, offset_t last, offset_t step) const {
    triangle.are_chained ? rows<true>(first, last, step) : rows<false>(first, last, step);
  }

 private:
  /// Of rows that are chained, between one and the next lie a product and a difference: all else of a row is done by then, and what a row has
  /// found is handed on in a register, since by way of memory it takes as long again.
  template <bool chained>
  KOKKOS_INLINE_FUNCTION void rows(offset_t first, offset_t last, offset_t step) const {
    [[maybe_unused]] index_t before = -1;
    [[maybe_unused]] V found = 0;
    for (offset_t place = first; place != last; place += step) {
      const index_t row = triangle.rows[place], begin = triangle.row_offsets[place];
      index_t end = triangle.row_offsets[place + 1];
      bool is_handed_on = false;
      if constexpr (chained) is_handed_on = begin < end && triangle.columns[end - 1] == before;
      if (is_handed_on) --end;
      V rest = triangle.take_off((scale == nullptr ? factor : scale[row]) * r[row], begin, end, z);
      if (is_handed_on) rest -= triangle.values[end] * found;
      z[row] = rest;
      if constexpr (chained) {
        found = rest;
        before = row;
      }
    }
  }
};

/// body(place) for n rows, whose triangle is body.triangle: those of a group side by side, one group after the other, from the last
/// one on where it goes back. `begins`: of groups; empty: row after row, on a host alone.
template <class Exec, class Body>
void in_order(const Context<Exec>& ctx, const std::vector<index_t>& begins, std::size_t n,
              bool back, const Body& body) {
  if (begins.empty()) {
    if constexpr (is_host_space<typename Exec::memory_space>)
      body.one_by_one(back ? offset_t(n) - 1 : 0, back ? -1 : offset_t(n), back ? -1 : 1);
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

}  // namespace cnc::detail
