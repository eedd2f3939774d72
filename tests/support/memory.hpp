#pragma once

#include <cnc/context.hpp>
#include <cnc/copy.hpp>

#include <type_traits>
#include <vector>

namespace cnc::testing {

using HostExec = Kokkos::DefaultHostExecutionSpace;

/// body(std::type_identity<Exec>()) with the execution space in whose memory the backend works. One that
/// this build has no contexts for is not called for: availability_of says that it is unusable.
template <class Body>
void in_memory_of(const Backend& backend, const Body& body) {
  if (backend.memory == MemorySpace::host) return body(std::type_identity<HostExec>());
#ifdef CNC_KOKKOS_HAS_DEVICE
  body(std::type_identity<Kokkos::DefaultExecutionSpace>());
#endif
}

/// A context that shares out the work of small matrices too.
template <class Exec>
struct SharingContext : Context<Exec> {
  explicit SharingContext(const Backend& backend, int threads = 2, const Exec& exec = Exec())
      : Context<Exec>(backend, threads, exec) {
    this->set_least_work(1);
  }
};

}  // namespace cnc::testing
