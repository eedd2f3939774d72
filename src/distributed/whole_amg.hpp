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

/// The whole of a level, as every rank then has it, in the host's memory. Collective.
template <class V, class Space>
CsrMatrix<V> whole_of(const BlocksOnRanks<V, Space>& A) {
  const Halo<V>& halo = *A.halo;
  Channel& channel = *halo.channel;
  const std::vector<offset_t> others = halo_columns(halo, halo.first_row);
  const auto own_offsets = copy_to<HostSpace>(A.own.row_offsets);
  const auto own_columns = copy_to<HostSpace>(A.own.columns);
  const auto own_values = copy_to<HostSpace>(A.own.values);
  const auto b = static_cast<std::size_t>(A.own.height);
  const auto rows = static_cast<std::size_t>(A.rows());
  std::vector<index_t> lengths(rows), place(rows, -1);  // in the halo
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
  for (std::size_t row = 0; row < rows; ++row) {
    const auto [begin, end] = range_of(own_offsets, row / b);
    const auto [first, last] = of_others(row);
    lengths[row] = static_cast<index_t>((end - begin) * b + last - first);
  }
  std::vector<std::size_t> ends(rows);
  std::inclusive_scan(lengths.begin(), lengths.end(), ends.begin(), std::plus<>(), std::size_t(0));
  const std::size_t all = rows > 0 ? ends.back() : 0;
  std::vector<index_t> columns(all);
  std::vector<V> values(all);
  parallel_for(rows, [&](std::size_t row) {
    std::size_t to = ends[row] - static_cast<std::size_t>(lengths[row]);
    const auto [begin, end] = range_of(own_offsets, row / b);
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t c = 0; c < b; ++c, ++to) {
        columns[to] = static_cast<index_t>(halo.first_row + own_columns(k) * offset_t(b)) +
                      static_cast<index_t>(c);
        values[to] = own_values((k * b + row % b) * b + c);
      }
    const auto [first, last] = of_others(row);
    for (std::size_t k = first; k < last; ++k, ++to) {
      columns[to] = static_cast<index_t>(others[static_cast<std::size_t>(halo.rows.columns[k])]);
      values[to] = halo.rows.values[k];
    }
  });
  const auto ranks = static_cast<std::size_t>(channel.size());
  const offset_t* const first_rows = channel.gather_all(&halo.first_row, 1);
  const std::vector<offset_t> firsts(first_rows, first_rows + ranks);
  const auto all_lengths = channel.share_lists(lengths);
  const auto all_columns = channel.share_lists(columns);
  const auto all_values = channel.share_lists(values);

  std::vector<std::size_t> in_order(ranks);  // of their rows
  std::iota(in_order.begin(), in_order.end(), std::size_t(0));
  std::stable_sort(in_order.begin(), in_order.end(),
                   [&](std::size_t a, std::size_t c) { return firsts[a] < firsts[c]; });
  std::size_t entries = 0;
  for (const auto& of_rank : all_values) entries += of_rank.size();
  require_offset<index_t>(static_cast<offset_t>(entries), "entries of a coarse level");
  const auto n = static_cast<std::size_t>(halo.all_rows);
  const auto offsets = uninitialized<index_t>("cnc::row_offsets", n + 1);
  const auto whole_columns = uninitialized<index_t>("cnc::columns", entries);
  const auto whole_values = uninitialized<V>("cnc::values", entries);
  std::size_t row = 0, to = 0;
  offsets(0) = 0;
  for (const std::size_t r : in_order) {
    std::copy(all_columns[r].begin(), all_columns[r].end(), whole_columns.data() + to);
    std::copy(all_values[r].begin(), all_values[r].end(), whole_values.data() + to);
    to += all_values[r].size();
    for (const index_t length : all_lengths[r]) {
      offsets(row + 1) = offsets(row) + length;
      ++row;
    }
  }
  return CsrMatrix<V>(static_cast<index_t>(n), static_cast<index_t>(n), 1, offsets, whole_columns,
                      whole_values);
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

  /// Collective. The same outcome on all ranks. among_devices: whether they may reach each other's memory.
  PreconditionerSetup take(Context<Exec>& ctx, const LevelOnRanks<V, Space>& level,
                           bool among_devices) {
    const auto ranks = static_cast<std::size_t>(channel_->size());
    const OwnRange mine{level.A.halo->first_row, level.A.rows()};
    const OwnRange* const all = channel_->gather_all(&mine, 1);
    parts_.assign(all, all + ranks);
    index_t most = 0;
    for (const OwnRange& part : parts_) most = std::max(most, part.count);
    const CsrMatrix<V> A = whole_of(level.A);
    const int k = level.near_null.vectors;
    const auto of_rows = copy_to<HostSpace>(level.near_null.rows);
    const auto near_null =
        channel_->share_lists(std::vector<V>(of_rows.data(), of_rows.data() + of_rows.extent(0)));
    PreconditionerSetup outcome;
    channel_->on_each([&] {
      const auto n = static_cast<std::size_t>(A.rows);
      std::vector<Vector<const V, Space>> vectors;
      for (int c = 0; c < k; ++c) {
        const auto vector = uninitialized<V>("cnc::near_null_space", n);
        for (std::size_t r = 0; r < ranks; ++r)
          for (offset_t i = 0; i < parts_[r].count; ++i)
            vector(static_cast<std::size_t>(parts_[r].first + i)) =
                near_null[r][static_cast<std::size_t>(i * k + c)];
        vectors.push_back(copy_to<Space>(vector));
      }
      // One vector of ones is what there is without any.
      if (!level.near_null.is_one) amg_.set_near_null_space(std::move(vectors));
      const Matrix<V> layout =
          level.A.own.height > 1 ? Matrix<V>(to_bcsr(A, level.A.own.height)) : Matrix<V>(A);
      outcome = amg_.set_up(
          ctx, copy_to<Space>(A),
          std::visit([](const auto& a) { return Matrix<V, Space>(copy_to<Space>(a)); }, layout));
      f_ = zeroed<V, Space>("cnc::amg", n);
      host_ = Kokkos::create_mirror_view(f_);
      x_ = zeroed<V, Space>("cnc::amg", n);
      padded_.assign(static_cast<std::size_t>(most), V(0));
    });
    if (among_devices)
      others_ = std::make_shared<AmongRanks<V, Exec>>(ctx, halo_of_whole<V>(channel_, parts_));
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
    const auto [first, count] = parts_[static_cast<std::size_t>(channel_->rank())];
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
    std::copy_n(own.data(), own.extent(0), padded_.begin());
    const V* from = channel_->gather_all(padded_.data(), static_cast<int>(padded_.size()));
    for (const OwnRange& part : parts_) {
      std::copy_n(from, part.count, host_.data() + part.first);
      from += padded_.size();
    }
    if constexpr (!is_host_space<Space>)
      Kokkos::deep_copy(ctx.execution_space_instance(), f_, host_);
  }

  std::shared_ptr<Channel> channel_;
  Amg<V, Exec> amg_;
  std::shared_ptr<AmongRanks<V, Exec>> others_;
  std::vector<OwnRange> parts_;                 ///< of the ranks
  Vector<V, Space> f_, x_;                      ///< of all rows
  typename Vector<V, Space>::HostMirror host_;  ///< f_, on a device
  mutable std::vector<V> padded_;               ///< as many as the largest part has
};

}  // namespace cnc::detail
