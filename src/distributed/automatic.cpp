#include <cnc/distributed_automatic.hpp>

#include "convert/spaces.hpp"
#include "distributed/agreement.hpp"
#include "distributed/among_ranks.hpp"
#include "distributed/symmetry.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/choose.hpp"

namespace cnc {

template <class V, class Exec>
DistributedAutomaticPreconditioner<V, Exec>::DistributedAutomaticPreconditioner(
    const AutomaticOptions& options, std::shared_ptr<DistributedAmg<V, Exec>> amg)
    : options_(options), amg_(amg ? std::move(amg) : std::make_shared<DistributedAmg<V, Exec>>()) {
  require(options.solves >= 1,
          "DistributedAutomaticPreconditioner: a set-up is for one solve at least");
}

template <class V, class Exec>
double DistributedAutomaticPreconditioner<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  return amg_->bytes(rows, nonzeros);
}
template <class V, class Exec>
void DistributedAutomaticPreconditioner<V, Exec>::take(const PartitionedMatrix<V>& A) {
  matrix_ = A;
  amg_->take(A);
}
template <class V, class Exec>
void DistributedAutomaticPreconditioner<V, Exec>::require_all() const {
  if (this->taken_ == amg_) amg_->require_all();
}

template <class V, class Exec>
void DistributedAutomaticPreconditioner<V, Exec>::forget() {
  this->taken_ = {};
  this->choice_.clear();
}

template <class V, class Exec>
PreconditionerSetup DistributedAutomaticPreconditioner<V, Exec>::choose(
    Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
  const auto& halo = detail::PartitionAccess::halo(matrix_);
  const bool between = detail::is_symmetric_between_ranks(*halo);
  const bool mirrored = !halo->channel->anywhere(!between || !detail::is_symmetric(A, layout));
  const auto ranks = std::make_shared<detail::AmongRanks<V, Exec>>(ctx, halo);
  auto [taken, told, setup] = detail::choose_preconditioner<V, Exec>(
      ctx, ranks->is_alone() ? nullptr : ranks, A, layout, mirrored, options_,
      detail::multigrid_candidate<V, Exec>(amg_));
  detail::wait_for(ctx.execution_space_instance());
  ranks->require_all();
  amg_->require_all();
  this->taken_ = std::move(taken);
  this->choice_ = std::move(told);
  return setup;
}

template <class V, class Exec>
PreconditionerSetup DistributedAutomaticPreconditioner<V, Exec>::on_all(
    Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout, bool anew) {
  const auto& halo = detail::PartitionAccess::halo(matrix_);
  require(
      halo != nullptr,
      "DistributedAutomaticPreconditioner: it is for DistributedSolver, which gives it the matrix");
  PreconditionerSetup outcome;
  try {
    halo->channel->together([&] {
      const InstanceScope instance(ctx.execution_space_instance());
      detail::Agreement agreement("DistributedAutomaticPreconditioner");
      agreement.add("solves", options_.solves);
      agreement.require_of_all(*halo->channel);
      // The layout of one rank may be built anew for other values, and those of others not.
      if (!halo->channel->anywhere(anew || this->taken_ == nullptr)) {
        outcome = this->taken_->update_values(ctx, A, layout);
      } else {
        forget();
        outcome = choose(ctx, A, layout);
      }
      halo->channel->anywhere(false);  // where it has failed on one rank it has on all
    });
  } catch (...) {  // what was taken may be in pieces
    forget();
    amg_->clear();
    throw;
  }
  return outcome;
}

template <class V, class Exec>
PreconditionerSetup DistributedAutomaticPreconditioner<V, Exec>::set_up(
    Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
  return on_all(ctx, A, layout, true);
}
template <class V, class Exec>
PreconditionerSetup DistributedAutomaticPreconditioner<V, Exec>::update_values(
    Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
  return on_all(ctx, A, layout, false);
}

template class DistributedAutomaticPreconditioner<float>;
template class DistributedAutomaticPreconditioner<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class DistributedAutomaticPreconditioner<float, Kokkos::DefaultExecutionSpace>;
template class DistributedAutomaticPreconditioner<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
