#include "convert/settled.hpp"
#include "convert/spaces.hpp"
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

template <class Space, class Index>
Vector<index_t, Space> narrowed(const char* name, const Index* indices, std::size_t n, int base) {
  using Exec = SetUpExec<Space>;
  const SettledIn<Space> settled{};
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

#define CNC_INSTANTIATE_INDEX(Index, Space) \
  template Vector<index_t, Space> narrowed<Space>(const char*, const Index*, std::size_t, int);
#define CNC_INSTANTIATE(Space)                \
  CNC_INSTANTIATE_INDEX(int, Space)           \
  CNC_INSTANTIATE_INDEX(unsigned, Space)      \
  CNC_INSTANTIATE_INDEX(long, Space)          \
  CNC_INSTANTIATE_INDEX(unsigned long, Space) \
  CNC_INSTANTIATE_INDEX(long long, Space)     \
  CNC_INSTANTIATE_INDEX(unsigned long long, Space)
CNC_INSTANTIATE(HostSpace)
#ifdef CNC_KOKKOS_HAS_DEVICE
CNC_INSTANTIATE(DeviceSpace)
#endif
#undef CNC_INSTANTIATE
#undef CNC_INSTANTIATE_INDEX

}  // namespace cnc::detail
