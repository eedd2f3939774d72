#pragma once

#include <cnc/context.hpp>

#include <Kokkos_Core.hpp>

// Loops whose units are shared by neighbouring lanes of a device.

namespace cnc::detail {

/// Neighbouring lanes of a device that have one unit of work between them, and memory to themselves where all of them
/// read and write. One lane where there is no device.
template <class Member>
struct LaneGroup {
  const Member& member;
  void* scratch;
  int lane = 0, lanes = 1;
  unsigned mask = 1;  ///< of a warp's lanes

  KOKKOS_INLINE_FUNCTION LaneGroup(const Member& of, void* memory) : member(of), scratch(memory) {
#if defined(__CUDA_ARCH__)
    __builtin_assume(scratch == nullptr || __isShared(scratch));
#endif
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    lane = static_cast<int>(threadIdx.x);
    lanes = static_cast<int>(blockDim.x);
    const unsigned first = (threadIdx.y * blockDim.x) & 31u;
    mask = lanes == 32 ? ~0u : ((1u << lanes) - 1) << first;
#endif
  }

  /// body(j) for j in [0, n), by all lanes; what it has written is there for all when it returns. Kokkos' loop over the lanes of a vector
  /// divides each time to find the mask.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void each(index_t n, const Body& body) const {
    for (index_t j = lane; j < n; j += lanes) body(j);
    meet();
  }
  KOKKOS_INLINE_FUNCTION void meet() const {
#if defined(__CUDA_ARCH__)
    __syncwarp(mask);
#elif defined(__HIP_DEVICE_COMPILE__)
    __threadfence_block();  // lanes of a wavefront are in step
#endif
  }
  /// The sum of what body(j, sum) adds for j in [0, n), for all lanes.
  template <class Body>
  KOKKOS_INLINE_FUNCTION offset_t sum(index_t n, const Body& body) const {
    offset_t all = 0;
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(member, n), body, all);
    return all;
  }
  /// A scan of [0, n): body(j, sum, last) with the sum of what it adds before j.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void scan(index_t n, const Body& body) const {
    Kokkos::parallel_scan(Kokkos::ThreadVectorRange(member, n), body);
  }
};

/// Lanes of a group for n parts: the largest power of two that is not above n, from 1 to 32.
inline int lanes_for(double n) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes <= n) lanes *= 2;
  return lanes;
}

/// Gives unit i of n to a group.
template <class Body>
struct InGroup {
  offset_t n;
  int bytes;
  Body body;
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const offset_t i = offset_t(member.league_rank()) * member.team_size() + member.team_rank();
    void* const scratch = member.thread_scratch(0).get_shmem(bytes);
    if (i < n) body(i, LaneGroup<Member>(member, scratch));
  }
};

/// body(i, group) for i in [0, n), enqueued on exec: each by a group of `lanes`, a power of two up to 32, with
/// `bytes` of scratch on chip. Of a device.
template <class Exec, class Body>
void on_each_group(const Exec& exec, offset_t n, int lanes, int bytes, const Body& body) {
  constexpr bool is_host = is_host_space<typename Exec::memory_space>;
  constexpr int threads = 128, most_bytes = 48 << 10;  // of a block without asking
  int groups = is_host ? 1 : threads / lanes;
  while (groups > 1 && groups * (bytes + 8) + 16 > most_bytes)
    groups /= 2;  // Kokkos has 8 for each
  Kokkos::TeamPolicy<typename Exec::execution_space> policy(
      exec, static_cast<int>((n + groups - 1) / groups), groups, is_host ? 1 : lanes);
  policy.set_scratch_size(0, Kokkos::PerThread(bytes));
  if (n > 0) Kokkos::parallel_for("cnc::on_group", policy, InGroup<Body>{n, bytes, body});
}

}  // namespace cnc::detail
