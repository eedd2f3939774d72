#pragma once

#include <cnc/contract/types.hpp>

namespace cnc::detail {

/// What a solve has counted.
struct Tally {
  offset_t backend_calls = 0;
  offset_t host_synchronisations = 0;
  offset_t calls_done = 0;  ///< of the backend calls, those that the host has waited for
};

}  // namespace cnc::detail
