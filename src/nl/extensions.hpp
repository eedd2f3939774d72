#pragma once

namespace cnc::nl {

/// Whether the program has asked for a device, and got it.
bool solves_on_device();
/// Whether the matrix is to be stored in single precision there.
bool stores_single_precision();

}  // namespace cnc::nl
