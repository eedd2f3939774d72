#pragma once

#include <cnc/vector.hpp>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace cnc::testing {

#ifdef CNC_KOKKOS_HAS_DEVICE
using DeviceExec = Kokkos::DefaultExecutionSpace;

/// Device memory for the operands of one backend call: allocated once, handed out piece by piece, all of
/// it given back at once. A real allocation per operand would take most of the time of these tests. The next
/// call's operands lie behind the last one's: libraries that remember a matrix know it by its address.
class DeviceArena {
 public:
  using Space = DeviceExec::memory_space;

  static DeviceArena& instance() {
    static DeviceArena arena;
    return arena;
  }

  /// A copy of `bytes` bytes of the host, as far from a multiple of 64 as the original.
  void* upload(const void* host, std::size_t bytes) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(host) % alignment;
    char* const to = memory_.data() + used_ + offset;
    used_ += (offset + bytes + 2 * alignment) / alignment * alignment;
    if (used_ > memory_.extent(0)) throw std::runtime_error("operands larger than the test arena");
    Kokkos::deep_copy(exec_, Bytes(to, bytes), HostBytes(static_cast<const char*>(host), bytes));
    return to;
  }
  void download(void* host, const void* device, std::size_t bytes) {
    Kokkos::deep_copy(
        exec_, Kokkos::View<char*, HostSpace, Unmanaged>(static_cast<char*>(host), bytes),
        Kokkos::View<const char*, Space, Unmanaged>(static_cast<const char*>(device), bytes));
    exec_.fence();
  }
  void release_all() {
    if (used_ > memory_.extent(0) / 2) used_ = 0;
  }
  const DeviceExec& exec() const { return exec_; }

 private:
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Bytes = Kokkos::View<char*, Space, Unmanaged>;
  using HostBytes = Kokkos::View<const char*, HostSpace, Unmanaged>;
  static constexpr std::size_t alignment = 64;

  DeviceArena() : memory_("test arena", std::size_t{1} << 26) {
    Kokkos::deep_copy(memory_, char(-1));                  // NaN, or an index that is none
    Kokkos::push_finalize_hook([this] { memory_ = {}; });  // before Kokkos goes
  }

  DeviceExec exec_;
  Kokkos::View<char*, Space> memory_;
  std::size_t used_ = 0;
};
#endif

}  // namespace cnc::testing
