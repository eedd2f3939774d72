#pragma once

#include "distributed/exchange.hpp"
#include "distributed/peers.hpp"

#include <memory>
#include <optional>
#include <type_traits>

namespace cnc::detail {

/// SparseRows in the memory of a backend.
template <class T, class Space>
struct SparseRowsIn {
  index_t sums = 0;
  Vector<index_t, Space> rows, offsets, columns;
  Vector<T, Space> values;

  explicit SparseRowsIn(const SparseRows<T>& from)
      : sums(static_cast<index_t>(from.offsets.size()) - 1),
        rows(copied_there<Space>("cnc::ranks", from.rows)),
        offsets(copied_there<Space>("cnc::ranks", from.offsets)),
        columns(copied_there<Space>("cnc::ranks", from.columns)),
        values(copied_there<Space>("cnc::ranks", from.values)) {}
};

/// y[rows[i]] += the scale of the row times (the sum of row i times x), which is also left in added[i] beside with[rows[i]], where they
/// are wanted.
template <class T, class W>
struct AddRows {
  const index_t *rows, *offsets, *columns;
  const T* values;
  const W* x;
  W* y;
  const W* with;
  W *added, *beside;
  RowScale<W> scale;

  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    W sum = 0;
    for (index_t k = offsets[i]; k < offsets[i + 1]; ++k)
      sum += static_cast<W>(values[k]) * x[columns[k]];
    sum *= scale.of_row != nullptr ? scale.factor * scale.of_row[rows[i]] : scale.factor;
    y[rows[i]] += sum;
    if (with == nullptr) return;
    added[i] = sum;
    beside[i] = with[rows[i]];
  }
};

/// Products with the entries in columns of other ranks, of vectors in the memory of Exec.
template <class T, class Exec>
class HaloProduct {
 public:
  using Space = typename Exec::memory_space;

  /// Collective. sums: null where products take the host. They outlive it.
  HaloProduct(const Context<Exec>& ctx, std::shared_ptr<const Halo<T>> halo,
              const PeerSums<Exec>* sums, const DeviceWay& way)
      : halo_(std::move(halo)),
        sent_rows_(copied_there<Space>("cnc::ranks", halo_->plan.sent_rows)),
        rows_(halo_->rows),
        dot_(zeroed<double, SharedSpace<Space>>("cnc::halo_dot", 1)),
        in_double_(ctx, *halo_, rows_.sums, sums, way) {
    if constexpr (std::is_same_v<T, float>) in_float_.emplace(ctx, *halo_, rows_.sums, sums, way);
  }

  const Halo<T>& halo() const { return *halo_; }

  /// Other values in the same pattern, over the same channel.
  void take_values(std::shared_ptr<const Halo<T>> halo) {
    halo_ = std::move(halo);
    copy_there(rows_.values, halo_->rows.values);
    if (in_double_.peers) in_double_.peers->take_values(*halo_);
    if (in_float_ && in_float_->peers) in_float_->peers->take_values(*halo_);
  }

  /// Whether products and runs can, in vectors of either type.
  bool goes_without_host() const { return in_double_.peers && (!in_float_ || in_float_->peers); }
  PeersOfRun peers() const {
    PeersOfRun peers;
    if (in_double_.peers)
      std::get<const PeerOperand<double>*>(peers) = &in_double_.peers->operand();
    if (in_float_ && in_float_->peers)
      std::get<const PeerOperand<float>*>(peers) = &in_float_->peers->operand();
    return peers;
  }

  /// What others need of x goes on its way.
  template <class W>
  void begin(const Context<Exec>& ctx, const W* x) {
    For<W>& p = parts<W>();
    if (p.peers) return ctx.template vectors<W>().send_to_peers(ctx.queue(), p.peers->operand(), x);
    p.exchange.begin(ctx, sent_rows_, x);
  }
  /// y += scale times (the entries times their x), whose dot with `with`, where there is one, dot() tells. Between devices
  /// that go without the host `wait` is called before something is enqueued that waits for others.
  template <class W, class Wait>
  void end(const Context<Exec>& ctx, W* y, const RowScale<W>& scale, const W* with,
           const Wait& wait) {
    For<W>& p = parts<W>();
    const VectorOps<W>& ops = ctx.template vectors<W>();
    if (p.peers) {
      wait();
      return ops.add_from_peers(ctx.queue(), p.peers->operand(), y, scale, with, dot_.data());
    }
    const W* const x = p.exchange.end(ctx);
    on_each(ctx, rows_.sums,
            AddRows<T, W>{rows_.rows.data(), rows_.offsets.data(), rows_.columns.data(),
                          rows_.values.data(), x, y, with, p.added.data(), p.beside.data(), scale});
    if (with != nullptr)
      ops.dot(ctx.queue(), rows_.sums, p.added.data(), p.beside.data(), dot_.data());
  }
  double dot() const { return dot_(0); }

  /// Sums of these rows, read again and written, with their entries; and what is packed, sent, received and read.
  Cost cost(int vector_bytes) const {
    const double entries = double(halo_->rows.values.size()), rows = double(rows_.sums);
    const double vectors =
        2.0 * rows + 2.0 * double(halo_->plan.sent_rows.size()) + 2.0 * double(halo_->plan.halo);
    return {entries * (sizeof(T) + sizeof(index_t)) + 2.0 * rows * sizeof(index_t) +
                vectors * vector_bytes,
            2 * entries};
  }

 private:
  /// What it takes for vectors of W.
  template <class W>
  struct For {
    std::unique_ptr<Peers<W, Exec>> peers;  ///< null: products take the host
    Exchange<W, Exec> exchange;
    Vector<W, Space> added, beside;  ///< of a dot, by the rows of the halo

    For(const Context<Exec>& ctx, const Halo<T>& halo, index_t rows, const PeerSums<Exec>* sums,
        const DeviceWay& way)
        : exchange(ctx, halo.channel, halo.plan, way),
          added(uninitialized<W, Space>("cnc::added", static_cast<std::size_t>(rows))),
          beside(uninitialized<W, Space>("cnc::beside", static_cast<std::size_t>(rows))) {
      if (sums == nullptr) return;
      peers = way.messages
                  ? std::make_unique<Peers<W, Exec>>(ctx.queue(), halo, way.messages, *sums)
                  : Peers<W, Exec>::open(ctx, halo, sums->meeting());
    }
  };
  template <class W>
  For<W>& parts() {
    if constexpr (std::is_same_v<W, double>)
      return in_double_;
    else
      return *in_float_;
  }

  std::shared_ptr<const Halo<T>> halo_;
  Vector<index_t, Space> sent_rows_;
  SparseRowsIn<T, Space> rows_;
  Vector<double, SharedSpace<Space>> dot_;
  For<double> in_double_;
  std::optional<For<float>> in_float_;
};

}  // namespace cnc::detail
