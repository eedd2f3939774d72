#pragma once

#include <cnc/contract/kokkos_spaces.hpp>

#include <Kokkos_Core.hpp>

namespace cnc::detail {

#ifdef CNC_KOKKOS_HAS_DEVICE
/// Where the device definitions of set-up functions work.
using DeviceExec = Kokkos::DefaultExecutionSpace;
using DeviceSpace = DeviceExec::memory_space;
#endif

}  // namespace cnc::detail
