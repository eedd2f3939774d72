#pragma once

#include <Kokkos_Core.hpp>

namespace cnc::detail {

/// Set-up on a device starts after all that was enqueued there, on whatever stream, and has ended on
/// return: for the scope of an object of this type.
struct Settled {
  Settled() { Kokkos::fence(); }
  ~Settled() { Kokkos::fence(); }
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
};

}  // namespace cnc::detail
