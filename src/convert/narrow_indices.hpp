#pragma once

#include "on_each.hpp"

#include <cnc/bcsr_matrix.hpp>
#include <cnc/copy.hpp>

#include <limits>
#include <string>

namespace cnc::detail {

/// An index of the caller's, counted from `base`, as index_t counted from 0.
template <class Index>
struct NarrowIndex {
  const Index* from;
  index_t* to;
  int base;

  static KOKKOS_INLINE_FUNCTION bool fits(Index index) {
    constexpr auto largest = static_cast<Index>(std::numeric_limits<index_t>::max());
    if constexpr (std::is_signed_v<Index> && sizeof(Index) > sizeof(index_t)) {
      if (index < static_cast<Index>(std::numeric_limits<index_t>::min()) + 1) return false;
    }
    return index <= largest;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    to[i] = fits(from[i]) ? static_cast<index_t>(from[i]) - base : -1;
  }
};

/// Adds 1 where an index does not fit.
template <class Index>
struct CountUnfit {
  const Index* from;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& unfit) const {
    unfit += !NarrowIndex<Index>::fits(from[i]);
  }
};

template <class Exec, class Index>
Vector<index_t, typename Exec::memory_space> narrowed_by(const char* name, const Index* indices,
                                                         std::size_t n, int base) {
  using Space = typename Exec::memory_space;
  const Vector<index_t, Space> to = uninitialized<index_t, Space>(name, n);
  const Exec exec = instance<Exec>();
  const auto size = static_cast<offset_t>(n);
  on_each(exec, size, NarrowIndex<Index>{indices, to.data(), base});
  if (sum_over(exec, size, CountUnfit<Index>{indices}) > 0) {
    const auto given = copy_to<HostSpace>(Vector<const Index, Space>(indices, n));
    for (std::size_t i = 0; i < n; ++i)
      require(NarrowIndex<Index>::fits(given(i)), [&] {
        return "wrap: " + std::string(name) + "[" + std::to_string(i) + "] is " +
               std::to_string(given(i)) + ", and indices have 32 bits: 2147483647 at most";
      });
  }
  return to;
}

}  // namespace cnc::detail

/// Calls macro(Index) for the types of index that wrap_csr takes.
#define CNC_FOR_EACH_INDEX_TYPE(macro)                                         \
  macro(int) macro(unsigned) macro(long) macro(unsigned long) macro(long long) \
      macro(unsigned long long)
