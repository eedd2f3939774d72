#include "distributed/among_ranks.hpp"
#include "solve/prepare.hpp"

#include <cnc/copy.hpp>
#include <cnc/options.hpp>

#include <cstring>
#include <sstream>
#include <utility>

namespace cnc {
namespace detail {
namespace {

/// What ranks must be agreed on: numbers with names.
class Agreement {
 public:
  void add(const char* name, double value) {
    names_.push_back(name);
    values_.push_back(value);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(const char* name, Enum value) { add(name, static_cast<double>(value)); }
  /// Told apart by a number of its characters, FNV-1a as far as a double holds it.
  void add(const char* name, const std::string& text) {
    std::uint64_t number = 14695981039346656037u;
    for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211u;
    add(name, static_cast<double>(number >> 12));
    texts_.emplace_back(name, text);
  }

  /// Errors   InvalidArgument, on all ranks: the first that differs from that of the first rank, and whose it is.
  void require_of_all(Channel& channel) const {
    const int count = static_cast<int>(values_.size());
    const double* const all = channel.gather_all(values_.data(), count);
    for (int r = 1; r < channel.size(); ++r)
      for (int k = 0; k < count; ++k)
        require(std::memcmp(&all[k], &all[r * count + k], sizeof(double)) == 0, [&] {
          std::ostringstream text;
          text << "DistributedSolver: ranks must agree on " << names_[static_cast<std::size_t>(k)]
               << ": rank " << r << " and rank 0 do not";
          if (is_number(k)) text << " (" << all[r * count + k] << " and " << all[k] << ")";
          return text.str();
        });
  }

 private:
  bool is_number(int k) const {
    for (const auto& [name, text] : texts_)
      if (std::strcmp(name, names_[static_cast<std::size_t>(k)]) == 0) return false;
    return true;
  }
  std::vector<const char*> names_;
  std::vector<double> values_;
  std::vector<std::pair<const char*, std::string>> texts_;
};

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
void DistributedSolver<V, Exec>::agree(const char* call, detail::Channel& channel) const {
  const SolveOptions& o = solver_.options();
  detail::Agreement agreement;
  agreement.add("what is called", std::string(call));
  agreement.add("the backend", std::string(ctx_.backend().name));  // scalar steps are rounded by it
  agreement.add("the memory", Context<Exec>::memory);
  agreement.add("the preconditioner object", preconditioner_ ? preconditioner_->name() : "");
  detail::add_options(agreement, o);
  agreement.require_of_all(channel);
  detail::refuse(o.reordering != Reordering::none, "reordering");
  detail::refuse(o.null_space != NullSpace::none, "a null space");
  detail::refuse(sizeof(V) > sizeof(float) && o.storage == StoragePrecision::f32,
                 "storage in float under double vectors");
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::prepare(const PartitionedMatrix<V>& A) {
  matrix_ = {};  // not prepared, until all ranks are
  A.halo().channel->together([&] {
    agree("prepare", *A.halo_->channel);
    const InstanceScope scope(ctx_.execution_space_instance());
    ranks_ = std::make_shared<detail::AmongRanks<V, Exec>>(ctx_, A.halo_);
    if (auto* const M = of_partition()) M->take(A);
    solver_.prepare_among(others(), copy_to<Space>(A.block_));
  });
  matrix_ = A;
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::update_values(const PartitionedMatrix<V>& A) {
  require(matrix_.halo_ != nullptr, "DistributedSolver: update_values needs a prepare");
  A.halo().channel->together([&] {
    agree("update_values", *A.halo_->channel);
    A.halo_->channel->on_each([&] {
      require(
          A.first_row() == matrix_.first_row() && A.all_rows() == matrix_.all_rows() &&
              detail::same_pattern(detail::default_instance<Kokkos::DefaultHostExecutionSpace>(),
                                   A.block_, matrix_.block_) &&
              A.halo_->has_pattern_of(*matrix_.halo_),
          "DistributedSolver: update_values needs the partition and pattern of prepare");
    });
  });
  // What fails from here on may have changed some ranks: not prepared, until all are done.
  matrix_ = {};
  A.halo_->channel->together([&] {
    const InstanceScope scope(ctx_.execution_space_instance());
    ranks_ = std::make_shared<detail::AmongRanks<V, Exec>>(ctx_, A.halo_);
    solver_.go_on_among(others());
    if (auto* const M = of_partition()) M->take(A);
    solver_.update_values(copy_to<Space>(A.block_));
  });
  matrix_ = A;
}

template <class V, class Exec>
std::shared_ptr<detail::OtherRanks> DistributedSolver<V, Exec>::others() const {
  return ranks_->is_alone() ? nullptr : ranks_;
}

template <class V, class Exec>
PartitionedPreconditioner<V, Exec>* DistributedSolver<V, Exec>::of_partition() const {
  return dynamic_cast<PartitionedPreconditioner<V, Exec>*>(preconditioner_.get());
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::set_preconditioner(
    std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner) {
  if (matrix_.halo_ == nullptr) {
    solver_.set_preconditioner(preconditioner);
    preconditioner_ = std::move(preconditioner);
    return;
  }
  const PartitionedMatrix<V> A = std::exchange(matrix_, {});  // not prepared, should a rank fail
  detail::Channel& channel = *A.halo_->channel;
  channel.together([&] {
    preconditioner_ = preconditioner;
    agree("set_preconditioner", channel);
    const auto set = [&] { solver_.set_preconditioner(preconditioner); };
    if (auto* const M = of_partition()) {
      M->take(A);
      set();  // ranks wait for each other within
    } else {
      channel.on_each(set);
    }
  });
  matrix_ = A;
}

template <class V, class Exec>
SolveReport DistributedSolver<V, Exec>::solve(const Vector<const V, Space>& b,
                                              const Vector<V, Space>& x) {
  require(matrix_.halo_ != nullptr, "DistributedSolver: call prepare before solve");
  const std::shared_ptr<detail::Channel> kept = matrix_.halo_->channel;
  detail::Channel& channel = *kept;
  SolveReport report;
  channel.together([&] {
    agree("solve", channel);
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
    } catch (...) {
      // How many exchanges the queues of ranks have come to is no longer the same on all.
      if (Context<Exec>::memory == MemorySpace::device) matrix_ = {};
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
