#pragma once

#include "copied_there.hpp"
#include "distributed/channel.hpp"
#include "distributed/list_of_rows.hpp"
#include "distributed/partition_plan.hpp"
#include "on_each.hpp"

#include <cnc/contract/peers.hpp>
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
  /// memory, or share a device, or where the backend has no exchanges of its own.
  static std::unique_ptr<PeerGroup> open(const Context<Exec>& ctx, Channel& channel,
                                         std::size_t bytes) {
    const bool is_one_machine = channel.ranks_of_machine() == channel.size();
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
        group->mine_ = memory->allocate(group->device_, std::max<std::size_t>(bytes, 1));
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

/// The sums of ranks whose devices add them up (PeerMeeting), in each other's memory or by messages.
template <class Exec>
class PeerSums {
 public:
  using Space = typename Exec::memory_space;

  /// Collective, and the same on all ranks: null where devices do not reach each other.
  /// lost: a word that host and device reach, for as long as this lives; set to 1 when somebody is waited for in vain.
  static std::unique_ptr<PeerSums> open(const Context<Exec>& ctx, Channel& channel,
                                        std::uint32_t* lost) {
    auto group = PeerGroup<Exec>::open(
        ctx, channel, sizeof(PeerWord<double>) * std::size_t(words_of_rank * channel.size()));
    if (!group) return nullptr;
    return std::make_unique<PeerSums>(std::move(group), channel.rank(), lost);
  }
  /// By messages.
  explicit PeerSums(const Channel& channel)
      : of_messages_(zeroed<double, Space>("cnc::sums", most_peer_sums * (1 + channel.size()))),
        meeting_(copied_there<Space>(
            "cnc::ranks",
            std::vector<PeerMeeting>{
                {.ranks = channel.size(), .rank = channel.rank(), .mine = mine(), .all = all()}})) {
  }
  PeerSums(std::unique_ptr<PeerGroup<Exec>> group, int rank, std::uint32_t* lost)
      : group_(std::move(group)), numbers_(zeroed<std::uint32_t, Space>("cnc::meetings", 2)) {
    std::vector<PeerPlace<double>> there;
    for (int r = 0; r < group_->ranks(); ++r)
      there.push_back({words(group_->of(r)) + words_of_rank * rank});
    there_ = copied_there<Space>("cnc::ranks", there);
    meeting_ = copied_there<Space>(
        "cnc::ranks",
        std::vector<PeerMeeting>{{group_->ranks(), rank, there_.data(), words(group_->mine()),
                                  numbers_.data(), numbers_.data() + 1, lost}});
  }

  /// In the memory of the backend.
  const PeerMeeting* meeting() const { return meeting_.data(); }
  /// @{
  /// By messages: sums of this rank, and of all.
  double* mine() const { return of_messages_.data(); }
  double* all() const { return of_messages_.data() + most_peer_sums; }
  /// @}

 private:
  static constexpr int words_of_rank = 2 * most_peer_sums;
  static PeerWord<double>* words(char* memory) {
    return reinterpret_cast<PeerWord<double>*>(memory);
  }

  std::unique_ptr<PeerGroup<Exec>> group_;
  Vector<std::uint32_t, Space> numbers_;
  Vector<PeerPlace<double>, Space> there_;
  Vector<double, Space> of_messages_;
  Vector<PeerMeeting, Space> meeting_;
};

/// What runs need of DeviceMessages, for vectors of W.
template <class W, class Exec>
class MessagesOfRuns final : public PeerMessages {
 public:
  using Space = typename Exec::memory_space;

  /// The sums outlive it.
  MessagesOfRuns(std::shared_ptr<Channel> channel, std::shared_ptr<DeviceMessages> messages,
                 const PartitionPlan& plan, const PeerSums<Exec>& sums)
      : channel_(std::move(channel)),
        messages_(std::move(messages)),
        sums_(sums),
        packed_(uninitialized<W, Space>("cnc::own_for_others", plan.sent_rows.size())),
        arrived_(uninitialized<W, Space>("cnc::halo_of_others", std::size_t(plan.halo))) {
    W *own = packed_.data(), *halo = arrived_.data();
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      const auto add = [&](std::vector<DeviceMessages::Part>& to, W*& of, index_t count) {
        if (count > 0) to.push_back({n.rank, of, sizeof(W) * std::size_t(count)});
        of += count;
      };
      add(sends_, own, n.sent);
      add(receives_, halo, n.received);
    }
  }
  W* packed() const { return packed_.data(); }
  const W* arrived() const { return arrived_.data(); }

  void begin(const Queue& queue) override { messages_->begin(queue, sends_, receives_); }
  void end(const Queue& queue) override { messages_->end(queue); }
  void gather(const Queue& queue) override {
    messages_->gather(queue, sums_.mine(), sums_.all(), most_peer_sums);
  }
  void wait(const Queue& queue) override {
    messages_->begin_wait(queue);
    channel_->wait(*messages_);
  }

 private:
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<DeviceMessages> messages_;
  const PeerSums<Exec>& sums_;
  Vector<W, Space> packed_, arrived_;
  std::vector<DeviceMessages::Part> sends_, receives_;
};

/// What products with a matrix on several ranks need without the hosts, for vectors of W (PeerOperand).
template <class W, class Exec>
class Peers {
 public:
  using Space = typename Exec::memory_space;

  /// Collective, and the same on all ranks: null where devices do not reach each other's memory.
  template <class T>
  static std::unique_ptr<Peers> open(const Context<Exec>& ctx, const Halo<T>& halo,
                                     const PeerMeeting* meeting) {
    const PartitionPlan& plan = halo.plan;
    const std::size_t words = 2 * (std::size_t(plan.halo) + plan.neighbours.size());
    auto group = PeerGroup<Exec>::open(ctx, *halo.channel, sizeof(PeerWord<W>) * words);
    if (!group) return nullptr;
    return std::make_unique<Peers>(std::move(group), halo, meeting);
  }
  /// By messages. Collective.
  template <class T>
  Peers(const Queue& queue, const Halo<T>& halo, std::shared_ptr<DeviceMessages> messages,
        const PeerSums<Exec>& sums)
      : Peers(halo, sums.meeting()) {
    messages_ = std::make_unique<MessagesOfRuns<W, Exec>>(halo.channel, std::move(messages),
                                                          halo.plan, sums);
    sent_rows_ = copied_there<Space>("cnc::ranks", halo.plan.sent_rows);
    operand_.sent = static_cast<index_t>(halo.plan.sent_rows.size());
    operand_.sent_rows = sent_rows_.data();
    operand_.messages = messages_.get();
    operand_.packed = messages_->packed();
    operand_.arrived = messages_->arrived();
    messages_->gather(queue);  // the first time, for which they meet
    messages_->wait(queue);
  }
  /// In each other's memory. Collective.
  template <class T>
  Peers(std::unique_ptr<PeerGroup<Exec>> group, const Halo<T>& halo, const PeerMeeting* meeting)
      : Peers(halo, meeting) {
    group_ = std::move(group);
    // To each neighbour: at which word in my memory his entries begin, and which is the one that he always sends.
    const PartitionPlan& plan = halo.plan;
    std::vector<std::vector<index_t>> there(std::size_t(halo.channel->size()));
    index_t first = 0, last = plan.halo;
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      there[std::size_t(n.rank)] = {first, last++};
      first += n.received;
    }
    there = halo.channel->exchange_lists(there);
    std::vector<index_t> rows = plan.sent_rows;
    std::vector<PeerPlace<W>> places, always;
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      const std::vector<index_t>& his = there[std::size_t(n.rank)];
      auto* const words = reinterpret_cast<PeerWord<W>*>(group_->of(n.rank));
      for (index_t i = 0; i < n.sent; ++i) places.push_back({words + 2 * (offset_t(his[0]) + i)});
      always.push_back({words + 2 * offset_t(his[1])});
    }
    rows.insert(rows.end(), always.size(), -1);
    places.insert(places.end(), always.begin(), always.end());
    sent_rows_ = copied_there<Space>("cnc::ranks", rows);
    places_ = copied_there<Space>("cnc::ranks", places);
    operand_.sent = static_cast<index_t>(rows.size());
    operand_.sent_rows = sent_rows_.data();
    operand_.sent_to = places_.data();
    operand_.neighbours = static_cast<index_t>(plan.neighbours.size());
    operand_.words = reinterpret_cast<const PeerWord<W>*>(group_->mine());
  }

  const PeerOperand<W>& operand() const { return operand_; }

  /// Those of the same entries.
  template <class T>
  void take_values(const Halo<T>& halo) {
    copy_there(values_, values_of(halo));
  }

 private:
  /// What any way takes.
  template <class T>
  Peers(const Halo<T>& halo, const PeerMeeting* meeting)
      : exchanges_(zeroed<std::uint32_t, Space>("cnc::exchanges", 1)),
        row_(copied_there<Space>("cnc::ranks", halo.rows.rows)),
        offsets_(copied_there<Space>("cnc::ranks", halo.rows.offsets)),
        columns_(copied_there<Space>("cnc::ranks", halo.rows.columns)),
        values_(copied_there<Space>("cnc::ranks", values_of(halo))) {
    operand_.meeting = meeting;
    operand_.exchanges = exchanges_.data();
    operand_.halo = halo.plan.halo;
    operand_.rows = static_cast<index_t>(halo.rows.rows.size());
    operand_.row = row_.data();
    operand_.offsets = offsets_.data();
    operand_.columns = columns_.data();
    operand_.values = values_.data();
    operand_.entries = static_cast<offset_t>(halo.rows.values.size());
    const ListOfRows list(halo.rows.rows);
    listed_ = copied_there<Space>("cnc::ranks", list.listed);
    operand_.whole_first = list.whole_first;
    operand_.whole = list.whole;
    operand_.last_row = list.last_row;
    operand_.listed = listed_.data();
    for (std::size_t i = 0; i < halo.rows.rows.size(); ++i)
      operand_.longest =
          std::max(operand_.longest, halo.rows.offsets[i + 1] - halo.rows.offsets[i]);
    const offset_t* const entries = halo.channel->gather_all(&halo.facts.entries, 1);
    operand_.most_entries = *std::max_element(entries, entries + halo.channel->size());
  }
  template <class T>
  static std::vector<W> values_of(const Halo<T>& halo) {
    return {halo.rows.values.begin(), halo.rows.values.end()};
  }

  std::unique_ptr<PeerGroup<Exec>> group_;             ///< null: by messages
  std::unique_ptr<MessagesOfRuns<W, Exec>> messages_;  ///< null: in each other's memory
  Vector<std::uint32_t, Space> exchanges_;
  Vector<index_t, Space> sent_rows_, row_, offsets_, columns_;
  Vector<ListedRows, Space> listed_;
  Vector<PeerPlace<W>, Space> places_;  ///< of each word sent
  Vector<W, Space> values_;
  PeerOperand<W> operand_;
};

}  // namespace cnc::detail
