#pragma once

#include "copied_there.hpp"
#include "distributed/exchange.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace cnc::detail {

/// How entries of vectors go from one partition of the rows to another, as one rank has it.
struct MoveWay {
  PartitionPlan plan;
  std::vector<index_t> places;  ///< of the entries there: own entries here, or -1 - those received
};

/// How rows were dealt out anew.
struct Move {
  Partition partition = Partition::given;  ///< by what
  std::vector<int> rank_of_row;            ///< to whom the rows here went
  std::vector<index_t>
      order;  ///< of the rows that came, as own ones: their places when all came in the order of ranks
  MoveWay there, back;
};

/// to[k] := of what there was here and what came the entry that is at places[k]
template <class W>
struct TakePlaced {
  const index_t* places;
  const W *own, *received;
  W* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    const index_t place = places[k];
    to[k] = place >= 0 ? own[place] : received[-1 - place];
  }
};

/// Brings vectors of W from one partition to another.
template <class W, class Exec>
class VectorWay {
 public:
  using Space = typename Exec::memory_space;

  /// messages: between devices; null: MPI. Collective.
  VectorWay(const Context<Exec>& ctx, const std::shared_ptr<Channel>& channel, const MoveWay& way,
            const std::shared_ptr<DeviceMessages>& messages)
      : sent_rows_(copied_there<Space>("cnc::ranks", way.plan.sent_rows)),
        places_(copied_there<Space>("cnc::ranks", way.places)),
        exchange_(ctx, channel, way.plan, messages) {}

  std::size_t rows_there() const { return places_.extent(0); }
  /// Enqueues the last step. Collective.
  void bring(const Context<Exec>& ctx, const W* from, W* to) {
    exchange_.begin(ctx, sent_rows_, from);
    const W* const received = exchange_.end(ctx);
    on_each(ctx, static_cast<offset_t>(rows_there()),
            TakePlaced<W>{places_.data(), from, received, to});
  }

 private:
  Vector<index_t, Space> sent_rows_, places_;
  Exchange<W, Exec> exchange_;
};

/// b and x of solves, whose caller has them in the partition before a Move.
template <class V, class Exec>
struct MovedVectors {
  using Space = typename Exec::memory_space;

  /// As VectorWay.
  MovedVectors(const Context<Exec>& ctx, const std::shared_ptr<Channel>& channel, const Move& move,
               const std::shared_ptr<DeviceMessages>& messages)
      : there(ctx, channel, move.there, messages),
        back(ctx, channel, move.back, messages),
        b(uninitialized<V, Space>("cnc::moved", there.rows_there())),
        x(uninitialized<V, Space>("cnc::moved", there.rows_there())) {}

  VectorWay<V, Exec> there, back;
  Vector<V, Space> b, x;  ///< in the partition after it
};

}  // namespace cnc::detail
