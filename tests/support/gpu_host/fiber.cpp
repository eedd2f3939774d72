#include "support/gpu_host/fiber.hpp"

#include <boost/context/detail/fcontext.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#ifdef CNC_GPU_HOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CNC_GPU_HOST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace cnc::gpu::inline host::machine {

namespace context = boost::context::detail;

/// Pages are taken when they are first touched, so only the address range is spent on generosity:
/// instrumented frames are several times as large as others.
inline constexpr std::size_t stack_bytes = std::size_t(256) << 10;

/// Lies on the stack that is left and tells the other side who left it and who has arrived.
struct Fiber::Switch {
  Fiber& from;
  Fiber& to;

  /// Where a fiber begins.
  [[noreturn]] static void enter(context::transfer_t transfer) {
    const auto& how = *static_cast<const Switch*>(transfer.data);
    Fiber& self = how.to;
    arrive(how, transfer.fctx);
    self.entry_(self.argument_);
    __builtin_unreachable();
  }
};

Fiber::Fiber() {
#ifdef CNC_GPU_HOST_TSAN
  sanitizer_state_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(void (*entry)(void*), void* argument, int number)
    : entry_(entry), argument_(argument) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapping_ = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping_, page, PROT_NONE);
  stack_bottom_ = static_cast<char*>(mapping_) + page;
  // Tops a whole number of pages apart would all fall into the same sets of the first-level cache.
  stack_bytes_ = stack_bytes - static_cast<std::size_t>(number % 32) * 128;
  context_ = context::make_fcontext(static_cast<char*>(mapping_) + page + stack_bytes_,
                                    stack_bytes_, &Switch::enter);
#ifdef CNC_GPU_HOST_TSAN
  sanitizer_state_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  if (mapping_ == nullptr) return;
#ifdef CNC_GPU_HOST_TSAN
  __tsan_destroy_fiber(sanitizer_state_);
#endif
#ifdef CNC_GPU_HOST_ASAN
  // Frames of a fiber that never ended are still marked, and the addresses will be somebody else's.
  __asan_unpoison_memory_region(stack_bottom_, stack_bytes);
#endif
  munmap(mapping_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + stack_bytes);
}

void Fiber::switch_to(Fiber& next) {
  Switch leaving{*this, next};
#ifdef CNC_GPU_HOST_ASAN
  __sanitizer_start_switch_fiber(&sanitizer_state_, next.stack_bottom_, next.stack_bytes_);
#endif
#ifdef CNC_GPU_HOST_TSAN
  __tsan_switch_to_fiber(next.sanitizer_state_, 0);
#endif
  const context::transfer_t back = context::jump_fcontext(next.context_, &leaving);
  arrive(*static_cast<const Switch*>(back.data), back.fctx);
}

/// First thing on the new stack: keeps where the other fiber goes on.
void Fiber::arrive(const Switch& how, void* context) {
  how.from.context_ = context;
#ifdef CNC_GPU_HOST_ASAN
  // Where the OS thread's own stack lies is first known here.
  __sanitizer_finish_switch_fiber(how.to.sanitizer_state_, &how.from.stack_bottom_,
                                  &how.from.stack_bytes_);
#endif
}

}  // namespace cnc::gpu::inline host::machine
