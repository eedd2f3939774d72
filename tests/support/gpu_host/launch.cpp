#include "support/gpu_host/resident_threads.hpp"

#include <cnc/error.hpp>

#include <target/launch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cnc::gpu::inline host {

namespace {

constexpr DeviceFacts facts = {.processors = 3,
                               .shared_bytes = machine::max_shared_bytes,
                               .cache_bytes = std::size_t(1) << 20,
                               .cooperative = true};

constexpr DeviceFacts facts_of_wide_waves = [] {
  DeviceFacts wide = facts;
  wide.wave = 64;
  return wide;
}();

using Steps = std::vector<std::function<void()>>;
/// The graph that captures a stream of this OS thread, and that stream: the graph's address, unless it is the queue's own.
thread_local Steps* captured = nullptr;
thread_local const void* captured_stream = nullptr;
/// The graph in which the queue records; null: none.
Steps* steps_of(const Queue& queue) {
  if (queue.graph != nullptr) return static_cast<Steps*>(queue.graph);
  return captured != nullptr && queue.stream == captured_stream ? captured : nullptr;
}
/// For what no step is made of.
void refuse_in_graph(const Queue& queue) {
  if (queue.graph != nullptr)
    throw UnsupportedOperation("a graph of launches holds kernels and fills alone");
}
thread_local int graphs_recorded = 0;
thread_local machine::Residents residents_granted = machine::Residents::granted;

[[noreturn]] void refuse(const char* operation, const std::string& reason) {
  throw DeviceError(operation, "gpu-host", reason);
}

/// Does the step, or keeps it for later.
template <class Step>
void enqueue_step(const Queue& queue, Step&& step) {
  if (Steps* const steps = steps_of(queue))
    steps->emplace_back(std::forward<Step>(step));
  else
    step();
}

/// Weyl sequence through a mixing function (Steele, Lea & Flood 2014): the n-th number of each OS thread is
/// the same in every run.
std::uint64_t next_random() {
  thread_local std::uint64_t state = 0;
  std::uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

machine::BlockTask task_of(const machine::Launch& launch, index_t block, bool descending) {
  return {.operation = launch.operation,
          .lane = &launch.lane,
          .block = block,
          .blocks = launch.grid.blocks,
          .threads = launch.grid.threads,
          .shared_bytes = launch.grid.shared_bytes,
          .resident = launch.resident,
          .descending = descending};
}

/// From a random block, or the first, in random strides that meet every block once.
void run_in_turn(const machine::Launch& launch) {
  const auto blocks = static_cast<std::uint64_t>(launch.grid.blocks);
  std::uint64_t block = launch.first_block_first ? 0 : next_random() % blocks;
  std::uint64_t stride = 1 + next_random() % blocks;
  while (std::gcd(stride, blocks) != 1) ++stride;
  for (std::uint64_t i = 0; i < blocks; ++i, block = (block + stride) % blocks)
    machine::Processor::mine().run(
        task_of(launch, static_cast<index_t>(block), next_random() % 2 == 0));
}

void run_together(const machine::Launch& launch) {
  const bool descending = next_random() % 2 == 0;
  machine::run_resident(launch.grid.blocks, [&](index_t block) {
    machine::Processor::mine().run(task_of(launch, block, descending));
  });
}

void* allocate(std::size_t bytes, int fill) {
  void* const data = ::operator new (bytes, std::align_val_t{256}, std::nothrow);
  if (data == nullptr) throw OutOfMemory("gpu-host", bytes, 0);
  return std::memset(data, fill, bytes);
}

void free_allocated(void* data) { ::operator delete (data, std::align_val_t{256}); }

// --- memory that other processes open: each of them is a device of its own ------------------------------------

/// What is mapped here, by address.
struct Shared {
  std::size_t bytes;
  std::string name;  ///< of the object
  bool is_own;
};
std::mutex sharing;
/// A process that ends leaves nothing, as one with a device does.
struct SharedHere : std::unordered_map<void*, Shared> {
  ~SharedHere() {
    for (const auto& [data, shared] : *this)
      if (shared.is_own) shm_unlink(shared.name.c_str());
  }
};
SharedHere& shared_here() {
  static SharedHere map;
  return map;
}

/// Null where there is no such object.
void* map_shared(const std::string& name, std::size_t bytes, bool create) {
  const int file = shm_open(name.c_str(), O_RDWR | (create ? O_CREAT | O_EXCL : 0), 0600);
  if (file < 0) return nullptr;
  void* data = MAP_FAILED;
  if (!create || ftruncate(file, static_cast<off_t>(bytes)) == 0)
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (data == MAP_FAILED) {
    if (create) shm_unlink(name.c_str());
    return nullptr;
  }
  const std::lock_guard lock(sharing);
  shared_here()[data] = {bytes, name, create};
  return data;
}
Shared unmap_shared(void* data) {
  const std::lock_guard lock(sharing);
  const Shared was = shared_here().extract(data).mapped();
  munmap(data, was.bytes);
  return was;
}

constexpr PeerMemory peers = {
    .allocate = [](int, std::size_t bytes) -> void* {
      static std::atomic<unsigned> made = 0;
      for (;;) {  // a process that was killed leaves objects, and its number may be this one's now
        const std::string name =
            "/cnc-gpu-host-" + std::to_string(getpid()) + "-" + std::to_string(made++);
        if (void* const data = map_shared(name, std::max<std::size_t>(1, bytes), true)) return data;
        if (errno != EEXIST) throw OutOfMemory("gpu-host", bytes, 0);
      }
    },
    .release = [](int, void* data) { shm_unlink(unmap_shared(data).name.c_str()); },
    .offer =
        [](int, void* data, PeerTicket* ticket) {
          const std::lock_guard lock(sharing);
          const Shared& shared = shared_here().at(data);
          std::snprintf(ticket->device, sizeof ticket->device, "%d", static_cast<int>(getpid()));
          std::snprintf(reinterpret_cast<char*>(ticket->handle), sizeof ticket->handle, "%s %zu",
                        shared.name.c_str(), shared.bytes);
          return true;
        },
    .open = [](int, const PeerTicket& ticket) -> void* {
      char name[sizeof ticket.handle] = {};
      std::size_t bytes = 0;
      if (std::sscanf(reinterpret_cast<const char*>(ticket.handle), "%63s %zu", name, &bytes) != 2)
        return nullptr;
      return map_shared(name, bytes, false);
    },
    .close = [](int, void* opened) { unmap_shared(opened); }};

}  // namespace

Availability availability() { return {true, "every lane a fiber"}; }
double free_bytes(int) { return 0; }
const PeerMemory* peer_memory() { return &peers; }
/// Device 1 differs in its waves alone.
const DeviceFacts& device_facts(int device) { return device == 1 ? facts_of_wide_waves : facts; }

machine::Residents machine::residents() { return residents_granted; }
void machine::set_residents(Residents residents) { residents_granted = residents; }
int machine::recorded_graphs() { return graphs_recorded; }

index_t machine::resident_blocks(int threads, std::size_t shared_bytes) {
  if (residents_granted == Residents::unknown) return 0;
  return threads <= max_block_threads && shared_bytes <= max_shared_bytes ? facts.processors : 0;
}

void machine::enqueue(const Queue& queue, Launch launch) {
  const Grid& grid = launch.grid;
  if (!launch.lane) refuse(launch.operation, "no kernel");
  if (grid.threads < 1 || grid.threads > max_block_threads)
    refuse(launch.operation, std::to_string(grid.threads) + " threads per block");
  if (grid.shared_bytes > max_shared_bytes)
    refuse(launch.operation, std::to_string(grid.shared_bytes) + " bytes of shared memory");
  if (launch.resident && (grid.blocks < 1 || grid.blocks > facts.processors))
    refuse(launch.operation, std::to_string(grid.blocks) + " resident blocks");
  enqueue_step(queue, [launch = std::move(launch)] {
    launch.resident ? run_together(launch) : run_in_turn(launch);
  });
}

void fill_bytes(const Queue& queue, void* to, int value, std::size_t bytes) {
  enqueue_step(queue, [=] {
    if (bytes > 0) std::memset(to, value, bytes);
  });
}

void copy_to_device(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  synchronize(queue);
  std::memcpy(to, from, bytes);
}
void copy_to_host(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  copy_to_device(queue, to, from, bytes);
}

void synchronize(const Queue& queue) {
  refuse_in_graph(queue);
  if (steps_of(queue) != nullptr) refuse("synchronize", "the stream is being recorded");
}

void enqueue(const Queue& queue, const std::function<void(const Queue&)>& work) {
  refuse_in_graph(queue);
  enqueue_step(queue, [=] { work(queue); });
}

/// Every byte is 0xCD at first, so that nobody takes it for zero.
DeviceBuffer::DeviceBuffer(int, std::size_t bytes) { data_ = allocate(bytes, 0xcd); }
DeviceBuffer::~DeviceBuffer() { free_allocated(data_); }
PinnedBuffer::PinnedBuffer(int, std::size_t bytes) { data_ = allocate(bytes, 0); }
PinnedBuffer::~PinnedBuffer() { free_allocated(data_); }

struct Graph::Steps : std::vector<std::function<void()>> {};

Graph::Graph(const Queue& queue, Recorder recorder, const std::function<void(const Queue&)>& record)
    : steps_(std::make_unique<Steps>()) {
  struct Capture {
    Capture(host::Steps* steps, const void* stream) {
      captured = steps;
      captured_stream = stream;
    }
    ~Capture() { captured = nullptr; }
  };
  Queue recording = queue;
  if (recorder == Recorder::launches) {
    recording.graph = static_cast<host::Steps*>(steps_.get());
    record(recording);
  } else {
    if (recorder == Recorder::another_stream) recording.stream = steps_.get();
    const Capture scope(steps_.get(), recording.stream);
    record(recording);
  }
  ++graphs_recorded;
}
Graph::~Graph() = default;
void Graph::replay(const Queue& queue) const {
  refuse_in_graph(queue);
  enqueue_step(queue, [this] {
    for (const auto& step : *steps_) step();
  });
}

/// Nothing is ever left to wait for.
struct Marker::Event {};
Marker::Marker(int) {}
Marker::~Marker() = default;
void Marker::record(const Queue& queue) { refuse_in_graph(queue); }
void Marker::wait() const {}

}  // namespace cnc::gpu::inline host
