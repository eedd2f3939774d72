#pragma once

#include <cnc/vector.hpp>

#include <sys/mman.h>

#include <cstdint>

namespace cnc::detail {

inline constexpr std::size_t huge_page = std::size_t(1) << 21;

/// Asks for large pages where whole ones lie in the array: they are given out, and looked up, in less time.
inline void use_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + huge_page - 1) / huge_page;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / huge_page;
  if (begin < end)  // advice alone: it does not matter whether it is taken
    (void)madvise(reinterpret_cast<void*>(begin * huge_page), (end - begin) * huge_page,
                  MADV_HUGEPAGE);
#endif
}

/// An uninitialized vector, in large pages where that is long enough.
template <class T, class Space = HostSpace>
Vector<T, Space> in_large_pages(const std::string& label, std::size_t n) {
  const auto made = uninitialized<T, Space>(label, n);
  if constexpr (is_host_space<Space>) use_huge_pages(made.data(), n * sizeof(T));
  return made;
}

}  // namespace cnc::detail
