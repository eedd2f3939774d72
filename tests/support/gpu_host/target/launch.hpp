#pragma once

#include <cnc/error.hpp>
#include <contract/queue.hpp>

#include <target/gpu.hpp>

#include <cstddef>
#include <functional>
#include <tuple>
#include <vector>

// What the shared launchers of backends/gpu need of the run-time library, for the host. Every target has
// a header of this name with the same classes and functions. Work is done when it is enqueued; only
// graphs put it off. Errors are DeviceError or OutOfMemory.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Facts of a device that launches go by.
struct DeviceFacts {
  int processors = 1;            ///< multiprocessors
  std::size_t shared_bytes = 0;  ///< shared memory that one block may have
  std::size_t cache_bytes = 0;   ///< second-level cache
  int architecture = 0;          ///< 0: none
};
const DeviceFacts& device_facts(int device);

/// Size of a launch.
struct Grid {
  index_t blocks = 1;
  int threads = 256;
  std::size_t shared_bytes = 0;  ///< dynamic
};

namespace machine {

/// A kernel with its arguments and the size of its grid.
struct Launch {
  const char* operation = "";  ///< a literal: graphs keep it
  Grid grid;
  bool resident = false;
  std::function<void()> lane;  ///< empty when there is no kernel
};

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

/// Blocks of this kernel that are resident on the whole device at one time, with that much dynamic
/// shared memory each; 0 when not even one fits.
template <class... Parameters>
index_t resident_blocks(const Queue&, void (*)(Parameters...), int threads,
                        std::size_t shared_bytes) {
  return machine::resident_blocks(threads, shared_bytes);
}

/// As launch, for kernels whose blocks wait for each other: every block is an OS thread. The caller has
/// asked resident_blocks.
template <class... Parameters, class... Arguments>
void launch_resident(const char* operation, const Queue& queue, const Grid& grid,
                     void (*kernel)(Parameters...), const Arguments&... arguments) {
  machine::enqueue(queue, {operation, grid, true, machine::lane_of(kernel, arguments...)});
}

/// Sets `bytes` bytes to `value`, on the queue's stream.
void fill_bytes(const Queue& queue, void* to, int value, std::size_t bytes);

/// Waits until everything enqueued on the queue's stream is done. Not allowed while it records.
void synchronize(const Queue& queue);

/// Memory on its own: every byte is 0xCD at first, so that nobody takes it for zero.
class DeviceBuffer {
 public:
  DeviceBuffer(int device, std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

/// Host memory that kernels reach under the same address; zero at first.
class PinnedBuffer {
 public:
  PinnedBuffer(int device, std::size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

/// A sequence of launches, recorded once and replayed as one. `record` enqueues it on the queue that it is
/// given, whose stream records instead of running.
class Graph {
 public:
  using Steps = std::vector<std::function<void()>>;

  Graph(const Queue& queue, const std::function<void(const Queue&)>& record);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Enqueues the sequence on the queue's stream.
  void replay(const Queue& queue) const;

 private:
  Steps steps_;
};

/// A point in a stream that the host can wait for. Nothing is ever left to wait for here.
class Marker {
 public:
  explicit Marker(int) {}
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;
  void record(const Queue&) {}
  void wait() const {}
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
