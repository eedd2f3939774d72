#pragma once

#include <cnc/contract/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Memory that is taken again when nobody holds it any more. To ask a device for memory, and to give it back, takes as long as
/// many a kernel; a host clears new pages. Set-ups that come again ask for the same arrays in the same order.
///
/// Arrays that were taken stay valid when the pool is gone. For one thread, and for work that is enqueued on one instance: what is
/// taken again may still be in use by what was enqueued before. Nothing is freed but by release().
template <class Space>
class MemoryPool {
 public:
  template <class T>
  using Array = Kokkos::View<T*, Space>;

  /// Whether it has arrays of T.
  template <class T>
  static constexpr bool keeps = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                std::is_same_v<T, index_t> || std::is_same_v<T, offset_t> ||
                                std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::uint8_t>;

  /// An array of n entries, uninitialized: the smallest free one that fits without much waste, or what allocate(n) returns.
  template <class T, class Allocate>
  Array<T> take(std::size_t n, const Allocate& allocate) {
    auto& arrays = std::get<std::vector<Array<T>>>(arrays_);
    const std::size_t most = n + n / 2 + little / sizeof(T);
    const Array<T>* found = nullptr;
    for (const Array<T>& array : arrays)
      if (array.use_count() == 1 && array.extent(0) >= n && array.extent(0) <= most &&
          (found == nullptr || array.extent(0) < found->extent(0)))
        found = &array;
    if (found == nullptr) {
      arrays.push_back(allocate(n));
      found = &arrays.back();
    }
    return Kokkos::subview(*found, std::make_pair(std::size_t(0), n));
  }

  /// Bytes that nobody holds.
  double idle_bytes() const {
    double bytes = 0;
    const auto add = [&](const auto& arrays) {
      for (const auto& array : arrays)
        if (array.use_count() == 1)
          bytes += double(sizeof(*array.data())) * double(array.extent(0));
    };
    std::apply([&](const auto&... arrays) { (add(arrays), ...); }, arrays_);
    return bytes;
  }

  /// Frees what nobody holds.
  void release() {
    const auto release_from = [](auto& arrays) {
      std::erase_if(arrays, [](const auto& array) { return array.use_count() == 1; });
    };
    std::apply([&](auto&... arrays) { (release_from(arrays), ...); }, arrays_);
  }

 private:
  static constexpr std::size_t little = std::size_t(1) << 18;  ///< bytes that may always be wasted

  std::tuple<std::vector<Array<float>>, std::vector<Array<double>>, std::vector<Array<index_t>>,
             std::vector<Array<offset_t>>, std::vector<Array<std::uint64_t>>,
             std::vector<Array<std::uint8_t>>>
      arrays_;
};

/// What the innermost scope of this thread names, null outside of any.
template <class Space>
MemoryPool<Space>*& scoped_pool() {
  thread_local MemoryPool<Space>* pool = nullptr;
  return pool;
}

/// While it lives, uninitialized() and zeroed() take arrays of this thread in Space from the pool. Begins when all that was
/// enqueued on a device is done. Scopes of a thread end in the reverse order.
template <class Space>
class PoolScope {
 public:
  explicit PoolScope(MemoryPool<Space>& pool) : before_(scoped_pool<Space>()) {
    if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
      Kokkos::fence();
    scoped_pool<Space>() = &pool;
  }
  ~PoolScope() { scoped_pool<Space>() = before_; }
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  MemoryPool<Space>* before_;
};

}  // namespace cnc::detail
