#include "distributed/among_ranks.hpp"

#include "distributed/transposed_halo.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace cnc::detail {

template <class T, class Exec>
AmongRanks<T, Exec>::AmongRanks(const Context<Exec>& ctx, std::shared_ptr<const Halo<T>> halo)
    : ctx_(&ctx),
      lost_(zeroed<std::uint32_t, SharedSpace<Space>>("cnc::lost", 1)),
      channel_(halo->channel),
      sums_(opened_sums()),
      of_matrix_(ctx, std::move(halo), sums_.get(), way_) {}
template <class T, class Exec>
AmongRanks<T, Exec>::~AmongRanks() = default;

template <class T, class Exec>
void AmongRanks<T, Exec>::take_values(std::shared_ptr<const Halo<T>> halo) {
  of_matrix_.take_values(std::move(halo));
  if (of_transpose_) of_transpose_->take_values(transposed(of_matrix_.halo()));
}
template <class T, class Exec>
void AmongRanks<T, Exec>::lay_out_transpose() {
  if (!of_transpose_)
    of_transpose_.emplace(*ctx_, transposed(of_matrix_.halo()), sums_.get(), way_);
}

template <class T, class Exec>
RankLink AmongRanks<T, Exec>::link() const {
  if (way_.messages) return RankLink::messages;
  if (goes_without_host()) return RankLink::devices;
  if (is_host_space<Space>) return RankLink::mpi;
  return way_.mpi_sees_devices ? RankLink::device_mpi : RankLink::through_host;
}
template <class T, class Exec>
bool AmongRanks<T, Exec>::goes_without_host() const {
  return of_matrix_.goes_without_host();
}
template <class T, class Exec>
void AmongRanks<T, Exec>::let_device_wait(bool alone) {
  channel_->let_devices_wait(alone);
}
template <class T, class Exec>
PeersOfRun AmongRanks<T, Exec>::peers() {
  require_all();  // nobody is waited for twice
  return of_matrix_.peers();
}
template <class T, class Exec>
PeersOfRun AmongRanks<T, Exec>::peers_of_transpose() {
  require_all();
  return of_transpose_ ? of_transpose_->peers() : PeersOfRun();
}

template <class T, class Exec>
void AmongRanks<T, Exec>::add_up(double* values, int count) {
  require_all();
  const double* const all = channel_->gather_all(values, count);
  for (int k = 0; k < count; ++k) {
    double sum = all[k];
    for (int r = 1; r < channel_->size(); ++r) sum += all[r * count + k];
    values[k] = sum;
  }
}
template <class T, class Exec>
void AmongRanks<T, Exec>::take_largest(double* values, int count) {
  const double* const all = channel_->gather_all(values, count);
  for (int k = 0; k < count; ++k) {
    double largest = all[k];
    for (int r = 1; r < channel_->size(); ++r)
      if (!std::isnan(largest) && !(all[r * count + k] <= largest)) largest = all[r * count + k];
    values[k] = largest;
  }
}
template <class T, class Exec>
double AmongRanks<T, Exec>::of_first(double value) {
  return channel_->gather_all(&value, 1)[0];
}
template <class T, class Exec>
std::string AmongRanks<T, Exec>::first_text(const std::string& mine) {
  const Text text(mine);
  const Text* const all = channel_->gather_all(&text, 1);
  const Text* const first =
      std::find_if(all, all + channel_->size(), [](const Text& t) { return t.characters[0] != 0; });
  return first == all + channel_->size() ? "" : first->characters;
}

template <class T, class Exec>
void AmongRanks<T, Exec>::begin(const float* x, bool transposed) {
  product(transposed).begin(*ctx_, x);
}
template <class T, class Exec>
void AmongRanks<T, Exec>::begin(const double* x, bool transposed) {
  product(transposed).begin(*ctx_, x);
}
template <class T, class Exec>
void AmongRanks<T, Exec>::end(float* y, bool transposed, const float* with) {
  end_in(product(transposed), y, {}, with);
}
template <class T, class Exec>
void AmongRanks<T, Exec>::end(double* y, bool transposed, const double* with) {
  end_in(product(transposed), y, {}, with);
}
template <class T, class Exec>
double AmongRanks<T, Exec>::dot_of_end() const {
  return ended_->dot();
}
template <class T, class Exec>
void AmongRanks<T, Exec>::end_step(float* y, float factor, const float* of_row) {
  end_in(of_matrix_, y, {factor, of_row}, static_cast<const float*>(nullptr));
}
template <class T, class Exec>
void AmongRanks<T, Exec>::end_step(double* y, double factor, const double* of_row) {
  end_in(of_matrix_, y, {factor, of_row}, static_cast<const double*>(nullptr));
}

template <class T, class Exec>
offset_t AmongRanks<T, Exec>::number_of(index_t row) const {
  return of_matrix_.halo().number_of(row);
}
template <class T, class Exec>
offset_t AmongRanks<T, Exec>::all_rows() const {
  return of_matrix_.halo().all_rows;
}
template <class T, class Exec>
Cost AmongRanks<T, Exec>::halo_cost(int vector_bytes) const {
  return of_matrix_.cost(vector_bytes);
}

template <class T, class Exec>
void AmongRanks<T, Exec>::require_all() const {
  if (*static_cast<volatile std::uint32_t*>(lost_.data()) == 0) return;
  channel_->hear_failures();
  throw DeviceError("exchange", ctx_->backend().name, unheard_peer);
}

template <class T, class Exec>
std::unique_ptr<PeerSums<Exec>> AmongRanks<T, Exec>::opened_sums() {
  if (channel_->allows(RankLink::devices))
    if (auto sums = PeerSums<Exec>::open(*ctx_, *channel_, lost_.data())) return sums;
  if (!is_alone() && channel_->allows(RankLink::messages)) {
    const bool have_kernels = !channel_->anywhere(ctx_->backend().peers == nullptr);
    // Of backends that work on hosts those of devices, in tests.
    if (!is_host_space<Space> || have_kernels)
      way_.messages = channel_->messages(ctx_->queue().device, is_host_space<Space>);
    if (way_.messages && have_kernels && are_of_one_model())
      return std::make_unique<PeerSums<Exec>>(*channel_);
  }
  if (!is_host_space<Space> && !way_.messages)
    way_.mpi_sees_devices =
        channel_->allows(RankLink::device_mpi) && !channel_->anywhere(!mpi_sees_devices());
  return nullptr;
}
template <class T, class Exec>
bool AmongRanks<T, Exec>::are_of_one_model() const {
  const Text mine(ctx_->backend().availability().detail);
  const Text* const all = channel_->gather_all(&mine, 1);
  return std::all_of(all, all + channel_->size(), [&](const Text& text) {
    return std::strcmp(text.characters, all[0].characters) == 0;
  });
}
template <class T, class Exec>
void AmongRanks<T, Exec>::wait_for_messages() {
  if (way_.messages && !channel_->devices_wait()) channel_->wait(*way_.messages);
}

template <class T, class Exec>
HaloProduct<T, Exec>& AmongRanks<T, Exec>::product(bool transposed) {
  return transposed ? of_transpose_.value() : of_matrix_;
}
template <class T, class Exec>
template <class W>
void AmongRanks<T, Exec>::end_in(HaloProduct<T, Exec>& product, W* y, const RowScale<W>& scale,
                                 const W* with) {
  ended_ = &product;
  product.end(*ctx_, y, scale, with, [&] { wait_for_messages(); });
}

template class AmongRanks<float, Kokkos::DefaultHostExecutionSpace>;
template class AmongRanks<double, Kokkos::DefaultHostExecutionSpace>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class AmongRanks<float, Kokkos::DefaultExecutionSpace>;
template class AmongRanks<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc::detail
