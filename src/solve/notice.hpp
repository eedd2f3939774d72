#pragma once

#include "on_each.hpp"

#include <cnc/contract/error.hpp>
#include <cnc/vector.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>

namespace cnc::detail {

/// Whether the host sees what a kernel has stored in memory of both while the kernel's queue goes on: not where HIP keeps that in caches.
#if defined(KOKKOS_ENABLE_HIP)
inline constexpr bool host_sees_stores = false;
#else
inline constexpr bool host_sees_stores = true;
#endif

/// What was written before is seen by the host, and by other devices, no later than what is written after.
KOKKOS_INLINE_FUNCTION void order_for_everybody() {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  __threadfence_system();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Copies `count` words to memory that the host reaches, and then says so.
struct GiveNotice {
  const std::uint64_t* from;
  std::uint64_t* to;
  int count;
  volatile std::uint32_t* notice;
  std::uint32_t number;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    for (int k = 0; k < count; ++k) to[k] = from[k];
    order_for_everybody();
    *notice = number;
  }
};

/// *to := value
template <class T>
struct Put {
  T value;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const { *to = value; }
};

/// Until what is enqueued has written something to memory that the host reaches, by which is_there() says yes. It costs less than to
/// wait for the whole queue.
/// Errors   DeviceError (the queue has ended without it), and what the device has failed with.
template <class Exec, class IsThere>
void wait_until(const Context<Exec>& ctx, const IsThere& is_there) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (unsigned looks = 1; !is_there(); ++looks) {
    if (looks % 1024 == 0) std::this_thread::yield();
    if (looks % 4096 != 0 || Clock::now() - begin < std::chrono::seconds(2)) continue;
    ctx.fence();
    if (!is_there())
      throw DeviceError("notice", ctx.backend().name, "what was enqueued did not come to its end");
  }
}

/// By which the host sees that a device has come to a place in its queue, whatever is enqueued behind it: a word in memory
/// that both reach. Of a host nothing is ever behind.
template <class Exec>
class Notice {
 public:
  using Space = typename Exec::memory_space;

  Notice() : word_(zeroed<std::uint32_t, SharedSpace<Space>>("cnc::notice", 1)) {}

  /// Enqueues the notice.
  void give(const Context<Exec>& ctx) { enqueue(ctx, nullptr, nullptr, 0); }
  /// The same with *to := *from, in memory that both reach; there once wait() has come back.
  template <class T>
  void give(const Context<Exec>& ctx, const T* from, T* to) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
    enqueue(ctx, reinterpret_cast<const std::uint64_t*>(from), reinterpret_cast<std::uint64_t*>(to),
            static_cast<int>(sizeof(T) / sizeof(std::uint64_t)));
  }
  /// Until the last notice given is there.
  void wait(const Context<Exec>& ctx) const {
    wait_until(ctx, [this] { return is_there(); });
  }

 private:
  void enqueue(const Context<Exec>& ctx, const std::uint64_t* from, std::uint64_t* to, int count) {
    on_each(ctx, 1, GiveNotice{from, to, count, word_.data(), ++number_});
  }
  bool is_there() const {
    return std::atomic_ref<std::uint32_t>(*word_.data()).load(std::memory_order_acquire) == number_;
  }

  Vector<std::uint32_t, SharedSpace<Space>> word_;
  std::uint32_t number_ = 0;
};

}  // namespace cnc::detail
