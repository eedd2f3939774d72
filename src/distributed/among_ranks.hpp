#pragma once

#include "distributed/halo_product.hpp"
#include "solve/other_ranks.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cnc::detail {

/// The other ranks of a matrix, over MPI, for solves in the memory of Exec. Devices of one machine write into each other's memory
/// where they reach it; else they send messages, by their vendor's library where CNC was built with it, or by an MPI that sees devices'
/// memory.
template <class T, class Exec>
class AmongRanks final : public OtherRanks {
 public:
  using Space = typename Exec::memory_space;

  /// Collective. The context outlives it.
  AmongRanks(const Context<Exec>& ctx, std::shared_ptr<const Halo<T>> halo);
  ~AmongRanks() override;

  /// Other values in the same pattern, over the same channel. Collective.
  void take_values(std::shared_ptr<const Halo<T>> halo);
  void lay_out_transpose() override;

  /// Works with this context from now on.
  void use(const Context<Exec>& ctx) { ctx_ = &ctx; }

  bool is_over(const Channel& of_matrix) const { return channel_.get() == &of_matrix; }

  /// Whether there is one rank, for which a solve is what it is in one process.
  bool is_alone() const { return channel_->size() == 1; }
  RankLink link() const;
  /// Of vectors that do not go into each other's memory.
  const DeviceWay& way() const { return way_; }
  /// Whether products and runs can, in vectors of either type.
  bool goes_without_host() const;
  void let_device_wait(bool alone) override;
  PeersOfRun peers() override;
  PeersOfRun peers_of_transpose() override;

  void add_up(double* values, int count) override;
  void take_largest(double* values, int count) override;
  double of_first(double value) override;
  std::string first_text(const std::string& mine) override;

  void begin(const float* x, bool transposed) override;
  void begin(const double* x, bool transposed) override;
  void end(float* y, bool transposed, const float* with) override;
  void end(double* y, bool transposed, const double* with) override;
  double dot_of_end() const override;
  void end_step(float* y, float factor, const float* of_row) override;
  void end_step(double* y, double factor, const double* of_row) override;

  offset_t number_of(index_t row) const override;
  offset_t all_rows() const override;
  Cost halo_cost(int vector_bytes) const override;

  /// Errors   DeviceError (a device of another rank was waited for in vain, as far as the queue has come, and no failure
  ///          there is known).
  void require_all() const;

 private:
  /// Opens the best way by which devices add up sums, and, unless they write into each other's memory, the best one for entries of
  /// vectors. Collective, and the same on all ranks: null where sums take the host.
  std::unique_ptr<PeerSums<Exec>> opened_sums();
  /// Whether all ranks' devices are: each works out scalars for itself, which must be rounded alike.
  bool are_of_one_model() const;
  /// Where the host hears of a rank that does not come, before what it enqueues waits for that.
  void wait_for_messages();
  HaloProduct<T, Exec>& product(bool transposed);
  template <class W>
  void end_in(HaloProduct<T, Exec>& product, W* y, const RowScale<W>& scale, const W* with);

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
