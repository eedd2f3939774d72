#pragma once

#include "distributed/channel.hpp"
#include "distributed/partition_plan.hpp"
#include "on_each.hpp"
#include "solve/notice.hpp"

#include <cnc/vector.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cnc::detail {

/// to[k] := x[rows[k]]
template <class W>
struct Pack {
  const index_t* rows;
  const W* x;
  W* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const { to[k] = x[rows[k]]; }
};

/// Sends own entries of vectors of W to the neighbours that have rows with them, or brings back what these rows add to
/// them, by requests and buffers that are made once.
///
/// MPI sees memory of the host. A device packs into it what is sent, and copies from it what has come. There the messages are
/// begun at the end, when the host sees that all is packed: by then the device has work that does not need them, and
/// whatever it did with the buffers before is done. DeviceMessages go from one device's memory to the other's beside the queue, and
/// the host waits for them at the end, where it would hear of a rank that does not come.
template <class W, class Exec>
class Exchange {
 public:
  using Space = typename Exec::memory_space;
  static constexpr bool is_device = !is_host_space<Space>;

  /// messages: between devices; null: MPI. Collective.
  Exchange(const Context<Exec>& ctx, std::shared_ptr<Channel> channel, const PartitionPlan& plan,
           std::shared_ptr<DeviceMessages> messages)
      : channel_(std::move(channel)),
        messages_(std::move(messages)),
        buffers_(std::make_unique<Buffers>()) {
    const std::size_t sent = plan.sent_rows.size(), received = static_cast<std::size_t>(plan.halo);
    if constexpr (is_device) {
      own_ = uninitialized<W, Space>("cnc::own_for_others", sent);
      halo_ = uninitialized<W, Space>("cnc::halo_of_others", received);
    }
    Buffers& b = *buffers_;
    if (!messages_) {
      b.own = uninitialized<W, SharedSpace<Space>>("cnc::own_for_others", sent);
      b.halo = uninitialized<W, SharedSpace<Space>>("cnc::halo_of_others", received);
    }
    W* own = packed();
    W* halo = halo_to_fill();
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      add(there_, halo, n.received, own, n.sent, n.rank, 1);
      add(back_, own, n.sent, halo, n.received, n.rank, 2);
      own += n.sent;
      halo += n.received;
    }
    if (!messages_) return;
    for (Requests* requests : {&there_, &back_}) {  // the first time, for which they meet
      (void)channel_->anywhere(false);
      start(ctx, *requests);
      finish(ctx, *requests);
    }
  }
  ~Exchange() {
    if (!channel_->can_free()) {
      (void)buffers_.release();  // MPI may still write there
      return;
    }
    for (Requests* requests : {&there_, &back_})
      for (auto* of : {&requests->receives, &requests->sends})
        for (MPI_Request& request : *of) MPI_Request_free(&request);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// rows: which of the own rows are sent.
  void begin(const Context<Exec>& ctx, const Vector<index_t, Space>& rows, const W* x) {
    if (!is_device) start(there_.receives);
    on_each(ctx, static_cast<offset_t>(rows.extent(0)), Pack<W>{rows.data(), x, packed()});
    start_packed(ctx, there_);
  }
  /// [halo] entries of others, in the memory of the backend.
  const W* end(const Context<Exec>& ctx) {
    finish(ctx, there_);
    return arrived(ctx, buffers_->halo, halo_);
  }

  /// Where the halo's entries that go to their owners are to be left, before send_back. The backend reaches it.
  W* begin_back() {
    if (!is_device) start(back_.receives);
    return halo_to_fill();
  }
  void send_back(const Context<Exec>& ctx) { start_packed(ctx, back_); }
  /// [sent rows] what neighbours have for them, in the memory of the backend.
  const W* end_back(const Context<Exec>& ctx) {
    finish(ctx, back_);
    return arrived(ctx, buffers_->own, own_);
  }

 private:
  using Shared = Vector<W, SharedSpace<Space>>;
  struct Buffers {
    Shared own, halo;
  };
  struct Requests {
    std::vector<MPI_Request> receives, sends;
    std::vector<DeviceMessages::Part> receive_parts, send_parts;  ///< instead, between devices
  };

  /// @{
  /// Where what goes to others is left, and what came from them where it goes back.
  W* packed() { return messages_ ? own_.data() : buffers_->own.data(); }
  W* halo_to_fill() { return messages_ ? halo_.data() : buffers_->halo.data(); }
  /// @}
  const W* arrived(const Context<Exec>& ctx, const Shared& buffer,
                   const Vector<W, Space>& of_device) {
    if constexpr (is_device) {
      if (!messages_) Kokkos::deep_copy(ctx.execution_space_instance(), of_device, buffer);
      return of_device.data();
    } else {
      return buffer.data();
    }
  }

  void add(Requests& to, W* received, index_t receive, W* sent, index_t send, int rank, int tag) {
    if (messages_) {
      const auto part = [&](W* of, index_t n) {
        return DeviceMessages::Part{rank, of, sizeof(W) * static_cast<std::size_t>(n)};
      };
      if (receive > 0) to.receive_parts.push_back(part(received, receive));
      if (send > 0) to.send_parts.push_back(part(sent, send));
      return;
    }
    if (receive > 0) {
      to.receives.push_back(MPI_REQUEST_NULL);
      check_mpi(MPI_Recv_init(received, receive, mpi_type<W>(), rank, tag, channel_->comm(),
                              &to.receives.back()),
                "MPI_Recv_init");
    }
    if (send > 0) {
      to.sends.push_back(MPI_REQUEST_NULL);
      check_mpi(
          MPI_Send_init(sent, send, mpi_type<W>(), rank, tag, channel_->comm(), &to.sends.back()),
          "MPI_Send_init");
    }
  }
  static void start(std::vector<MPI_Request>& requests) {
    if (!requests.empty())
      check_mpi(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
  }
  /// With messages between devices.
  void start(const Context<Exec>& ctx, const Requests& requests) {
    messages_->begin(ctx.queue(), requests.send_parts, requests.receive_parts);
  }
  void start_packed(const Context<Exec>& ctx, Requests& requests) {
    if (messages_)
      start(ctx, requests);
    else
      is_device ? packed_.give(ctx) : start(requests.sends);
  }
  void finish(const Context<Exec>& ctx, Requests& requests) {
    if (messages_) return channel_->wait(*messages_);
    if (is_device) {
      packed_.wait(ctx);
      start(requests.receives);
      start(requests.sends);
    }
    channel_->wait(requests.receives.data(), static_cast<int>(requests.receives.size()));
    channel_->wait(requests.sends.data(), static_cast<int>(requests.sends.size()));
  }

  std::shared_ptr<Channel> channel_;
  std::shared_ptr<DeviceMessages> messages_;  ///< null: MPI
  std::unique_ptr<Buffers> buffers_;          ///< of MPI
  Vector<W, Space> own_, halo_;               ///< of a device
  Notice<Exec> packed_;                       ///< of a device
  Requests there_, back_;
};

}  // namespace cnc::detail
