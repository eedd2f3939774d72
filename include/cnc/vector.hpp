#pragma once

#include <cnc/contract/types.hpp>
#include <cnc/error.hpp>
#include <cnc/instance_scope.hpp>

#include <Kokkos_Core.hpp>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

namespace cnc {

/// The memory of the host.
using HostSpace = Kokkos::HostSpace;

/// A vector is a Kokkos view of rank 1. A view of the caller's is used as it is.
template <class T, class Space = HostSpace>
using Vector = Kokkos::View<T*, Space>;

/// A vector over the caller's memory: nothing is copied and nothing freed.
///
/// Shapes   data: [n] in memory that Space can reach, valid for as long as the vector is used.
/// Errors   InvalidArgument (n < 0, or null data with n > 0).
template <class Space = HostSpace, class T>
Vector<T, Space> wrap(T* data, index_t n) {
  require(n >= 0 && (data != nullptr || n == 0), "wrap: need n >= 0 and data that is not null");
  return Vector<T, Space>(data, static_cast<std::size_t>(n));
}

namespace detail {
/// Bytes that can still be allocated there, 0 where nobody tells.
std::size_t free_bytes(MemorySpace memory);

/// Kokkos would end the process, or crash, where it is used before its initialisation or after its end.
/// Errors   InvalidArgument, which begins with `who`.
void require_kokkos(const char* who);

template <class Space>
inline constexpr bool is_host_space =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

/// allocate() makes a view of `bytes`. The one place where what Kokkos throws, a std::bad_alloc or a
/// std::runtime_error by version, becomes OutOfMemory.
template <class Space, class Allocate>
auto allocated(const std::string& label, std::size_t bytes, const Allocate& allocate) {
  require_kokkos(label.c_str());
  try {
    return allocate();
  } catch (const std::exception& error) {
    const bool ran_out = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                         std::string_view(error.what()).find("alloc") != std::string_view::npos;
    if (!ran_out) throw;
    const MemorySpace memory = is_host_space<Space> ? MemorySpace::host : MemorySpace::device;
    throw OutOfMemory(label, bytes, free_bytes(memory));
  }
}
}  // namespace detail

/// A vector with uninitialised entries, for code that writes every one of them. In device memory, on the device
/// of the innermost InstanceScope.
/// Errors   InvalidArgument (Kokkos is not initialised), OutOfMemory.
template <class T, class Space = HostSpace>
Vector<T, Space> uninitialized(const std::string& label, std::size_t n) {
  return detail::allocated<Space>(label, n * sizeof(T), [&] {
    if constexpr (detail::is_host_space<Space>)
      return Vector<T, Space>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), n);
    else
      return Vector<T, Space>(
          Kokkos::view_alloc(label, detail::instance<typename Space::execution_space>(),
                             Kokkos::WithoutInitializing),
          n);
  });
}

/// A vector of zeros, which are there on return.
/// Errors   InvalidArgument (Kokkos is not initialised), OutOfMemory.
template <class T, class Space = HostSpace>
Vector<T, Space> zeroed(const std::string& label, std::size_t n) {
  return detail::allocated<Space>(label, n * sizeof(T), [&] {
    if constexpr (detail::is_host_space<Space>) {
      return Vector<T, Space>(label, n);
    } else {
      const auto exec = detail::instance<typename Space::execution_space>();
      Vector<T, Space> zeros(Kokkos::view_alloc(label, exec), n);
      exec.fence();  // Kokkos waits by itself only on its default instance
      return zeros;
    }
  });
}

namespace detail {
/// Extents beyond index_t would be truncated by every kernel, so they stop here.
inline index_t checked_extent(std::size_t n) {
  require(n <= 2147483647u, "vector is longer than 2^31 - 1 entries");
  return static_cast<index_t>(n);
}

/// Whether the entries of a view may lie apart, by its type.
template <class View>
inline constexpr bool may_be_strided = false;
template <class View>
requires Kokkos::is_view<View>::value inline constexpr bool may_be_strided<View> =
    std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>;

/// A caller's view as a vector over the same memory, for the time of a call. Kokkos itself would end the
/// process where a strided view is turned into a vector.
template <class T, class Exec, class View>
Vector<T, typename Exec::memory_space> as_vector(const View& view, const char* text) {
  static_assert(View::rank == 1, "vectors are views of rank 1");
  static_assert(std::is_same_v<std::remove_const_t<T>, typename View::non_const_value_type>,
                "the vector's scalars are of another type than the solver's");
  static_assert(std::is_const_v<T> || !std::is_const_v<typename View::value_type>,
                "a vector that is written must not be const");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the context's execution space cannot reach this vector");
  require(view.span_is_contiguous(), text);
  return Vector<T, typename Exec::memory_space>(view.data(), view.extent(0));
}
}  // namespace detail

}  // namespace cnc
