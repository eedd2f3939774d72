#pragma once

#include <gpu/runtime.hpp>
#include <gpu/stamped.hpp>

#include <cnc/contract/methods.hpp>
#include <cnc/contract/peers.hpp>

#include "parts/parts.hpp"

#include <memory>
#include <optional>

// What a solver keeps for runs with one meeting per iteration.

namespace cnc::gpu::inline CNC_GPU_TARGET {

using namespace methods;
using cnc::detail::Part, cnc::detail::PartArrays, cnc::detail::Slice, cnc::detail::part_lanes;

/// Whether runs of a method have this form. In its recurrence the product comes first, its operand is what the pass at the end has
/// preconditioned, and the sums of that pass are r . M^-1 r and r . r.
template <class Method>
constexpr bool has_halo_form() {
  if constexpr (meets_once<Method>) {
    using Recurrence = typename OneMeetingOf<Method>::Recurrence;
    using Phase = typename Recurrence::Iteration;
    using Pass = typename Phase::Last;
    static_assert(Phase::size == 2 && std::is_void_v<typename Recurrence::Finish>);
    static_assert(Pass::M.from == Recurrence::r && Pass::sums.count == 2);
    static_assert(Pass::sums.at[0] == Recurrence::definite && Pass::sums.at[1] == 0);
    return true;
  } else {
    return false;
  }
}

/// What the host learns of such a run besides its outcome, in memory that both reach.
struct HaloNotes {
  std::uint32_t meetings;
  /// Nothing was done: D is not real, or not that of this matrix, or there are entries where there were none.
  std::int32_t unfit;
  std::int32_t stuck;  ///< some block was not heard of any more
  std::int32_t lost;   ///< some other device was not
};

/// Two entries of a row that are read together.
template <class V>
struct alignas(2 * sizeof(V)) EntryPair {
  V first, second;
};

/// An array on the device.
template <class T>
struct DeviceArray {
  std::optional<DeviceBuffer> buffer;
  void allocate(const Queue& queue, std::size_t n) {
    buffer.emplace(queue.device, std::max<std::size_t>(1, n) * sizeof(T));
  }
  template <class From>
  void copy(const Queue& queue, const From& from) {
    allocate(queue, from.size());
    if (from.size() > 0) copy_to_device(queue, data(), from.data(), from.size() * sizeof(T));
  }
  /// Zeros.
  void clear(const Queue& queue, std::size_t n) {
    allocate(queue, n);
    fill_bytes(queue, data(), 0, n * sizeof(T));
  }
  T* data() const { return buffer ? buffer->template as<T>() : nullptr; }
};

template <class T>
using DevicePointer = const T*;

/// The parts of a matrix and what its blocks meet with. Holds for the arrays that say where the matrix's entries are;
/// values may change.
template <class V>
struct HaloPlan {
  const void* pattern = nullptr;  ///< by which the matrix is known again
  PartArrays<DeviceArray> parts;
  DeviceArray<StampedWord<V>> words;
  DeviceArray<StampedSums::Slot> slots;
  DeviceArray<std::uint32_t> arrived;
  bool has_diagonal = false;  ///< among the entries: where there is no preconditioner
  PinnedBuffer notes;
  std::optional<PeerOperand<V>> peers;  ///< of the last run, if there are other devices
  index_t word_count = 0;
  int per_thread = 1;  ///< own rows of a thread at most
  Grid grid;
  /// Epochs so far: they go on from run to run, so that nothing has to be cleared.
  std::uint32_t epoch = 0;

  explicit HaloPlan(int device) : notes(device, sizeof(HaloNotes)) {}

  PartArrays<DevicePointer> pointers() const {
    return {parts.part.data(),    parts.rows.data(),   parts.diagonal.data(), parts.exports.data(),
            parts.imports.data(), parts.slices.data(), parts.columns.data(),  parts.places.data(),
            parts.absent.data(),  parts.sent.data(),   parts.sent_end.data()};
  }
  void copy(const Queue& queue, const cnc::detail::HostParts& host) {
    parts.part.copy(queue, host.part);
    parts.rows.copy(queue, host.rows);
    parts.diagonal.copy(queue, host.diagonal);
    parts.exports.copy(queue, host.exports);
    parts.imports.copy(queue, host.imports);
    parts.slices.copy(queue, host.slices);
    parts.columns.copy(queue, host.columns);
    parts.places.copy(queue, host.places);
    parts.absent.copy(queue, host.absent);
    parts.sent.copy(queue, host.sent);
    parts.sent_end.copy(queue, host.sent_end);
    word_count = host.words;
    words.clear(queue, 2 * std::size_t(host.words));
    slots.clear(queue, 2 * host.part.size());
    arrived.clear(queue, 1);
  }
};

/// What tells one pattern from another: the first array of an operand that says where entries are.
template <class T>
const void* pattern_of(const BcsrOperand<T>& A) {
  return A.columns;
}
template <class T>
const void* pattern_of(const BsellOperand<T>& A) {
  return A.columns;
}
template <class T>
const void* pattern_of(const DiaOperand<T>& A) {
  return A.offsets;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
