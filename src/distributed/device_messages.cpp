#include "distributed/device_messages.hpp"

#include "distributed/channel.hpp"

#include <cstring>

namespace cnc::detail {
namespace {

class HostMessages final : public DeviceMessages {
 public:
  explicit HostMessages(Channel& channel) : channel_(channel) {}

  void begin(const Queue&, const std::vector<Part>& sends,
             const std::vector<Part>& receives) override {
    std::vector<std::vector<index_t>> words(static_cast<std::size_t>(channel_.size()));
    for (const Part& p : sends) {
      auto& to = words[static_cast<std::size_t>(p.rank)];
      to.resize(p.bytes / sizeof(index_t));
      std::memcpy(to.data(), p.data, p.bytes);
    }
    words = channel_.exchange_lists(words);
    for (const Part& p : receives)
      std::memcpy(p.data, words[static_cast<std::size_t>(p.rank)].data(), p.bytes);
  }
  void end(const Queue&) override {}
  void gather(const Queue&, const double* mine, double* all, int count) override {
    std::memcpy(all, channel_.gather_all(mine, count),
                sizeof(double) * static_cast<std::size_t>(count * channel_.size()));
  }
  void begin_wait(const Queue&) override {}
  bool are_there() override { return true; }
  void give_up() noexcept override {}

 private:
  Channel& channel_;
};

}  // namespace

std::unique_ptr<DeviceMessages> DeviceMessages::of_hosts(Channel& channel) {
  return std::make_unique<HostMessages>(channel);
}

}  // namespace cnc::detail

#if defined(CNC_HAVE_DEVICE_MESSAGES)

#include <cnc/contract/error.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#if defined(KOKKOS_ENABLE_HIP)
#include <hip/hip_runtime_api.h>
#include <rccl/rccl.h>
#define CNC_RUNTIME(name) hip##name
#else
#include <cuda_runtime_api.h>
#include <nccl.h>
#define CNC_RUNTIME(name) cuda##name
#endif

namespace cnc::detail {
namespace {

constexpr const char* library = CNC_HAVE_DEVICE_MESSAGES;

void check(CNC_RUNTIME(Error_t) code, const char* operation) {
  if (code != CNC_RUNTIME(Success))
    throw DeviceError(operation, library, CNC_RUNTIME(GetErrorString)(code));
}
void check(ncclResult_t code, const char* operation) {
  if (code != ncclSuccess) throw DeviceError(operation, library, ncclGetErrorString(code));
}

/// Makes a device the current one for as long as it lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check(CNC_RUNTIME(GetDevice)(&before_), "GetDevice");
    check(CNC_RUNTIME(SetDevice)(device), "SetDevice");
  }
  ~CurrentDevice() { (void)CNC_RUNTIME(SetDevice)(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

class LibraryMessages final : public DeviceMessages {
 public:
  /// Errors   DeviceError.
  explicit LibraryMessages(int device) : device_(device) {
    const CurrentDevice scope(device);
    try {
      int lowest = 0, highest = 0;  // messages go out while products fill the device
      check(CNC_RUNTIME(DeviceGetStreamPriorityRange)(&lowest, &highest), "GetStreamPriorityRange");
      check(
          CNC_RUNTIME(StreamCreateWithPriority)(&stream_, CNC_RUNTIME(StreamNonBlocking), highest),
          "StreamCreate");
      for (CNC_RUNTIME(Event_t) * event : {&packed_, &there_})
        check(CNC_RUNTIME(EventCreateWithFlags)(event, CNC_RUNTIME(EventDisableTiming)),
              "EventCreate");
    } catch (...) {
      release();
      throw;
    }
  }
  /// Blocks until all ranks have come here; whether they meet.
  bool meet(const ncclUniqueId& meeting, int rank, int ranks) {
    const CurrentDevice scope(device_);
    return ncclCommInitRank(&ranks_, ranks, meeting, rank) == ncclSuccess;
  }
  ~LibraryMessages() override { release(); }
  LibraryMessages(const LibraryMessages&) = delete;
  LibraryMessages& operator=(const LibraryMessages&) = delete;

  void begin(const Queue& queue, const std::vector<Part>& sends,
             const std::vector<Part>& receives) override {
    require_ranks();
    const CurrentDevice scope(device_);
    check(CNC_RUNTIME(EventRecord)(packed_, stream_of(queue)), "EventRecord");
    check(CNC_RUNTIME(StreamWaitEvent)(stream_, packed_, 0), "StreamWaitEvent");
    check(ncclGroupStart(), "ncclGroupStart");
    ncclResult_t code = ncclSuccess;
    const auto go_on = [&](ncclResult_t next) { code = code == ncclSuccess ? next : code; };
    for (const Part& p : receives)
      go_on(ncclRecv(p.data, p.bytes, ncclUint8, p.rank, ranks_, stream_));
    for (const Part& p : sends)
      go_on(ncclSend(p.data, p.bytes, ncclUint8, p.rank, ranks_, stream_));
    go_on(ncclGroupEnd());
    check(code, "exchange");
    check(CNC_RUNTIME(EventRecord)(there_, stream_), "EventRecord");
  }
  void end(const Queue& queue) override {
    const CurrentDevice scope(device_);
    check(CNC_RUNTIME(StreamWaitEvent)(stream_of(queue), there_, 0), "StreamWaitEvent");
  }
  void gather(const Queue& queue, const double* mine, double* all, int count) override {
    require_ranks();
    const CurrentDevice scope(device_);
    check(ncclAllGather(mine, all, static_cast<std::size_t>(count), ncclDouble, ranks_,
                        stream_of(queue)),
          "ncclAllGather");
  }

  void begin_wait(const Queue& queue) override {
    const CurrentDevice scope(device_);
    check(CNC_RUNTIME(EventRecord)(there_, stream_of(queue)), "EventRecord");
  }
  bool are_there() override {
    constexpr unsigned looks_between = 256;  // at the library, which costs more
    const CNC_RUNTIME(Error_t) code = CNC_RUNTIME(EventQuery)(there_);
    if (code == CNC_RUNTIME(Success)) return true;
    if (code != CNC_RUNTIME(ErrorNotReady)) check(code, "exchange");
    (void)CNC_RUNTIME(GetLastError)();  // that it is not ready is no error
    if (++looks_ % looks_between == 0 && ranks_ != nullptr) {
      ncclResult_t failed = ncclSuccess;
      check(ncclCommGetAsyncError(ranks_, &failed), "ncclCommGetAsyncError");
      check(failed, "exchange");
    }
    return false;
  }

  void give_up() noexcept override {
    if (ranks_ == nullptr) return;
    // The device is told at once, but the call comes back only when graphs with messages are gone.
    const ncclComm_t ranks = std::exchange(ranks_, nullptr);
    try {
      aborting_ = std::thread([ranks] { (void)ncclCommAbort(ranks); });
    } catch (const std::system_error&) {
      (void)ncclCommAbort(ranks);
    }
  }

 private:
  static CNC_RUNTIME(Stream_t) stream_of(const Queue& queue) {
    return static_cast<CNC_RUNTIME(Stream_t)>(queue.stream);
  }
  void require_ranks() const {
    if (ranks_ == nullptr) throw DeviceError("exchange", library, "another rank has failed before");
  }

  /// Ranks come here at different times: nothing is under way, and nobody waits for the others.
  void release() {
    try {
      const CurrentDevice scope(device_);
      give_up();
      join();
      for (CNC_RUNTIME(Event_t) event : {packed_, there_})
        if (event != nullptr) (void)CNC_RUNTIME(EventDestroy)(event);
      if (stream_ != nullptr) (void)CNC_RUNTIME(StreamDestroy)(stream_);
    } catch (const Error&) {  // a device that has failed gives nothing back
      give_up();
      join();
    }
  }
  void join() {
    if (aborting_.joinable()) aborting_.join();
  }

  int device_;
  ncclComm_t ranks_ = nullptr;
  std::thread aborting_;
  CNC_RUNTIME(Stream_t) stream_ = nullptr;
  CNC_RUNTIME(Event_t) packed_ = nullptr, there_ = nullptr;
  unsigned looks_ = 0;
};

/// The device, and where it is: the same for the same device.
struct Place {
  char machine[MPI_MAX_PROCESSOR_NAME] = {};
  char device[32] = {};
  std::int32_t is_known = 0;
};

}  // namespace

std::unique_ptr<DeviceMessages> DeviceMessages::open(int device, Channel& channel) {
  Place mine;
  int length = 0;
  mine.is_known = MPI_Get_processor_name(mine.machine, &length) == MPI_SUCCESS &&
                  CNC_RUNTIME(DeviceGetPCIBusId)(mine.device, int(sizeof mine.device), device) ==
                      CNC_RUNTIME(Success);
  const Place* const all = channel.gather_all(&mine, 1);
  std::set<std::string> places;
  bool are_apart = true;  // the library ends up waiting for ever with ranks that share one
  for (int r = 0; r < channel.size(); ++r)
    are_apart &= all[r].is_known != 0 &&
                 places.insert(std::string(all[r].machine) + ' ' + all[r].device).second;
  if (!are_apart) return nullptr;

  struct Meeting {
    ncclUniqueId id;
    std::int32_t is_open;
  } meeting{};
  if (channel.rank() == 0) meeting.is_open = ncclGetUniqueId(&meeting.id) == ncclSuccess;
  meeting = *channel.broadcast(&meeting, 1);
  std::unique_ptr<LibraryMessages> messages;
  if (meeting.is_open != 0) try {
      messages = std::make_unique<LibraryMessages>(device);
    } catch (const DeviceError&) {  // there is the other way
    }
  if (channel.anywhere(messages == nullptr)) return nullptr;
  const bool met = messages->meet(meeting.id, channel.rank(), channel.size());
  if (channel.anywhere(!met)) return nullptr;
  return messages;
}

}  // namespace cnc::detail

#else

namespace cnc::detail {

std::unique_ptr<DeviceMessages> DeviceMessages::open(int, Channel&) { return nullptr; }

}  // namespace cnc::detail

#endif
