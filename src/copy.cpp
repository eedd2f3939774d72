#include <cnc/copy.hpp>

#ifdef CNC_KOKKOS_HAS_DEVICE

#include "parallel.hpp"

#include <cnc/context.hpp>

#include <algorithm>
#include <cstring>

namespace cnc::detail {

// A driver copies from pageable memory with one thread (some 7 GB/s), from pinned memory without any (50 GB/s and more): so pieces
// go through two pinned buffers, one of which all threads fill while the other is read.
bool copy_in_pieces(void* to, const void* from, std::size_t bytes) try {
  if (set_up_threads() == 1) return false;
  using Exec = Kokkos::DefaultExecutionSpace;
  using Piece = Kokkos::View<unsigned char*, Exec::memory_space, Kokkos::MemoryUnmanaged>;
  constexpr std::size_t piece = std::size_t(8) << 20;
  Kokkos::fence("cnc");
  const auto streams = Kokkos::Experimental::partition_space(instance<Exec>(), 1, 1);
  const auto buffers = uninitialized<unsigned char, PinnedSpace>("cnc::copy", 2 * piece);
  for (std::size_t begin = 0, k = 0; begin < bytes; begin += piece, k = 1 - k) {
    const std::size_t count = std::min(piece, bytes - begin);
    unsigned char* const buffer = buffers.data() + k * piece;
    const auto* const source = static_cast<const unsigned char*>(from) + begin;
    streams[k].fence("cnc");
    parallel_ranges(count, set_up_threads(), [&](std::size_t first, std::size_t last, int) {
      std::memcpy(buffer + first, source + first, last - first);
    });
    Kokkos::deep_copy(
        streams[k], Piece(static_cast<unsigned char*>(to) + begin, count),
        Kokkos::View<unsigned char*, PinnedSpace, Kokkos::MemoryUnmanaged>(buffer, count));
  }
  for (const Exec& stream : streams) stream.fence("cnc");
  return true;
} catch (const OutOfMemory&) {  // nothing has been copied
  return false;
}

}  // namespace cnc::detail

#endif
