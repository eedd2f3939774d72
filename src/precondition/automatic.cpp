#include <cnc/automatic_preconditioner.hpp>
#include <cnc/formats.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/solver.hpp>

#include "convert/spaces.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/choose.hpp"
#include "precondition/diagonal_block.hpp"
#include "precondition/trials.hpp"
#include "solve/preconditioners.hpp"

#include <algorithm>

namespace cnc {
namespace detail {
namespace {

template <class V>
struct HasNoPositiveDiagonal {
  BlocksInCsr<V> A;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    return !(A.entry(static_cast<index_t>(i)) > 0);
  }
};

/// What iterations and set-ups cost, in products of the matrix.
struct Costs {
  static constexpr double jacobi_iteration = 1.5;
  double multigrid_setup = 200, multigrid_iteration = 3;  ///< and 4 for each product of the levels
  double factor_setup = 100, threshold_setup = 200;       ///< the second of ict and ilut
  double factor_iteration = 5;
  double level = 0;            ///< of each level of factors, beside that
  int sweeps = 0;              ///< of factors that are tried before exact ones; 0: none
  double swept_iteration = 0;  ///< with those
  double doubtful = 100;  ///< work that Jacobi promises: from there on it is tried for `longer`
  index_t longer = 80;
  double many_iterations = 667;  ///< promised by a trial of 30, which are tried for longer

  /// Of hosts, with two threads. Products read a layout, in less time than set-ups and factors, which one thread solves with, take to read the
  /// same matrix in CSR: `lead` times less. A set-up of multigrid is work for each entry and for each row (host_multigrid.md).
  static Costs of_host(double lead, double entries_per_row) {
    const double setup = (30 + 800 / std::max(1.0, entries_per_row)) * lead;
    return {.multigrid_setup = setup,
            .multigrid_iteration = 3 + 3 * lead,
            .factor_setup = 100 * lead,
            .threshold_setup = 200 * lead,
            .factor_iteration = jacobi_iteration + 3.5 * lead,
            .doubtful = std::min(100 * lead, 0.85 * setup)};
  }
  /// How many times less a product takes by the layout than by CSR. Where it reads next to nothing of the matrix, arithmetic is what is left.
  /// beside: what entries in columns of other ranks take, in any layout.
  template <class V, class Space>
  static double lead_of(const OnAllRanks& all, const CsrMatrix<V, Space>& A,
                        const Matrix<V, Space>& layout, const Cost& beside) {
    const double arithmetic = 0.3 * sizeof(V) * double(A.blocks());
    const double by_csr = all.sum(A.spmv_cost(sizeof(V)).bytes + beside.bytes);
    const double by_layout =
        all.sum(std::max(arithmetic, spmv_cost(layout, sizeof(V)).bytes) + beside.bytes);
    return std::max(1.0, by_csr / std::max(1.0, by_layout));
  }

  /// Of devices: what a kernel takes beside its bytes, and factors by a thread of the host, count as well. Constants of an H200 and an H100; of a smaller device
  /// products and launches are slower by about as much.
  static Costs of_device(double nonzeros, std::size_t value_bytes) {
    constexpr double launch_seconds = 3e-6, bytes_per_second = 4e12, entry_seconds = 80e-9;
    const double product =
        launch_seconds + nonzeros * double(value_bytes + sizeof(index_t)) / bytes_per_second;
    const double launch = launch_seconds / product;
    const double factor_setup = entry_seconds * nonzeros / product;
    const double multigrid_setup = 200 + 2800 * launch;
    constexpr int sweeps = 5;
    return {.multigrid_setup = multigrid_setup,
            .multigrid_iteration = 3 + 17 * launch,
            .factor_setup = factor_setup,
            .threshold_setup = 6 * factor_setup,
            .factor_iteration = 4,
            .level = 2 * launch,
            .sweeps = sweeps,
            .swept_iteration = jacobi_iteration + 2 * launch + sweeps * (1 + launch),
            .doubtful = 0.2 * multigrid_setup,
            .longer = 160,
            .many_iterations = 300};
  }
};

/// That of the layout where all ranks with rows have the same; else 1.
int same_block_size(const OnAllRanks& all, index_t rows, int here) {
  const double largest = all.largest(rows > 0 ? here : 1);
  const double smallest = -all.largest(rows > 0 ? -here : -max_block_size);
  return largest == smallest ? static_cast<int>(largest) : 1;
}

}  // namespace

template <class V, class Exec>
PreconditionerChoice<V, Exec> choose_preconditioner(
    Context<Exec>& ctx, const std::shared_ptr<OtherRanks>& ranks,
    const CsrMatrix<V, typename Exec::memory_space>& A,
    const Matrix<V, typename Exec::memory_space>& layout, bool mirrored,
    const AutomaticOptions& options, const MultigridCandidate<V, Exec>& multigrid) {
  constexpr double little = 100;
  constexpr double hopeless = 5000;  // iterations
  constexpr index_t worth_levels = 500;
  const OnAllRanks all(ranks.get());
  const double all_rows = ranks ? double(ranks->all_rows()) : A.rows;
  const Cost beside = ranks ? ranks->halo_cost(sizeof(V)) : Cost();
  const double entries = double(A.blocks()) + beside.flops / 2;
  const auto costs = [&] {
    if constexpr (is_host_space<typename Exec::memory_space>) {
      const double lead = Costs::lead_of(all, A, layout, beside);
      return Costs::of_host(lead, all.sum(entries) / std::max(1.0, all_rows));
    } else {
      return Costs::of_device(all.largest(entries), sizeof(V));
    }
  }();
  const bool symmetric =
      mirrored &&
      !all.anywhere(
          first_row(ctx.execution_space_instance(), A.rows,
                    HasNoPositiveDiagonal<V>{{A.operand(), A.checked == Checked::ascending}}) >= 0);
  Trials<V, Exec> trials(ctx, ranks, A, layout, symmetric, options.solves);

  // What Jacobi does about a diagonal that is not positive is what Method::automatic does about it.
  const int b = same_block_size(all, A.rows, block_size(layout));
  const bool blocks = b > 1 && symmetric;
  const auto jacobi = std::make_shared<LocalPreconditioner<V, Exec>>(
      blocks ? PreconditionerKind::block_jacobi : PreconditionerKind::jacobi, blocks ? b : 1,
      symmetric  ? DiagonalRule::as_it_is
      : mirrored ? DiagonalRule::row_norm
                 : DiagonalRule::one_for_zero);
  const auto jacobi_setup = trials.consider(jacobi, 30, 0, [] { return Costs::jacobi_iteration; });
  // A candidate whose set-up alone is more work than all of the best so far is not tried.
  const auto may_win = [&](double set_up) {
    return trials.least_work() > std::max(little, set_up);
  };
  const bool is_hard = trials.promised() > costs.many_iterations;
  // Where Jacobi may be enough it is looked at twice.
  if (may_win(costs.doubtful) && trials.least_work() < 2 * costs.multigrid_setup)
    trials.try_longer(jacobi, costs.longer);
  if (may_win(costs.multigrid_setup) && all_rows >= worth_levels)
    trials.consider(multigrid.object, is_hard ? 24 : 8, costs.multigrid_setup, [&] {
      return costs.multigrid_iteration + 4 * multigrid.operator_complexity();
    });
  // Multigrid that works needs no rival.
  const bool works = trials.best() == multigrid.object &&
                     trials.least_work() < costs.multigrid_setup + 250 + 200.0 * options.solves;
  // With some of the work of their trial.
  if (may_win(1.5 * costs.factor_setup) && !works) {
    trials.try_longer(jacobi, costs.longer);
    const auto consider_factors = [&](int sweeps) {
      const double per_iteration = sweeps > 0 ? costs.swept_iteration : costs.factor_iteration;
      const auto consider = [&](IncompleteOptions kind, index_t iterations, double set_up,
                                double times) {
        kind.sweeps = sweeps;
        const auto factors = std::make_shared<IncompleteFactorization<V, Exec>>(kind);
        trials.consider(factors, iterations, set_up, [&] {
          return times * per_iteration + (sweeps > 0 ? 0 : costs.level * factors->levels());
        });
      };
      // What fills in has more of a triangle for sweeps to miss.
      if (trials.by_cg()) {
        consider({IncompleteKind::ic0}, 20, costs.factor_setup, 1);
        if (sweeps == 0 && trials.least_work() > 300)
          consider({IncompleteKind::ict, 1e-2}, 20, costs.threshold_setup, 1.5);
        return;
      }
      consider({IncompleteKind::ilu0}, is_hard ? 40 : 20, costs.factor_setup, 1);
      if (sweeps == 0 && trials.least_work() > 1000)
        consider({IncompleteKind::ilut, 1e-3, 5}, 20, costs.threshold_setup, 2);
    };
    if (may_win(1.5 * costs.factor_setup)) consider_factors(costs.sweeps);
    // CG gets there in the end, and faster than with level-by-level solves.
    if (costs.sweeps > 0 && !trials.by_cg() && trials.promised() > hopeless) consider_factors(0);
    // GMRES may stand still at first, and then there is little to lose.
    if (!trials.by_cg() && trials.promised() > hopeless) trials.try_all_longer(60);
  }
  auto taken = trials.best();
  // So many iterations of GMRES say little, and what they cost is not the question: what takes half of Jacobi's, or else Jacobi.
  if (!trials.by_cg() && trials.has_tried(jacobi) && trials.promised() > hopeless) {
    const auto fewest = trials.with_fewest_iterations();
    taken = 2 * trials.iterations_of(fewest) < trials.iterations_of(jacobi) ? fewest : jacobi;
  }
  if (!taken) return {nullptr, "", jacobi_setup};
  if (taken != multigrid.object) multigrid.clear();
  const std::string told = taken->name() + ": " + trials.told();
  return {std::move(taken), told, {}};
}

}  // namespace detail

template <class V, class Exec>
AutomaticPreconditioner<V, Exec>::AutomaticPreconditioner(const AutomaticOptions& options,
                                                          std::shared_ptr<Amg<V, Exec>> amg)
    : amg_(amg ? std::move(amg) : std::make_shared<Amg<V, Exec>>()), options_(options) {
  require(options.solves >= 1, "AutomaticPreconditioner: a set-up is for one solve at least");
}

template <class V, class Exec>
double AutomaticPreconditioner<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  return amg_->bytes(rows, nonzeros);
}

template <class V, class Exec>
PreconditionerSetup AutomaticPreconditioner<V, Exec>::set_up(Context<Exec>& ctx,
                                                             const CsrMatrix<V, Space>& A,
                                                             const Matrix<V, Space>& layout) {
  this->taken_ = {};
  this->choice_.clear();
  auto [taken, told, setup] =
      detail::choose_preconditioner(ctx, nullptr, A, layout, detail::is_symmetric(A, layout),
                                    options_, detail::multigrid_candidate<V, Exec>(amg_));
  this->taken_ = std::move(taken);
  this->choice_ = std::move(told);
  return setup;
}

template <class V, class Exec>
PreconditionerSetup AutomaticPreconditioner<V, Exec>::update_values(
    Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
  return this->taken_ ? this->taken_->update_values(ctx, A, layout) : set_up(ctx, A, layout);
}

#define CNC_INSTANTIATE(V, Exec)                                                           \
  template class AutomaticPreconditioner<V, Exec>;                                         \
  template detail::PreconditionerChoice<V, Exec> detail::choose_preconditioner(            \
      Context<Exec>&, const std::shared_ptr<detail::OtherRanks>&,                          \
      const CsrMatrix<V, Exec::memory_space>&, const Matrix<V, Exec::memory_space>&, bool, \
      const AutomaticOptions&, const detail::MultigridCandidate<V, Exec>&)
CNC_INSTANTIATE(float, Kokkos::DefaultHostExecutionSpace);
CNC_INSTANTIATE(double, Kokkos::DefaultHostExecutionSpace);
#ifdef CNC_KOKKOS_HAS_DEVICE
CNC_INSTANTIATE(float, Kokkos::DefaultExecutionSpace);
CNC_INSTANTIATE(double, Kokkos::DefaultExecutionSpace);
#endif
#undef CNC_INSTANTIATE

}  // namespace cnc
