#pragma once

#include "distributed/channel.hpp"

#include <string>

namespace cnc::detail {

/// Before a rank makes or reads so many entries, which it has twice until they are in a PartitionedMatrix.
/// Errors   OutOfMemory (the machine has no room for as many on each of its ranks).
inline void require_memory_for_own(const Channel& channel, const std::string& what,
                                   offset_t entries) {
  const double entry_bytes = 2 * (sizeof(index_t) + sizeof(double));
  require_memory(what, static_cast<double>(entries) * entry_bytes * channel.ranks_of_machine(),
                 MemorySpace::host);
}

}  // namespace cnc::detail
