#pragma once

#include <cnc/contract/types.hpp>

#include <functional>

namespace cnc::gpu::inline host::machine {

/// Calls block(0) ... block(blocks - 1) at the same time, the first on the calling OS thread, and waits for
/// all of them. One such group runs at a time; its OS threads are kept for the next.
void run_resident(index_t blocks, const std::function<void(index_t)>& block);

}  // namespace cnc::gpu::inline host::machine
