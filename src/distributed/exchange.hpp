#pragma once

#include "distributed/channel.hpp"
#include "parallel.hpp"

#include <memory>
#include <vector>

namespace cnc::detail {

/// Who gets what of a vector that lies on several ranks. What goes to a neighbour, and what comes from him, are neighbouring
/// places in buffers that hold it for all neighbours, in the order of ranks.
struct HaloPlan {
  struct Neighbour {
    int rank = 0;
    index_t sent = 0, received = 0;  ///< entries
  };
  std::vector<Neighbour> neighbours;
  std::vector<index_t> sent_rows;  ///< own rows, for one neighbour after the other
  index_t halo = 0;                ///< entries received
};

/// Sends own entries of vectors of W to the neighbours that have rows with them, or brings back what these rows add to
/// them, by requests and buffers that are made once.
template <class W>
class Exchange {
 public:
  Exchange(std::shared_ptr<Channel> channel, const HaloPlan& plan)
      : channel_(std::move(channel)), plan_(plan), buffers_(std::make_unique<Buffers>()) {
    buffers_->own.resize(plan.sent_rows.size());
    buffers_->halo.resize(static_cast<std::size_t>(plan.halo));
    W* own = buffers_->own.data();
    W* halo = buffers_->halo.data();
    for (const HaloPlan::Neighbour& n : plan.neighbours) {
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

  /// [halo] entries of others
  const std::vector<W>& halo() const { return buffers_->halo; }
  std::vector<W>& halo() { return buffers_->halo; }

  void begin(const W* x, int threads) {
    start(there_.receives);
    const auto sent = static_cast<offset_t>(plan_.sent_rows.size());
    const index_t* const rows = plan_.sent_rows.data();
    W* const to = buffers_->own.data();
    parallel_ranges(sent, threads_for(sent, threads), [=](offset_t begin, offset_t end, int) {
      for (offset_t k = begin; k < end; ++k) to[k] = x[rows[k]];
    });
    start(there_.sends);
  }
  /// halo() is there.
  void end() { wait(there_); }

  void begin_back() { start(back_.receives); }
  /// halo() is what they get.
  void send_back() { start(back_.sends); }
  void end_back(W* y) {
    wait(back_);
    // Neighbours may add to the same row: in their order.
    for (std::size_t k = 0; k < plan_.sent_rows.size(); ++k)
      y[plan_.sent_rows[k]] += buffers_->own[k];
  }

 private:
  struct Buffers {
    std::vector<W> own, halo;
  };
  struct Requests {
    std::vector<MPI_Request> receives, sends;
  };

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
  void wait(Requests& requests) {
    channel_->wait(requests.receives.data(), static_cast<int>(requests.receives.size()));
    channel_->wait(requests.sends.data(), static_cast<int>(requests.sends.size()));
  }

  std::shared_ptr<Channel> channel_;
  const HaloPlan& plan_;
  std::unique_ptr<Buffers> buffers_;
  Requests there_, back_;
};

}  // namespace cnc::detail
