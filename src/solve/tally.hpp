#pragma once

#include <cnc/contract/types.hpp>

namespace cnc::detail {

/// What a solve has counted.
struct Tally {
  offset_t backend_calls = 0;
  offset_t host_synchronisations = 0;
};

}  // namespace cnc::detail
