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
/// whatever it did with the buffers before is done.
template <class W, class Exec>
class Exchange {
 public:
  using Space = typename Exec::memory_space;
  static constexpr bool is_device = !is_host_space<Space>;

  Exchange(std::shared_ptr<Channel> channel, const PartitionPlan& plan)
      : channel_(std::move(channel)), buffers_(std::make_unique<Buffers>()) {
    const auto buffer = [](const char* label, offset_t n) {
      return uninitialized<W, SharedSpace<Space>>(label, static_cast<std::size_t>(n));
    };
    Buffers& b = *buffers_;
    b.own = buffer("cnc::own_for_others", static_cast<offset_t>(plan.sent_rows.size()));
    b.halo = buffer("cnc::halo_of_others", plan.halo);
    own_ = copied(b.own);
    halo_ = copied(b.halo);
    W *own = b.own.data(), *halo = b.halo.data();
    for (const PartitionPlan::Neighbour& n : plan.neighbours) {
      add(there_, halo, n.received, own, n.sent, n.rank, 1);
      add(back_, own, n.sent, halo, n.received, n.rank, 2);
      own += n.sent;
      halo += n.received;
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
    on_each(ctx, static_cast<offset_t>(rows.extent(0)),
            Pack<W>{rows.data(), x, buffers_->own.data()});
    is_device ? packed_.give(ctx) : start(there_.sends);
  }
  /// [halo] entries of others, in the memory of the backend.
  const W* end(const Context<Exec>& ctx) {
    finish(ctx, there_);
    return arrived(ctx, buffers_->halo, halo_);
  }

  /// Where the halo's entries that go to their owners are to be left, before send_back. The backend reaches it.
  W* begin_back() {
    if (!is_device) start(back_.receives);
    return buffers_->halo.data();
  }
  void send_back(const Context<Exec>& ctx) { is_device ? packed_.give(ctx) : start(back_.sends); }
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
  };

  /// Room in the memory of a device for what comes in a buffer.
  static Vector<W, Space> copied(const Shared& buffer) {
    if constexpr (is_device)
      return uninitialized<W, Space>("cnc::arrived", buffer.extent(0));
    else
      return {};
  }
  static const W* arrived(const Context<Exec>& ctx, const Shared& buffer,
                          const Vector<W, Space>& copy) {
    if constexpr (is_device) {
      Kokkos::deep_copy(ctx.execution_space_instance(), copy, buffer);
      return copy.data();
    } else {
      return buffer.data();
    }
  }

  void add(Requests& to, W* received, index_t receive, W* sent, index_t send, int rank, int tag) {
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
  void finish(const Context<Exec>& ctx, Requests& requests) {
    if (is_device) {
      packed_.wait(ctx);
      start(requests.receives);
      start(requests.sends);
    }
    channel_->wait(requests.receives.data(), static_cast<int>(requests.receives.size()));
    channel_->wait(requests.sends.data(), static_cast<int>(requests.sends.size()));
  }

  std::shared_ptr<Channel> channel_;
  std::unique_ptr<Buffers> buffers_;
  Vector<W, Space> own_, halo_;
  Notice<Exec> packed_;  ///< of a device
  Requests there_, back_;
};

}  // namespace cnc::detail
