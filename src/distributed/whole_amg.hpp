#pragma once

#include "distributed/among_ranks.hpp"
#include "distributed/coarsen.hpp"
#include "precondition/amg/build_cycle.hpp"

#include <cnc/distributed_amg.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

// The level of multigrid on several ranks from which on every rank has the whole.

namespace cnc::detail {

/// The whole of a level, as every rank then has it, in the host's memory. `order`: the ranks in that of their rows. Collective.
template <class V, class Space>
CsrMatrix<V> whole_of(const BlocksOnRanks<V, Space>& A, const std::vector<int>& order) {
  const Halo<V>& halo = *A.halo;
  Channel& channel = *halo.channel;
  const std::vector<offset_t> others = halo_columns(halo, halo.first_row);
  const auto own_offsets = copy_to<HostSpace>(A.own.row_offsets);
  const auto own_columns = copy_to<HostSpace>(A.own.columns);
  const auto own_values = copy_to<HostSpace>(A.own.values);
  const auto b = static_cast<std::size_t>(A.own.height);
  const auto rows = static_cast<std::size_t>(A.rows());
  std::vector<index_t> place(rows, -1);  // in the halo
  for (std::size_t k = 0; k < halo.rows.rows.size(); ++k)
    place[static_cast<std::size_t>(halo.rows.rows[k])] = static_cast<index_t>(k);
  const auto range_of = [](const auto& offsets, std::size_t i) {
    return std::make_pair(static_cast<std::size_t>(offsets[i]),
                          static_cast<std::size_t>(offsets[i + 1]));
  };
  const auto of_others = [&](std::size_t row) {
    if (place[row] < 0) return std::make_pair(std::size_t(0), std::size_t(0));
    return range_of(halo.rows.offsets, static_cast<std::size_t>(place[row]));
  };
  const auto lengths = uninitialized<index_t>("cnc::ranks", rows);
  std::vector<std::size_t> begins(rows);
  std::size_t entries = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto [begin, end] = range_of(own_offsets, row / b);
    const auto [first, last] = of_others(row);
    lengths(row) = static_cast<index_t>((end - begin) * b + last - first);
    begins[row] = entries;
    entries += static_cast<std::size_t>(lengths(row));
  }
  const auto columns = in_large_pages<index_t>("cnc::ranks", entries);
  const auto values = in_large_pages<V>("cnc::ranks", entries);
  parallel_for(rows, [&](std::size_t row) {
    std::size_t to = begins[row];
    const auto range = of_others(row);  // by numbers that ascend
    std::size_t next = range.first;
    const auto take_others = [&](auto is_next) {
      for (; next < range.second; ++next, ++to) {
        const offset_t column = others[static_cast<std::size_t>(halo.rows.columns[next])];
        if (!is_next(column)) return;
        columns(to) = static_cast<index_t>(column);
        values(to) = halo.rows.values[next];
      }
    };
    take_others([&](offset_t column) { return column < halo.first_row; });
    const auto [begin, end] = range_of(own_offsets, row / b);
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t c = 0; c < b; ++c, ++to) {
        columns(to) = static_cast<index_t>(halo.first_row + own_columns(k) * offset_t(b)) +
                      static_cast<index_t>(c);
        values(to) = own_values((k * b + row % b) * b + c);
      }
    take_others([](offset_t) { return true; });
  });
  const auto all_lengths = channel.share<index_t>(lengths, order);
  const auto all_columns = channel.share<index_t>(columns, order);
  const auto all_values = channel.share<V>(values, order);
  const auto n = static_cast<std::size_t>(halo.all_rows);
  const auto offsets = uninitialized<index_t>("cnc::row_offsets", n + 1);
  offsets(0) = 0;
  for (std::size_t row = 0; row < n; ++row) offsets(row + 1) = offsets(row) + all_lengths(row);
  CsrMatrix<V> whole(static_cast<index_t>(n), static_cast<index_t>(n), 1, offsets, all_columns,
                     all_values);
  whole.checked = Checked::ascending;
  return whole;
}

/// whole[i] := the own part in its place, else 0
template <class M, class V>
struct PlacePart {
  const M* own;
  offset_t first, count;
  V* whole;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    whole[i] = i >= first && i < first + count ? static_cast<V>(own[i - first]) : V(0);
  }
};

/// A small level of which every rank has the whole, and applies multigrid to all of it: what is its own of the result. In values
/// of M, set up in those of V.
template <class M, class V, class Exec>
class WholeAmg final : public PreconditionerBase<M, Exec> {
 public:
  using typename PreconditionerBase<M, Exec>::Space;

  WholeAmg(std::shared_ptr<Channel> channel, const AmgOptions& options)
      : channel_(std::move(channel)), amg_(options) {}

  /// Collective. The same outcome on all ranks. without_host: whether they may exchange without it.
  PreconditionerSetup take(Context<Exec>& ctx, const LevelOnRanks<V, Space>& level,
                           bool without_host) {
    const auto ranks = static_cast<std::size_t>(channel_->size());
    const OwnRange mine{level.A.halo->first_row, level.A.rows()};
    const OwnRange* const all = channel_->gather_all(&mine, 1);
    const std::vector<OwnRange> parts(all, all + ranks);
    std::vector<int> order(ranks);  // of their rows
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int r, int s) {
      return parts[static_cast<std::size_t>(r)].first < parts[static_cast<std::size_t>(s)].first;
    });
    counts_.clear();
    starts_.clear();
    for (const OwnRange& part : parts) {
      counts_.push_back(part.count);
      starts_.push_back(static_cast<int>(part.first));
    }
    const CsrMatrix<V> A = whole_of(level.A, order);
    const auto near_null = channel_->share<V>(copy_to<HostSpace>(level.near_null.rows), order);
    PreconditionerSetup outcome;
    channel_->on_each([&] {
      const auto n = static_cast<std::size_t>(A.rows);
      if (!level.near_null.is_one) {  // one vector of ones is what there is without any
        const auto k = static_cast<std::size_t>(level.near_null.vectors);
        std::vector<Vector<const V, Space>> vectors;
        for (std::size_t c = 0; c < k; ++c) {
          const auto vector = uninitialized<V>("cnc::near_null_space", n);
          for (std::size_t i = 0; i < n; ++i) vector(i) = near_null(i * k + c);
          vectors.push_back(copy_to<Space>(vector));
        }
        amg_.set_near_null_space(std::move(vectors));
      }
      const auto there = copy_to<Space>(A);
      const int b = level.A.own.height;
      outcome = amg_.set_up(
          ctx, there,
          b > 1 ? Matrix<V, Space>(copy_to<Space>(to_bcsr(A, b))) : Matrix<V, Space>(there));
      f_ = zeroed<V, Space>("cnc::amg", n);
      host_ = Kokkos::create_mirror_view(f_);
      x_ = zeroed<V, Space>("cnc::amg", n);
    });
    if (without_host)
      others_ = std::make_shared<AmongRanks<V, Exec>>(ctx, halo_of_whole<V>(channel_, parts));
    return outcome;
  }
  /// What it exchanges with other ranks, null where that takes the hosts.
  std::shared_ptr<const AmongRanks<V, Exec>> others() const { return others_; }
  const AmgHierarchy& hierarchy() const { return amg_.hierarchy(); }

  std::string name() const override { return "amg"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<M, Space>&,
                             const Matrix<M, Space>&) override {
    return {};
  }
  void apply(const Context<Exec>& ctx, const Vector<const M, Space>& r,
             const Vector<M, Space>& z) const override {
    const auto rank = static_cast<std::size_t>(channel_->rank());
    const index_t first = starts_[rank], count = counts_[rank];
    if (others_) {
      on_each(ctx, static_cast<offset_t>(f_.extent(0)),
              PlacePart<M, V>{r.data(), first, count, f_.data()});
      others_->begin(f_.data() + first, false);
      others_->end(f_.data(), false, static_cast<const V*>(nullptr));
    } else {
      gather(ctx, r);
    }
    amg_.apply(ctx, f_, x_);
    on_each(ctx, static_cast<offset_t>(z.extent(0)), ConvertTo<V, M>{x_.data() + first, z.data()});
  }

 private:
  /// f_ := all parts of r, through the hosts.
  void gather(const Context<Exec>& ctx, const Vector<const M, Space>& r) const {
    const Vector<const M> own = copy_to<HostSpace>(r);
    std::copy_n(channel_->gather_all(own.data(), counts_, starts_), host_.extent(0), host_.data());
    if constexpr (!is_host_space<Space>)
      Kokkos::deep_copy(ctx.execution_space_instance(), f_, host_);
  }

  std::shared_ptr<Channel> channel_;
  Amg<V, Exec> amg_;
  std::shared_ptr<AmongRanks<V, Exec>> others_;
  std::vector<int> counts_, starts_;            ///< of the rows of each rank
  Vector<V, Space> f_, x_;                      ///< of all rows
  typename Vector<V, Space>::HostMirror host_;  ///< f_, on a device
};

}  // namespace cnc::detail
