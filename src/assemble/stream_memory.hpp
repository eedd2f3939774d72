#pragma once

#include "huge_pages.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace cnc::detail {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <class X>
using BareArray = std::unique_ptr<X[], Free>;

/// An array that nobody has written to. Unlike a view it may be allocated by several threads at a time.
template <class X>
BareArray<X> bare_array(std::size_t n) {
  const std::size_t bytes = n * sizeof(X);
  void* const memory =
      bytes < 2 * huge_page
          ? std::malloc(std::max<std::size_t>(bytes, 1))
          : std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
  if (memory == nullptr)
    throw_out_of_memory("SystemBuilder", static_cast<double>(bytes), free_bytes(MemorySpace::host));
  use_huge_pages(memory, bytes);
  return BareArray<X>(static_cast<X*>(memory));
}

/// The memory of a builder's streams, in blocks of one size. Each thread takes blocks that lie side by side, so that they
/// are near it.
class StreamMemory {
 public:
  explicit StreamMemory(std::size_t block_bytes) : block_bytes_(block_bytes) {}

  /// Errors   OutOfMemory.
  void* take() {
    Share& share = shares_[share_of_this_thread()];
    const std::lock_guard<std::mutex> lock(share.mutex);
    if (share.unused.empty()) add_slab(share);
    void* const block = share.unused.back();
    share.unused.pop_back();
    return block;
  }
  void give_back(void* block) {
    Share& share = shares_[share_of_this_thread()];
    const std::lock_guard<std::mutex> lock(share.mutex);
    share.unused.push_back(block);
  }

 private:
  struct alignas(64) Share {
    std::mutex mutex;
    std::vector<BareArray<char>> slabs;
    std::vector<void*> unused;
    std::size_t blocks = 0;  ///< in the slabs
  };
  static constexpr std::size_t shares = 16;
  static constexpr std::size_t largest_slab = std::size_t(1) << 24;

  static std::size_t share_of_this_thread() {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
    return number % shares;
  }

  /// As much as the share has already, within limits.
  void add_slab(Share& share) {
    const std::size_t blocks =
        std::clamp<std::size_t>(share.blocks, 1, largest_slab / block_bytes_);
    require_memory("SystemBuilder", static_cast<double>(blocks * block_bytes_), MemorySpace::host);
    share.unused.reserve(share.blocks + blocks);
    share.slabs.push_back(bare_array<char>(blocks * block_bytes_));
    for (std::size_t k = blocks; k-- > 0;)
      share.unused.push_back(share.slabs.back().get() + k * block_bytes_);
    share.blocks += blocks;
  }

  std::size_t block_bytes_;
  std::array<Share, shares> shares_;
};

}  // namespace cnc::detail
