#pragma once

namespace cnc::testing {

/// Persistent requests with memory of a device that were started so far.
int starts_in_device_memory();

}  // namespace cnc::testing
