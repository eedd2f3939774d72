#pragma once

#include "distributed/channel.hpp"
#include "distributed/partition_plan.hpp"
#include "on_each.hpp"
#include "solve/notice.hpp"

#include <cnc/copy.hpp>
#include <cnc/vector.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace cnc::detail {

/// A place in the memory of another device: a view of pointers themselves would have rank 2.
template <class T>
struct PlaceThere {
  T* at;
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

/// Until each neighbour has told, or for some seconds.
struct HearNeighbour {
  static constexpr std::uint32_t most_looks = 1u << 24;
  const volatile std::uint32_t* mine;
  std::uint32_t number;
  std::uint32_t* lost;  ///< set to 1 when nobody comes
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    // The difference, because numbers may wrap around.
    for (std::uint32_t look = 0; look < most_looks; ++look)
      if (static_cast<std::int32_t>(mine[k] - number) >= 0) return order_for_everybody();
    *lost = 1;
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

  /// Collective, and the same on all ranks: null where some of them cannot reach others' memory, or share a device.
  static std::unique_ptr<Peers> open(const Context<Exec>& ctx, Channel& channel,
                                     const PartitionPlan& plan) {
    const PeerMemory* const memory =
        ctx.backend().peers != nullptr && channel.ranks_of_machine() == channel.size()
            ? ctx.backend().peers()
            : nullptr;
    struct Offer {
      PeerTicket ticket;
      std::int32_t is_one;
    } mine{};
    auto peers = std::make_unique<Peers>(memory, ctx.queue().device);
    if (memory != nullptr)
      try {
        mine.is_one = channel.size() > 1 && peers->allocate(channel.size(), plan, &mine.ticket);
      } catch (const Error&) {  // there is the other way
      }
    const Offer* const all = channel.gather_all(&mine, 1);
    const std::vector<Offer> offers(all, all + channel.size());
    std::set<std::string> devices;
    for (const Offer& offer : offers)
      if (offer.is_one == 0 || !devices.insert(offer.ticket.device).second) return nullptr;

    // Where in his memory is what goes to a neighbour?
    std::vector<std::vector<index_t>> places(static_cast<std::size_t>(channel.size()));
    index_t place = 0;
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      places[static_cast<std::size_t>(n.rank)] = {place, plan.halo};
      place += n.received;
    }
    places = channel.exchange_lists(places);
    std::int32_t is_open = 1;
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      void* const theirs = memory->open(peers->device_, offers[static_cast<std::size_t>(n.rank)].ticket);
      if (theirs == nullptr) is_open = 0;
      if (theirs != nullptr) peers->opened_.push_back(theirs);
    }
    const std::int32_t* const are_open = channel.gather_all(&is_open, 1);
    if (std::count(are_open, are_open + channel.size(), 1) != channel.size()) return nullptr;
    peers->address(channel, plan, places);
    return peers;
  }

  Peers(const PeerMemory* memory, int device)
      : memory_(memory),
        device_(device),
        lost_(zeroed<std::uint32_t, SharedSpace<Space>>("cnc::lost", 1)) {}
  ~Peers() {
    for (void* const theirs : opened_) memory_->close(device_, theirs);
    if (mine_ != nullptr) memory_->release(device_, mine_);
  }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  void begin(const Context<Exec>& ctx, const Vector<index_t, Space>& rows, const W* x) {
    ++number_;
    const Vector<PlaceThere<W>, Space>& to = places_[number_ % 2];
    on_each(ctx, static_cast<offset_t>(rows.extent(0)), PackTo<W>{rows.data(), x, to.data()});
    on_each(ctx, neighbours(), TellNeighbour{words_.data(), number_});
  }
  const W* end(const Context<Exec>& ctx) {
    on_each(ctx, neighbours(), HearNeighbour{own_words(), number_, lost_.data()});
    return own_halo() + offset_t(number_ % 2) * halo_;
  }
  /// Whether a neighbour was waited for in vain, as far as the queue has come.
  bool has_lost() const { return *static_cast<volatile std::uint32_t*>(lost_.data()) != 0; }

 private:
  /// Words of neighbours, in the order of the plan; room for all ranks.
  static std::size_t word_bytes(int ranks) {
    return (sizeof(std::uint32_t) * static_cast<std::size_t>(ranks) + 255) / 256 * 256;
  }
  static W* halo_in(void* memory, int ranks) {
    return reinterpret_cast<W*>(static_cast<char*>(memory) + word_bytes(ranks));
  }
  std::uint32_t* own_words() const { return static_cast<std::uint32_t*>(mine_); }
  W* own_halo() const { return halo_in(mine_, ranks_); }
  offset_t neighbours() const { return static_cast<offset_t>(words_.extent(0)); }

  bool allocate(int ranks, const PartitionPlan& plan, PeerTicket* ticket) {
    ranks_ = ranks;
    halo_ = plan.halo;
    mine_ = memory_->allocate(device_,
                              word_bytes(ranks) + 2 * sizeof(W) * static_cast<std::size_t>(halo_));
    return memory_->offer(device_, mine_, ticket);
  }

  /// given: of each neighbour, where in his halo what comes from here begins, and how long it is in all.
  void address(Channel& channel, const PartitionPlan& plan,
               const std::vector<std::vector<index_t>>& given) {
    // A neighbour's place among mine, that he may know his word.
    std::vector<std::vector<index_t>> numbers(static_cast<std::size_t>(ranks_));
    for (std::size_t k = 0; k < plan.neighbours.size(); ++k)
      numbers[static_cast<std::size_t>(plan.neighbours[k].rank)] = {static_cast<index_t>(k)};
    numbers = channel.exchange_lists(numbers);
    std::vector<PlaceThere<W>> places[2];
    std::vector<PlaceThere<volatile std::uint32_t>> words;
    for (std::size_t k = 0; k < plan.neighbours.size(); ++k) {
      const PartitionPlan::Neighbour& n = plan.neighbours[k];
      const auto rank = static_cast<std::size_t>(n.rank);
      words.push_back({static_cast<std::uint32_t*>(opened_[k]) + numbers[rank][0]});
      for (int turn = 0; turn < 2; ++turn) {
        W* const to = halo_in(opened_[k], ranks_) + offset_t(turn) * given[rank][1] + given[rank][0];
        for (index_t i = 0; i < n.sent; ++i) places[turn].push_back({to + i});
      }
    }
    words_ = copied(words);
    for (int turn = 0; turn < 2; ++turn) places_[turn] = copied(places[turn]);
  }
  template <class T>
  static Vector<T, Space> copied(const std::vector<T>& from) {
    const auto to = uninitialized<T, Space>("cnc::peers", from.size());
    Kokkos::deep_copy(
        to, Kokkos::View<const T*, HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
    return to;
  }

  const PeerMemory* memory_;
  int device_;
  int ranks_ = 1;
  index_t halo_ = 0;
  void* mine_ = nullptr;
  std::vector<void*> opened_;  ///< of neighbours, in the order of the plan
  Vector<PlaceThere<volatile std::uint32_t>, Space> words_;  ///< of this rank in the memory of neighbours
  Vector<PlaceThere<W>, Space> places_[2];                   ///< of each entry sent
  Vector<std::uint32_t, SharedSpace<Space>> lost_;
  std::uint32_t number_ = 0;  ///< exchanges begun
};

}  // namespace cnc::detail
