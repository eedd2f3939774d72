#pragma once

#include <cnc/contract/backend.hpp>
#include <cnc/contract/queue.hpp>

#include <target/gpu.hpp>

#include <cstddef>
#include <functional>
#include <memory>

// What the shared launchers need of a run-time library, besides the launches themselves (<target/launch.hpp>).
// Every target has one source that defines these. Errors are DeviceError or OutOfMemory.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Whether a device of this target can be used, and which one or why not. Looked up once.
Availability availability();

/// Bytes free on a device, 0 when it does not say.
double free_bytes(int device);

/// Memory that devices of other processes reach; null: there is none.
const PeerMemory* peer_memory();

/// Facts of a device that launches depend on.
struct DeviceFacts {
  int processors = 1;            ///< streaming multiprocessors, compute units
  int wave = 32;                 ///< lanes of a wave
  std::size_t shared_bytes = 0;  ///< shared memory that one block may have
  std::size_t cache_bytes = 0;   ///< second-level cache
  bool cooperative = false;      ///< can promise that all blocks of a grid run at the same time
  bool overlaps =
      false;  ///< begins kernels of this build while those before them end, if they let it
};
/// Asks a device once.
const DeviceFacts& device_facts(int device);

/// Size of a launch.
struct Grid {
  index_t blocks = 1;
  int threads = 256;
  std::size_t shared_bytes = 0;  ///< dynamic
};

/// Sets `bytes` bytes to `value`, on the queue's stream.
void fill_bytes(const Queue& queue, void* to, int value, std::size_t bytes);

/// Copies to the device, behind what is on the queue's stream, and from it; waits until that is done.
void copy_to_device(const Queue& queue, void* to, const void* from, std::size_t bytes);
void copy_to_host(const Queue& queue, void* to, const void* from, std::size_t bytes);

/// Waits until everything enqueued on the queue's stream is done. Not allowed while a graph records.
void synchronize(const Queue& queue);

/// Enqueues what other libraries enqueue on the stream of the queue that they are given, which may be captured.
void enqueue(const Queue& queue, const std::function<void(const Queue&)>& work);

/// Memory with an owner.
class Buffer {
 public:
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 protected:
  Buffer() = default;
  ~Buffer() = default;
  void* data_ = nullptr;
};

/// Device memory, not initialised.
class DeviceBuffer : public Buffer {
 public:
  DeviceBuffer(int device, std::size_t bytes);
  ~DeviceBuffer();
};

/// Host memory that kernels reach under the same address; zero at first.
class PinnedBuffer : public Buffer {
 public:
  PinnedBuffer(int device, std::size_t bytes);
  ~PinnedBuffer();
};

/// How a graph gets to know what is enqueued.
enum class Recorder {
  launches,  ///< by this target's launches and fills, and nothing else: no stream is captured
  another_stream,  ///< the library captures a stream for the purpose: what other libraries enqueue on it counts too
  own_stream,  ///< it captures the queue's, for work that is enqueued by those who know no other; not the default stream
};

/// A sequence of launches, recorded once and replayed as one. `record` enqueues it on the queue that it is
/// given, where it does not run. While a stream is captured, no other thread may wait for the whole device.
class Graph {
 public:
  Graph(const Queue& queue, Recorder recorder, const std::function<void(const Queue&)>& record);
  ~Graph();
  /// Enqueues the sequence on the queue's stream.
  void replay(const Queue& queue) const;

 private:
  struct Steps;
  std::unique_ptr<Steps> steps_;
};

/// Operations of the table in a graph.
class RecordedOperations final : public Recording {
 public:
  RecordedOperations(const Queue& queue, void (*enqueue)(void* context, const Queue&),
                     void* context)
      : graph_(queue, Recorder::launches,
               [=](const Queue& recording) { enqueue(context, recording); }) {}
  void replay(const Queue& queue) const override { graph_.replay(queue); }

  static std::unique_ptr<Recording> record(const Queue& queue,
                                           void (*enqueue)(void* context, const Queue&),
                                           void* context) {
    return std::make_unique<RecordedOperations>(queue, enqueue, context);
  }

 private:
  Graph graph_;
};

/// A point in a stream that the host can wait for.
class Marker {
 public:
  explicit Marker(int device);
  ~Marker();
  void record(const Queue& queue);
  void wait() const;

 private:
  struct Event;
  std::unique_ptr<Event> event_;
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
