#include <cnc/distributed_amg.hpp>

#include "distributed/agreement.hpp"
#include "distributed/among_ranks.hpp"
#include "distributed/move.hpp"
#include "distributed/symmetry.hpp"
#include "distributed/whole_amg.hpp"
#include "precondition/amg/kept_memory.hpp"
#include "solve/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>

namespace cnc {
namespace detail {
namespace {

/// The sum over all ranks. Collective.
offset_t sum_of_all(Channel& channel, offset_t mine) {
  const offset_t* const all = channel.gather_all(&mine, 1);
  return std::accumulate(all, all + channel.size(), offset_t(0));
}

template <class M, class V>
std::shared_ptr<const Halo<M>> halo_in(const std::shared_ptr<Halo<V>>& halo) {
  if constexpr (std::is_same_v<M, V>) {
    return halo;
  } else {
    return std::make_shared<Halo<M>>(
        with_values<M>(*halo, std::vector<M>(halo->rows.values.begin(), halo->rows.values.end())));
  }
}

}  // namespace
}  // namespace detail

template <class V, class Exec>
struct DistributedAmg<V, Exec>::State {
  AmgOptions options;
  offset_t whole_rows = 0, rank_rows = 0;
  std::vector<Vector<const V>> near_null;
  PartitionedMatrix<V> matrix;
  detail::KeptMemory<Space> memory;
  std::variant<detail::Cycle<float, Exec>, detail::Cycle<double, Exec>> cycle;
  std::vector<std::function<void()>> require_all;  ///< of exchanges in the cycle
  bool without_host = false;                       ///< all of them
  AmgHierarchy facts;

  detail::Channel& channel() const { return *detail::PartitionAccess::halo(matrix)->channel; }

  /// Errors   InvalidArgument, on all ranks (they differ).
  void agree() const {
    detail::Agreement agreement("DistributedAmg");
    agreement.add("strength", options.strength);
    agreement.add("block_size", options.block_size);
    agreement.add("the smoother", options.smoother);
    agreement.add("smoother_degree", options.smoother_degree);
    agreement.add("the cycle", options.cycle);
    agreement.add("smoothed", options.smoothed);
    agreement.add("coarsest_rows", options.coarsest_rows);
    agreement.add("max_levels", options.max_levels);
    agreement.add("in_float", options.in_float);
    agreement.add("whole_rows", static_cast<double>(whole_rows));
    agreement.add("rank_rows", static_cast<double>(rank_rows));
    agreement.add("the number of near-null vectors", static_cast<double>(near_null.size()));
    agreement.require_of_all(channel());
  }

  /// Unknowns to a node, the same on all ranks.
  int block_size_of(const Matrix<V, Space>& layout) const {
    const bool is_empty = matrix.rows() == 0;
    const int asked = is_empty ? 0 : block_size(layout);
    const int* const all = channel().gather_all(&asked, 1);
    int largest = 1;
    for (int r = 0; r < channel().size(); ++r) largest = std::max(largest, all[r]);
    const bool same = std::all_of(all, all + channel().size(),
                                  [&](int other) { return other == 0 || other == largest; });
    const int wanted = options.block_size > 0 ? options.block_size : same ? largest : 1;
    const bool divides =
        is_empty || (matrix.first_row() % wanted == 0 && matrix.rows() % wanted == 0);
    channel().on_each([&] {
      require(divides || options.block_size == 0,
              "DistributedAmg: the first row of a rank, or its rows, are no multiple of the block "
              "size");
    });
    return channel().anywhere(!divides) ? 1 : wanted;
  }

  /// Rows of a level, of all ranks, that each rank takes the whole of.
  offset_t small_rows() const {
    if (whole_rows > 0) return whole_rows;
    constexpr offset_t least = 4000;
    constexpr int part =
        16;  // of the own part of the first level: then its cycles count for little
    return std::max(least, matrix.all_rows() / (offset_t(part) * channel().size()));
  }

  /// Rows of a coarse level that ranks with some have at least, in the mean.
  offset_t least_rows() const {
    constexpr offset_t least = 1000;  // whose product takes about as long as its exchange
    return rank_rows > 0 ? rank_rows : least;
  }

  /// The near-null vectors where the rows are that are iterated with. Collective.
  std::vector<Vector<const V, Space>> near_null_in_place(const Context<Exec>& ctx) const {
    const auto& move = detail::PartitionAccess::move(matrix);
    const auto rows = move ? move->rank_of_row.size() : static_cast<std::size_t>(matrix.rows());
    std::vector<Vector<const V, Space>> vectors;
    channel().on_each([&] {
      for (const auto& vector : near_null) {
        require(vector.extent(0) == rows, [&] {
          return "DistributedAmg: a near-null vector has " + std::to_string(vector.extent(0)) +
                 " entries, the rank " + std::to_string(rows) + " rows";
        });
        vectors.push_back(copy_to<Space>(vector));
      }
    });
    if (!move) return vectors;
    detail::VectorWay<V, Exec> there(ctx, detail::PartitionAccess::halo(matrix)->channel,
                                     move->there, {});
    for (auto& vector : vectors) vector = there.brought(ctx, vector);
    detail::wait_for(ctx.execution_space_instance());
    return vectors;
  }

  template <class M>
  PreconditionerSetup build(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                            const Matrix<V, Space>& layout) {
    using namespace detail;
    const Exec& exec = ctx.execution_space_instance();
    cycle.template emplace<Cycle<M, Exec>>();
    auto& made = std::get<Cycle<M, Exec>>(cycle);
    made.degree = facts.smoother_degree = options.smoother_degree;
    facts.smoother = options.smoother;
    made.kind = options.cycle;
    const bool between = is_symmetric_between_ranks(*PartitionAccess::halo(matrix));
    made.symmetric = facts.symmetric = !channel().anywhere(!between || !is_symmetric(A, layout));
    if constexpr (sizeof(M) < sizeof(V)) made.norm = zeroed<double, Space>("cnc::amg", 1);
    ctx.reserve(matrix.rows());

    const int block = block_size_of(layout);
    const auto vectors = near_null_in_place(ctx);
    LevelOnRanks<V, Space> level;
    channel().on_each([&] {
      level.A = {finest_blocks<Exec>(A, layout, block), PartitionAccess::halo(matrix)};
      level.near_null = near_null_space<V>(exec, A.rows, block, vectors);
    });
    for (int l = 0;; ++l) {
      made.levels.emplace_back();
      auto& to = made.levels.back();
      to.rows = level.A.rows();
      to.A.ranks = among_ranks<M>(ctx, level.A.halo);
      if (l == 0 && sizeof(M) < sizeof(V) && without_host) made.norms = norms_of_ranks(ctx);
      const auto take_whole = [&]() -> PreconditionerSetup {
        AmgOptions rest = options;
        rest.max_levels = std::max(1, options.max_levels - l);
        rest.block_size = level.A.own.height;
        const auto whole =
            std::make_shared<WholeAmg<M, V, Exec>>(PartitionAccess::halo(matrix)->channel, rest);
        to.allocate(true);
        to.solver = whole;
        const PreconditionerSetup outcome = whole->take(ctx, level, without_host);
        if (whole->others()) add_exchange(whole->others());
        if (!outcome.ok()) {
          // Of the first level it is a row of the matrix, of one rank; else there is none to name.
          const offset_t row = l == 0 ? outcome.row : 0, first = matrix.first_row();
          if (row < first || row >= first + matrix.rows()) return {};
          if (l == 0)
            return {static_cast<index_t>(row - first), outcome.singular_block, outcome.fault};
          return {.row = 0, .fault = "leads to a coarse matrix without an inverted diagonal"};
        }
        const AmgHierarchy& below = whole->hierarchy();
        for (const AmgLevel& of_all : below.levels) {
          facts.levels.push_back(of_all);
          if (channel().size() > 1) facts.levels.back().ranks = 0;
        }
        facts.coarsest_rank = below.coarsest_rank;
        facts.levels_together = below.levels_together;
        facts.aggregation_seconds += below.aggregation_seconds;
        facts.prolongation_seconds += below.prolongation_seconds;
        facts.product_seconds += below.product_seconds;
        facts.smoother_seconds += below.smoother_seconds;
        facts.coarsest_seconds += below.coarsest_seconds;
        return {};
      };
      const offset_t all_rows = level.A.halo->all_rows;
      if (all_rows <= small_rows()) return take_whole();

      Laps laps(exec);
      CoarseningOnRanks<V, Exec> coarsening(exec, level);
      const int b = level.A.own.height;
      const auto inverse = in_large_pages<V, Space>(
          "cnc::amg", static_cast<std::size_t>(level.A.rows()) * static_cast<std::size_t>(b));
      const index_t fault = invert_diagonal(exec, level.A.own, inverse);
      if (l == 0 && channel().anywhere(fault >= 0)) return {.row = fault};
      to.block_size = b;
      to.A.take(ctx, l == 0 ? layout_in<M>(exec, layout)
                            : in_slices_on_host(matrix_of<M>(exec, level.A.own)));
      to.inverse = values_in<M>(exec, inverse);
      to.allocate(false);
      exec.fence();
      to.largest = facts.symmetric ? largest_eigenvalue(ctx, to) : 0;
      if (to.largest == 0 || b == 1) {
        double bound = row_sum_bound(exec, coarsening.with_columns_of_others(), inverse);
        to.A.ranks->take_largest(&bound, 1);
        if (to.largest == 0 || bound < to.largest) to.largest = bound;
      }
      to.smoother = options.smoother;
      if (options.smoother == AmgSmoother::l1_jacobi) {
        const auto with_magnitudes = in_large_pages<V, Space>("cnc::amg", inverse.extent(0));
        const bool fails =
            invert_diagonal(exec, coarsening.with_columns_of_others(), with_magnitudes, true) >= 0;
        if (channel().anywhere(fails))
          to.smoother = AmgSmoother::chebyshev;
        else
          to.inverse = values_in<M>(exec, with_magnitudes);
      }
      if (l == 0) find_same_inverse(exec, to);
      laps.add_to(facts.smoother_seconds);

      LevelOnRanks<V, Space> coarse;
      constexpr offset_t still_small =
          100000;  // for a level without a next one to be on every rank
      const bool is_last_next = l + 2 == options.max_levels;
      const RowsOfLevels where{is_last_next ? std::max(small_rows(), still_small) : small_rows(),
                               least_rows()};
      const bool has_next =
          l + 1 < options.max_levels &&
          coarsening.coarsen(options, where, facts.symmetric, inverse, to.largest, coarse, facts);
      if (!has_next && l > 0 && all_rows <= still_small) return take_whole();
      const offset_t entries = level.A.entries();
      AmgLevel facts_of_level = described(to, entries, b);
      facts_of_level.rows = all_rows;
      facts_of_level.nonzeros = sum_of_all(channel(), entries);
      facts_of_level.ranks = static_cast<int>(sum_of_all(channel(), to.rows > 0));
      facts.levels.push_back(std::move(facts_of_level));
      if (!has_next) return {};

      Laps more(exec);
      const auto take = [&](const BlocksOnRanks<V, Space>& from, PlannedMatrix<M, Exec>& transfer) {
        transfer.take(ctx, in_slices_on_host(matrix_of<M>(exec, from.own)));
        transfer.ranks = among_ranks<M>(ctx, from.halo);
      };
      if (l == 0) facts.in_factors = factor_on_all(ctx, coarsening.set_up(), to);
      if (to.factored.empty()) {
        const auto transfers = coarsening.transfers();
        take(transfers.prolongation, to.prolongation);
        take(transfers.restriction, to.restriction);
      }
      if (coarsening.is_gathered()) {
        const auto ways = coarsening.ways_to_aggregates();
        take(ways.prolongation, to.spread);
        take(ways.restriction, to.gather);
        to.ungathered =
            zeroed<M, Space>("cnc::amg", static_cast<std::size_t>(ways.prolongation.rows()));
      }
      more.add_to(facts.smoother_seconds);
      level = std::move(coarse);
    }
  }

  detail::NormsOfRanks<Exec> norms_of_ranks(const Context<Exec>& ctx) {
    std::vector<detail::OwnRange> parts;
    for (int r = 0; r < channel().size(); ++r) parts.push_back({r, 1});
    const auto ranks = std::make_shared<detail::AmongRanks<double, Exec>>(
        ctx, detail::halo_of_whole<double>(detail::PartitionAccess::halo(matrix)->channel, parts));
    add_exchange<detail::AmongRanks<double, Exec>>(ranks);
    return {ranks, zeroed<double, Space>("cnc::amg", parts.size()), channel().rank()};
  }
  /// The prolongation of the first level in factors, where that is possible on all ranks: D must be the same on all of them.
  template <class M>
  bool factor_on_all(Context<Exec>& ctx, const detail::SetUpLevel<V, Space>& level,
                     detail::CycleLevel<M, Exec>& to) {
    const bool is_here =
        level.A.rows > 0 && detail::factor_prolongation(ctx, level, facts.symmetric, to);
    const double mine = is_here ? static_cast<double>(to.factored.factor) : 0;
    const double* const all = channel().gather_all(&mine, 1);
    const bool is_same = std::all_of(all, all + channel().size(),
                                     [&](double other) { return other == all[0] && other != 0; });
    if (!is_same) to.factored = {};
    return is_same;
  }
  /// Ranks that the cycle exchanges with.
  template <class Ranks>
  void add_exchange(const std::shared_ptr<const Ranks>& ranks) {
    require_all.push_back([ranks] { ranks->require_all(); });
    without_host = without_host && ranks->goes_without_host();
  }
  template <class M>
  std::shared_ptr<detail::OtherRanks> among_ranks(const Context<Exec>& ctx,
                                                  const std::shared_ptr<detail::Halo<V>>& halo) {
    const auto ranks = std::make_shared<detail::AmongRanks<M, Exec>>(ctx, detail::halo_in<M>(halo));
    add_exchange<detail::AmongRanks<M, Exec>>(ranks);
    return ranks;
  }
};

template <class V, class Exec>
DistributedAmg<V, Exec>::DistributedAmg(const AmgOptions& options, offset_t whole_rows,
                                        offset_t rank_rows)
    : state_(std::make_unique<State>()) {
  (void)Amg<V, Exec>(options);  // which checks them
  if (options.smoother == AmgSmoother::gauss_seidel || options.smoother == AmgSmoother::ilu0)
    throw UnsupportedOperation(std::string("DistributedAmg: the smoother ") +
                               to_string(options.smoother) +
                               " is not available for a matrix on several ranks");
  require(whole_rows >= 0, "DistributedAmg: whole_rows must not be negative");
  require(rank_rows >= 0, "DistributedAmg: rank_rows must not be negative");
  state_->options = options;
  state_->whole_rows = whole_rows;
  state_->rank_rows = rank_rows;
}
template <class V, class Exec>
DistributedAmg<V, Exec>::~DistributedAmg() = default;

template <class V, class Exec>
void DistributedAmg<V, Exec>::set_near_null_space(std::vector<Vector<const V>> vectors) {
  require(vectors.size() <= max_block_size, "DistributedAmg: 16 near-null vectors at most");
  for (auto& vector : vectors) vector = detail::cloned(vector);
  state_->near_null = std::move(vectors);
}

template <class V, class Exec>
void DistributedAmg<V, Exec>::clear() {
  state_->cycle = {};
  state_->require_all.clear();
  state_->memory.release();
}

template <class V, class Exec>
std::string DistributedAmg<V, Exec>::name() const {
  return "amg";
}
template <class V, class Exec>
double DistributedAmg<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  return Amg<V, Exec>(state_->options).bytes(rows, nonzeros);
}
template <class V, class Exec>
void DistributedAmg<V, Exec>::take(const PartitionedMatrix<V>& A) {
  state_->matrix = A;
}

template <class V, class Exec>
PreconditionerSetup DistributedAmg<V, Exec>::set_up(Context<Exec>& ctx,
                                                    const CsrMatrix<V, Space>& A,
                                                    const Matrix<V, Space>& layout) {
  State& s = *state_;
  const auto& halo = detail::PartitionAccess::halo(s.matrix);
  require(halo != nullptr,
          "DistributedAmg: it is for DistributedSolver, which gives it the matrix");
  PreconditionerSetup outcome;
  const auto set_up_all = [&] {
    const InstanceScope instance(ctx.execution_space_instance());
    const detail::PoolScope scope(s.memory.pool());
    s.agree();
    s.facts = {};
    s.cycle = {};
    s.require_all.clear();
    s.without_host = true;
    s.memory.keep_for(ctx, A.rows, static_cast<offset_t>(A.columns.extent(0)));
    detail::Magnitudes magnitudes =
        detail::magnitudes_of(ctx.execution_space_instance(), A, layout);
    for (const V value : halo->rows.values)
      magnitudes.largest.take(std::abs(static_cast<double>(value)));
    const bool is_finite = std::isfinite(magnitudes.largest.value);
    if (halo->channel->anywhere(!is_finite)) {
      if (!is_finite) outcome = detail::row_without_number(ctx.execution_space_instance(), A);
      return;
    }
    const bool is_float = std::is_same_v<V, float> ||
                          (s.options.in_float && detail::range_is_float(magnitudes, A.rows));
    s.facts.in_float = !halo->channel->anywhere(!is_float);
    outcome = s.facts.in_float ? s.template build<float>(ctx, A, layout)
                               : s.template build<double>(ctx, A, layout);
    s.memory.yield();
  };
  try {
    halo->channel->together(set_up_all);
  } catch (...) {
    clear();
    throw;
  }
  return outcome;
}

template <class V, class Exec>
void DistributedAmg<V, Exec>::apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                                    const Vector<V, Space>& z) const {
  std::visit(
      [&](const auto& cycle) {
        require(
            !cycle.levels.empty() && cycle.levels[0].rows == detail::checked_extent(r.extent(0)),
            "DistributedAmg: apply without a set_up for a matrix of so many rows");
        cycle.apply(ctx, r.data(), z.data());
      },
      state_->cycle);
}

template <class V, class Exec>
void DistributedAmg<V, Exec>::require_all() const {
  for (const auto& require : state_->require_all) require();
}
template <class V, class Exec>
bool DistributedAmg<V, Exec>::only_enqueues() const {
  return !detail::is_host_space<Space> && state_->without_host;
}
template <class V, class Exec>
bool DistributedAmg<V, Exec>::varies() const {
  return state_->options.cycle == AmgCycle::k;
}
template <class V, class Exec>
const AmgHierarchy& DistributedAmg<V, Exec>::hierarchy() const {
  return state_->facts;
}

template class DistributedAmg<float>;
template class DistributedAmg<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class DistributedAmg<float, Kokkos::DefaultExecutionSpace>;
template class DistributedAmg<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
