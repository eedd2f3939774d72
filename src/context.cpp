#include <cnc/context.hpp>

#include "free_memory.hpp"
#include "parallel.hpp"
#include "processors.hpp"

#include <algorithm>

namespace cnc {

int default_threads() { return detail::set_up_threads(); }

int largest_threads() { return detail::most_threads(); }

namespace detail {
namespace {

/// The device where this thread allocates.
int current_device() {
  Queue queue;
  set_stream(queue, instance<Kokkos::DefaultExecutionSpace>());
  return queue.device;
}

}  // namespace

std::size_t free_bytes(MemorySpace memory) {
  if (memory == MemorySpace::host) return free_host_bytes();
  for (const Backend* backend : backends())
    if (backend->free_bytes != nullptr && backend->availability().usable)
      return static_cast<std::size_t>(backend->free_bytes(current_device()));
  return unknown_bytes;
}

void require_memory(std::string_view what, double bytes, MemorySpace memory) {
  constexpr double always_granted = 4e6;
  if (bytes <= always_granted) return;
  const std::size_t free = free_bytes(memory);
  if (bytes > static_cast<double>(free)) throw_out_of_memory(what, bytes, free);
}

void throw_out_of_memory(std::string_view what, double bytes, std::size_t free) {
  constexpr double most = 9e18;  // what size_t and double both hold
  throw OutOfMemory(std::string(what), static_cast<std::size_t>(std::min(bytes, most)),
                    free == unknown_bytes ? 0 : free);
}

void require_threads(int threads) {
  require(threads >= 0 && threads <= largest_threads(), [&] {
    return "threads must be 0 to " + std::to_string(largest_threads()) + ", not " +
           std::to_string(threads);
  });
}

}  // namespace detail
}  // namespace cnc
