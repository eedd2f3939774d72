#include <cnc/context.hpp>

#include "parallel.hpp"

#include <unistd.h>

#include <algorithm>

namespace cnc {

int default_threads() { return detail::set_up_threads(); }

namespace detail {
namespace {

/// The device where this thread allocates.
int current_device() {
  Queue queue;
  set_stream(queue, instance<Kokkos::DefaultExecutionSpace>());
  return queue.device;
}

double free_host_bytes() {
#ifdef _SC_AVPHYS_PAGES
  return std::max(0.0, double(sysconf(_SC_AVPHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)));
#else
  return 0;
#endif
}

}  // namespace

std::size_t free_bytes(MemorySpace memory) {
  if (memory == MemorySpace::host) return static_cast<std::size_t>(free_host_bytes());
  for (const Backend* backend : backends())
    if (backend->free_bytes != nullptr && backend->availability().usable)
      return static_cast<std::size_t>(backend->free_bytes(current_device()));
  return 0;
}

}  // namespace detail
}  // namespace cnc
