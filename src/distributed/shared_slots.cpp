#include "distributed/shared_slots.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>

namespace cnc::detail {
namespace {

/// What the first rank tells the others; without a name there is no memory.
struct Invitation {
  char name[48] = {};
};

/// The memory of that name, zeros where this makes it; null: there is none.
void* mapped(const char* name, std::size_t bytes, bool makes) {
  const int file = shm_open(name, makes ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  // Room is asked for now: later a full file system would end the process.
  if (!makes || posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) return memory;
  if (makes) shm_unlink(name);
  return nullptr;
}

}  // namespace

bool SharedSlots::open(MPI_Comm machine) {
  int size = 1;
  MPI_Comm_rank(machine, &rank_);
  MPI_Comm_size(machine, &size);
  bytes_ = sizeof(Slot) * 2 * static_cast<std::size_t>(size);
  Invitation invitation;
  void* memory = nullptr;
  if (rank_ == 0) {
    std::random_device random;
    const std::string name = "/cnc-" + std::to_string(getpid()) + "-" + std::to_string(random());
    name.copy(invitation.name, sizeof invitation.name - 1);
    memory = mapped(invitation.name, bytes_, true);
    if (memory == nullptr) invitation = {};
  }
  MPI_Bcast(&invitation, int(sizeof invitation), MPI_BYTE, 0, machine);
  if (rank_ != 0 && invitation.name[0] != 0) memory = mapped(invitation.name, bytes_, false);
  int mine = memory != nullptr, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, machine);
  // Nobody needs the name any more: what is mapped goes with the last process, however that ends.
  if (rank_ == 0 && mine != 0) shm_unlink(invitation.name);
  if (all == 0) {
    if (memory != nullptr) munmap(memory, bytes_);
    return false;
  }
  slots_ = static_cast<Slot*>(memory);
  return true;
}

SharedSlots::~SharedSlots() {
  if (slots_ != nullptr) munmap(slots_, bytes_);
}

void SharedSlots::leave(std::uint64_t number, const void* values, std::size_t bytes) {
  Slot& slot = at(number, rank_);
  std::memcpy(slot.values, values, bytes);
  slot.number.store(number, std::memory_order_release);
}

}  // namespace cnc::detail
