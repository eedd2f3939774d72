#pragma once

#include "distributed/halo_product.hpp"
#include "distributed/transposed_halo.hpp"
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

/// The other ranks of a matrix, over MPI, for solves in the memory of Exec. Devices of one machine write into each other's memory
/// where they reach it; else they send messages, by their vendor's library where CNC was built with it, or by an MPI that sees devices'
/// memory.
template <class T, class Exec>
class AmongRanks final : public OtherRanks {
 public:
  using Space = typename Exec::memory_space;

  /// Collective. The context outlives it.
  AmongRanks(const Context<Exec>& ctx, std::shared_ptr<const Halo<T>> halo)
      : ctx_(&ctx),
        lost_(zeroed<std::uint32_t, SharedSpace<Space>>("cnc::lost", 1)),
        channel_(halo->channel),
        sums_(opened_sums()),
        of_matrix_(ctx, std::move(halo), sums_.get(), way_) {}

  /// Other values in the same pattern, over the same channel. Collective.
  void take_values(std::shared_ptr<const Halo<T>> halo) {
    of_matrix_.take_values(std::move(halo));
    if (of_transpose_) of_transpose_->take_values(transposed(of_matrix_.halo()));
  }
  void lay_out_transpose() override {
    if (!of_transpose_)
      of_transpose_.emplace(*ctx_, transposed(of_matrix_.halo()), sums_.get(), way_);
  }

  /// Works with this context from now on.
  void use(const Context<Exec>& ctx) { ctx_ = &ctx; }

  bool is_over(const Channel& of_matrix) const { return &channel() == &of_matrix; }

  /// Whether there is one rank, for which a solve is what it is in one process.
  bool is_alone() const { return channel().size() == 1; }
  RankLink link() const {
    if (way_.messages) return RankLink::messages;
    if (goes_without_host()) return RankLink::devices;
    if (is_host_space<Space>) return RankLink::mpi;
    return way_.mpi_sees_devices ? RankLink::device_mpi : RankLink::through_host;
  }
  /// Of vectors that do not go into each other's memory.
  const DeviceWay& way() const { return way_; }
  /// Whether products and runs can, in vectors of either type.
  bool goes_without_host() const { return of_matrix_.goes_without_host(); }
  void let_device_wait(bool alone) override { channel().let_devices_wait(alone); }
  PeersOfRun peers() override {
    require_all();  // nobody is waited for twice
    return of_matrix_.peers();
  }
  PeersOfRun peers_of_transpose() override {
    require_all();
    return of_transpose_ ? of_transpose_->peers() : PeersOfRun();
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

  void begin(const float* x, bool transposed) override { product(transposed).begin(*ctx_, x); }
  void begin(const double* x, bool transposed) override { product(transposed).begin(*ctx_, x); }
  void end(float* y, bool transposed, const float* with) override {
    end_in(product(transposed), y, {}, with);
  }
  void end(double* y, bool transposed, const double* with) override {
    end_in(product(transposed), y, {}, with);
  }
  double dot_of_end() const override { return ended_->dot(); }
  void end_step(float* y, float factor, const float* of_row) override {
    end_in(of_matrix_, y, {factor, of_row}, static_cast<const float*>(nullptr));
  }
  void end_step(double* y, double factor, const double* of_row) override {
    end_in(of_matrix_, y, {factor, of_row}, static_cast<const double*>(nullptr));
  }

  offset_t number_of(index_t row) const override { return of_matrix_.halo().number_of(row); }
  offset_t all_rows() const override { return of_matrix_.halo().all_rows; }
  Cost halo_cost(int vector_bytes) const override { return of_matrix_.cost(vector_bytes); }

  /// Errors   DeviceError (a device of another rank was waited for in vain, as far as the queue has come, and no failure
  ///          there is known).
  void require_all() const {
    if (*static_cast<volatile std::uint32_t*>(lost_.data()) == 0) return;
    channel().hear_failures();
    throw DeviceError("exchange", ctx_->backend().name, unheard_peer);
  }

 private:
  Channel& channel() const { return *channel_; }

  /// Opens the best way by which devices add up sums, and, unless they write into each other's memory, the best one for entries of
  /// vectors. Collective, and the same on all ranks: null where sums take the host.
  std::unique_ptr<PeerSums<Exec>> opened_sums() {
    if (channel().allows(RankLink::devices))
      if (auto sums = PeerSums<Exec>::open(*ctx_, channel(), lost_.data())) return sums;
    if (!is_alone() && channel().allows(RankLink::messages)) {
      const bool have_kernels = !channel().anywhere(ctx_->backend().peers == nullptr);
      // Of backends that work on hosts those of devices, in tests.
      if (!is_host_space<Space> || have_kernels)
        way_.messages = channel().messages(ctx_->queue().device, is_host_space<Space>);
      if (way_.messages && have_kernels && are_of_one_model())
        return std::make_unique<PeerSums<Exec>>(channel());
    }
    if (!is_host_space<Space> && !way_.messages)
      way_.mpi_sees_devices =
          channel().allows(RankLink::device_mpi) && !channel().anywhere(!mpi_sees_devices());
    return nullptr;
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
    if (way_.messages && !channel().devices_wait()) channel().wait(*way_.messages);
  }

  HaloProduct<T, Exec>& product(bool transposed) {
    return transposed ? of_transpose_.value() : of_matrix_;
  }

  template <class W>
  void end_in(HaloProduct<T, Exec>& product, W* y, const RowScale<W>& scale, const W* with) {
    ended_ = &product;
    product.end(*ctx_, y, scale, with, [&] { wait_for_messages(); });
  }

  const Context<Exec>* ctx_;
  Vector<std::uint32_t, SharedSpace<Space>> lost_;  ///< a device of another rank
  DeviceWay way_;
  std::shared_ptr<Channel> channel_;
  std::unique_ptr<PeerSums<Exec>> sums_;  ///< null: they take the host
  HaloProduct<T, Exec> of_matrix_;
  std::optional<HaloProduct<T, Exec>> of_transpose_;  ///< once it is wanted
  const HaloProduct<T, Exec>* ended_ = nullptr;       ///< last, for dot_of_end
};

}  // namespace cnc::detail
