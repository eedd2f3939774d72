#pragma once

#include <target/launch.hpp>

#include <array>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

// gpu/runtime.hpp by a run-time library as gpu/cuda_hip/launch.hpp describes it. One source of each such target
// includes this and defines what its library does in its own way:

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Why no device was found, in words; null for any other error.
const char* why_no_device(CNC_GPU_API(Error_t) code);
/// Whether kernels of this build run on such a device, and its name or why they do not.
Availability usability(const CNC_GPU_API(DeviceProp_t) & properties);
/// Asks a device.
DeviceFacts ask_facts(int device);
/// Host memory that all devices reach under the same address, coherent while kernels run.
CNC_GPU_API(Error_t) allocate_pinned(void** data, std::size_t bytes);
void free_pinned(void* data);
/// Memory of the current device in which kernels of others see what is written at once.
CNC_GPU_API(Error_t) allocate_for_peers(void** data, std::size_t bytes);

/// A graph in the making: each new node is behind the one before.
struct Nodes {
  CNC_GPU_API(Graph_t) graph = nullptr;
  CNC_GPU_API(GraphNode_t) last = nullptr;
  bool last_is_kernel = false;

  Nodes() = default;
  ~Nodes() {
    if (graph != nullptr) (void)CNC_GPU_API(GraphDestroy)(graph);
  }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
};

namespace {

inline constexpr int most_devices = 64;

Availability query() {
  int devices = 0;
  CNC_GPU_API(Error_t) code = CNC_GPU_API(GetDeviceCount)(&devices);
  if (code != CNC_GPU_API(Success))
    (void)CNC_GPU_API(GetLastError)();  // the caller did nothing wrong
  if (code == CNC_GPU_API(Success) && devices == 0) code = CNC_GPU_API(ErrorNoDevice);
  if (const char* reason = why_no_device(code)) return {false, reason};
  if (code != CNC_GPU_API(Success))
    return {false, std::string(CNC_GPU_VENDOR ": ") + CNC_GPU_API(GetErrorString)(code)};
  int device = 0;
  CNC_GPU_API(DeviceProp_t) properties;
  if (CNC_GPU_API(GetDevice)(&device) != CNC_GPU_API(Success) ||
      CNC_GPU_API(GetDeviceProperties)(&properties, device) != CNC_GPU_API(Success))
    return {false, "the GPU does not answer"};
  Availability found = usability(properties);
  if (found.usable) {
    found.detail += ", " + std::to_string(properties.multiProcessorCount) + " processors";
    if (devices > 1) found.detail += ", " + std::to_string(devices) + " devices";
  }
  return found;
}

/// Throws OutOfMemory, or DeviceError when something else is wrong.
void check_allocation(CNC_GPU_API(Error_t) code, const char* what, std::size_t bytes, int device) {
  if (code == CNC_GPU_API(ErrorMemoryAllocation)) {
    (void)CNC_GPU_API(GetLastError)();
    throw OutOfMemory(what, bytes, static_cast<std::size_t>(free_bytes(device)));
  }
  check(code, what);
}

/// The graph that a queue records in; null: none.
Nodes* nodes_of(const Queue& queue) { return static_cast<Nodes*>(queue.graph); }

/// For what no node is made of.
void refuse_in_graph(const Queue& queue) {
  if (nodes_of(queue) != nullptr)
    throw UnsupportedOperation("a graph of launches holds kernels and fills alone");
}

CNC_GPU_API(Error_t)
add_kernel(Nodes& nodes, [[maybe_unused]] int device, Start how,
           const CNC_GPU_API(KernelNodeParams) & kernel) {
  if (how == Start::resident) return CNC_GPU_API(ErrorNotSupported);
  CNC_GPU_API(GraphNode_t) node = nullptr;
  bool overlaps = false;
#ifdef CNC_GPU_OVERLAPS_IN_GRAPHS
  overlaps = how == Start::overlapping && nodes.last_is_kernel && device_facts(device).overlaps;
#endif
  CNC_GPU_API(Error_t)
  code = CNC_GPU_API(GraphAddKernelNode)(&node, nodes.graph, &nodes.last,
                                         nodes.last != nullptr && !overlaps ? 1 : 0, &kernel);
#ifdef CNC_GPU_OVERLAPS_IN_GRAPHS
  if (overlaps && code == CNC_GPU_API(Success)) {
    CNC_GPU_API(GraphEdgeData) edge = {};
    edge.type = CNC_GPU_API(GraphDependencyTypeProgrammatic);
    edge.from_port = CNC_GPU_API(GraphKernelNodePortProgrammatic);
    code = CNC_GPU_API(GraphAddDependencies)(nodes.graph, &nodes.last, &node, &edge, 1);
  }
#endif
  if (code == CNC_GPU_API(Success)) {
    nodes.last = node;
    nodes.last_is_kernel = true;
  }
  return code;
}

void add_fill(Nodes& nodes, void* to, int value, std::size_t bytes) {
  if (bytes == 0) return;
  CNC_GPU_API(MemsetParams) fill = {};
  fill.dst = to;
  fill.elementSize = 1;
  fill.height = 1;
  fill.value = static_cast<unsigned char>(value);
  fill.width = bytes;
  CNC_GPU_API(GraphNode_t) node = nullptr;
  CNC_GPU_CALL(GraphAddMemsetNode, &node, nodes.graph, &nodes.last, nodes.last != nullptr ? 1 : 0,
               &fill);
  nodes.last = node;
  nodes.last_is_kernel = false;
}

/// A stream that is captured.
struct CapturedStream {
  CNC_GPU_API(Stream_t) stream;
  bool owned;

  CapturedStream(const Queue& queue, Recorder recorder)
      : stream(stream_of(queue)), owned(recorder == Recorder::another_stream) {
    if (owned) CNC_GPU_CALL(StreamCreateWithFlags, &stream, CNC_GPU_API(StreamNonBlocking));
    if (stream == nullptr)
      throw UnsupportedOperation(
          "the default stream cannot be captured in a graph: give the Context an execution space "
          "instance with a stream of its own");
  }
  ~CapturedStream() {
    if (owned) (void)CNC_GPU_API(StreamDestroy)(stream);
  }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;
};

}  // namespace

Availability availability() {
  static const Availability seen = query();
  return seen;
}

double free_bytes(int device) {
  int before = 0;
  std::size_t free = 0, total = 0;
  if (CNC_GPU_API(GetDevice)(&before) != CNC_GPU_API(Success) ||
      CNC_GPU_API(SetDevice)(device) != CNC_GPU_API(Success))
    return 0;
  const bool known = CNC_GPU_API(MemGetInfo)(&free, &total) == CNC_GPU_API(Success);
  (void)CNC_GPU_API(SetDevice)(before);
  return known ? static_cast<double>(free) : 0;
}

namespace {

void* allocate_peer_memory(int device, std::size_t bytes) {
  // Whole pages: what others open is not to lie beside something of ours.
  constexpr std::size_t page = std::size_t(2) << 20;
  bytes = (bytes + page - 1) / page * page;
  const DeviceScope scope(device);
  void* memory = nullptr;
  check_allocation(allocate_for_peers(&memory, bytes), "memory for other devices", bytes, device);
  try {
    CNC_GPU_CALL(Memset, memory, 0, bytes);
    CNC_GPU_CALL(DeviceSynchronize);
  } catch (...) {
    (void)CNC_GPU_API(Free)(memory);
    throw;
  }
  return memory;
}
void release_peer_memory(int device, void* memory) {
  try {
    const DeviceScope scope(device);
    (void)CNC_GPU_API(Free)(memory);
  } catch (const Error&) {  // a device that has failed gives nothing back
  }
}
/// Whether a call that may be refused was not; the next operation is not to blame if it was.
bool succeeded(CNC_GPU_API(Error_t) code) {
  if (code != CNC_GPU_API(Success)) (void)CNC_GPU_API(GetLastError)();
  return code == CNC_GPU_API(Success);
}
bool offer_peer_memory(int device, void* memory, PeerTicket* ticket) {
  static_assert(sizeof(CNC_GPU_API(IpcMemHandle_t)) == sizeof ticket->handle);
  const DeviceScope scope(device);
  CNC_GPU_API(IpcMemHandle_t) handle;
  if (!succeeded(CNC_GPU_API(IpcGetMemHandle)(&handle, memory)) ||
      !succeeded(
          CNC_GPU_API(DeviceGetPCIBusId)(ticket->device, int(sizeof ticket->device), device)))
    return false;
  std::memcpy(ticket->handle, &handle, sizeof handle);
  return true;
}
void* open_peer_memory(int device, const PeerTicket& ticket) {
  const DeviceScope scope(device);
  CNC_GPU_API(IpcMemHandle_t) handle;
  std::memcpy(&handle, ticket.handle, sizeof handle);
  void* memory = nullptr;
  return succeeded(CNC_GPU_API(IpcOpenMemHandle)(&memory, handle,
                                                 CNC_GPU_API(IpcMemLazyEnablePeerAccess)))
             ? memory
             : nullptr;
}
void close_peer_memory(int device, void* opened) {
  try {
    const DeviceScope scope(device);
    (void)succeeded(CNC_GPU_API(IpcCloseMemHandle)(opened));
  } catch (const Error&) {  // the same
  }
}

}  // namespace

const PeerMemory* peer_memory() {
  static constexpr PeerMemory memory{allocate_peer_memory, release_peer_memory, offer_peer_memory,
                                     open_peer_memory, close_peer_memory};
  return &memory;
}

const DeviceFacts& device_facts(int device) {
  static std::array<DeviceFacts, most_devices> facts;
  static std::array<std::once_flag, most_devices> asked;
  if (device < 0 || device >= most_devices)
    throw DeviceError("device_facts", CNC_GPU_VENDOR, "no device " + std::to_string(device));
  const auto place = static_cast<std::size_t>(device);
  std::call_once(asked[place], [&] { facts[place] = ask_facts(device); });
  return facts[place];
}

CNC_GPU_API(Error_t)
start(const Queue& queue, Start how, const CNC_GPU_API(KernelNodeParams) & kernel) {
  const DeviceScope scope(queue.device);
  if (Nodes* const nodes = nodes_of(queue)) return add_kernel(*nodes, queue.device, how, kernel);
  if (how == Start::resident)
    return CNC_GPU_API(LaunchCooperativeKernel)(kernel.func, kernel.gridDim, kernel.blockDim,
                                                kernel.kernelParams, kernel.sharedMemBytes,
                                                stream_of(queue));
#ifdef CNC_GPU_OVERLAPS
  if (how == Start::overlapping && device_facts(queue.device).overlaps) {
    CNC_GPU_API(LaunchAttribute) overlap = {};
    overlap.id = CNC_GPU_API(LaunchAttributeProgrammaticStreamSerialization);
    overlap.val.programmaticStreamSerializationAllowed = 1;
    CNC_GPU_API(LaunchConfig_t) launch = {};
    launch.gridDim = kernel.gridDim;
    launch.blockDim = kernel.blockDim;
    launch.dynamicSmemBytes = kernel.sharedMemBytes;
    launch.stream = stream_of(queue);
    launch.attrs = &overlap;
    launch.numAttrs = 1;
    return CNC_GPU_API(LaunchKernelExC)(&launch, kernel.func, kernel.kernelParams);
  }
#endif
  return CNC_GPU_API(LaunchKernel)(kernel.func, kernel.gridDim, kernel.blockDim,
                                   kernel.kernelParams, kernel.sharedMemBytes, stream_of(queue));
}

void fill_bytes(const Queue& queue, void* to, int value, std::size_t bytes) {
  const DeviceScope scope(queue.device);
  if (Nodes* const nodes = nodes_of(queue)) return add_fill(*nodes, to, value, bytes);
  CNC_GPU_CALL(MemsetAsync, to, value, bytes, stream_of(queue));
}

namespace {
void copy_and_wait(const Queue& queue, void* to, const void* from, std::size_t bytes,
                   CNC_GPU_API(MemcpyKind) kind) {
  refuse_in_graph(queue);
  const DeviceScope scope(queue.device);
  CNC_GPU_CALL(MemcpyAsync, to, from, bytes, kind, stream_of(queue));
  synchronize(queue);
}
}  // namespace
void copy_to_device(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  copy_and_wait(queue, to, from, bytes, CNC_GPU_API(MemcpyHostToDevice));
}
void copy_to_host(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  copy_and_wait(queue, to, from, bytes, CNC_GPU_API(MemcpyDeviceToHost));
}

void synchronize(const Queue& queue) {
  refuse_in_graph(queue);
  CNC_GPU_CALL(StreamSynchronize, stream_of(queue));
}

void enqueue(const Queue& queue, const std::function<void(const Queue&)>& work) {
  refuse_in_graph(queue);
  work(queue);
}

DeviceBuffer::DeviceBuffer(int device, std::size_t bytes) {
  const DeviceScope scope(device);
  check_allocation(CNC_GPU_API(Malloc)(&data_, bytes), "device memory", bytes, device);
}
DeviceBuffer::~DeviceBuffer() { (void)CNC_GPU_API(Free)(data_); }

PinnedBuffer::PinnedBuffer(int device, std::size_t bytes) {
  const DeviceScope scope(device);
  check_allocation(allocate_pinned(&data_, bytes), "pinned host memory", bytes, device);
  std::memset(data_, 0, bytes);
}
PinnedBuffer::~PinnedBuffer() { free_pinned(data_); }

struct Graph::Steps {
  CNC_GPU_API(GraphExec_t) instance = nullptr;
  Steps() = default;
  ~Steps() {
    if (instance != nullptr) (void)CNC_GPU_API(GraphExecDestroy)(instance);
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
};

namespace {

/// False if another thread, which waited for the whole device, has broken the capture off.
bool capture(const Queue& queue, Recorder who, const std::function<void(const Queue&)>& record,
             Nodes& nodes) {
  const CapturedStream captured(queue, who);
  Queue recording = queue;
  recording.stream = captured.stream;
  CNC_GPU_CALL(StreamBeginCapture, captured.stream, CNC_GPU_API(StreamCaptureModeThreadLocal));
  std::exception_ptr failed;
  try {
    record(recording);
  } catch (...) {
    failed = std::current_exception();
  }
  const auto code = CNC_GPU_API(StreamEndCapture)(captured.stream, &nodes.graph);
  (void)CNC_GPU_API(GetLastError)();  // the next operation is not to blame
  // What the caller's own preconditioner has broken off would be again.
  if (code == CNC_GPU_API(ErrorStreamCaptureInvalidated) && who == Recorder::another_stream)
    return false;
  if (failed) std::rethrow_exception(failed);
  check(code, CNC_GPU_VENDOR "StreamEndCapture");
  return true;
}

/// Captures that are broken off are begun anew so often: a rank cannot go on without a graph where the others have one.
inline constexpr int most_captures = 50;

}  // namespace

Graph::Graph(const Queue& queue, Recorder who, const std::function<void(const Queue&)>& record)
    : steps_(std::make_unique<Steps>()) {
  const DeviceScope scope(queue.device);
  Nodes nodes;
  if (who == Recorder::launches) {
    CNC_GPU_CALL(GraphCreate, &nodes.graph, 0);
    Queue recording = queue;
    recording.graph = &nodes;
    record(recording);
  } else {
    for (int captures = 1; !capture(queue, who, record, nodes); ++captures) {
      if (captures == most_captures)
        throw DeviceError("StreamEndCapture", CNC_GPU_VENDOR,
                          "another thread keeps waiting for the whole device");
      std::this_thread::yield();
    }
  }
  CNC_GPU_CALL(GraphInstantiateWithFlags, &steps_->instance, nodes.graph, 0);
}
Graph::~Graph() = default;
void Graph::replay(const Queue& queue) const {
  refuse_in_graph(queue);
  const DeviceScope scope(queue.device);
  CNC_GPU_CALL(GraphLaunch, steps_->instance, stream_of(queue));
}

struct Marker::Event {
  CNC_GPU_API(Event_t) event = nullptr;
  Event() { CNC_GPU_CALL(EventCreateWithFlags, &event, CNC_GPU_API(EventDisableTiming)); }
  ~Event() { (void)CNC_GPU_API(EventDestroy)(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

Marker::Marker(int device) {
  const DeviceScope scope(device);
  event_ = std::make_unique<Event>();
}
Marker::~Marker() = default;
void Marker::record(const Queue& queue) {
  refuse_in_graph(queue);
  const DeviceScope scope(queue.device);
  CNC_GPU_CALL(EventRecord, event_->event, stream_of(queue));
}
void Marker::wait() const { CNC_GPU_CALL(EventSynchronize, event_->event); }

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
