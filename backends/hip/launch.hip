#include <target/launch.hpp>

#include "hip/availability.hpp"

#include <array>
#include <cstring>
#include <mutex>

namespace cnc::gpu::inline CNC_GPU_TARGET {

namespace {

constexpr int most_devices = 64;

int attribute(hipDeviceAttribute_t which, int device) {
  int value = 0;
  check(hipDeviceGetAttribute(&value, which, device), "hipDeviceGetAttribute");
  return value;
}

DeviceFacts ask(int device) {
  DeviceFacts facts;
  facts.processors = attribute(hipDeviceAttributeMultiprocessorCount, device);
  facts.shared_bytes =
      static_cast<std::size_t>(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock, device));
  facts.cache_bytes = static_cast<std::size_t>(attribute(hipDeviceAttributeL2CacheSize, device));
  facts.wave = attribute(hipDeviceAttributeWarpSize, device);
  return facts;
}

/// Throws OutOfMemory, or DeviceError when something else is wrong.
void check_allocation(hipError_t code, const char* what, std::size_t bytes, int device) {
  if (code == hipErrorOutOfMemory) {
    (void)hipGetLastError();
    throw OutOfMemory(what, bytes, static_cast<std::size_t>(hip::free_bytes(device)));
  }
  check(code, what);
}

/// A stream that can record, which the caller's may not: it may be the default stream.
class RecordingStream {
 public:
  RecordingStream() {
    check(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreate");
  }
  ~RecordingStream() {
    if (graph != nullptr) (void)hipGraphDestroy(graph);
    (void)hipStreamDestroy(stream);
  }
  RecordingStream(const RecordingStream&) = delete;
  RecordingStream& operator=(const RecordingStream&) = delete;

  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;  ///< what was recorded
};

}  // namespace

const DeviceFacts& device_facts(int device) {
  static std::array<DeviceFacts, most_devices> facts;
  static std::array<std::once_flag, most_devices> asked;
  if (device < 0 || device >= most_devices)
    throw DeviceError("device_facts", "hip", "no device " + std::to_string(device));
  const auto place = static_cast<std::size_t>(device);
  std::call_once(asked[place], [&] { facts[place] = ask(device); });
  return facts[place];
}

DeviceBuffer::DeviceBuffer(int device, std::size_t bytes) {
  const DeviceScope scope(device);
  check_allocation(hipMalloc(&data_, bytes), "device memory", bytes, device);
}
DeviceBuffer::~DeviceBuffer() { (void)hipFree(data_); }

PinnedBuffer::PinnedBuffer(int device, std::size_t bytes) {
  const DeviceScope scope(device);
  // Coherent: the host reads it while kernels run.
  check_allocation(
      hipHostMalloc(&data_, bytes,
                    hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent),
      "pinned host memory", bytes, device);
  std::memset(data_, 0, bytes);
}
PinnedBuffer::~PinnedBuffer() { (void)hipHostFree(data_); }

Graph::Graph(const Queue& queue, const std::function<void(const Queue&)>& record) {
  const DeviceScope scope(queue.device);
  RecordingStream recorder;
  Queue recording = queue;
  recording.stream = recorder.stream;
  check(hipStreamBeginCapture(recorder.stream, hipStreamCaptureModeThreadLocal),
        "hipStreamBeginCapture");
  try {
    record(recording);
  } catch (...) {
    (void)hipStreamEndCapture(recorder.stream, &recorder.graph);
    throw;
  }
  check(hipStreamEndCapture(recorder.stream, &recorder.graph), "hipStreamEndCapture");
  check(hipGraphInstantiateWithFlags(&instance_, recorder.graph, 0), "hipGraphInstantiate");
}
Graph::~Graph() {
  if (instance_ != nullptr) (void)hipGraphExecDestroy(instance_);
}
void Graph::replay(const Queue& queue) const {
  const DeviceScope scope(queue.device);
  check(hipGraphLaunch(instance_, stream_of(queue)), "hipGraphLaunch");
}

Marker::Marker(int device) {
  const DeviceScope scope(device);
  check(hipEventCreateWithFlags(&event_, hipEventDisableTiming), "hipEventCreate");
}
Marker::~Marker() { (void)hipEventDestroy(event_); }
void Marker::record(const Queue& queue) {
  const DeviceScope scope(queue.device);
  check(hipEventRecord(event_, stream_of(queue)), "hipEventRecord");
}
void Marker::wait() const { check(hipEventSynchronize(event_), "hipEventSynchronize"); }

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
