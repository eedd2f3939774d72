#pragma once

#include <cnc/contract/backend.hpp>

#include <Kokkos_Core.hpp>

namespace cnc::kokkos {

/// What an execution space is and how much of it there is: "Serial, 1 thread". Always usable.
template <class Exec>
Availability availability() {
  // An instance exists between Kokkos' initialisation and its end only.
  if (!Kokkos::is_initialized()) return {true, Exec::name()};
  const auto threads = Exec().concurrency();
  return {true, std::string(Exec::name()) + ", " + std::to_string(threads) +
                    (threads == 1 ? " thread" : " threads")};
}

/// Threads of the execution space that a queue of the host was made with.
template <class Exec>
int threads(const Queue& queue) {
  const auto* const exec = static_cast<const Exec*>(queue.execution_space);
  return static_cast<int>(exec != nullptr ? exec->concurrency() : Exec().concurrency());
}

}  // namespace cnc::kokkos
