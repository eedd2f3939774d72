#pragma once

#include "distributed/device_messages.hpp"

#include <cnc/distributed.hpp>
#include <cnc/vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Throws MpiError unless an MPI function has succeeded.
void check_mpi(int code, const char* operation);

template <class T>
MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  if constexpr (std::is_same_v<T, index_t>) return MPI_INT32_T;
  if constexpr (std::is_same_v<T, offset_t>) return MPI_INT64_T;
}

/// Whether the MPI at hand says that it reads and writes memory of Kokkos' devices. After its initialisation.
bool mpi_sees_devices();

/// A text on its way, cut where it is long.
struct Text {
  Text() = default;
  explicit Text(const std::string& text) { text.copy(characters, sizeof characters - 1); }
  char characters[1000] = {};
};

/// What stands behind a Communicator. No call blocks inside MPI: a rank that waits looks now and then whether another one has
/// failed, which it learns on a communicator of its own, and gives its processor to others.
class Channel {
 public:
  explicit Channel(MPI_Comm ranks);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int ranks_of_machine() const { return ranks_of_machine_; }
  MPI_Comm comm() const { return work_; }
  /// Whether both are of the same processes, in the same order.
  bool has_ranks_of(const Channel& other) const {
    int result = MPI_UNEQUAL;
    check_mpi(MPI_Comm_compare(work_, other.work_, &result), "MPI_Comm_compare");
    return result == MPI_IDENT || result == MPI_CONGRUENT;
  }

  /// Runs work on all ranks and comes back once it is done on all of them, or throws on all (Communicator). Calls inside
  /// work are part of it.
  void together(const std::function<void()>& work);

  /// Work without communication that may fail on some ranks: it then fails on all, and all are still at the same operation.
  void on_each(const std::function<void()>& work);

  /// Waits for operations that were begun; whatever they use must outlive them, also where this throws: see can_free().
  void wait(MPI_Request* requests, int count);
  /// Waits for what other ranks do, until is_done says that they have; equally often on all ranks.
  template <class Done>
  void wait_until(const Done& is_done) {
    ++begun_;
    for (int looks = 1; !is_done(); ++looks) {
      if (looks < looks_alone_ || looks % looks_between != 0) continue;
      listen();
      std::this_thread::yield();
    }
    ++finished_;
  }
  /// Waits for messages between devices, or the queue for which they wait.
  void wait(DeviceMessages& messages);
  /// Throws, as waits do, if another rank tells of a failure within a second; for a rank that waits elsewhere in vain.
  void hear_failures();
  /// What is to be done once all ranks have come to a later collective call than this one is in.
  void do_later(std::function<void()> work) { later_.push_back(std::move(work)); }
  /// It is now.
  void do_it_now();
  /// Whether what was made on it can be given back to MPI.
  bool can_free() const;

  /// @{
  /// Whether only devices wait for messages while these are enqueued, those of any matrix.
  void let_devices_wait(bool alone) { devices_wait_ = alone; }
  bool devices_wait() const { return devices_wait_; }
  /// @}
  /// @{
  /// How entries of vectors go from rank to rank at best, and whether all ranks allow a way.
  void limit_link(RankLink best) { best_link_ = best; }
  bool allows(RankLink link) { return !anywhere(best_link_ < link); }
  /// @}
  /// Those from this device, which may be a host, kept once they have been asked for; null: there are none between the devices
  /// of these ranks. Collective, and the same on all ranks.
  std::shared_ptr<DeviceMessages> messages(int device, bool of_hosts);

  /// @{
  /// all[r] := the `count` values of rank r; what is returned holds until the next call.
  template <class T>
  const T* gather_all(const T* mine, int count) {
    return static_cast<const T*>(gather_bytes(mine, sizeof(T) * static_cast<std::size_t>(count)));
  }
  const void* gather_bytes(const void* mine, std::size_t bytes);
  /// @}
  /// The counts[r] values of each rank r from starts[r] on; what is returned holds until the next call.
  template <class T>
  const T* gather_all(const T* mine, const std::vector<int>& counts,
                      const std::vector<int>& starts);
  /// Whether one rank says so.
  bool anywhere(bool here) {
    const char mine = here;
    const char* const all = gather_all(&mine, 1);
    return std::find(all, all + size_, char(1)) != all + size_;
  }
  /// The `count` values of the first rank, or another; what is returned holds until the next call.
  template <class T>
  const T* broadcast(const T* mine, int count) {
    return static_cast<const T*>(
        broadcast_bytes(mine, sizeof(T) * static_cast<std::size_t>(count)));
  }
  const void* broadcast_bytes(const void* mine, std::size_t bytes, int from = 0);
  /// Every rank gets what the others have for it: lists[r] goes to rank r.
  template <class T>
  std::vector<std::vector<T>> exchange_lists(const std::vector<std::vector<T>>& lists);
  /// Every rank gets the arrays of all, one behind the other in this order of ranks.
  template <class T>
  Vector<T> share(const Vector<const T>& mine, const std::vector<int>& order);

 private:
  struct Failure {  ///< what ranks tell each other when something has failed
    std::uint64_t begun = 0, finished = 0;
    std::int32_t is_own = 0;  ///< it failed here, not because another rank did
    std::int32_t is_heard = 0;
    Text text;
  };
  /// Keeps what goes to others, with room for so many bytes of all: MPI may still use both after a failure.
  void hold(const void* mine, std::size_t bytes, std::size_t all);
  class InOtherRank {};  ///< thrown where a rank waits for one that will not come
  void listen();
  /// Takes one message of a failure, if there is one.
  void take_failure();
  [[noreturn]] void settle(std::exception_ptr mine, const std::string& text);
  int tag() const { return static_cast<int>(calls_ % 30000); }

  /// Looks at what is waited for between one look at the failures, which costs more, and the next.
  static constexpr int looks_between = 32;

  MPI_Comm work_ = MPI_COMM_NULL, failures_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, ranks_of_machine_ = 1;
  int looks_alone_ = 0;  ///< in a wait before the processor is given to others
  bool inside_ = false;  ///< of together
  bool usable_ = true;
  std::uint64_t calls_ = 0;     ///< of together
  std::uint64_t begun_ = 0;     ///< waits
  std::uint64_t finished_ = 0;  ///< those that came to their end
  std::vector<unsigned char> mine_, all_;
  std::vector<Failure> failed_;  ///< by rank, in this call
  std::vector<std::function<void()>> later_;
  RankLink best_link_ = RankLink::devices;
  bool devices_wait_ = false;
  struct MessagesOf {
    int device;  ///< negative: a host
    std::shared_ptr<DeviceMessages> messages;
  };
  std::vector<MessagesOf> messages_;
};

}  // namespace cnc::detail
