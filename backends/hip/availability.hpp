#pragma once

#include <contract/backend.hpp>

namespace cnc::hip {

/// Whether a device can be used, and which one or why not. Looked up once.
Availability availability();

/// Bytes free on a device, 0 when it does not say.
double free_bytes(int device);

}  // namespace cnc::hip
