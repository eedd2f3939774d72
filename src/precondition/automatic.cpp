#include <cnc/automatic_preconditioner.hpp>
#include <cnc/formats.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/solver.hpp>

#include "convert/spaces.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/diagonal_block.hpp"
#include "precondition/trials.hpp"
#include "solve/preconditioners.hpp"

#include <algorithm>

namespace cnc {
namespace {

template <class V>
struct HasNoPositiveDiagonal {
  detail::BlocksInCsr<V> A;
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
  template <class V, class Space>
  static double lead_of(const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
    const double arithmetic = 0.3 * sizeof(V) * double(A.blocks());
    return std::max(1.0, A.spmv_cost(sizeof(V)).bytes /
                             std::max({1.0, arithmetic, spmv_cost(layout, sizeof(V)).bytes}));
  }

  /// Of devices: what a kernel takes beside its bytes, and factors by a thread of the host, count as well. Constants of an H200 and an H100; of a smaller device
  /// products and launches are slower by about as much.
  static Costs of_device(offset_t nonzeros, std::size_t value_bytes) {
    constexpr double launch_seconds = 3e-6, bytes_per_second = 4e12, entry_seconds = 80e-9;
    const double product = launch_seconds + double(nonzeros) *
                                                double(value_bytes + sizeof(index_t)) /
                                                bytes_per_second;
    const double launch = launch_seconds / product;
    const double factor_setup = entry_seconds * double(nonzeros) / product;
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

}  // namespace

template <class V, class Exec>
struct AutomaticPreconditioner<V, Exec>::State {
  std::shared_ptr<Amg<V, Exec>> amg;
  int solves = 1;
  std::shared_ptr<PreconditionerBase<V, Exec>> taken;
  std::string choice;
};

template <class V, class Exec>
AutomaticPreconditioner<V, Exec>::AutomaticPreconditioner(const AutomaticOptions& options,
                                                          std::shared_ptr<Amg<V, Exec>> amg)
    : state_(std::make_unique<State>()) {
  require(options.solves >= 1, "AutomaticPreconditioner: a set-up is for one solve at least");
  state_->amg = amg ? std::move(amg) : std::make_shared<Amg<V, Exec>>();
  state_->solves = options.solves;
}
template <class V, class Exec>
AutomaticPreconditioner<V, Exec>::~AutomaticPreconditioner() = default;

template <class V, class Exec>
std::string AutomaticPreconditioner<V, Exec>::name() const {
  return state_->taken ? state_->taken->name() : "auto";
}

template <class V, class Exec>
double AutomaticPreconditioner<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  return state_->amg->bytes(rows, nonzeros);
}

template <class V, class Exec>
PreconditionerSetup AutomaticPreconditioner<V, Exec>::set_up(Context<Exec>& ctx,
                                                             const CsrMatrix<V, Space>& A,
                                                             const Matrix<V, Space>& layout) {
  constexpr double little = 100;
  constexpr double hopeless = 5000;  // iterations
  constexpr index_t worth_levels = 500;
  Costs costs;
  if constexpr (detail::is_host_space<Space>)
    costs =
        Costs::of_host(Costs::lead_of(A, layout), double(A.blocks()) / std::max<double>(1, A.rows));
  else
    costs = Costs::of_device(A.blocks(), sizeof(V));
  State& s = *state_;
  s.taken = {};
  s.choice.clear();
  const bool mirrored = detail::is_symmetric(A, layout);
  const bool symmetric =
      mirrored && detail::first_row(
                      ctx.execution_space_instance(), A.rows,
                      HasNoPositiveDiagonal<V>{{A.operand(), A.checked == Checked::ascending}}) < 0;
  detail::Trials<V, Exec> trials(ctx, A, layout, symmetric, s.solves);

  // What Jacobi does about a diagonal that is not positive is what Method::automatic does about it.
  const int b = block_size(layout);
  const bool blocks = b > 1 && symmetric;
  const auto jacobi = std::make_shared<detail::LocalPreconditioner<V, Exec>>(
      blocks ? PreconditionerKind::block_jacobi : PreconditionerKind::jacobi, blocks ? b : 1,
      symmetric  ? DiagonalRule::as_it_is
      : mirrored ? DiagonalRule::row_norm
                 : DiagonalRule::one_for_zero);
  const auto jacobi_setup = trials.consider(jacobi, 30, 0, Costs::jacobi_iteration);
  // A candidate whose set-up alone is more work than all of the best so far is not tried.
  const auto may_win = [&](double set_up) {
    return trials.least_work() > std::max(little, set_up);
  };
  const bool is_hard = trials.promised() > costs.many_iterations;
  // Where Jacobi may be enough it is looked at twice.
  if (may_win(costs.doubtful) && trials.least_work() < 2 * costs.multigrid_setup)
    trials.try_longer(jacobi, costs.longer);
  if (may_win(costs.multigrid_setup) && A.rows >= worth_levels)
    trials.consider(s.amg, is_hard ? 24 : 8, costs.multigrid_setup, costs.multigrid_iteration);
  // Multigrid that works needs no rival.
  const bool works = trials.best() == s.amg &&
                     trials.least_work() < costs.multigrid_setup + 250 + 200.0 * s.solves;
  // With some of the work of their trial.
  if (may_win(1.5 * costs.factor_setup) && !works) {
    trials.try_longer(jacobi, costs.longer);
    const auto consider_factors = [&](int sweeps) {
      const double per_iteration = sweeps > 0 ? costs.swept_iteration : costs.factor_iteration;
      const auto consider = [&](IncompleteOptions options, index_t iterations, double set_up,
                                double times) {
        options.sweeps = sweeps;
        trials.consider(std::make_shared<IncompleteFactorization<V, Exec>>(options), iterations,
                        set_up, times * per_iteration, sweeps > 0 ? 0 : costs.level);
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
  s.taken = trials.best();
  // So many iterations of GMRES say little, and what they cost is not the question: what takes half of Jacobi's, or else Jacobi.
  if (!trials.by_cg() && jacobi_setup.ok() && trials.promised() > hopeless) {
    const auto fewest = trials.with_fewest_iterations();
    s.taken = 2 * trials.iterations_of(fewest) < trials.iterations_of(jacobi) ? fewest : jacobi;
  }
  if (!s.taken) return jacobi_setup;
  if (s.taken != s.amg) s.amg->clear();
  s.choice = s.taken->name() + ": " + trials.told();
  return {};
}

template <class V, class Exec>
PreconditionerSetup AutomaticPreconditioner<V, Exec>::update_values(
    Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
  return state_->taken ? state_->taken->update_values(ctx, A, layout) : set_up(ctx, A, layout);
}

template <class V, class Exec>
void AutomaticPreconditioner<V, Exec>::apply(const Context<Exec>& ctx,
                                             const Vector<const V, Space>& r,
                                             const Vector<V, Space>& z) const {
  require(state_->taken != nullptr, "AutomaticPreconditioner: apply without a set_up");
  state_->taken->apply(ctx, r, z);
}

template <class V, class Exec>
std::optional<PreconditionerOperand<V>> AutomaticPreconditioner<V, Exec>::local() const {
  if (!state_->taken) return {};
  return state_->taken->local();
}
template <class V, class Exec>
bool AutomaticPreconditioner<V, Exec>::only_enqueues() const {
  return state_->taken && state_->taken->only_enqueues();
}
template <class V, class Exec>
bool AutomaticPreconditioner<V, Exec>::varies() const {
  return state_->taken && state_->taken->varies();
}
template <class V, class Exec>
bool AutomaticPreconditioner<V, Exec>::keeps_symmetry() const {
  return !state_->taken || state_->taken->keeps_symmetry();
}
template <class V, class Exec>
const std::string& AutomaticPreconditioner<V, Exec>::choice() const {
  return state_->choice;
}
template <class V, class Exec>
std::shared_ptr<const PreconditionerBase<V, Exec>> AutomaticPreconditioner<V, Exec>::taken() const {
  return state_->taken;
}

template class AutomaticPreconditioner<float>;
template class AutomaticPreconditioner<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class AutomaticPreconditioner<float, Kokkos::DefaultExecutionSpace>;
template class AutomaticPreconditioner<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
