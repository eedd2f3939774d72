#pragma once

#include "copied_there.hpp"
#include "distributed/exchange.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace cnc::detail {

/// How entries of vectors go from one partition of the rows to another, as one rank has it.
struct MoveWay {
  PartitionPlan plan;
  std::vector<index_t> places;  ///< of the entries there: own entries here, or -1 - those received
};

/// How the rows of a matrix were moved to other ranks, or in their own.
struct Move {
  std::vector<int> rank_of_row;  ///< of the rows before: who has them now
  MoveWay there, back;           ///< of vectors
  /// Of the entries now, those of the block and those beside it: their places among all that came, rank after rank and row after row.
  Vector<index_t> places_in_block;
  std::vector<index_t> places_in_halo;
};

/// The values of A, which has the partition, the pattern and the ranks of the matrix that was moved, in the pattern of what that became;
/// over the communicator of A. Collective.
template <class T>
PartitionedMatrix<T> moved_values(const PartitionedMatrix<T>& A, const PartitionedMatrix<T>& to,
                                  const Move& move);

/// Rows that a reordering keeps together, by the pattern of the own block, whose values are ones.
using RowsTogether = std::function<int(const CsrMatrix<float>&)>;

/// A.repartitioned, where rows_together says what `within` keeps together; knows how it came about (PartitionAccess::move). Collective.
template <class T>
PartitionedMatrix<T> moved(const PartitionedMatrix<T>& A, const PartitionOptions& options,
                           Reordering within, const RowsTogether& rows_together);

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

  /// Collective.
  VectorWay(const Context<Exec>& ctx, const std::shared_ptr<Channel>& channel, const MoveWay& way,
            const DeviceWay& of_devices)
      : sent_rows_(copied_there<Space>("cnc::ranks", way.plan.sent_rows)),
        places_(copied_there<Space>("cnc::ranks", way.places)),
        exchange_(ctx, channel, way.plan, of_devices) {}

  std::size_t rows_there() const { return places_.extent(0); }
  /// The vector as it is there. As bring.
  Vector<W, Space> brought(const Context<Exec>& ctx, const Vector<const W, Space>& from) {
    const auto to = uninitialized<W, Space>("cnc::moved", rows_there());
    bring(ctx, from.data(), to.data());
    return to;
  }
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
               const DeviceWay& way)
      : there(ctx, channel, move.there, way),
        back(ctx, channel, move.back, way),
        b(uninitialized<V, Space>("cnc::moved", there.rows_there())),
        x(uninitialized<V, Space>("cnc::moved", there.rows_there())) {}

  VectorWay<V, Exec> there, back;
  Vector<V, Space> b, x;  ///< in the partition after it
};

}  // namespace cnc::detail
