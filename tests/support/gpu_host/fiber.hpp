#pragma once

#include <cstddef>

// Stacks that one OS thread switches between. Address and thread sanitizer are told of every switch: they
// keep their own idea of where the stack is and of who runs.

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CNC_GPU_HOST_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CNC_GPU_HOST_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CNC_GPU_HOST_ASAN 1
#endif

namespace cnc::gpu::inline host::machine {

/// An execution context with a stack of its own, or (made without an entry) the OS thread's.
class Fiber {
 public:
  /// The OS thread that makes it, on the stack that it has.
  Fiber();
  /// Runs `entry(argument)` when it is first switched to; `entry` must never return. `number` staggers the
  /// stacks of neighbours in the cache.
  Fiber(void (*entry)(void*), void* argument, int number);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves this fiber, which is the one that runs, for another; returns when somebody switches back.
  void switch_to(Fiber& next);

 private:
  struct Switch;
  static void arrive(const Switch& how, void* context);

  void* context_ = nullptr;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  void* mapping_ = nullptr;  ///< guard page and stack
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* sanitizer_state_ = nullptr;  ///< address sanitizer: fake stack; thread sanitizer: its fiber
};

}  // namespace cnc::gpu::inline host::machine
