#pragma once

#include <cnc/kokkos_spaces.hpp>
#include <cnc/vector.hpp>

#include <type_traits>

// The memory spaces for which set-up functions are compiled.

namespace cnc::detail {

#ifdef CNC_KOKKOS_HAS_DEVICE
/// Where the device definitions of set-up functions work.
using DeviceExec = Kokkos::DefaultExecutionSpace;
using DeviceSpace = DeviceExec::memory_space;
#endif

/// Where set-up functions work on what lies in Space.
template <class Space>
using SetUpExec = std::conditional_t<is_host_space<Space>, Kokkos::DefaultHostExecutionSpace,
                                     Kokkos::DefaultExecutionSpace>;

}  // namespace cnc::detail

/// Calls macro(T, Space) for the types of values and the memory spaces.
#ifdef CNC_KOKKOS_HAS_DEVICE
#define CNC_FOR_EACH_SPACE(macro)                            \
  macro(float, cnc::HostSpace) macro(double, cnc::HostSpace) \
      macro(float, cnc::detail::DeviceSpace) macro(double, cnc::detail::DeviceSpace)
#else
#define CNC_FOR_EACH_SPACE(macro) macro(float, cnc::HostSpace) macro(double, cnc::HostSpace)
#endif
