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

/// How entries of vectors go from one device to another where they do not write into each other's memory; of hosts: by MPI anyway.
struct DeviceWay {
  std::shared_ptr<DeviceMessages> messages;  ///< null: MPI
  bool mpi_sees_devices = false;             ///< MPI's; else through memory of the hosts
};

/// Sends own entries of vectors of W to the neighbours that have rows with them, by requests and buffers that are made once.
///
/// Where MPI sees memory of hosts alone, a device packs what is sent into it, and copies from it what has come. Messages of a device
/// by MPI are begun at the end, when the host sees that all is packed: by then the device has work that does not need them, and
/// whatever its queue did with the buffers before, such as reading what came last, is done. DeviceMessages go from one device's memory
/// to the other's beside the queue, and the host waits for them at the end, where it would hear of a rank that does not come.
template <class W, class Exec>
class Exchange {
 public:
  using Space = typename Exec::memory_space;
  static constexpr bool is_device = !is_host_space<Space>;

  /// Collective.
  Exchange(const Context<Exec>& ctx, std::shared_ptr<Channel> channel, const PartitionPlan& plan,
           const DeviceWay& way)
      : channel_(std::move(channel)),
        messages_(is_device ? way.messages : nullptr),
        through_host_(is_device && !way.messages && !way.mpi_sees_devices),
        buffers_(std::make_unique<Buffers>()) {
    const std::size_t sent = plan.sent_rows.size(), received = static_cast<std::size_t>(plan.halo);
    Buffers& b = *buffers_;
    b.halo = uninitialized<W, Space>("cnc::halo_of_others", received);
    if (through_host_) {
      b.own_on_host = uninitialized<W, SharedSpace<Space>>("cnc::own_for_others", sent);
      b.halo_on_host = uninitialized<W, SharedSpace<Space>>("cnc::halo_of_others", received);
    } else {
      b.own = uninitialized<W, Space>("cnc::own_for_others", sent);
    }
    W* own = packed();
    W* halo = through_host_ ? b.halo_on_host.data() : b.halo.data();
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      add(halo, n.received, own, n.sent, n.rank);
      own += n.sent;
      halo += n.received;
    }
    if (!messages_) return;
    (void)channel_->anywhere(false);  // the first time, for which they meet
    messages_->begin(ctx.queue(), send_parts_, receive_parts_);
    finish(ctx);
  }
  ~Exchange() {
    if (!channel_->can_free()) {
      if (!messages_) (void)buffers_.release();  // MPI may still write there
      return;
    }
    for (auto* requests : {&receives_, &sends_})
      for (MPI_Request& request : *requests) MPI_Request_free(&request);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// rows: which of the own rows are sent.
  void begin(const Context<Exec>& ctx, const Vector<index_t, Space>& rows, const W* x) {
    if (!is_device) start(receives_);
    on_each(ctx, static_cast<offset_t>(rows.extent(0)), Pack<W>{rows.data(), x, packed()});
    if (messages_)
      messages_->begin(ctx.queue(), send_parts_, receive_parts_);
    else
      is_device ? give_notice(ctx) : start(sends_);
  }
  /// [halo] entries of others, in the memory of the backend.
  const W* end(const Context<Exec>& ctx) {
    finish(ctx);
    const Buffers& b = *buffers_;
    if (through_host_) Kokkos::deep_copy(ctx.execution_space_instance(), b.halo, b.halo_on_host);
    return b.halo.data();
  }

 private:
  struct Buffers {
    Vector<W, Space> own, halo;
    /// Of a device through its host: instead of own, and beside halo.
    Vector<W, SharedSpace<Space>> own_on_host, halo_on_host;
  };

  /// Where what goes to others is left.
  W* packed() { return through_host_ ? buffers_->own_on_host.data() : buffers_->own.data(); }

  void add(W* received, index_t receive, W* sent, index_t send, int rank) {
    if (messages_) {
      const auto part = [&](W* of, index_t n) {
        return DeviceMessages::Part{rank, of, sizeof(W) * static_cast<std::size_t>(n)};
      };
      if (receive > 0) receive_parts_.push_back(part(received, receive));
      if (send > 0) send_parts_.push_back(part(sent, send));
      return;
    }
    constexpr int tag = 1;
    if (receive > 0) {
      receives_.push_back(MPI_REQUEST_NULL);
      check_mpi(MPI_Recv_init(received, receive, mpi_type<W>(), rank, tag, channel_->comm(),
                              &receives_.back()),
                "MPI_Recv_init");
    }
    if (send > 0) {
      sends_.push_back(MPI_REQUEST_NULL);
      check_mpi(
          MPI_Send_init(sent, send, mpi_type<W>(), rank, tag, channel_->comm(), &sends_.back()),
          "MPI_Send_init");
    }
  }
  static void start(std::vector<MPI_Request>& requests) {
    if (!requests.empty())
      check_mpi(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
  }
  void finish(const Context<Exec>& ctx) {
    if (messages_) return channel_->wait(*messages_);
    if (is_device) {
      wait_for_packed(ctx);
      start(receives_);
      start(sends_);
    }
    channel_->wait(receives_.data(), static_cast<int>(receives_.size()));
    channel_->wait(sends_.data(), static_cast<int>(sends_.size()));
  }

  /// Of what is packed: caches that keep stores from the host may keep them from MPI, too, until the queue is done.
  bool takes_notice() const { return host_sees_stores || through_host_; }
  void give_notice(const Context<Exec>& ctx) {
    if (takes_notice()) packed_.give(ctx);
  }
  void wait_for_packed(const Context<Exec>& ctx) {
    takes_notice() ? packed_.wait(ctx) : ctx.fence();
  }

  std::shared_ptr<Channel> channel_;
  std::shared_ptr<DeviceMessages> messages_;  ///< null: MPI
  bool through_host_;                         ///< of a device
  std::unique_ptr<Buffers> buffers_;
  Notice<Exec> packed_;  ///< of a device
  std::vector<MPI_Request> receives_, sends_;
  std::vector<DeviceMessages::Part> receive_parts_, send_parts_;  ///< instead, between devices
};

}  // namespace cnc::detail
