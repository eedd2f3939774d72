#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace cnc::detail {

/// Memory that all ranks of a machine have, in which each leaves small values for the others: they see them sooner than by
/// messages.
///
/// A rank has two slots, which rounds take in turn: it writes one again only two rounds later, when the round between has shown
/// that all have read it.
class SharedSlots {
 public:
  static constexpr std::size_t most_bytes = 64;

  SharedSlots() = default;
  ~SharedSlots();
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;

  /// Collective over the ranks of a machine, and the same answer on all: false where there is no such memory.
  bool open(MPI_Comm machine);
  bool is_open() const { return slots_ != nullptr; }

  /// Leaves the values of this rank for round `number`, from 1 on.
  void leave(std::uint64_t number, const void* values, std::size_t bytes);
  /// Those of a rank; null: they are not there yet.
  const void* look(std::uint64_t number, int rank) const {
    const Slot& slot = at(number, rank);
    return slot.number.load(std::memory_order_acquire) == number ? slot.values : nullptr;
  }

 private:
  struct alignas(128) Slot {
    std::atomic<std::uint64_t> number;
    unsigned char values[most_bytes];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  Slot& at(std::uint64_t number, int rank) const { return slots_[2 * rank + int(number % 2)]; }

  Slot* slots_ = nullptr;
  std::size_t bytes_ = 0;
  int rank_ = 0;
};

}  // namespace cnc::detail
