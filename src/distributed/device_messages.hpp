#pragma once

#include <cnc/contract/queue.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace cnc::detail {

class Channel;

/// Messages from memory of one device to that of another, wherever it is, by their vendor's library: NCCL or RCCL.
///
/// But for open() and the first exchange nothing here waits for other ranks: a device does, and the host looks whether it still does.
/// What is enqueued may be recorded in a graph. Graphs do not outlive it.
class DeviceMessages {
 public:
  /// What goes to a rank, or comes from it.
  struct Part {
    int rank;
    void* data;  ///< of this device
    std::size_t bytes;
  };

  /// Collective, and the same on all ranks: null where CNC was built without such a library, where ranks share a device, or
  /// where the library refuses.
  static std::unique_ptr<DeviceMessages> open(int device, Channel& channel);
  /// The same by MPI for devices that are hosts, where what is enqueued is done at once. The channel outlives it.
  static std::unique_ptr<DeviceMessages> of_hosts(Channel& channel);
  virtual ~DeviceMessages() = default;

  /// Sends and receives once the queue has come to what it has been given so far. To each rank and from it there is one part
  /// at most, which that rank receives or sends. The first call for a pair of ranks blocks until both have made it.
  /// Errors   DeviceError.
  virtual void begin(const Queue& queue, const std::vector<Part>& sends,
                     const std::vector<Part>& receives) = 0;
  /// What is enqueued on the queue from now on finds what was begun last.
  virtual void end(const Queue& queue) = 0;
  /// Enqueues: all[r] := the `count` numbers of rank r.
  virtual void gather(const Queue& queue, const double* mine, double* all, int count) = 0;
  /// Begins to wait for the queue.
  virtual void begin_wait(const Queue& queue) = 0;
  /// Whether what was begun last is there, or the queue is done.
  /// Errors   DeviceError (the library has lost another rank).
  virtual bool are_there() = 0;
  /// The device waits for nobody any more, and nothing can be begun: another rank has failed.
  virtual void give_up() noexcept = 0;
};

}  // namespace cnc::detail
