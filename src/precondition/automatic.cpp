#include <cnc/automatic_preconditioner.hpp>
#include <cnc/formats.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/solver.hpp>

#include "add_sentence.hpp"
#include "convert/spaces.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/diagonal_block.hpp"
#include "solve/preconditioners.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cnc {
namespace {

constexpr double digits = 18.4;  // -ln 1e-8
constexpr double never = 1e9;    // iterations of one that does not get on

/// How much smaller the residual becomes per iteration, in the later half of a trial; from the beginning where that ended early.
double rate_of(const SolveReport& report) {
  const auto& history = report.history;
  if (history.size() < 2 || !(history.back() > 0)) return report.converged() ? 1e-8 : 1;
  const std::size_t last = history.size() - 1, first = report.converged() ? 0 : last / 2;
  const double rate = std::pow(history[last] / history[first], 1.0 / double(last - first));
  return std::isfinite(rate) && rate < 1 ? rate : 1;
}

/// The least residual of a trial over the first one.
double least_residual(const SolveReport& report) {
  const auto& history = report.history;
  if (history.empty() || !(history[0] > 0)) return 1;
  const double least = *std::min_element(history.begin(), history.end());
  return least >= 0 && least <= history[0] ? least / history[0] : 1;
}

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
  double multigrid_setup = 150, multigrid_iteration = 3;  ///< and 4 for each product of the levels
  double factor_setup = 20, factor_iteration = 4;  ///< on hosts one thread solves with factors
  double exact_iteration = 4;                      ///< with factors in the order of the rows
  bool by_colours = false;                         ///< the factors that are tried first
  double many_iterations = 667;  ///< promised by a trial of 30, which are tried for longer
  double settled = never;        ///< Jacobi's work from which on multigrid is tried in any case

  /// Of devices: what a kernel takes beside its bytes, and the colouring of factors by a thread of the host, count as well. Constants
  /// of an H200; of a smaller device products and launches are slower by about as much.
  static Costs of_device(index_t rows, offset_t nonzeros, std::size_t value_bytes) {
    constexpr double launch_seconds = 3e-6, bytes_per_second = 4e12, colour_seconds = 0.25e-6;
    const double product = launch_seconds + double(nonzeros) *
                                                double(value_bytes + sizeof(index_t)) /
                                                bytes_per_second;
    const double launch = launch_seconds / product;
    return {.multigrid_setup = 200 + 1400 * launch,
            .multigrid_iteration = 3 + 17 * launch,
            .factor_setup = 20 + colour_seconds * double(rows) / product,
            .factor_iteration = 4 + 40 * launch,
            .exact_iteration = 4 + 1000 * launch,
            .by_colours = true,
            .many_iterations = 300,
            .settled = 1.5 * (200 + 1400 * launch)};
  }
};

/// Candidates for one matrix, set up and tried one after the other, and the best of them so far.
template <class V, class Exec>
class Trials {
 public:
  using Space = typename Exec::memory_space;
  using Base = PreconditionerBase<V, Exec>;

  std::shared_ptr<Base> taken;
  std::string choice;
  double best = std::numeric_limits<double>::infinity();  ///< its work
  double promised = never;                                ///< its iterations

  Trials(Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout,
         bool symmetric, int solves)
      : ctx_(ctx), A_(A), layout_(layout), solves_(solves), solver_(ctx, options(A, symmetric)) {
    const auto n = static_cast<std::size_t>(A.rows);
    b_ = uninitialized<V, Space>("cnc::trial", n);
    x_ = uninitialized<V, Space>("cnc::trial", n);
    detail::on_each(ctx, A.rows, detail::SetRandom<V>{b_.data()});
    ctx.fence();
    solver_.prepare(A);
  }

  /// Forgets what was tried.
  void begin_again() {
    taken = {};
    choice.clear();
    best = std::numeric_limits<double>::infinity();
    promised = never;
  }

  /// Sets up a candidate and tries it; it is taken if it is the best so far.
  PreconditionerSetup consider(std::shared_ptr<Base> candidate, index_t iterations, double set_up,
                               double per_iteration) {
    const PreconditionerSetup outcome = candidate->set_up(ctx_, A_, layout_);
    if (!outcome.ok()) {
      detail::add_sentence(choice, candidate->name() + " cannot be set up");
      return outcome;
    }
    if (auto* const multigrid = dynamic_cast<Amg<V, Exec>*>(candidate.get()))
      per_iteration += 4 * multigrid->hierarchy().operator_complexity();
    const SolveReport report = trial(*candidate, iterations);
    const double rate = rate_of(report);
    // Of those that do not get on the one that came furthest on the way is still the best.
    const bool gets_on = rate < 1;
    const double expected = gets_on ? std::min(never, std::ceil(digits / -std::log(rate)))
                                    : never * (1 + least_residual(report));
    const double work = set_up + solves_ * expected * (gets_on ? per_iteration : 1);
    char promise[80] = " gets nowhere";
    if (gets_on)
      std::snprintf(promise, sizeof promise,
                    " takes some %.0f iterations, the work of %.0f products", expected, work);
    detail::add_sentence(choice, candidate->name() + promise);
    if (work < best) {
      best = work;
      promised = expected;
      taken = std::move(candidate);
    }
    return outcome;
  }

 private:
  static SolveOptions options(const CsrMatrix<V, Space>& A, bool symmetric) {
    SolveOptions options;
    options.method = symmetric ? Method::pcg : Method::gmres;
    options.preconditioner = PreconditionerKind::none;
    options.format = {"csr", 1};
    options.trusted = A.checked == Checked::ascending;
    options.rtol = 1e-8;
    return options;
  }

  SolveReport trial(const Base& candidate, index_t iterations) {
    SolveOptions options = solver_.options();
    options.max_iterations = iterations;
    if (candidate.varies()) {
      const bool symmetric = method_facts(options.method).symmetric;
      options.method = symmetric ? Method::pcg_flexible : Method::fgmres;
      Solver<V, Exec> flexible(ctx_, options);
      flexible.prepare(A_);
      return tried_by(flexible, candidate);
    }
    solver_.set_options(options);
    return tried_by(solver_, candidate);
  }

  SolveReport tried_by(Solver<V, Exec>& solver, const Base& candidate) {
    solver.set_preconditioner([&](const Vector<const V, Space>& r, const Vector<V, Space>& z) {
      candidate.apply(ctx_, r, z);
    });
    Kokkos::deep_copy(x_, V(0));
    return solver.solve(b_, x_);
  }

  Context<Exec>& ctx_;
  const CsrMatrix<V, Space>& A_;
  const Matrix<V, Space>& layout_;
  int solves_;
  Solver<V, Exec> solver_;
  Vector<V, Space> b_, x_;
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
  constexpr double little = 100, jacobi_iteration = Costs::jacobi_iteration;
  constexpr double hopeless = 5000;  // iterations
  constexpr index_t worth_levels = 500;
  Costs costs;
  if constexpr (!detail::is_host_space<Space>)
    costs = Costs::of_device(A.rows, A.blocks(), sizeof(V));
  State& s = *state_;
  s.taken = {};
  s.choice.clear();
  const bool mirrored = detail::is_symmetric(A, layout);
  const bool symmetric =
      mirrored && detail::first_row(
                      ctx.execution_space_instance(), A.rows,
                      HasNoPositiveDiagonal<V>{{A.operand(), A.checked == Checked::ascending}}) < 0;
  Trials<V, Exec> trials(ctx, A, layout, symmetric, s.solves);

  // What Jacobi does about a diagonal that is not positive is what Method::automatic does about it.
  const int b = block_size(layout);
  const bool blocks = b > 1 && symmetric;
  const auto jacobi = std::make_shared<detail::LocalPreconditioner<V, Exec>>(
      blocks ? PreconditionerKind::block_jacobi : PreconditionerKind::jacobi, blocks ? b : 1,
      symmetric  ? DiagonalRule::as_it_is
      : mirrored ? DiagonalRule::row_norm
                 : DiagonalRule::one_for_zero);
  const auto jacobi_setup = trials.consider(jacobi, 30, 0, jacobi_iteration);
  // Where iterations are many, the first ones promise too much, or nothing yet: longer trials, of about the same work.
  const bool is_hard = trials.promised > costs.many_iterations;
  if (is_hard && trials.best < costs.settled) {
    trials.begin_again();
    trials.consider(jacobi, 120, 0, jacobi_iteration);
  }
  // A candidate whose set-up alone is more work than all of the best so far is not tried.
  const auto may_win = [&](double set_up) { return trials.best > std::max(little, set_up); };
  if (may_win(costs.multigrid_setup) && A.rows >= worth_levels)
    trials.consider(s.amg, is_hard ? 24 : 8, costs.multigrid_setup, costs.multigrid_iteration);
  // Multigrid that works needs no rival.
  const bool works =
      trials.taken == s.amg && trials.best < costs.multigrid_setup + 250 + 200.0 * s.solves;
  if (may_win(costs.factor_setup) && !works) {
    const auto consider_factors = [&](bool by_colours, double per_iteration) {
      const auto factors = [&](IncompleteOptions options) {
        options.by_colours = by_colours;
        return std::make_shared<IncompleteFactorization<V, Exec>>(options);
      };
      trials.consider(factors({symmetric ? IncompleteKind::ic0 : IncompleteKind::ilu0}),
                      is_hard ? 40 : 20, costs.factor_setup, per_iteration);
      if (!symmetric && trials.best > 1000)
        trials.consider(factors({IncompleteKind::ilut, 1e-3, 5}), 20, 10 * costs.factor_setup,
                        2 * per_iteration);
    };
    consider_factors(costs.by_colours, costs.factor_iteration);
    if (costs.by_colours && trials.promised > hopeless)
      consider_factors(false, costs.exact_iteration);
  }
  // A promise of so many iterations says nothing. Jacobi then does no harm.
  const bool falls_back = !trials.taken || (trials.promised > hopeless && jacobi_setup.ok());
  s.taken = falls_back ? jacobi : trials.taken;
  if (falls_back && !jacobi_setup.ok()) return jacobi_setup;
  if (s.taken != s.amg) s.amg->clear();
  s.choice = s.taken->name() + ": " + trials.choice;
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
