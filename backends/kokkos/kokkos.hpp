#pragma once

#include <cnc/contract/backend.hpp>
#include <cnc/kokkos_spaces.hpp>

namespace cnc {

/// Every operation in portable Kokkos, on Kokkos' default host execution space. As parallel as the
/// Kokkos that it was built with: a Kokkos with nothing but Serial runs it on one thread.
extern const Backend kokkos_backend;

#ifdef CNC_KOKKOS_HAS_DEVICE
/// The same sources on Kokkos' default device execution space.
extern const Backend kokkos_device_backend;
#endif

}  // namespace cnc
