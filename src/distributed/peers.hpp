#pragma once

#include "distributed/channel.hpp"
#include "distributed/partition_plan.hpp"
#include "on_each.hpp"
#include "solve/meeting.hpp"
#include "solve/notice.hpp"

#include <cnc/vector.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Memory of each rank's device that the devices of all other ranks reach.
template <class Exec>
class PeerGroup {
 public:
  /// `bytes` of this rank, zeros at first. Collective, and the same on all ranks: null where some of them cannot reach others'
  /// memory, or share a device, or where there is one rank alone.
  static std::unique_ptr<PeerGroup> open(const Context<Exec>& ctx, Channel& channel,
                                         std::size_t bytes) {
    const bool is_one_machine = channel.size() > 1 && channel.ranks_of_machine() == channel.size();
    const PeerMemory* const memory =
        is_one_machine && ctx.backend().peers != nullptr ? ctx.backend().peers() : nullptr;
    struct Offer {
      PeerTicket ticket;
      char model[64];  ///< scalars are worked out by the devices, which must round alike
      std::int32_t is_one;
    } mine{};
    ctx.backend().availability().detail.copy(mine.model, sizeof mine.model - 1);
    auto group = std::make_unique<PeerGroup>(memory, ctx.queue().device, channel);
    if (memory != nullptr) try {
        group->mine_ = memory->allocate(group->device_, bytes);
        mine.is_one = memory->offer(group->device_, group->mine_, &mine.ticket);
      } catch (const Error&) {  // there is the other way
      }
    const Offer* const all = channel.gather_all(&mine, 1);
    const std::vector<Offer> offers(all, all + channel.size());
    channel.do_it_now();
    std::set<std::string> devices;
    for (const Offer& offer : offers)
      if (offer.is_one == 0 || std::strcmp(offer.model, offers[0].model) != 0 ||
          !devices.insert(offer.ticket.device).second)
        return nullptr;
    std::int32_t is_open = 1;
    for (int r = 0; r < channel.size(); ++r) {
      group->of_.push_back(r == channel.rank()
                               ? group->mine_
                               : memory->open(group->device_, offers[std::size_t(r)].ticket));
      if (group->of_.back() == nullptr) is_open = 0;
    }
    const std::int32_t* const are_open = channel.gather_all(&is_open, 1);
    if (std::count(are_open, are_open + channel.size(), 1) != channel.size()) return nullptr;
    return group;
  }

  /// The channel outlives it.
  PeerGroup(const PeerMemory* memory, int device, Channel& channel)
      : memory_(memory), device_(device), channel_(channel) {}
  ~PeerGroup() {
    for (std::size_t r = 0; r < of_.size(); ++r)
      if (of_[r] != nullptr && static_cast<int>(r) != channel_.rank())
        memory_->close(device_, of_[r]);
    // Others may have it open still.
    if (mine_ != nullptr)
      channel_.do_later(
          [memory = memory_, device = device_, mine = mine_] { memory->release(device, mine); });
  }
  PeerGroup(const PeerGroup&) = delete;
  PeerGroup& operator=(const PeerGroup&) = delete;

  int ranks() const { return static_cast<int>(of_.size()); }
  char* of(int rank) const { return static_cast<char*>(of_[static_cast<std::size_t>(rank)]); }
  char* mine() const { return static_cast<char*>(mine_); }

 private:
  const PeerMemory* memory_;
  int device_;
  Channel& channel_;
  void* mine_ = nullptr;
  std::vector<void*> of_;  ///< by rank, as this device reaches them
};

/// In the memory of a backend.
template <class Space, class T>
Vector<T, Space> copied_there(const std::vector<T>& from) {
  const auto to = uninitialized<T, Space>("cnc::ranks", from.size());
  Kokkos::deep_copy(
      to, Kokkos::View<const T*, HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  return to;
}

/// The meetings of a group.
template <class Exec>
class Meetings {
 public:
  using Space = typename Exec::memory_space;

  /// Collective, and the same on all ranks: null where devices do not reach each other. One rank alone meets nobody, in any
  /// memory.
  /// lost: a word that host and device reach, for as long as this lives; set to 1 when somebody is waited for in vain.
  static std::unique_ptr<Meetings> open(const Context<Exec>& ctx, Channel& channel,
                                        std::uint32_t* lost) {
    auto group = PeerGroup<Exec>::open(
        ctx, channel, 2 * sizeof(SumsOfRank) * static_cast<std::size_t>(channel.size()));
    if (!group && channel.size() > 1) return nullptr;
    return std::make_unique<Meetings>(std::move(group), channel.rank(), lost);
  }
  /// Null: of one rank.
  Meetings(std::unique_ptr<PeerGroup<Exec>> group, int rank, std::uint32_t* lost)
      : group_(std::move(group)), lost_(lost) {
    std::vector<PlaceThere<SumsOfRank>> theirs;
    if (group_) {
      mine_ = slots(group_->mine());
      for (int r = 0; r < group_->ranks(); ++r) theirs.push_back({slots(group_->of(r)) + 2 * rank});
    } else {
      alone_ = zeroed<SumsOfRank, Space>("cnc::sums_of_rank", 2);
      mine_ = alone_.data();
      theirs.push_back({mine_});
    }
    theirs_ = copied_there<Space>(theirs);
  }

  Meeting next() {
    return {static_cast<int>(theirs_.extent(0)), theirs_.data(), mine_, ++number_, lost_};
  }

 private:
  static SumsOfRank* slots(char* memory) { return reinterpret_cast<SumsOfRank*>(memory); }

  std::unique_ptr<PeerGroup<Exec>> group_;
  Vector<SumsOfRank, Space> alone_;
  SumsOfRank* mine_ = nullptr;
  Vector<PlaceThere<SumsOfRank>, Space> theirs_;
  std::uint32_t* lost_;
  std::uint32_t number_ = 0;
};

/// to[k] := x[rows[k]]
template <class W>
struct PackTo {
  const index_t* rows;
  const W* x;
  const PlaceThere<W>* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const { *to[k].at = x[rows[k]]; }
};

/// Tells each neighbour that everything for him is written.
struct TellNeighbour {
  const PlaceThere<volatile std::uint32_t>* theirs;
  std::uint32_t number;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    order_for_everybody();
    *theirs[k].at = number;
  }
};

/// Until each neighbour has told.
struct HearNeighbour {
  const std::uint32_t* mine;
  std::uint32_t number;
  std::uint32_t* lost;  ///< set to 1 when nobody comes
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    if (!wait_for_number(mine[k], number, most_looks)) *lost = 1;
  }
};

/// The exchange of an Exchange between devices of one machine that write into each other's memory, in the order of their queues:
/// no host takes part.
///
/// A rank has memory that its neighbours write to: a word of each neighbour that tells how many exchanges he has written, and
/// twice the entries of the halo, which exchanges take in turn. A neighbour that has written exchange n + 1 has read exchange n
/// before, since he has waited for it: what is written in exchange n + 2 overwrites nothing that is still wanted. That takes
/// neighbours that wait for each other, so they also tell where only one of them gets entries.
template <class W, class Exec>
class Peers {
 public:
  using Space = typename Exec::memory_space;

  /// Collective, and the same on all ranks: null where devices do not reach each other.
  /// lost: as of Meetings.
  static std::unique_ptr<Peers> open(const Context<Exec>& ctx, Channel& channel,
                                     const PartitionPlan& plan, std::uint32_t* lost) {
    auto group = PeerGroup<Exec>::open(
        ctx, channel,
        word_bytes(channel.size()) + 2 * sizeof(W) * static_cast<std::size_t>(plan.halo));
    if (!group) return nullptr;
    return std::make_unique<Peers>(std::move(group), channel, plan, lost);
  }
  /// Collective.
  Peers(std::unique_ptr<PeerGroup<Exec>> group, Channel& channel, const PartitionPlan& plan,
        std::uint32_t* lost)
      : group_(std::move(group)), halo_(plan.halo), lost_(lost) {
    // To each neighbour: where in my memory his entries begin, how many there are in all, and which word is his.
    std::vector<std::vector<index_t>> there(static_cast<std::size_t>(channel.size()));
    index_t place = 0;
    for (std::size_t k = 0; k < plan.neighbours.size(); ++k) {
      const PartitionPlan::Neighbour& n = plan.neighbours[k];
      there[static_cast<std::size_t>(n.rank)] = {place, plan.halo, static_cast<index_t>(k)};
      place += n.received;
    }
    there = channel.exchange_lists(there);
    std::vector<PlaceThere<W>> places[2];
    std::vector<PlaceThere<volatile std::uint32_t>> words;
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      const std::vector<index_t>& his = there[static_cast<std::size_t>(n.rank)];
      char* const memory = group_->of(n.rank);
      words.push_back({words_in(memory) + his[2]});
      for (int turn = 0; turn < 2; ++turn)
        for (index_t i = 0; i < n.sent; ++i)
          places[turn].push_back({halo_in(memory) + offset_t(turn) * his[1] + his[0] + i});
    }
    words_ = copied_there<Space>(words);
    for (int turn = 0; turn < 2; ++turn) places_[turn] = copied_there<Space>(places[turn]);
  }

  void begin(const Context<Exec>& ctx, const Vector<index_t, Space>& rows, const W* x) {
    ++number_;
    const Vector<PlaceThere<W>, Space>& to = places_[number_ % 2];
    on_each(ctx, static_cast<offset_t>(rows.extent(0)), PackTo<W>{rows.data(), x, to.data()});
    on_each(ctx, neighbours(), TellNeighbour{words_.data(), number_});
  }
  const W* end(const Context<Exec>& ctx) {
    on_each(ctx, neighbours(), HearNeighbour{words_in(group_->mine()), number_, lost_});
    return halo_in(group_->mine()) + offset_t(number_ % 2) * halo_;
  }

 private:
  /// Words of neighbours, in the order of the plan; room for all ranks.
  static std::size_t word_bytes(int ranks) {
    return (sizeof(std::uint32_t) * static_cast<std::size_t>(ranks) + 255) / 256 * 256;
  }
  static std::uint32_t* words_in(char* memory) { return reinterpret_cast<std::uint32_t*>(memory); }
  W* halo_in(char* memory) const {
    return reinterpret_cast<W*>(memory + word_bytes(group_->ranks()));
  }
  offset_t neighbours() const { return static_cast<offset_t>(words_.extent(0)); }

  std::unique_ptr<PeerGroup<Exec>> group_;
  index_t halo_;
  Vector<PlaceThere<volatile std::uint32_t>, Space> words_;  ///< of this rank with each neighbour
  Vector<PlaceThere<W>, Space> places_[2];                   ///< of each entry sent
  std::uint32_t* lost_;
  std::uint32_t number_ = 0;  ///< exchanges begun
};

}  // namespace cnc::detail
