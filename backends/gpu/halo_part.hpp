#pragma once

#include <gpu/halo_plan.hpp>
#include <gpu/peer_words.hpp>
#include <gpu/row_values.hpp>
#include <gpu/run_state.hpp>

#include <target/tuning.hpp>

#include <type_traits>

// A block's part of the matrix on chip (gpu/halo_rows.hpp): where everything lies, how its threads share it, and what they tell other
// blocks and devices.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Bytes that a part needs on chip, with so many vectors of its halo besides what is gathered.
template <class V>
constexpr std::size_t halo_bytes(const Part& part, int halo_vectors) {
  return (sizeof(EntryPair<V>) + sizeof(std::uint32_t)) * part_lanes *
             std::size_t(part.groups_beyond) +
         (part.sent > 0 ? sizeof(PeerPlace<V>) * std::size_t(part.sent) +
                              sizeof(index_t) * std::size_t(part.own)
                        : 0) +
         sizeof(V) *
             (2 * std::size_t(part.own) + std::size_t(1 + halo_vectors) * std::size_t(part.halo)) +
         sizeof(index_t) * (std::size_t(part.own) + std::size_t(part.halo));
}

/// Own rows of a thread that there are kernels for: so many or more.
constexpr int compiled_halo_rows(int rows) { return rows <= 2 ? rows : rows <= 4 ? 4 : 8; }
inline constexpr int most_halo_rows = 8;

/// Pairs of entries of each of its rows that a thread holds in registers: they need not come from shared memory in every
/// iteration, which is what limits a product.
template <class V>
constexpr index_t halo_held(int rows) {
  constexpr int registers = 20, of_pair = sizeof(EntryPair<V>) / 4 + 1;
  return registers / (of_pair * compiled_halo_rows(rows));
}

struct NoHaloPeers {};

/// per_thread: own rows that a thread has at most; among: whether other devices have rows too.
template <int wave, int per_thread, class V, class Method, bool among>
struct HaloPart {
  using Recurrence = Method;
  static constexpr bool is_among = among;
  /// Whether the matrix is scaled from both sides.
  static constexpr bool symmetric = Method::symmetric;
  static constexpr int halo_vectors = count(Method::halo);
  static constexpr index_t holds = halo_held<V>(per_thread);

  PartArrays<DevicePointer> parts;
  ScaledParts<V> scaled;
  /// The diagonal is ones and not among the entries; else D is the identity.
  bool unit_diagonal;
  StampedWord<V>* words;  ///< [2][word_count]
  index_t word_count;
  StampedSums sums;
  HaloNotes* notes;
  std::conditional_t<among, PeerOperand<V>, NoHaloPeers> peers;

  /// A block's part, and a thread's rows of it.
  struct State {
    Part part;
    EntryPair<V>* matrix;
    std::uint32_t* columns;
    V* gathered;               ///< by products, by local number
    V* of_halo[halo_vectors];  ///< by number in the halo
    V* constant;               ///< of own rows: what a run does not change
    const index_t* exports;
    const index_t* imports;
    V own[Method::vectors][per_thread];
    index_t groups[per_thread];  ///< of the row's slice
    index_t first[per_thread];   ///< place of the row's pair 0, had all of them one
    EntryPair<V> held[per_thread][holds > 0 ? holds : 1];
    std::uint32_t held_columns[per_thread][holds > 0 ? holds : 1];
    // Among devices:
    const PeerPlace<V>* sent_to;
    const index_t* sent_end;  ///< of own rows: where their share of it ends, if there are any
    /// What the numbers of exchanges and meetings are beyond the epoch.
    std::uint32_t exchanges_beyond, meetings_beyond;
  };

  /// Rows or places that a thread loads together; more would take registers from the loop.
  static constexpr int together = per_thread == 2 || per_thread == 4 ? 4 : 2;
  /// Calls step(k, local number) for the thread's own rows; of several steps one for a few rows after the other: what one of them
  /// loads is under way together, and a compiler that must think of overlap loads nothing before what it has stored.
  template <class... Step>
  static CNC_GPU_DEVICE void for_own(const State& t, const Step&... steps) {
    CNC_GPU_UNROLL
    for (int first = 0; first < per_thread; first += together) {
      const auto for_rows = [&](const auto& step) {
        CNC_GPU_UNROLL
        for (int k = first; k < per_thread && k < first + together; ++k) {
          // Of a number that is known here, places of rows are offsets: they take no registers.
          const index_t local = thread_index() + k * tuning::halo_threads;
          if (local < t.part.own) step(k, local);
        }
      };
      (for_rows(steps), ...);
    }
  }
  /// The same with step(j, i) for the thread's share of n places, j being which of the few it is.
  template <class... Step>
  static CNC_GPU_DEVICE void for_share(index_t n, const Step&... steps) {
    for (index_t first = thread_index(); first < n; first += together * block_threads()) {
      const auto for_places = [&](const auto& step) {
        CNC_GPU_UNROLL
        for (int j = 0; j < together; ++j) {
          const index_t i = first + j * block_threads();
          if (i < n) step(j, i);
        }
      };
      (for_places(steps), ...);
    }
  }
  CNC_GPU_DEVICE index_t row_of(const State& t, index_t local) const {
    return parts.rows[t.part.first_row + local];
  }
  /// Calls take_row(k, local number, place of its first pair of entries in PartArrays::columns, pairs, their place on chip, had all
  /// of them one) for own rows; from pair to pair places are part_lanes further.
  template <class Take>
  CNC_GPU_DEVICE void for_own_pairs(const State& t, const Take& take_row) const {
    const offset_t begin = offset_t(t.part.first_group) * part_lanes;
    Slice slice[per_thread], next[per_thread];
    for_own(
        t,
        [&](int k, index_t local) {
          const Slice* const at = parts.slices + t.part.first_slice + local / part_lanes;
          slice[k] = at[0];
          next[k] = at[1];
        },
        [&](int k, index_t local) {
          const index_t lane = local % part_lanes;
          take_row(k, local, begin + offset_t(slice[k].first) * part_lanes + lane,
                   next[k].first - slice[k].first, slice[k].first_beyond * part_lanes + lane);
        });
  }

  // --- in and out -------------------------------------------------------------------------------------------

  /// What it begins to copy is there after end_copies and a barrier.
  CNC_GPU_DEVICE void lay_out(State& t) const {
    t.part = parts.part[block_index()];
    const Part& part = t.part;
    const index_t pairs = part.groups_beyond * part_lanes;
    char* free = dynamic_shared<char>();
    t.matrix = take<EntryPair<V>>(free, pairs);
    if constexpr (among) {
      auto* const to = take<PeerPlace<V>>(free, part.sent);
      for (index_t i = thread_index(); i < part.sent; i += block_threads())
        to[i] = peers.sent_to[parts.sent[part.first_sent + i]];
      t.sent_to = to;
    }
    t.gathered = take<V>(free, part.own + part.halo);
    for (V*& of_halo : t.of_halo) of_halo = take<V>(free, part.halo);
    t.constant = take<V>(free, part.own);
    t.columns = take<std::uint32_t>(free, pairs);
    t.exports = take_copy(free, parts.exports + part.first_row, part.own);
    t.imports = take_copy(free, parts.imports + part.first_halo, part.halo);
    if constexpr (among)
      t.sent_end = take_copy(free, parts.sent_end + part.first_row, part.sent > 0 ? part.own : 0);
  }
  /// Room for n of them.
  template <class T>
  static CNC_GPU_DEVICE T* take(char*& free, index_t n) {
    T* const taken = reinterpret_cast<T*>(free);
    free += sizeof(T) * std::size_t(n);
    return taken;
  }
  template <class T>
  static CNC_GPU_DEVICE const T* take_copy(char*& free, const T* from, index_t n) {
    T* const to = take<T>(free, n);
    for (index_t i = thread_index(); i < n; i += block_threads()) begin_copy(to + i, from + i);
    return to;
  }

  // --- other devices ----------------------------------------------------------------------------------------

  /// Whether row i of the halo is one of another device.
  CNC_GPU_DEVICE bool is_beyond(const State& t, index_t i) const {
    return among && t.imports[i] >= word_count;
  }
  /// By all threads of a kernel that exchanges with others, before its first epoch.
  CNC_GPU_DEVICE void take_part_in_peers(State& t, std::uint32_t epoch) const {
    if constexpr (among) {
      t.exchanges_beyond = *peers.exchanges - epoch;
      t.meetings_beyond = *peers.meeting->meetings - epoch;
    }
  }
  /// After its last epoch, for the next kernel: all blocks have come to a meeting, before which they read these.
  CNC_GPU_DEVICE void count_epochs(std::uint32_t epochs) const {
    if constexpr (among) {
      if (block_index() != 0 || thread_index() != 0) return;
      *peers.exchanges += epochs;
      *peers.meeting->meetings += epochs;
    }
  }
  /// Devices with an own row in their halo get its value.
  CNC_GPU_DEVICE void tell(const State& t, index_t local, V value, std::uint32_t epoch) const {
    if constexpr (among) {
      if (t.part.sent == 0) return;  // registers for each row would be spilled, from all blocks
      const std::uint32_t number = epoch + t.exchanges_beyond;
      for (index_t j = local > 0 ? t.sent_end[local - 1] : 0; j < t.sent_end[local]; ++j)
        send_word(t.sent_to[j].at + number % 2, value, number);
    }
  }
  /// The value of row i of the halo, if it has come.
  CNC_GPU_DEVICE bool find(const State& t, index_t i, V& value, std::uint32_t epoch) const {
    const index_t word = t.imports[i];
    if constexpr (among)
      if (word >= word_count) {
        const std::uint32_t number = epoch + t.exchanges_beyond;
        return find_word(peers.words + 2 * offset_t(word - word_count) + number % 2, value, number);
      }
    return words[offset_t(epoch % 2) * word_count + word].load(value, epoch);
  }
  /// Waits for somebody, who may be on another device.
  template <class Ready>
  CNC_GPU_DEVICE bool wait_for(const Ready& ready) const {
    if constexpr (among) {
      const bool came = wait_for_peer(*peers.meeting, ready);
      if (!came) notes->lost = 1;
      return came;
    } else {
      const bool came = wait_until(ready);
      if (!came) notes->stuck = 1;
      return came;
    }
  }
  /// By the first wave of each block, whose threads have left their share of the sums.
  CNC_GPU_DEVICE void meet(const State& t, double (&share)[StampedSums::sums],
                           std::uint32_t epoch) const {
    if (!sums.combine<wave>(share, epoch)) notes->stuck = 1;
    if constexpr (among)
      if (!meet_peers_from_all_blocks<wave>(*peers.meeting, share, epoch + t.meetings_beyond))
        notes->lost = 1;
  }
  /// Calls take(i, value) for the rows of the halo that are of other devices, whose threads have own(k, local) of them. An epoch.
  template <class Own, class Take>
  CNC_GPU_DEVICE void share_with_peers(const State& t, std::uint32_t& epoch, const Own& own,
                                       const Take& take_value) const {
    ++epoch;
    for_own(t, [&](int k, index_t local) { tell(t, local, own(k, local), epoch); });
    for (index_t i = thread_index(); i < t.part.halo; i += block_threads()) {
      if (!is_beyond(t, i)) continue;
      V value;
      if (!wait_for([&] { return find(t, i, value, epoch); })) value = never_came<V>;
      take_value(i, value);
    }
    double nothing[StampedSums::sums] = {};
    StampedSums::leave<wave>(nothing);
    if (thread_index() < wave) meet(t, nothing, epoch);
    block_barrier();
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
