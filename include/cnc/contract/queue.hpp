#pragma once

#include <cnc/contract/types.hpp>

namespace cnc {

/// Rows per partial sum of a host reduction. The partition into blocks of this many rows depends on
/// the length alone, so a dot product has the same bits for any number of threads.
inline constexpr index_t reduction_block = 512;

/// Partial sums that reductions have room for at least: a device's grid does not shrink with n.
inline constexpr index_t least_reduction_slots = 16384;
/// Partial sums that reductions over n rows may need at one time: two of a product's, in groups of at least
/// reduction_block / 2 rows, and twice three of a pass's, in groups of at least reduction_block - 15 rows; or three that are
/// compensated, two numbers each; or the dots of max_vectors_together vectors.
constexpr index_t reduction_slots(index_t n) {
  const index_t slots = 12 * (ceil_div(n, reduction_block) + 1);
  return slots < least_reduction_slots ? least_reduction_slots : slots;
}

/// Counters with which the thread blocks of a device find out who finishes last.
inline constexpr int ticket_slots = 16;

/// Where and with what an operation runs: what a Context hands to a backend on every call.
struct Queue {
  void* stream = nullptr;  ///< native stream of a device backend; null on the host
  void* graph = nullptr;   ///< a device backend's own: operations go there, and do not run
  const void* execution_space = nullptr;  ///< the context's Kokkos execution-space instance
  int device = 0;                         ///< device backends: number of the device of the stream
  int threads = 1;                        ///< host backends: threads to use at most, at least 1
  /// Host backends: scalars that a thread must have to itself before it is woken. Below that, waking it
  /// and waiting for it costs more than its work, and far more on a processor busy with something else.
  double least_work = 16384;
  double* partials = nullptr;  ///< [reduction_slots(n)] scratch in the backend's memory space
  /// [ticket_slots] in the backend's memory space; zero between operations. Device backends only.
  std::uint32_t* tickets = nullptr;
  /// Device backends: threads per block instead of the tuning table's (0), to repeat a tuning.
  int block_threads = 0;
};

}  // namespace cnc
