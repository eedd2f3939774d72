#pragma once

#include <gpu/runtime.hpp>
#include <gpu/stamped.hpp>

#include <cnc/contract/methods.hpp>
#include <cnc/contract/peers.hpp>

#include "parts/parts.hpp"

#include <memory>
#include <optional>
#include <vector>

// What a solver keeps for runs with one meeting per product.

namespace cnc::gpu::inline CNC_GPU_TARGET {

using namespace methods;
using cnc::detail::Part, cnc::detail::PartArrays, cnc::detail::PlacedArray, cnc::detail::Slice,
    cnc::detail::part_lanes;

/// Whether runs of a method have this form. Of its recurrence an iteration is one product and one pass (gpu/halo_run.hpp): the operand
/// is what the pass has preconditioned, and its sums are r . M^-1 r and r . r. Or it is pass, product, pass, product, pass
/// (gpu/halo_run_of_two.hpp).
template <class Method>
constexpr bool has_halo_form() {
  if constexpr (meets_once<Method>) {
    using Recurrence = typename OneMeetingOf<Method>::Recurrence;
    using Phase = typename Recurrence::Iteration;
    using Pass = typename Phase::Last;
    static_assert(std::is_void_v<typename Recurrence::Finish>);
    static_assert(Pass::sums.count == 2 && Pass::sums.at[1] == 0);
    if constexpr (Phase::size == 2) {
      static_assert(Pass::M.from == Recurrence::r && Pass::sums.at[0] == Recurrence::definite);
    } else {
      static_assert(Phase::size == 5 && !Recurrence::symmetric);
    }
    return true;
  } else {
    return false;
  }
}

/// Calls f.template operator()<Recurrence>() for that by which the method at this place in Methods has such a form.
template <class V, class F>
void with_halo_recurrence(int method, const F& f) {
  Methods<V>::for_each([&]<class Method>(int m) {
    if constexpr (has_halo_form<Method>())
      if (m == method) f.template operator()<typename OneMeetingOf<Method>::Recurrence>();
  });
}

/// How many vectors of its halo the method at this place in Methods keeps; 0: it has no such form.
template <class V>
int halo_vectors_of(int method) {
  int vectors = 0;
  with_halo_recurrence<V>(method, [&]<class Recurrence>() { vectors = count(Recurrence::halo); });
  return vectors;
}

/// What the host learns of such a run besides its outcome, in memory that both reach.
struct HaloNotes {
  std::uint32_t meetings;
  /// Nothing was done: the diagonal has a zero, or no real root where one is needed, or is not that of the preconditioner, or there
  /// are entries where the pattern has none.
  std::int32_t unfit;
  std::int32_t stuck;  ///< some block was not heard of any more
  std::int32_t lost;   ///< some other device was not
};

/// Two entries of a row that are read together.
template <class V>
struct alignas(2 * sizeof(V)) EntryPair {
  V first, second;
};

template <class T>
using DevicePointer = const T*;

/// The values of a matrix in parts as runs have them, in the order of the arrays of its pattern.
template <class V>
struct ScaledParts {
  EntryPair<V>* entries;  ///< for each pair of PartArrays::columns
  V* scale;               ///< for each of PartArrays::rows: D, or D^2 of methods for any matrix
  std::int32_t* unfit;    ///< not zero: they do not allow such runs
};
/// What scaled values were made of.
struct ScaledOf {
  const void* values;
  const void* inverse;
  bool symmetric;
  bool operator==(const ScaledOf&) const = default;
};

/// The parts of a matrix and what its blocks meet with. Holds for the arrays that say where the matrix's entries are;
/// values may change.
template <class V>
struct HaloPlan {
  const void* pattern = nullptr;  ///< by which the matrix is known again
  std::optional<DeviceBuffer>
      memory;  ///< of all that follows: an allocation takes as long as copying a megabyte
  PartArrays<DevicePointer> parts = {};
  ScaledParts<V> scaled = {};
  std::optional<ScaledOf> scaled_of;  ///< empty: of none, or of values that have changed since
  StampedWord<V>* words = nullptr;
  StampedSums::Slot* slots = nullptr;
  std::uint32_t* arrived = nullptr;
  bool has_diagonal = false;  ///< among the entries: where there is no preconditioner
  PinnedBuffer notes;
  std::optional<PeerOperand<V>> peers;  ///< of the last run, if there are other devices
  index_t word_count = 0;
  int per_thread = 1;    ///< own rows of a thread at most
  int halo_vectors = 0;  ///< that there is room for on chip
  Grid grid;
  /// Epochs so far: they go on from run to run, so that nothing has to be cleared.
  std::uint32_t epoch = 0;
  /// Kernels of which the device has said that all blocks are resident at once.
  std::vector<const void*> resident;

  explicit HaloPlan(int device) : notes(device, sizeof(HaloNotes)) {}

  void copy(const Queue& queue, const cnc::detail::HostParts& host) {
    word_count = host.words;
    PlacedArray<StampedWord<V>> its_words;
    PlacedArray<StampedSums::Slot> its_slots;
    PlacedArray<std::uint32_t> counter;
    PlacedArray<EntryPair<V>> entries;
    PlacedArray<V> scale;
    PlacedArray<std::int32_t> unfit;
    its_words.resize(2 * std::size_t(host.words));
    its_slots.resize(2 * host.part.size());
    counter.resize(1);
    entries.resize(host.columns.size());
    scale.resize(host.rows.size());
    unfit.resize(1);
    const auto place = [&](std::byte* to) {
      std::size_t end = host.memory.size();
      its_words.place(to, end);
      its_slots.place(to, end);
      counter.place(to, end);
      return end;
    };
    const auto place_values = [&](std::byte* to, std::size_t end) {
      entries.place(to, end);
      scale.place(to, end);
      unfit.place(to, end);
      return end;
    };
    const std::size_t bytes = place(nullptr);
    auto* const there =
        memory.emplace(queue.device, place_values(nullptr, bytes)).template as<std::byte>();
    place(there);
    place_values(there, bytes);
    scaled = {entries.data(), scale.data(), unfit.data()};
    words = its_words.data();
    slots = its_slots.data();
    arrived = counter.data();
    for_each_array(
        [&]<class T>(const T*& at, const PlacedArray<T>& array) {
          at = reinterpret_cast<const T*>(
              there + (reinterpret_cast<const std::byte*>(array.data()) - host.memory.data()));
        },
        parts, host);
    fill_bytes(queue, there + host.memory.size(), 0, bytes - host.memory.size());
    copy_to_device(queue, there, host.memory.data(), host.memory.size());
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
