#pragma once

#include "on_each.hpp"

#include <cnc/row_dictionary.hpp>

#include <atomic>
#include <cstdint>

// The row of which all kinds of rows are parts, if there is one: that of a point inside of a grid, whatever its borders do to
// the diagonal.

namespace cnc::detail {

/// Puts together the entries of all kinds, and says which of them each has; no stencil where two kinds have other values in the
/// same place, or there are too many places. For one thread: kinds are few.
template <class T>
struct FindStencil {
  const index_t* starts;
  const RowEntry<T>* entries;
  index_t kinds;
  RowPart<T>* parts;
  RowStencil<T>* stencil;

  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    RowStencil<T> found;
    found.size = 1;
    for (index_t k = 0; k < kinds; ++k)
      if (!take(k, found)) {
        *stencil = {};
        return;
      }
    for (index_t k = 0; k < kinds; ++k) parts[k] = part(k, found);
    found.parts = parts;
    *stencil = found;
  }

 private:
  /// Where the entry of that column is, or would be: entries of a kind ascend, so the next is sought `from` behind the last.
  KOKKOS_INLINE_FUNCTION static index_t place_of(index_t offset, const RowStencil<T>& in,
                                                 index_t& from) {
    if (offset == 0) return 0;
    while (from < in.size && in.offset[from] < offset) ++from;
    return from;
  }
  KOKKOS_INLINE_FUNCTION bool take(index_t kind, RowStencil<T>& to) const {
    index_t from = 1;
    for (index_t e = starts[kind]; e < starts[kind + 1]; ++e) {
      const RowEntry<T> entry = entries[e];
      const index_t at = place_of(entry.offset, to, from);
      if (at == 0) continue;
      if (at == to.size || to.offset[at] != entry.offset) {
        if (to.size == RowStencil<T>::most) return false;
        for (index_t k = to.size; k > at; --k) {
          to.offset[k] = to.offset[k - 1];
          to.value[k] = to.value[k - 1];
        }
        to.offset[at] = entry.offset;
        to.value[at] = entry.value;
        ++to.size;
      }
      // Another, or not finite: rows that lack the entry multiply it by 0.
      if (!(to.value[at] == entry.value && entry.value - entry.value == T(0))) return false;
    }
    return true;
  }
  KOKKOS_INLINE_FUNCTION RowPart<T> part(index_t kind, const RowStencil<T>& of) const {
    RowPart<T> row = {T(0), 0};
    index_t from = 1;
    for (index_t e = starts[kind]; e < starts[kind + 1]; ++e) {
      const index_t at = place_of(entries[e].offset, of, from);
      row.entries |= std::uint32_t(1) << at;
      if (at == 0) row.diagonal = entries[e].value;
    }
    return row;
  }
};

/// A number that no stencil has had before.
inline std::uint64_t next_stencil_revision() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

namespace set_up {

/// Finds the stencil of a dictionary's kinds, where there is room for it. Waits; allocates nothing.
template <class Exec, class T, class Space>
void find_stencil(const Exec& exec, const RowDictionary<T, Space>& rows) {
  RowStencil<T>& stencil = rows.stencil(0);
  const RowStencil<T> before = stencil;
  on_each(exec, 1,
          FindStencil<T>{rows.starts.data(), rows.entries.data(), rows.kinds(), rows.parts.data(),
                         rows.stencil_there.data()});
  wait_for(exec);
  Kokkos::deep_copy(rows.stencil, rows.stencil_there);
  stencil.revision = before.revision;
  if (!(stencil == before)) stencil.revision = next_stencil_revision();
}

/// The same for a dictionary that has no room for it yet.
template <class Exec, class T, class Space>
void add_stencil(const Exec& exec, RowDictionary<T, Space>& rows) {
  rows.parts = uninitialized<RowPart<T>, Space>("cnc::row_dictionary",
                                                static_cast<std::size_t>(rows.kinds()));
  rows.stencil_there = uninitialized<RowStencil<T>, Space>("cnc::row_dictionary", 1);
  rows.stencil = Kokkos::create_mirror_view(HostSpace(), rows.stencil_there);
  rows.stencil(0) = {};
  find_stencil(exec, rows);
}

}  // namespace set_up
}  // namespace cnc::detail
