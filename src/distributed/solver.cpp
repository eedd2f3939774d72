#include "distributed/agreement.hpp"
#include "distributed/among_ranks.hpp"
#include "solve/prepare.hpp"

#include <cnc/copy.hpp>
#include <cnc/options.hpp>

#include <utility>

namespace cnc {
namespace detail {
namespace {

void add_options(Agreement& agreement, const SolveOptions& o) {
  agreement.add("the method", o.method);
  agreement.add("restart", o.restart);
  agreement.add("the spectrum", o.spectrum.smallest);
  agreement.add("the spectrum", o.spectrum.largest);
  agreement.add("the form", o.form);
  agreement.add("arithmetic", o.arithmetic);
  agreement.add("the preconditioner", o.preconditioner);
  agreement.add("preconditioner_block_size", o.preconditioner_block_size);
  agreement.add("storage", o.storage);
  agreement.add("reordering", o.reordering);
  agreement.add("rtol", o.rtol);
  agreement.add("atol", o.atol);
  agreement.add("reference", o.reference);
  agreement.add("norm", o.norm);
  agreement.add("components", o.components);
  agreement.add("max_iterations", o.max_iterations);
  agreement.add("max_seconds", o.max_seconds);
  agreement.add("divergence", o.divergence);
  agreement.add("allow_nonsymmetric", o.allow_nonsymmetric);
  agreement.add("trusted", o.trusted);
  agreement.add("null_space", o.null_space);
  agreement.add("record_history", o.record_history);
  agreement.add("callback_interval", o.callback_interval);
}

void refuse(bool asked, const char* what) {
  if (asked)
    throw UnsupportedOperation(std::string("DistributedSolver: ") + what +
                               " is not there for a matrix on several ranks");
}

/// Components go round within the own rows, as norms of them take it.
/// Errors   InvalidArgument (they do not).
template <class T>
void check_components(const Halo<T>& halo, int components) {
  const offset_t first = halo.number_of(0);
  for (index_t i = 0; components > 1 && i < halo.facts.rows; ++i)
    require((halo.number_of(i) - first - i) % components == 0, [&] {
      return "DistributedSolver: " + std::to_string(components) +
             " components need a partition that keeps groups of " + std::to_string(components) +
             " rows together; row " + std::to_string(halo.number_of(i)) + " is apart from its own";
    });
}

}  // namespace
}  // namespace detail

template <class V, class Exec>
DistributedSolver<V, Exec>::DistributedSolver(Context<Exec>& ctx, SolveOptions options)
    : ctx_(ctx), solver_(ctx, std::move(options)) {}

template <class V, class Exec>
void DistributedSolver<V, Exec>::agree(const char* call, detail::Channel& channel,
                                       PreconditionerBase<V, Exec>* M) const {
  const SolveOptions& o = solver_.options();
  detail::Agreement agreement("DistributedSolver");
  agreement.add("what is called", std::string(call));
  agreement.add("the backend", std::string(ctx_.backend().name));  // scalar steps are rounded by it
  agreement.add("the memory", Context<Exec>::memory);
  agreement.add("the preconditioner object", M != nullptr ? M->name() : "");
  agreement.add("whether that is of the whole matrix", of_partition(M) ? 1.0 : 0.0);
  detail::add_options(agreement, o);
  agreement.require_of_all(channel);
  detail::refuse(o.reordering != Reordering::none, "reordering");
  detail::refuse(o.null_space != NullSpace::none, "a null space");
  detail::refuse(sizeof(V) > sizeof(float) && o.storage == StoragePrecision::f32,
                 "storage in float under double vectors");
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::change(const PartitionedMatrix<V>& A,
                                        const std::function<void()>& steps) {
  matrix_ = {};
  try {
    A.halo_->channel->together(steps);
  } catch (...) {  // it may have come to an end on some ranks
    solver_.forget_matrix();
    block_ = {};
    throw;
  }
  matrix_ = A;
  block_.values = {};  // those that it still needs the solver has
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::prepare(const PartitionedMatrix<V>& A) {
  (void)A.halo();
  change(A, [&] {
    agree("prepare", *A.halo_->channel, preconditioner_.get());
    const InstanceScope scope(ctx_.execution_space_instance());
    ranks_ = std::make_shared<detail::AmongRanks<V, Exec>>(ctx_, A.halo_);
    if (auto* const M = of_partition(preconditioner_.get())) M->take(A);
    block_ = {};
    block_ = copy_to<Space>(A.block_);
    solver_.prepare_among(others(), block_);
  });
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::update_values(const PartitionedMatrix<V>& A) {
  require(matrix_.halo_ != nullptr, "DistributedSolver: update_values needs a prepare");
  A.halo().channel->together([&] {
    agree("update_values", *A.halo_->channel, preconditioner_.get());
    A.halo_->channel->on_each([&] {
      require(
          A.first_row() == matrix_.first_row() && A.all_rows() == matrix_.all_rows() &&
              detail::same_pattern(detail::default_instance<Kokkos::DefaultHostExecutionSpace>(),
                                   A.block_, matrix_.block_) &&
              A.halo_->has_pattern_of(*matrix_.halo_),
          "DistributedSolver: update_values needs the partition and pattern of prepare");
    });
  });
  change(A, [&] {
    const InstanceScope scope(ctx_.execution_space_instance());
    if (ranks_->is_over(*A.halo_->channel))
      ranks_->take_values(A.halo_);
    else
      ranks_ = std::make_shared<detail::AmongRanks<V, Exec>>(ctx_, A.halo_);
    solver_.go_on_among(others());
    if (auto* const M = of_partition(preconditioner_.get())) M->take(A);
    block_.values = copy_to<Space>(A.block_.values);  // the pattern is there
    solver_.update_values(block_);
  });
}

template <class V, class Exec>
std::shared_ptr<detail::OtherRanks> DistributedSolver<V, Exec>::others() const {
  return ranks_->is_alone() ? nullptr : ranks_;
}

template <class V, class Exec>
PartitionedPreconditioner<V, Exec>* DistributedSolver<V, Exec>::of_partition(
    PreconditionerBase<V, Exec>* M) {
  return dynamic_cast<PartitionedPreconditioner<V, Exec>*>(M);
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::set_preconditioner(
    std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner) {
  const auto set = [&] { solver_.set_preconditioner(preconditioner); };
  if (matrix_.halo_ == nullptr) {
    set();
  } else {
    const PartitionedMatrix<V> A = matrix_;
    detail::Channel& channel = *A.halo_->channel;
    try {
      change(A, [&] {
        agree("set_preconditioner", channel, preconditioner.get());
        if (auto* const M = of_partition(preconditioner.get())) {
          M->take(A);
          set();  // ranks wait for each other within
        } else {
          channel.on_each(set);
        }
      });
    } catch (...) {  // some ranks may have the new one
      if (preconditioner_)
        solver_.set_preconditioner(preconditioner_);
      else
        solver_.set_preconditioner(PreconditionerFunction<V, Space>());
      throw;
    }
  }
  preconditioner_ = std::move(preconditioner);
}

template <class V, class Exec>
SolveReport DistributedSolver<V, Exec>::solve(const Vector<const V, Space>& b,
                                              const Vector<V, Space>& x) {
  require(matrix_.halo_ != nullptr, "DistributedSolver: call prepare before solve");
  const std::shared_ptr<detail::Channel> kept = matrix_.halo_->channel;
  detail::Channel& channel = *kept;
  SolveReport report;
  channel.together([&] {
    agree("solve", channel, preconditioner_.get());
    channel.on_each([&] {
      for (const std::size_t extent : {b.extent(0), x.extent(0)})
        require(extent == static_cast<std::size_t>(matrix_.rows()), [&] {
          return "DistributedSolver: the rank has " + std::to_string(matrix_.rows()) +
                 " rows, b has " + std::to_string(b.extent(0)) + " entries, x has " +
                 std::to_string(x.extent(0));
        });
      detail::check_components(*matrix_.halo_, solver_.options().components);
    });
    try {
      report = solver_.solve(b, x);
      if (ranks_->link() == RankLink::devices)
        channel.on_each([&] {
          ranks_->require_all();
          if (const auto* const M = of_partition(preconditioner_.get())) M->require_all();
        });
    } catch (...) {
      // How many exchanges the queues of ranks have come to is no longer the same on all.
      if (ranks_->link() != RankLink::mpi) {
        matrix_ = {};
        solver_.forget_matrix();
        block_ = {};
      }
      throw;
    }
    double sums[] = {report.bytes, report.flops};
    ranks_->add_up(sums, 2);
    report.bytes = sums[0];
    report.flops = sums[1];
  });
  return report;
}

template <class V, class Exec>
RankLink DistributedSolver<V, Exec>::link() const {
  require(matrix_.halo_ != nullptr, "DistributedSolver: call prepare before link");
  return ranks_->link();
}

const char* to_string(RankLink link) {
  switch (link) {
    case RankLink::mpi: return "MPI";
    case RankLink::through_host: return "MPI between the hosts' memory";
    case RankLink::messages: return "messages between devices";
    default: return "the devices' memory";
  }
}

template class DistributedSolver<float>;
template class DistributedSolver<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class DistributedSolver<float, Kokkos::DefaultExecutionSpace>;
template class DistributedSolver<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
