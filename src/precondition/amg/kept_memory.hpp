#pragma once

#include <cnc/context.hpp>
#include <cnc/memory_pool.hpp>
#include <cnc/vector.hpp>

#include <array>

namespace cnc::detail {

/// The memory of set-ups, taken again by the next one for a matrix of the same size on the same device; else it would add up.
template <class Space>
class KeptMemory {
 public:
  MemoryPool<Space>& pool() { return pool_; }

  /// Before a set-up for a matrix of so many rows and entries.
  template <class Exec>
  void keep_for(const Context<Exec>& ctx, offset_t rows, offset_t entries) {
    const std::array<offset_t, 3> now{ctx.queue().device, rows, entries};
    if (now != kept_for_) pool_.release();
    kept_for_ = now;
  }
  /// After one: what is idle is given back where it is much of what others could have.
  void yield() {
    const std::size_t free = free_bytes(memory_kind<Space>);
    if (free != unknown_bytes && pool_.idle_bytes() > 0.25 * static_cast<double>(free))
      pool_.release();
  }
  void release() { pool_.release(); }

 private:
  MemoryPool<Space> pool_;
  std::array<offset_t, 3> kept_for_{};  ///< a device, rows, entries
};

}  // namespace cnc::detail
