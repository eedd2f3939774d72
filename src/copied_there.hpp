#pragma once

#include <cnc/vector.hpp>

#include <vector>

namespace cnc::detail {

/// Entries of the host, in memory of a backend that there is. Waits.
template <class Space, class T>
void copy_there(const Vector<T, Space>& to, const std::vector<T>& from) {
  Kokkos::deep_copy(
      to, Kokkos::View<const T*, HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
}

/// The same in memory of its own.
template <class Space, class T>
Vector<T, Space> copied_there(const char* label, const std::vector<T>& from) {
  const auto to = uninitialized<T, Space>(label, from.size());
  copy_there(to, from);
  return to;
}

}  // namespace cnc::detail
