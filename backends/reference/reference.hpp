#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

/// The oracle: serial and textbook, every entry offered for every format and precision. Sums
/// accumulate in double whatever the vectors are, so it is at least as accurate as any other backend.
extern const Backend reference_backend;

}  // namespace cnc
