#pragma once

#include <Kokkos_Macros.hpp>

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
/// This Kokkos has a device execution space, so there are contexts on a device.
#define CNC_KOKKOS_HAS_DEVICE 1
#endif
