#pragma once

#include <gpu/runtime.hpp>

#include <cstddef>
#include <functional>
#include <tuple>

// Launches of the shared kernels on the host. Work is done when it is enqueued; only graphs put it off.

namespace cnc::gpu::inline CNC_GPU_TARGET {

namespace machine {

/// A kernel with its arguments and the size of its grid.
struct Launch {
  const char* operation = "";  ///< a literal: graphs keep it
  Grid grid;
  bool resident = false;
  std::function<void()> lane;  ///< empty when there is no kernel
  bool first_block_first = false;
};

/// What becomes of launches whose blocks must all run at one time.
enum class Residents {
  granted,
  unknown,  ///< the device cannot do it, and says so when asked
  refused,  ///< the device says that it can, and then has no room
};
Residents residents();
/// For tests, on the calling OS thread.
void set_residents(Residents residents);

/// Graphs that the calling OS thread has recorded so far.
int recorded_graphs();

/// Runs the launch, or records it. Throws DeviceError for what a device would refuse.
void enqueue(const Queue& queue, Launch launch);
/// As resident_blocks.
index_t resident_blocks(int threads, std::size_t shared_bytes);

template <class... Parameters, class... Arguments>
std::function<void()> lane_of(void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (kernel == nullptr) return nullptr;
  // Arguments are converted once, at the launch, and every lane has its own copy of them.
  return [kernel, parameters = std::tuple<Parameters...>(arguments...)] {
    std::apply(kernel, parameters);
  };
}

}  // namespace machine

/// Runs the kernel's blocks one after the other, in an order that differs from launch to launch but not
/// from run to run. A grid without blocks does nothing.
template <class... Parameters, class... Arguments>
void launch(const char* operation, const Queue& queue, const Grid& grid,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (grid.blocks <= 0) return;
  machine::enqueue(queue, {operation, grid, false, machine::lane_of(kernel, arguments...)});
}

/// The same: nothing overlaps.
template <class... Parameters, class... Arguments>
void launch_overlapping(const char* operation, const Queue& queue, const Grid& grid,
                        void (*kernel)(Parameters...), const Arguments&... arguments) {
  launch(operation, queue, grid, kernel, arguments...);
}

/// A kernel's first block, which here runs before the others, sends what blocks on other devices wait for.
inline index_t senders(const Queue&, int) { return 1; }
template <class... Parameters, class... Arguments>
void launch_senders_first(const char* operation, const Queue& queue, const Grid& grid,
                          void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (grid.blocks <= 0) return;
  machine::enqueue(queue, {operation, grid, false, machine::lane_of(kernel, arguments...), true});
}

/// Blocks of this kernel that are resident on the whole device at one time, with that much dynamic
/// shared memory each; 0 when not even one fits.
template <class... Parameters>
index_t resident_blocks(const Queue&, void (*)(Parameters...), int threads,
                        std::size_t shared_bytes) {
  return machine::resident_blocks(threads, shared_bytes);
}

/// As launch, for kernels whose blocks wait for each other: every block is an OS thread. The caller has
/// asked resident_blocks. False, and nothing done, where a test has the machine refuse.
template <class... Parameters, class... Arguments>
bool launch_resident(const char* operation, const Queue& queue, const Grid& grid,
                     void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (machine::residents() != machine::Residents::granted) return false;
  machine::enqueue(queue, {operation, grid, true, machine::lane_of(kernel, arguments...)});
  return true;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
