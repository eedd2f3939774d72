#include <target/launch.hpp>

#include "cuda/availability.hpp"

#include <array>
#include <mutex>

namespace cnc::gpu::inline CNC_GPU_TARGET {

namespace {

constexpr int most_devices = 64;

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

DeviceFacts ask(int device) {
  DeviceFacts facts;
  facts.processors = attribute(cudaDevAttrMultiProcessorCount, device);
  facts.shared_bytes =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  facts.cache_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, device));
  facts.architecture = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                       attribute(cudaDevAttrComputeCapabilityMinor, device);
  return facts;
}

/// Throws OutOfMemory, or DeviceError when something else is wrong.
void check_allocation(cudaError_t code, const char* what, std::size_t bytes, int device) {
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw OutOfMemory(what, bytes, static_cast<std::size_t>(cuda::free_bytes(device)));
  }
  check(code, what);
}

}  // namespace

const DeviceFacts& device_facts(int device) {
  static std::array<DeviceFacts, most_devices> facts;
  static std::array<std::once_flag, most_devices> asked;
  if (device < 0 || device >= most_devices)
    throw DeviceError("device_facts", "cuda", "no device " + std::to_string(device));
  const auto place = static_cast<std::size_t>(device);
  std::call_once(asked[place], [&] { facts[place] = ask(device); });
  return facts[place];
}

DeviceBuffer::DeviceBuffer(int device, std::size_t bytes) : device_(device) {
  const DeviceScope scope(device);
  check_allocation(cudaMalloc(&data_, bytes), "device memory", bytes, device);
}
DeviceBuffer::~DeviceBuffer() { cudaFree(data_); }

PinnedBuffer::PinnedBuffer(int device, std::size_t bytes) : device_(device) {
  const DeviceScope scope(device);
  check_allocation(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
                   "pinned host memory", bytes, device);
  std::memset(data_, 0, bytes);
}
PinnedBuffer::~PinnedBuffer() { cudaFreeHost(data_); }

Graph::Graph(const Queue& queue, const std::function<void(const Queue&)>& record)
    : device_(queue.device) {
  const DeviceScope scope(queue.device);
  // A stream of its own: the caller's may be the default stream, which cannot record.
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  cudaGraph_t graph = nullptr;
  Queue recording = queue;
  recording.stream = stream;
  const auto release = [&] {
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  };
  try {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    try {
      record(recording);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&instance_, graph, 0), "cudaGraphInstantiate");
  } catch (...) {
    release();
    throw;
  }
  release();
}
Graph::~Graph() {
  if (instance_ != nullptr) cudaGraphExecDestroy(instance_);
}
void Graph::replay(const Queue& queue) const {
  const DeviceScope scope(queue.device);
  check(cudaGraphLaunch(instance_, stream_of(queue)), "cudaGraphLaunch");
}

Marker::Marker(int device) : device_(device) {
  const DeviceScope scope(device);
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
}
Marker::~Marker() { cudaEventDestroy(event_); }
void Marker::record(const Queue& queue) {
  const DeviceScope scope(queue.device);
  check(cudaEventRecord(event_, stream_of(queue)), "cudaEventRecord");
}
void Marker::wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
