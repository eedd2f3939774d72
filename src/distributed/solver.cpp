#include "distributed/agreement.hpp"
#include "distributed/among_ranks.hpp"
#include "distributed/move.hpp"
#include "solve/prepare.hpp"

#include <cnc/copy.hpp>
#include <cnc/formats.hpp>
#include <cnc/options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

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

SolveOptions without_reordering(SolveOptions options) {
  options.reordering = Reordering::none;
  return options;
}

/// Of a rank's rows what a reordering keeps together: a block of the layout, or of the preconditioner, and components.
/// wanted: rows that shall stay together as well.
/// Errors   InvalidArgument (more than a reordering takes).
template <class T, class Space>
int rows_together(const CsrMatrix<float>& pattern, int wanted, const SolveOptions& o) {
  int block = 1;
  if (pattern.rows > 0) {
    const FormatSpec spec =
        o.format.name == "auto"
            ? choose_format(analyze(pattern), sizeof(T), memory_of<Space>).format
            : o.format;
    block = spec.block_size;
    if (block == 1 && o.preconditioner == PreconditionerKind::block_jacobi)
      block = std::max(1, o.preconditioner_block_size);
  }
  const auto too_many = [&](int rows) {
    return "DistributedSolver: reordering keeps " + std::to_string(max_block_size) +
           " rows together at most; block_size " + std::to_string(wanted) + " and " +
           std::to_string(o.components) + " components need " + std::to_string(rows);
  };
  require(wanted <= max_block_size, [&] { return too_many(wanted); });
  const int needed = std::lcm(wanted, o.components), all = std::lcm(needed, block);
  if (all <= max_block_size) return all;  // else blocks of the layout are what can be done without
  require(needed <= max_block_size, [&] { return too_many(needed); });
  return needed;
}

/// Errors   InvalidArgument (a value that float cannot hold, where that is to store it).
template <class V>
void check_storage(const PartitionedMatrix<V>& A, StoragePrecision storage) {
  if (sizeof(V) == sizeof(float) || storage != StoragePrecision::f32) return;
  const CsrMatrix<V>& block = A.own_block();
  for (index_t i = 0; i < block.rows; ++i)
    for (index_t k = block.row_offsets(i); k < block.row_offsets(i + 1); ++k)
      require(!(std::abs(block.values(k)) > std::numeric_limits<float>::max()) ||
                  std::isinf(block.values(k)),
              [&] {
                return "DistributedSolver: a value of row " +
                       std::to_string(PartitionAccess::halo(A)->number_of(i)) +
                       " is too large for storage in float";
              });
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
    : ctx_(ctx), options_(std::move(options)), solver_(ctx, detail::without_reordering(options_)) {}

template <class V, class Exec>
void DistributedSolver<V, Exec>::set_options(SolveOptions options) {
  solver_.set_options(detail::without_reordering(options));
  options_ = std::move(options);
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::agree(const char* call, detail::Channel& channel,
                                       PreconditionerBase<V, Exec>* M) const {
  const SolveOptions& o = options_;
  detail::Agreement agreement("DistributedSolver");
  agreement.add("what is called", std::string(call));
  agreement.add("the backend", std::string(ctx_.backend().name));  // scalar steps are rounded by it
  agreement.add("the memory", Context<Exec>::memory);
  agreement.add("the preconditioner object", M != nullptr ? M->name() : "");
  agreement.add("whether that is of the whole matrix", of_partition(M) ? 1.0 : 0.0);
  detail::add_options(agreement, o);
  agreement.require_of_all(channel);
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::forget() {
  matrix_ = given_ = {};
  solver_.forget_matrix();
  block_ = {};
  moved_ = nullptr;
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::change(const PartitionedMatrix<V>& A,
                                        const std::function<PartitionedMatrix<V>()>& steps) {
  matrix_ = given_ = {};
  PartitionedMatrix<V> matrix;
  try {
    A.halo_->channel->together([&] { matrix = steps(); });
  } catch (...) {  // it may have come to an end on some ranks
    forget();
    throw;
  }
  matrix_ = matrix;
  given_ = A;
  block_.values = {};  // those that it still needs the solver has
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::prepare(const PartitionedMatrix<V>& A) {
  prepare_in(A, nullptr);
}
template <class V, class Exec>
void DistributedSolver<V, Exec>::prepare(const PartitionedMatrix<V>& A,
                                         const PartitionOptions& partition) {
  prepare_in(A, &partition);
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::prepare_in(PartitionedMatrix<V> A,
                                            const PartitionOptions* partition) {
  (void)A.halo();
  change(A, [&] {
    agree(partition == nullptr ? "prepare" : "prepare with a partition", *A.halo_->channel,
          preconditioner_.get());
    const InstanceScope scope(ctx_.execution_space_instance());
    const PartitionedMatrix<V> matrix = redistributed(A, partition);
    A.halo_->channel->on_each([&] { detail::check_storage(matrix, options_.storage); });
    ranks_ = std::make_shared<detail::AmongRanks<V, Exec>>(ctx_, matrix.halo_);
    take_ways(matrix);
    take_null_space(A);
    if (auto* const M = of_partition(preconditioner_.get())) M->take(matrix);
    block_ = {};
    block_ = copy_to<Space>(matrix.block_);
    solver_.prepare_among(others(), block_);
    storage_ = options_.storage;
    return matrix;
  });
}

template <class V, class Exec>
PartitionedMatrix<V> DistributedSolver<V, Exec>::redistributed(
    const PartitionedMatrix<V>& A, const PartitionOptions* partition) const {
  if (partition == nullptr && options_.reordering == Reordering::none) return A;
  const std::vector<int> here(static_cast<std::size_t>(A.rows()), A.halo_->channel->rank());
  const PartitionOptions options =
      partition ? *partition : PartitionOptions{.kind = Partition::given, .rank_of_row = here};
  auto result = detail::moved(A, options, options_.reordering, [&](const auto& pattern) {
    return detail::rows_together<V, Space>(pattern, options.block_size, options_);
  });
  if (partition == nullptr) result.halo_->partition = A.partition();
  return result;
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::take_ways(const PartitionedMatrix<V>& matrix) {
  moved_ = nullptr;
  if (matrix.move_)
    moved_ = std::make_shared<detail::MovedVectors<V, Exec>>(ctx_, matrix.halo_->channel,
                                                             *matrix.move_, ranks_->way());
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::take_null_space(const PartitionedMatrix<V>& A) {
  std::vector<Vector<const V, Space>> vectors = null_vectors_;
  detail::Agreement agreement("DistributedSolver");
  agreement.add("the number of vectors of the null space", double(vectors.size()));
  agreement.require_of_all(*A.halo_->channel);
  A.halo_->channel->on_each([&] {
    for (const auto& vector : vectors)
      require(vector.extent(0) == static_cast<std::size_t>(A.rows()), [&] {
        return "DistributedSolver: a vector of the null space has " +
               std::to_string(vector.extent(0)) + " entries, the rank " + std::to_string(A.rows()) +
               " rows";
      });
  });
  if (moved_)
    for (auto& vector : vectors) vector = moved_->there.brought(ctx_, vector);
  solver_.set_null_space(std::move(vectors));
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::set_null_space(std::vector<Vector<const V, Space>> vectors) {
  for (auto& vector : vectors) vector = detail::cloned(vector);
  null_vectors_ = std::move(vectors);
}

template <class V, class Exec>
void DistributedSolver<V, Exec>::update_values(const PartitionedMatrix<V>& given) {
  const PartitionedMatrix<V> A = given;  // which may be this solver's own
  PartitionedMatrix<V> matrix = A;
  require(matrix_.halo_ != nullptr, "DistributedSolver: update_values needs a prepare");
  A.halo().channel->together([&] {
    agree("update_values", *A.halo_->channel, preconditioner_.get());
    A.halo_->channel->on_each([&] {
      require(
          A.first_row() == given_.first_row() && A.all_rows() == given_.all_rows() &&
              detail::same_pattern(detail::default_instance<Kokkos::DefaultHostExecutionSpace>(),
                                   A.block_, given_.block_) &&
              A.halo_->has_pattern_of(*given_.halo_),
          "DistributedSolver: update_values needs the partition and pattern of prepare");
      require(!matrix_.move_ || A.halo_->channel->has_ranks_of(*given_.halo_->channel),
              "DistributedSolver: update_values needs the ranks of prepare, in the same order, "
              "where rows were moved");
    });
    if (matrix_.move_) matrix = detail::moved_values(A, matrix_, *matrix_.move_);
    A.halo_->channel->on_each([&] { detail::check_storage(matrix, storage_); });
  });
  change(A, [&] {
    const InstanceScope scope(ctx_.execution_space_instance());
    if (ranks_->is_over(*A.halo_->channel)) {
      ranks_->take_values(matrix.halo_);
    } else {
      ranks_ = std::make_shared<detail::AmongRanks<V, Exec>>(ctx_, matrix.halo_);
      take_ways(matrix);
    }
    solver_.go_on_among(others());
    if (auto* const M = of_partition(preconditioner_.get())) M->take(matrix);
    block_.values = copy_to<Space>(matrix.block_.values);  // the pattern is there
    solver_.update_values(block_);
    return matrix;
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
    const PartitionedMatrix<V> A = given_, matrix = matrix_;
    detail::Channel& channel = *A.halo_->channel;
    try {
      change(A, [&] {
        agree("set_preconditioner", channel, preconditioner.get());
        if (auto* const M = of_partition(preconditioner.get())) {
          M->take(matrix);
          set();  // ranks wait for each other within
        } else {
          channel.on_each(set);
        }
        return matrix;
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
        require(extent == static_cast<std::size_t>(given_.rows()), [&] {
          return "DistributedSolver: the rank has " + std::to_string(given_.rows()) +
                 " rows, b has " + std::to_string(b.extent(0)) + " entries, x has " +
                 std::to_string(x.extent(0));
        });
      detail::check_components(*matrix_.halo_, solver_.options().components);
    });
    try {
      report = solve_moved(b, x);
      if (ranks_->link() == RankLink::devices)
        channel.on_each([&] {
          ranks_->require_all();
          if (const auto* const M = of_partition(preconditioner_.get())) M->require_all();
        });
    } catch (...) {
      // How many exchanges the queues of ranks have come to is no longer the same on all.
      if (ranks_->link() != RankLink::mpi) forget();
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
SolveReport DistributedSolver<V, Exec>::solve_moved(const Vector<const V, Space>& b,
                                                    const Vector<V, Space>& x) {
  if (!moved_) return solver_.solve(b, x);
  const InstanceScope scope(ctx_.execution_space_instance());
  moved_->there.bring(ctx_, b.data(), moved_->b.data());
  moved_->there.bring(ctx_, x.data(), moved_->x.data());
  const SolveReport report = solver_.solve(moved_->b, moved_->x);
  moved_->back.bring(ctx_, moved_->x.data(), x.data());
  detail::wait_for(ctx_.execution_space_instance());
  return report;
}

template <class V, class Exec>
PartitionedMatrix<V> DistributedSolver<V, Exec>::matrix() const {
  PartitionedMatrix<V> matrix = matrix_;
  matrix.move_ = nullptr;  // of this solver
  return matrix;
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
    case RankLink::device_mpi: return "MPI between the devices' memory";
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
