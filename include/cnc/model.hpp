#pragma once

#include <cnc/context.hpp>

#include <cstddef>

namespace cnc {

/// What the memory of this machine delivers, measured here and now. Every figure of the command
/// line and of perf/ is set against it.
struct Bandwidth {
  double read = 0;              ///< bytes per second of a pure read stream
  double triad = 0;             ///< bytes per second of a := b + s c, three arrays counted (STREAM)
  std::size_t working_set = 0;  ///< bytes that were streamed over again and again
};

/// Size of the last-level cache, 0 when the system does not tell.
std::size_t last_level_cache_bytes();

/// A working set that no cache holds: four times the last-level cache, 256 MB at least, 1 GB or an
/// eighth of the free memory at most. On a device 1 GB or an eighth of its free memory.
std::size_t out_of_cache_bytes(MemorySpace memory = MemorySpace::host);

/// Streams over `working_set` bytes (0: out_of_cache_bytes) in the context's memory, on a host with the
/// context's threads, and gives
/// the best rate seen, since noise only ever slows a stream down. A set that fits in a cache gives
/// the bandwidth of that cache, which is the one to compare a matrix of that size with.
///
/// Method   read: the fastest of a plain summation loop, of the same on one thread where the set is
///          small (on a device: of a kernel of 16-byte loads, many launches between two fences) and of
///          the backend's own dot product;
///          triad: McCalpin's STREAM triad, at least 4 passes and `seconds` of time each.
/// Errors   InvalidArgument (seconds <= 0); OutOfMemory.
/// Cost     allocates the working set; 4 `seconds` at most plus the first touch.
template <class Exec>
Bandwidth measure_bandwidth(Context<Exec>& ctx, std::size_t working_set = 0, double seconds = 0.05);

/// The read rate alone, in bytes per second.
template <class Exec>
double measure_read_bandwidth(Context<Exec>& ctx, std::size_t working_set = 0,
                              double seconds = 0.05);

}  // namespace cnc
