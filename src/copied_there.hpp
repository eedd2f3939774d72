#pragma once

#include <cnc/vector.hpp>

#include <vector>

namespace cnc::detail {

/// Entries of the host, in the memory of a backend. Waits.
template <class Space, class T>
Vector<T, Space> copied_there(const char* label, const std::vector<T>& from) {
  const auto to = uninitialized<T, Space>(label, from.size());
  Kokkos::deep_copy(
      to, Kokkos::View<const T*, HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  return to;
}

}  // namespace cnc::detail
