#pragma once

#include "on_each.hpp"
#include "solve/other_ranks.hpp"

#include <cnc/vector.hpp>

#include <memory>

namespace cnc::detail {

/// norms[i] := *own where i is this rank, else 0
struct PlaceNorm {
  const double* own;
  int rank;
  double* norms;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { norms[i] = i == rank ? *own : 0; }
};
/// *largest := that of `count` norms; what is no number stays
struct TakeLargestNorm {
  int count;
  const double* norms;
  double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    double found = norms[0];
    for (int r = 1; r < count; ++r)
      if (found == found && !(norms[r] <= found)) found = norms[r];
    *largest = found;
  }
};

/// How ranks learn all norms without the host, where products go without it: every rank has all of a vector with one of each.
template <class Exec>
struct NormsOfRanks {
  std::shared_ptr<OtherRanks> ranks;
  Vector<double, typename Exec::memory_space> all;  ///< [ranks]
  int rank = 0;

  void take_largest(const Context<Exec>& ctx, double* norm) const {
    const auto count = static_cast<int>(all.extent(0));
    on_each(ctx, count, PlaceNorm{norm, rank, all.data()});
    ranks->begin(all.data() + rank, false);
    ranks->end(all.data(), false, nullptr);
    on_each(ctx, 1, TakeLargestNorm{count, all.data(), norm});
  }
};

}  // namespace cnc::detail
