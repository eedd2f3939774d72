#pragma once

#include "distributed/exchange.hpp"
#include "distributed/peers.hpp"
#include "solve/other_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

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

/// y[rows[i]] += factor of_row[rows[i]] (the sum of row i times x), which is also left in added[i] beside with[rows[i]], where they
/// are wanted. Without `rows` y[i] := the sum.
template <class T, class W>
struct AddRows {
  const index_t *rows, *offsets, *columns;
  const T* values;  ///< null: ones
  const W* x;
  W* y;
  const W* with;
  W *added, *beside;
  W factor = 1;
  const W* of_row = nullptr;  ///< null: ones

  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    W sum = 0;
    for (index_t k = offsets[i]; k < offsets[i + 1]; ++k)
      sum += (values != nullptr ? static_cast<W>(values[k]) : W(1)) * x[columns[k]];
    if (rows == nullptr) {
      y[i] = sum;
      return;
    }
    y[rows[i]] += of_row != nullptr ? factor * of_row[rows[i]] * sum : factor * sum;
    if (with == nullptr) return;
    added[i] = sum;
    beside[i] = with[rows[i]];
  }
};

/// The other ranks of a matrix, over MPI, for solves in the memory of Exec. Devices of one machine write into each other's memory
/// where they reach it; else they send messages where CNC was built with their vendor's library for that.
template <class T, class Exec>
class AmongRanks final : public OtherRanks {
 public:
  using Space = typename Exec::memory_space;

  /// Collective. The context outlives it.
  AmongRanks(const Context<Exec>& ctx, std::shared_ptr<const Halo<T>> halo)
      : ctx_(&ctx),
        halo_(std::move(halo)),
        sent_rows_(copied_there<Space>("cnc::ranks", halo_->plan.sent_rows)),
        rows_(halo_->rows),
        lost_(zeroed<std::uint32_t, SharedSpace<Space>>("cnc::lost", 1)),
        sums_(opened_sums()),
        dot_(zeroed<double, SharedSpace<Space>>("cnc::halo_dot", 1)),
        in_double_(ctx, *halo_, rows_.sums, sums_.get(), messages_) {
    if constexpr (std::is_same_v<T, float>)
      in_float_.emplace(ctx, *halo_, rows_.sums, sums_.get(), messages_);
  }

  /// Other values in the same pattern, over the same channel.
  void take_values(std::shared_ptr<const Halo<T>> halo) {
    halo_ = std::move(halo);
    copy_there(rows_.values, halo_->rows.values);
    to_owners_.reset();
    from_others_.reset();
    if (in_double_.peers) in_double_.peers->take_values(*halo_);
    if (in_float_ && in_float_->peers) in_float_->peers->take_values(*halo_);
  }

  /// Works with this context from now on.
  void use(const Context<Exec>& ctx) { ctx_ = &ctx; }

  bool is_over(const Channel& of_matrix) const { return &channel() == &of_matrix; }

  /// Whether there is one rank, for which a solve is what it is in one process.
  bool is_alone() const { return channel().size() == 1; }
  RankLink link() const {
    if (messages_) return RankLink::messages;
    if (goes_without_host()) return RankLink::devices;
    return is_host_space<Space> ? RankLink::mpi : RankLink::through_host;
  }
  /// Whether products and runs can, in vectors of either type.
  bool goes_without_host() const { return in_double_.peers && (!in_float_ || in_float_->peers); }
  void let_device_wait(bool alone) override { channel().let_devices_wait(alone); }
  PeersOfRun peers() override {
    require_all();  // nobody is waited for twice
    PeersOfRun peers;
    if (in_double_.peers)
      std::get<const PeerOperand<double>*>(peers) = &in_double_.peers->operand();
    if (in_float_ && in_float_->peers)
      std::get<const PeerOperand<float>*>(peers) = &in_float_->peers->operand();
    return peers;
  }

  void add_up(double* values, int count) override {
    require_all();
    const double* const all = channel().gather_all(values, count);
    for (int k = 0; k < count; ++k) {
      double sum = all[k];
      for (int r = 1; r < channel().size(); ++r) sum += all[r * count + k];
      values[k] = sum;
    }
  }
  void take_largest(double* values, int count) override {
    const double* const all = channel().gather_all(values, count);
    for (int k = 0; k < count; ++k) {
      double largest = all[k];
      for (int r = 1; r < channel().size(); ++r)
        if (!std::isnan(largest) && !(all[r * count + k] <= largest)) largest = all[r * count + k];
      values[k] = largest;
    }
  }
  double of_first(double value) override { return channel().gather_all(&value, 1)[0]; }
  std::string first_text(const std::string& mine) override {
    const Text text(mine);
    const Text* const all = channel().gather_all(&text, 1);
    const Text* const first = std::find_if(all, all + channel().size(),
                                           [](const Text& t) { return t.characters[0] != 0; });
    return first == all + channel().size() ? "" : first->characters;
  }

  void begin(const float* x, bool transposed) override { begin_in(x, transposed); }
  void begin(const double* x, bool transposed) override { begin_in(x, transposed); }
  void end(float* y, bool transposed, const float* with) override { end_in(y, transposed, with); }
  void end(double* y, bool transposed, const double* with) override { end_in(y, transposed, with); }
  double dot_of_end() const override { return dot_(0); }
  void end_step(float* y, float factor, const float* of_row) override {
    end_step_in(y, factor, of_row);
  }
  void end_step(double* y, double factor, const double* of_row) override {
    end_step_in(y, factor, of_row);
  }

  offset_t number_of(index_t row) const override { return halo_->number_of(row); }
  offset_t all_rows() const override { return halo_->all_rows; }
  /// Sums of these rows, read again and written, with their entries; and what is packed, sent, received and read.
  Cost halo_cost(int vector_bytes) const override {
    const double entries = double(halo_->rows.values.size()), rows = double(rows_.sums);
    const double vectors =
        2.0 * rows + 2.0 * double(halo_->plan.sent_rows.size()) + 2.0 * double(halo_->plan.halo);
    return {entries * (sizeof(T) + sizeof(index_t)) + 2.0 * rows * sizeof(index_t) +
                vectors * vector_bytes,
            2 * entries};
  }

  /// Errors   DeviceError (a device of another rank was waited for in vain, as far as the queue has come, and no failure
  ///          there is known).
  void require_all() const {
    if (*static_cast<volatile std::uint32_t*>(lost_.data()) == 0) return;
    channel().hear_failures();
    throw DeviceError("exchange", ctx_->backend().name, unheard_peer);
  }

 private:
  Channel& channel() const { return *halo_->channel; }

  /// Opens the best way by which devices add up sums, and messages where these are the way. Collective, and the same on all ranks:
  /// null where sums take the host.
  std::unique_ptr<PeerSums<Exec>> opened_sums() {
    if (channel().allows(RankLink::devices))
      if (auto sums = PeerSums<Exec>::open(*ctx_, channel(), lost_.data())) return sums;
    if (is_alone() || !channel().allows(RankLink::messages)) return nullptr;
    // Of backends that work on hosts those of devices, in tests.
    const bool have_kernels = !channel().anywhere(ctx_->backend().peers == nullptr);
    if (is_host_space<Space> && !have_kernels) return nullptr;
    messages_ = channel().messages(ctx_->queue().device, is_host_space<Space>);
    return messages_ && have_kernels && are_of_one_model()
               ? std::make_unique<PeerSums<Exec>>(channel())
               : nullptr;
  }
  /// Whether all ranks' devices are: each works out scalars for itself, which must be rounded alike.
  bool are_of_one_model() const {
    const Text mine(ctx_->backend().availability().detail);
    const Text* const all = channel().gather_all(&mine, 1);
    return std::all_of(all, all + channel().size(), [&](const Text& text) {
      return std::strcmp(text.characters, all[0].characters) == 0;
    });
  }
  /// Where the host hears of a rank that does not come, before what it enqueues waits for that.
  void wait_for_messages() {
    if (messages_ && !channel().devices_wait()) channel().wait(*messages_);
  }

  /// What it takes for vectors of W.
  template <class W>
  struct For {
    std::unique_ptr<Peers<W, Exec>> peers;  ///< null: products take the host
    Exchange<W, Exec> exchange;
    Vector<W, Space> added, beside;  ///< of a dot, by the rows of the halo

    For(const Context<Exec>& ctx, const Halo<T>& halo, index_t rows, const PeerSums<Exec>* sums,
        const std::shared_ptr<DeviceMessages>& messages)
        : exchange(ctx, halo.channel, halo.plan, is_host_space<Space> ? nullptr : messages),
          added(uninitialized<W, Space>("cnc::added", static_cast<std::size_t>(rows))),
          beside(uninitialized<W, Space>("cnc::beside", static_cast<std::size_t>(rows))) {
      if (sums == nullptr) return;
      peers = messages ? std::make_unique<Peers<W, Exec>>(ctx.queue(), halo, messages, *sums)
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

  template <class W>
  void add_rows(const SparseRowsIn<T, Space>& of, const W* x, W* y, const W* with, W factor = 1,
                const W* of_row = nullptr) {
    on_each(
        *ctx_, of.sums,
        AddRows<T, W>{of.rows.extent(0) > 0 ? of.rows.data() : nullptr, of.offsets.data(),
                      of.columns.data(), of.values.extent(0) > 0 ? of.values.data() : nullptr, x, y,
                      with, parts<W>().added.data(), parts<W>().beside.data(), factor, of_row});
  }

  template <class W>
  void begin_in(const W* x, bool transposed) {
    For<W>& p = parts<W>();
    Exchange<W, Exec>& with_others = p.exchange;
    if (!transposed && p.peers)
      return ctx_->template vectors<W>().send_to_peers(ctx_->queue(), p.peers->operand(), x);
    if (!transposed) return with_others.begin(*ctx_, sent_rows_, x);
    if (!to_owners_) {
      to_owners_.emplace(detail::transposed(halo_->rows, halo_->plan.halo));
      from_others_.emplace(gathered<T>(halo_->plan.sent_rows, halo_->columns));
    }
    add_rows<W>(*to_owners_, x, with_others.begin_back(), nullptr);
    with_others.send_back(*ctx_);
  }
  template <class W>
  void end_in(W* y, bool transposed, const W* with) {
    For<W>& p = parts<W>();
    const VectorOps<W>& ops = ctx_->template vectors<W>();
    if (transposed) return add_rows<W>(*from_others_, p.exchange.end_back(*ctx_), y, nullptr);
    if (p.peers) {
      wait_for_messages();
      return ops.add_from_peers(ctx_->queue(), p.peers->operand(), y, {}, with, dot_.data());
    }
    add_rows<W>(rows_, p.exchange.end(*ctx_), y, with);
    if (with != nullptr)
      ops.dot(ctx_->queue(), rows_.sums, p.added.data(), p.beside.data(), dot_.data());
  }

  template <class W>
  void end_step_in(W* y, W factor, const W* of_row) {
    For<W>& p = parts<W>();
    if (p.peers) {
      wait_for_messages();
      return ctx_->template vectors<W>().add_from_peers(ctx_->queue(), p.peers->operand(), y,
                                                        {factor, of_row}, nullptr, dot_.data());
    }
    add_rows<W>(rows_, p.exchange.end(*ctx_), y, nullptr, factor, of_row);
  }

  const Context<Exec>* ctx_;
  std::shared_ptr<const Halo<T>> halo_;
  Vector<index_t, Space> sent_rows_;
  SparseRowsIn<T, Space> rows_;
  std::optional<SparseRowsIn<T, Space>> to_owners_, from_others_;  ///< once a transpose is wanted
  Vector<std::uint32_t, SharedSpace<Space>> lost_;                 ///< a device of another rank
  std::shared_ptr<DeviceMessages> messages_;  ///< null: MPI, or in each other's memory
  std::unique_ptr<PeerSums<Exec>> sums_;      ///< null: they take the host
  Vector<double, SharedSpace<Space>> dot_;
  For<double> in_double_;
  std::optional<For<float>> in_float_;
};

}  // namespace cnc::detail
