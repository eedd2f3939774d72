#pragma once

#include <cnc/contract/types.hpp>
#include <cnc/error.hpp>
#include <cnc/instance_scope.hpp>
#include <cnc/kokkos_spaces.hpp>
#include <cnc/memory_pool.hpp>

#include <Kokkos_Core.hpp>

#include <exception>
#include <limits>
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
/// What free_bytes answers where nobody tells.
inline constexpr std::size_t unknown_bytes = std::numeric_limits<std::size_t>::max();

/// Bytes that can still be allocated there. On the host the least of what the machine has available, what the
/// control groups of the process leave (versions 1 and 2) and what its address space may still grow by.
/// Cost     some 50 microseconds: files of the system are read.
std::size_t free_bytes(MemorySpace memory);

/// Kokkos would end the process, or crash, where it is used before its initialisation or after its end.
/// Errors   InvalidArgument, which begins with `who`.
void require_kokkos(const char* who);

/// Refuses a need that cannot be met, before anything of it is allocated: the system would grant the memory
/// and end the process when it is used. Needs below 4 MB pass without a question.
/// Errors   OutOfMemory naming what for, bytes asked and bytes free.
void require_memory(std::string_view what, double bytes, MemorySpace memory);

/// The same for what was found out already: bytes free, or unknown_bytes.
[[noreturn]] void throw_out_of_memory(std::string_view what, double bytes, std::size_t free);

template <class Space>
inline constexpr bool is_host_space =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

template <class Space>
inline constexpr MemorySpace memory_kind =
    is_host_space<Space> ? MemorySpace::host : MemorySpace::device;

/// allocate() makes a view of `bytes`. The one place where views are allocated: what the host cannot hold is
/// refused (a device refuses by itself), and what Kokkos throws, a std::bad_alloc or a
/// std::runtime_error by version, becomes OutOfMemory.
template <class Space, class Allocate>
auto allocated(const std::string& label, std::size_t bytes, const Allocate& allocate) {
  require_kokkos(label.c_str());
  if constexpr (is_host_space<Space>)
    require_memory(label, static_cast<double>(bytes), MemorySpace::host);
  try {
    return allocate();
  } catch (const std::exception& error) {
    const bool ran_out = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                         std::string_view(error.what()).find("alloc") != std::string_view::npos;
    if (!ran_out) throw;
    throw_out_of_memory(label, static_cast<double>(bytes), free_bytes(memory_kind<Space>));
  }
}
}  // namespace detail

namespace detail {
/// Never from a pool.
template <class T, class Space>
Vector<T, Space> fresh(const std::string& label, std::size_t n) {
  return allocated<Space>(label, n * sizeof(T), [&] {
    if constexpr (is_host_space<Space>)
      return Vector<T, Space>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), n);
    else
      return Vector<T, Space>(Kokkos::view_alloc(label, instance<typename Space::execution_space>(),
                                                 Kokkos::WithoutInitializing),
                              n);
  });
}
/// From the pool, which gives up what nobody holds where memory runs out.
template <class T, class Space>
Vector<T, Space> taken_from(MemoryPool<Space>& pool, const std::string& label, std::size_t n) {
  return pool.template take<T>(n, [&](std::size_t size) {
    try {
      return fresh<T, Space>(label, size);
    } catch (const OutOfMemory&) {
      pool.release();
      return fresh<T, Space>(label, size);
    }
  });
}
}  // namespace detail

/// A vector with uninitialised entries, for code that writes every one of them. In device memory, on the device
/// of the innermost InstanceScope.
/// Errors   InvalidArgument (Kokkos is not initialised), OutOfMemory.
template <class T, class Space = HostSpace>
Vector<T, Space> uninitialized(const std::string& label, std::size_t n) {
  if constexpr (detail::MemoryPool<Space>::template keeps<T>)
    if (auto* const pool = detail::scoped_pool<Space>())
      return detail::taken_from<T>(*pool, label, n);
  return detail::fresh<T, Space>(label, n);
}

/// A vector of zeros, which are there on return; inside a PoolScope, for what is enqueued on the same instance.
/// Errors   InvalidArgument (Kokkos is not initialised), OutOfMemory.
template <class T, class Space = HostSpace>
Vector<T, Space> zeroed(const std::string& label, std::size_t n) {
  if constexpr (detail::MemoryPool<Space>::template keeps<T>)
    if (auto* const pool = detail::scoped_pool<Space>()) {
      const auto zeros = detail::taken_from<T>(*pool, label, n);
      // What reads them is enqueued on the same instance.
      Kokkos::deep_copy(detail::instance<typename Space::execution_space>(), zeros, T(0));
      return zeros;
    }
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
