#pragma once

#include <gpu/stamped.hpp>

#include <cnc/contract/peers.hpp>

// How kernels of several devices hand each other values: as stamped words, so that nobody waits for a fence. Their numbers are in
// memory of the device, so that launches can be replayed.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <class V>
CNC_GPU_DEVICE void send_word(PeerWord<V>* to, V value, std::uint32_t number) {
  using Word = StampedWord<V>;
  static_assert(sizeof(Word) == sizeof(PeerWord<V>) && alignof(Word) == alignof(PeerWord<V>));
  store_across(reinterpret_cast<typename Word::Bits*>(to), Word::packed(value, number));
}

/// The word if it has come.
template <class V>
CNC_GPU_DEVICE bool find_word(const PeerWord<V>* from, V& value, std::uint32_t number) {
  using Word = StampedWord<V>;
  return Word::unpack(load_across(reinterpret_cast<const typename Word::Bits*>(from)), value,
                      number);
}

/// Of the words that go to others, those at places first, first + stride, ... go on their way.
template <class V>
CNC_GPU_DEVICE void send_entries(const PeerOperand<V>& peers, const V* x, index_t first,
                                 index_t stride) {
  for (offset_t k = first; k < peers.sent; k += stride) {
    const index_t row = peers.sent_rows[k];
    const std::uint32_t number = *peers.exchanges + 1;
    send_word(peers.sent_to[k].at + number % 2, row < 0 ? V(0) : x[row], number);
  }
}

/// Calls ready() until it says yes; false after some seconds, and soon where somebody was waited for in vain before.
template <class Ready>
CNC_GPU_DEVICE bool wait_for_peer(const PeerMeeting& meeting, const Ready& ready) {
  for (std::uint32_t k = 0; k < tuning::most_polls / 4; ++k) {
    if (ready()) return true;
    if (k % 1024 == 1023 && load_relaxed(meeting.given_up) != 0) return false;
    pause();
    pause_for_peer();
  }
  *meeting.given_up = 1;
  *static_cast<volatile std::uint32_t*>(meeting.lost) = 1;
  return false;
}

/// This lane's share of entries in columns of others times what has come of x, `together` of which are under way at once. No number
/// where that is waited for in vain.
template <int together, class V>
CNC_GPU_DEVICE V sum_of_halo(const PeerOperand<V>& peers, index_t begin, index_t end, int lane = 0,
                             int lanes = 1) {
  const std::uint32_t number = *peers.exchanges + 1;
  const PeerWord<V>* const words = peers.words + number % 2;
  V sum = 0;
  for (index_t k = begin + lane * together; k < end; k += lanes * together) {
    V x[together] = {};
    const bool came = wait_for_peer(*peers.meeting, [&] {
      bool here = true;
      CNC_GPU_UNROLL
      for (int j = 0; j < together; ++j) {
        if (k + j >= end) continue;
        const index_t column = peers.columns[k + j];
        if (peers.arrived != nullptr)
          x[j] = peers.arrived[column];
        else
          here &= find_word(words + 2 * offset_t(column), x[j], number);
      }
      return here;
    });
    CNC_GPU_UNROLL
    for (int j = 0; j < together; ++j)
      if (k + j < end) sum += peers.values[k + j] * x[j];
    if (!came) sum = never_came<V>;
  }
  return sum;
}

/// What a row has of entries in columns of others, by one thread.
template <int together, class V>
CNC_GPU_DEVICE void add_halo(const PeerOperand<V>& peers, index_t row, V& sum) {
  if (static_cast<std::uint32_t>(row - peers.whole_first) < static_cast<std::uint32_t>(peers.whole))
    return;
  if (row > peers.last_row) return;
  const ListedRows listed = peers.listed[row / 32];
  const std::uint32_t bit = std::uint32_t(1) << (row % 32);
  if ((listed.has & bit) == 0) return;
  const index_t i = listed.before + ones(listed.has & (bit - 1));
  sum += sum_of_halo<together>(peers, peers.offsets[i], peers.offsets[i + 1]);
}

/// Whether a product, its exchange and the sums of all ranks are one kernel: a thread would take too long over rows with more entries.
template <class V>
bool goes_in_one(const PeerOperand<V>& peers) {
  constexpr index_t most = 32;
  return peers.messages == nullptr && peers.longest <= most;
}

/// Waits for the words that come from neighbours in any case: for those at places first, first + stride, ...
template <class V>
CNC_GPU_DEVICE void wait_for_neighbours(const PeerOperand<V>& peers, index_t first,
                                        index_t stride) {
  const std::uint32_t number = *peers.exchanges + 1;
  const PeerWord<V>* const words = peers.words + number % 2;
  for (index_t i = first; i < peers.neighbours; i += stride) {
    V nothing;
    (void)wait_for_peer(*peers.meeting, [&] {
      return find_word(words + 2 * (offset_t(peers.halo) + i), nothing, number);
    });
  }
}

/// Sums become those of all ranks, added in the order of these: the same bits on each. By one thread of one device.
template <int count>
CNC_GPU_DEVICE void meet_peers(const PeerMeeting& meeting, double (&sums)[count]) {
  static_assert(count <= most_peer_sums);
  const std::uint32_t number = *meeting.meetings + 1;
  *meeting.meetings = number;
  const auto turn = static_cast<int>(number % 2);
  for (int r = 0; r < meeting.ranks; ++r)
    if (r != meeting.rank)
      for (int k = 0; k < count; ++k)
        send_word(meeting.there[r].at + 2 * k + turn, sums[k], number);
  double all[count];
  for (int r = 0; r < meeting.ranks; ++r) {
    double his[count];
    for (int k = 0; k < count; ++k) his[k] = sums[k];
    if (r != meeting.rank) {
      const PeerWord<double>* const from = meeting.here + 2 * r * most_peer_sums + turn;
      const bool came = wait_for_peer(meeting, [&] {
        bool here = true;
        for (int k = 0; k < count; ++k) here &= find_word(from + 2 * k, his[k], number);
        return here;
      });
      if (!came) his[0] = never_came<double>;
    }
    for (int k = 0; k < count; ++k) all[k] = r == 0 ? his[k] : all[k] + his[k];
  }
  for (int k = 0; k < count; ++k) sums[k] = all[k];
}

/// The same of a resident launch, by the first wave of each block, all of which know the sums of their own device: the first block
/// tells the others, and all wait for what these say. Collective; the sums are on all its lanes, before and after. The launch
/// counts its meetings itself and in the end says how many there were. False on a lane that has waited in vain: the sum is then no number.
template <int wave, int count>
CNC_GPU_DEVICE bool meet_peers_from_all_blocks(const PeerMeeting& meeting, double (&sums)[count],
                                               std::uint32_t number) {
  static_assert(count <= most_peer_sums && wave % count == 0);
  CNC_GPU_SHARED double of_ranks[wave], all[count];
  const auto turn = static_cast<int>(number % 2);
  const int lane = thread_index(), k = lane % count;
  double mine = sums[0];
  CNC_GPU_UNROLL
  for (int j = 1; j < count; ++j)
    if (k == j) mine = sums[j];
  constexpr int together = wave / count;
  if (block_index() == 0)
    for (int r = lane / count; r < meeting.ranks; r += together)
      if (r != meeting.rank) send_word(meeting.there[r].at + 2 * k + turn, mine, number);
  bool came = true;
  double sum = 0;
  for (int first = 0; first < meeting.ranks; first += together) {
    const int r = first + lane / count;
    double his = r < meeting.ranks ? mine : 0;
    if (r < meeting.ranks && r != meeting.rank) {
      const PeerWord<double>* const from = meeting.here + 2 * (r * most_peer_sums + k) + turn;
      if (!wait_for_peer(meeting, [&] { return find_word(from, his, number); })) {
        his = never_came<double>;
        came = false;
      }
    }
    of_ranks[lane] = his;
    wave_barrier<wave>();
    const int ranks = meeting.ranks - first < together ? meeting.ranks - first : together;
    if (lane < count)
      for (int j = 0; j < ranks; ++j)
        sum = first + j == 0 ? of_ranks[k] : sum + of_ranks[j * count + k];
    wave_barrier<wave>();
  }
  if (lane < count) all[lane] = sum;
  wave_barrier<wave>();
  CNC_GPU_UNROLL
  for (int j = 0; j < count; ++j) sums[j] = all[j];
  return came;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
