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

/// Entries of a vector whose words go to devices of other ranks: none where `count` is 0, as where they go by messages.
template <class V>
struct SentEntries {
  index_t count = 0;
  const index_t* rows = nullptr;  ///< [count], -1: a word that says no more than that it has come
  const PeerPlace<V>* to = nullptr;       ///< [count]
  const std::uint32_t* before = nullptr;  ///< exchanges so far

  SentEntries() = default;
  explicit SentEntries(const PeerOperand<V>& peers)
      : count(peers.messages == nullptr ? peers.sent : 0),
        rows(peers.sent_rows),
        to(peers.sent_to),
        before(peers.exchanges) {}
};

/// Those at places first, first + stride, ... of the entries of x go on their way.
template <class V>
CNC_GPU_DEVICE void send_entries(const SentEntries<V>& sent, const V* x, index_t first,
                                 index_t stride) {
  for (offset_t k = first; k < sent.count; k += stride) {
    const index_t row = sent.rows[k];
    const std::uint32_t number = *sent.before + 1;
    send_word(sent.to[k].at + number % 2, row < 0 ? V(0) : x[row], number);
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
