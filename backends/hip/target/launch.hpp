#pragma once

#include <cnc/error.hpp>
#include <contract/queue.hpp>

#include <target/gpu.hpp>

#include <cstddef>
#include <functional>
#include <string>

// What the shared launchers of backends/gpu need of the run-time library, for AMD GPUs. Every target has a
// header of this name with the same classes and functions. Errors are DeviceError or OutOfMemory.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Throws DeviceError naming the operation when `code` is an error.
inline void check(hipError_t code, const char* operation) {
  if (code == hipSuccess) return;
  (void)hipGetLastError();  // the next operation is not to blame
  throw DeviceError(operation, "hip",
                    std::string(hipGetErrorName(code)) + ": " + hipGetErrorString(code));
}

/// Makes the queue's device current for as long as it lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(hipGetDevice(&before_), "hipGetDevice");
    if (before_ != device) {
      check(hipSetDevice(device), "hipSetDevice");
      changed_ = true;
    }
  }
  ~DeviceScope() {
    if (changed_) (void)hipSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Facts of a device that launches go by.
struct DeviceFacts {
  int processors = 1;            ///< compute units
  std::size_t shared_bytes = 0;  ///< shared memory (LDS) that one block may have
  std::size_t cache_bytes = 0;   ///< second-level cache
  int wave = 0;                  ///< lanes of a wave
};
const DeviceFacts& device_facts(int device);

inline hipStream_t stream_of(const Queue& queue) { return static_cast<hipStream_t>(queue.stream); }

/// Size of a launch.
struct Grid {
  index_t blocks = 1;
  int threads = 256;
  std::size_t shared_bytes = 0;  ///< dynamic
};

/// Enqueues the kernel on the queue's stream. A grid without blocks does nothing.
template <class... Parameters, class... Arguments>
void launch(const char* operation, const Queue& queue, const Grid& grid,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (grid.blocks <= 0) return;
  const DeviceScope scope(queue.device);
  kernel<<<static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads),
           grid.shared_bytes, stream_of(queue)>>>(arguments...);
  check(hipGetLastError(), operation);
}

/// Blocks of this kernel that are resident on the whole device at one time, with that much dynamic
/// shared memory each; 0 when not even one fits. Grants the kernel that much shared memory.
template <class... Parameters>
index_t resident_blocks(const Queue& queue, void (*kernel)(Parameters...), int threads,
                        std::size_t shared_bytes) {
  const DeviceScope scope(queue.device);
  const auto entry = reinterpret_cast<const void*>(kernel);
  if (shared_bytes > device_facts(queue.device).shared_bytes) return 0;
  check(hipFuncSetAttribute(entry, hipFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(shared_bytes)),
        "hipFuncSetAttribute");
  int per_processor = 0;
  check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, entry, threads, shared_bytes),
        "hipOccupancyMaxActiveBlocksPerMultiprocessor");
  return per_processor * device_facts(queue.device).processors;
}

/// As launch, for kernels whose blocks wait for each other: all of them run at the same time, or the
/// launch fails. The caller has asked resident_blocks.
template <class... Parameters, class... Arguments>
void launch_resident(const char* operation, const Queue& queue, const Grid& grid,
                     void (*kernel)(Parameters...), const Arguments&... arguments) {
  const DeviceScope scope(queue.device);
  const auto start = [&](Parameters... parameters) {
    void* pointers[] = {static_cast<void*>(&parameters)...};
    check(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                     dim3(static_cast<unsigned>(grid.blocks)),
                                     dim3(static_cast<unsigned>(grid.threads)), pointers,
                                     static_cast<unsigned>(grid.shared_bytes), stream_of(queue)),
          operation);
  };
  start(arguments...);
}

/// Sets `bytes` bytes to `value`, on the queue's stream.
inline void fill_bytes(const Queue& queue, void* to, int value, std::size_t bytes) {
  const DeviceScope scope(queue.device);
  check(hipMemsetAsync(to, value, bytes, stream_of(queue)), "hipMemsetAsync");
}

/// Waits until everything enqueued on the queue's stream is done.
inline void synchronize(const Queue& queue) {
  check(hipStreamSynchronize(stream_of(queue)), "hipStreamSynchronize");
}

/// Device memory, not initialised.
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
  Graph(const Queue& queue, const std::function<void(const Queue&)>& record);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Enqueues the sequence on the queue's stream.
  void replay(const Queue& queue) const;

 private:
  hipGraphExec_t instance_ = nullptr;
};

/// A point in a stream that the host can wait for.
class Marker {
 public:
  explicit Marker(int device);
  ~Marker();
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;
  void record(const Queue& queue);
  void wait() const;

 private:
  hipEvent_t event_ = nullptr;
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
