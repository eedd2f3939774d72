#pragma once

#include <cnc/vector.hpp>

#include <type_traits>

namespace cnc::detail {

/// Set-up on a device starts after all that was enqueued there, on whatever stream, and has ended on
/// return: for the scope of an object of this type. An old error of the caller's is forgotten: Kokkos would take
/// it for one of its own kernels' and end the process.
struct Settled {
  Settled() {
#if defined(KOKKOS_ENABLE_CUDA)
    (void)cudaGetLastError();
#elif defined(KOKKOS_ENABLE_HIP)
    (void)hipGetLastError();
#endif
    Kokkos::fence();
  }
  ~Settled() { Kokkos::fence(); }
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
};

struct [[maybe_unused]] NothingToAwait {};

/// Settled for set-up in device memory.
template <class Space>
using SettledIn = std::conditional_t<is_host_space<Space>, NothingToAwait, Settled>;

}  // namespace cnc::detail
