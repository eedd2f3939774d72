#include <cnc/distributed_amg.hpp>

#include "distributed/agreement.hpp"
#include "distributed/among_ranks.hpp"
#include "distributed/coarsen.hpp"
#include "precondition/amg/build_cycle.hpp"
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
    SparseRows<M> rows{halo->rows.rows, halo->rows.offsets, halo->rows.columns, {}};
    rows.values.assign(halo->rows.values.begin(), halo->rows.values.end());
    return std::make_shared<Halo<M>>(
        Halo<M>{halo->channel, halo->first_row, halo->all_rows, halo->columns, std::move(rows),
                halo->plan, halo->facts, halo->partition, halo->numbers, halo->order});
  }
}

/// A small level of which every rank has the whole, and applies multigrid to all of it: what is its own of the result. In values
/// of M, set up in those of V.
template <class M, class V, class Exec>
class WholeAmg final : public PreconditionerBase<M, Exec> {
 public:
  using typename PreconditionerBase<M, Exec>::Space;

  WholeAmg(std::shared_ptr<Channel> channel, const AmgOptions& options)
      : channel_(std::move(channel)), amg_(options) {}

  /// Collective. The same outcome on all ranks.
  PreconditionerSetup take(Context<Exec>& ctx, const LevelOnRanks<V>& level) {
    const auto ranks = static_cast<std::size_t>(channel_->size());
    const offset_t mine[] = {level.A.first_row(), level.A.rows()};
    const offset_t* const all = channel_->gather_all(mine, 2);
    parts_.assign(all, all + 2 * ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      most_ = std::max(most_, static_cast<std::size_t>(parts_[2 * r + 1]));
    const CsrMatrix<V> A = whole_of(level.A);
    const int k = level.near_null.vectors;
    const std::vector<V> own(level.near_null.rows.data(),
                             level.near_null.rows.data() + level.near_null.rows.extent(0));
    const auto near_null = channel_->share_lists(own);
    PreconditionerSetup outcome;
    channel_->on_each([&] {
      const auto n = static_cast<std::size_t>(A.rows);
      std::vector<Vector<const V, Space>> vectors;
      for (int c = 0; c < k; ++c) {
        const auto vector = uninitialized<V>("cnc::near_null_space", n);
        for (std::size_t r = 0; r < ranks; ++r)
          for (offset_t i = 0; i < parts_[2 * r + 1]; ++i)
            vector(static_cast<std::size_t>(parts_[2 * r] + i)) =
                near_null[r][static_cast<std::size_t>(i * k + c)];
        vectors.push_back(copy_to<Space>(vector));
      }
      // One vector of ones is what there is without any.
      if (!level.near_null.is_one) amg_.set_near_null_space(std::move(vectors));
      const Matrix<V> layout =
          level.block_size > 1 ? Matrix<V>(to_bcsr(A, level.block_size)) : Matrix<V>(A);
      outcome = amg_.set_up(
          ctx, copy_to<Space>(A),
          std::visit([](const auto& a) { return Matrix<V, Space>(copy_to<Space>(a)); }, layout));
      f_ = zeroed<V, Space>("cnc::amg", n);
      host_ = Kokkos::create_mirror_view(f_);
      x_ = zeroed<V, Space>("cnc::amg", n);
      padded_.assign(most_, V(0));
    });
    return outcome;
  }
  const AmgHierarchy& hierarchy() const { return amg_.hierarchy(); }

  std::string name() const override { return "amg"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<M, Space>&,
                             const Matrix<M, Space>&) override {
    return {};
  }
  void apply(const Context<Exec>& ctx, const Vector<const M, Space>& r,
             const Vector<M, Space>& z) const override {
    const auto here = static_cast<std::size_t>(channel_->rank());
    const auto first = static_cast<std::size_t>(parts_[2 * here]);
    const Vector<const M> own = copy_to<HostSpace>(r);
    std::copy_n(own.data(), own.extent(0), padded_.begin());
    const V* const all = channel_->gather_all(padded_.data(), static_cast<int>(most_));
    for (std::size_t part = 0; part < parts_.size() / 2; ++part)
      std::copy_n(all + part * most_, parts_[2 * part + 1], host_.data() + parts_[2 * part]);
    if constexpr (!is_host_space<Space>)
      Kokkos::deep_copy(ctx.execution_space_instance(), f_, host_);
    amg_.apply(ctx, f_, x_);
    on_each(ctx, static_cast<offset_t>(z.extent(0)), ConvertTo<V, M>{x_.data() + first, z.data()});
  }

 private:
  std::shared_ptr<Channel> channel_;
  Amg<V, Exec> amg_;
  std::vector<offset_t> parts_;                 ///< the first row of each rank, and how many it has
  std::size_t most_ = 0;                        ///< rows of a rank
  Vector<V, Space> f_, x_;                      ///< of all rows
  typename Vector<V, Space>::HostMirror host_;  ///< f_, on a device
  mutable std::vector<V> padded_;
};

}  // namespace
}  // namespace detail

template <class V, class Exec>
struct DistributedAmg<V, Exec>::State {
  AmgOptions options;
  offset_t whole_rows = 0;
  std::vector<Vector<const V>> near_null;
  PartitionedMatrix<V> matrix;
  std::variant<detail::Cycle<float, Exec>, detail::Cycle<double, Exec>> cycle;
  std::vector<std::function<void()>> require_all;  ///< of exchanges in the cycle
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

  template <class M>
  PreconditionerSetup build(Context<Exec>& ctx, const Matrix<V, Space>& layout) {
    using namespace detail;
    const Exec& exec = ctx.execution_space_instance();
    cycle.template emplace<Cycle<M, Exec>>();
    auto& made = std::get<Cycle<M, Exec>>(cycle);
    made.degree = facts.smoother_degree = options.smoother_degree;
    facts.smoother = options.smoother;
    made.kind = options.cycle;
    made.symmetric = facts.symmetric =
        !channel().anywhere(!is_symmetric(matrix.own_block(), Matrix<V>(matrix.own_block())));
    if constexpr (sizeof(M) < sizeof(V)) made.norm = zeroed<double, Space>("cnc::amg", 1);
    ctx.reserve(matrix.rows());

    LevelOnRanks<V> level{matrix, block_size_of(layout), {}};
    channel().on_each([&] {
      level.near_null = near_null_space<V>(HostExec(), matrix.rows(), level.block_size, near_null);
    });
    for (int l = 0;; ++l) {
      made.levels.emplace_back();
      auto& to = made.levels.back();
      to.rows = level.A.rows();
      to.A.ranks = among_ranks<M>(ctx, level.A);
      const auto take_whole = [&]() -> PreconditionerSetup {
        AmgOptions rest = options;
        rest.max_levels = std::max(1, options.max_levels - l);
        rest.block_size = level.block_size;
        const auto whole =
            std::make_shared<WholeAmg<M, V, Exec>>(PartitionAccess::halo(matrix)->channel, rest);
        to.allocate(true);
        to.solver = whole;
        const PreconditionerSetup outcome = whole->take(ctx, level);
        if (!outcome.ok()) {
          // Of the first level it is a row of the matrix, of one rank; else there is none to name.
          const offset_t row = l == 0 ? outcome.row : 0, first = matrix.first_row();
          if (row < first || row >= first + matrix.rows()) return {};
          if (l == 0)
            return {static_cast<index_t>(row - first), outcome.singular_block, outcome.fault};
          return {.row = 0, .fault = "leads to a coarse matrix without an inverted diagonal"};
        }
        const AmgHierarchy& below = whole->hierarchy();
        facts.levels.insert(facts.levels.end(), below.levels.begin(), below.levels.end());
        facts.coarsest_rank = below.coarsest_rank;
        facts.levels_together = below.levels_together;
        facts.aggregation_seconds += below.aggregation_seconds;
        facts.prolongation_seconds += below.prolongation_seconds;
        facts.product_seconds += below.product_seconds;
        facts.smoother_seconds += below.smoother_seconds;
        facts.coarsest_seconds += below.coarsest_seconds;
        return {};
      };
      if (level.A.all_rows() <= small_rows()) return take_whole();

      Laps laps(exec);
      CoarseningOnRanks<V> coarsening(level);
      const index_t n = level.A.rows();
      const int b = level.block_size;
      const auto inverse = in_large_pages<V, HostSpace>(
          "cnc::amg", static_cast<std::size_t>(n) * static_cast<std::size_t>(b));
      const index_t fault = invert_diagonal(HostExec(), coarsening.own(), inverse);
      if (l == 0 && channel().anywhere(fault >= 0)) return {.row = fault};
      to.block_size = b;
      to.A.take(ctx, l == 0 ? layout_in<M>(exec, layout)
                            : in_memory_of_cycle<M>(matrix_of<M>(HostExec(), coarsening.own())));
      to.inverse = values_in<M>(exec, copy_to<Space>(inverse));
      to.allocate(false);
      exec.fence();
      to.largest = facts.symmetric ? largest_eigenvalue(ctx, to) : 0;
      if (to.largest == 0 || b == 1) {
        double bound = row_sum_bound(HostExec(), coarsening.with_columns_of_others(), inverse);
        to.A.ranks->take_largest(&bound, 1);
        if (to.largest == 0 || bound < to.largest) to.largest = bound;
      }
      to.smoother = options.smoother;
      if (options.smoother == AmgSmoother::l1_jacobi) {
        const auto with_magnitudes = in_large_pages<V, HostSpace>("cnc::amg", inverse.extent(0));
        const bool fails = invert_diagonal(HostExec(), coarsening.with_columns_of_others(),
                                           with_magnitudes, true) >= 0;
        if (channel().anywhere(fails))
          to.smoother = AmgSmoother::chebyshev;
        else
          to.inverse = values_in<M>(exec, copy_to<Space>(with_magnitudes));
      }
      laps.add_to(facts.smoother_seconds);

      LevelOnRanks<V> coarse;
      PartitionedMatrix<V> P;
      const bool has_next =
          l + 1 < options.max_levels &&
          coarsening.coarsen(options, facts.symmetric, inverse, to.largest, coarse, P, facts);
      constexpr offset_t still_small = 100000;
      if (!has_next && l > 0 && level.A.all_rows() <= still_small) return take_whole();
      const offset_t entries = level.A.facts().entries;
      AmgLevel facts_of_level = described(to, entries, b);
      facts_of_level.rows = level.A.all_rows();
      facts_of_level.nonzeros = sum_of_all(channel(), entries);
      facts.levels.push_back(std::move(facts_of_level));
      if (!has_next) return {};

      Laps more(exec);
      const auto ranks_of_P = among_ranks<M>(ctx, P);
      const CsrMatrix<V> transposed = transpose(P.own_block());
      to.prolongation.take(ctx, in_memory_of_cycle<M>(convert_values<M>(P.own_block())));
      to.restriction.take(ctx, in_memory_of_cycle<M>(convert_values<M>(transposed)));
      to.prolongation.ranks = to.restriction.ranks = ranks_of_P;
      to.restriction.is_transpose = true;
      more.add_to(facts.smoother_seconds);
      level = std::move(coarse);
    }
  }

  template <class M>
  std::shared_ptr<detail::OtherRanks> among_ranks(const Context<Exec>& ctx,
                                                  const PartitionedMatrix<V>& A) {
    const auto ranks = std::make_shared<detail::AmongRanks<M, Exec>>(
        ctx, detail::halo_in<M>(detail::PartitionAccess::halo(A)));
    require_all.push_back([ranks] { ranks->require_all(); });
    return ranks;
  }
  template <class M>
  static Matrix<M, Space> in_memory_of_cycle(const Matrix<M>& A) {
    return detail::in_slices_on_host(
        std::visit([](const auto& a) { return Matrix<M, Space>(copy_to<Space>(a)); }, A));
  }
};

template <class V, class Exec>
DistributedAmg<V, Exec>::DistributedAmg(const AmgOptions& options, offset_t whole_rows)
    : state_(std::make_unique<State>()) {
  (void)Amg<V, Exec>(options);  // which checks them
  if (options.smoother == AmgSmoother::gauss_seidel || options.smoother == AmgSmoother::ilu0)
    throw UnsupportedOperation(std::string("DistributedAmg: the smoother ") +
                               to_string(options.smoother) +
                               " is not there for a matrix on several ranks");
  require(whole_rows >= 0, "DistributedAmg: whole_rows must not be negative");
  state_->options = options;
  state_->whole_rows = whole_rows;
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
  halo->channel->together([&] {
    const InstanceScope instance(ctx.execution_space_instance());
    s.agree();
    s.facts = {};
    s.cycle = {};
    s.require_all.clear();
    const detail::HostExec host;
    detail::Magnitudes magnitudes = detail::magnitudes_of(host, s.matrix.own_block());
    for (const V value : halo->rows.values)
      magnitudes.largest.take(std::abs(static_cast<double>(value)));
    const bool is_finite = std::isfinite(magnitudes.largest.value);
    if (halo->channel->anywhere(!is_finite)) {
      if (!is_finite) outcome = detail::row_without_number(ctx.execution_space_instance(), A);
      return;
    }
    const bool is_float =
        std::is_same_v<V, float> ||
        (s.options.in_float && detail::range_is_float(magnitudes, s.matrix.own_block().rows));
    s.facts.in_float = !halo->channel->anywhere(!is_float);
    outcome = s.facts.in_float ? s.template build<float>(ctx, layout)
                               : s.template build<double>(ctx, layout);
  });
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
