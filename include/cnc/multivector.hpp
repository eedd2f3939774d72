#pragma once

#include <cnc/vector.hpp>

namespace cnc {

/// Several vectors of one length as columns, in any layout: one after the other (LayoutLeft), interleaved (LayoutRight),
/// or strided. Over the caller's memory.
template <class T, class Space = HostSpace>
using MultiVector =
    Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

namespace detail {
/// A caller's view as several vectors over the same memory, for the time of a call.
template <class T, class Exec, class View>
MultiVector<T, typename Exec::memory_space> as_multivector(const View& view) {
  static_assert(View::rank == 2, "several vectors are a view of rank 2");
  static_assert(std::is_same_v<std::remove_const_t<T>, typename View::non_const_value_type>,
                "the vectors' scalars are of another type than the solver's");
  static_assert(std::is_const_v<T> || !std::is_const_v<typename View::value_type>,
                "vectors that are written must not be const");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the context's execution space cannot reach these vectors");
  const Kokkos::LayoutStride layout(view.extent(0), view.stride(0), view.extent(1), view.stride(1));
  return MultiVector<T, typename Exec::memory_space>(view.data(), layout);
}
}  // namespace detail

}  // namespace cnc
