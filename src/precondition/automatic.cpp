#include <cnc/automatic_preconditioner.hpp>
#include <cnc/formats.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/solver.hpp>

#include "convert/spaces.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/diagonal_block.hpp"
#include "solve/preconditioners.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cnc {
namespace {

/// Iterations and work, in products, that a solve to 1e-8 is expected to take.
struct Promise {
  double iterations = 0, work = 0;
  bool gets_on = true;
};

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

}  // namespace

template <class V, class Exec>
struct AutomaticPreconditioner<V, Exec>::State {
  using Base = PreconditionerBase<V, Exec>;

  std::shared_ptr<Amg<V, Exec>> amg;
  int solves = 1;
  std::shared_ptr<Base> taken;
  std::string choice;

  // Of the set-up under way.
  bool symmetric = false;
  double best = std::numeric_limits<double>::infinity();  ///< work
  double promised = never;                                ///< iterations of the best

  SolveReport trial(Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Base& candidate,
                    index_t iterations) const {
    SolveOptions options;
    options.method = symmetric ? Method::pcg : Method::gmres;
    options.preconditioner = PreconditionerKind::none;
    options.format = {"csr", 1};
    options.trusted = A.checked == Checked::ascending;
    options.rtol = 1e-8;
    options.max_iterations = iterations;
    Solver<V, Exec> solver(ctx, options);
    solver.prepare(A);
    solver.set_preconditioner([&](const Vector<const V, Space>& r, const Vector<V, Space>& z) {
      candidate.apply(ctx, r, z);
    });
    const auto n = static_cast<std::size_t>(A.rows);
    const auto b = uninitialized<V, Space>("cnc::trial", n);
    const auto x = zeroed<V, Space>("cnc::trial", n);
    detail::on_each(ctx, A.rows, detail::SetRandom<V>{b.data()});
    ctx.fence();
    return solver.solve(b, x);
  }

  void add_to_choice(const std::string& name, const Promise& promise) {
    char text[96];
    if (!promise.gets_on)
      std::snprintf(text, sizeof text, "%s gets nowhere", name.c_str());
    else
      std::snprintf(text, sizeof text, "%s takes some %.0f iterations, the work of %.0f products",
                    name.c_str(), promise.iterations, promise.work);
    choice += (choice.empty() ? "" : "; ") + std::string(text);
  }

  /// Sets up a candidate and tries it; it is taken if it is the best so far.
  PreconditionerSetup consider(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                               const Matrix<V, Space>& layout, std::shared_ptr<Base> candidate,
                               index_t iterations, double set_up, double per_iteration) {
    const PreconditionerSetup outcome = candidate->set_up(ctx, A, layout);
    if (!outcome.ok()) {
      choice += (choice.empty() ? "" : "; ") + candidate->name() + " cannot be set up";
      return outcome;
    }
    if (auto* const multigrid = dynamic_cast<Amg<V, Exec>*>(candidate.get()))
      per_iteration += 4 * multigrid->hierarchy().operator_complexity();
    const SolveReport report = trial(ctx, A, *candidate, iterations);
    const double rate = rate_of(report);
    Promise promise;
    promise.gets_on = rate < 1;
    // Of those that do not get on the one that came furthest on the way is still the best.
    promise.iterations = rate < 1 ? std::min(never, std::ceil(digits / -std::log(rate)))
                                  : never * (1 + least_residual(report));
    promise.work = set_up + solves * promise.iterations * (promise.gets_on ? per_iteration : 1);
    add_to_choice(candidate->name(), promise);
    if (promise.work < best) {
      best = promise.work;
      promised = promise.iterations;
      taken = std::move(candidate);
    }
    return outcome;
  }
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
  // What iterations and set-ups cost in products: measured on hosts, where factorisations are solved by one thread.
  constexpr double little = 100, jacobi_iteration = 1.5;
  constexpr double factor_iteration = detail::is_host_space<Space> ? 4 : 20;
  constexpr index_t worth_levels = 500;
  State& s = *state_;
  s.taken = {};
  s.choice.clear();
  s.best = std::numeric_limits<double>::infinity();
  s.promised = never;
  const bool mirrored = detail::is_symmetric(A);
  s.symmetric =
      mirrored && detail::first_row(
                      ctx.execution_space_instance(), A.rows,
                      HasNoPositiveDiagonal<V>{{A.operand(), A.checked == Checked::ascending}}) < 0;

  // What Jacobi does about a diagonal that is not positive is what Method::automatic does about it.
  const int b = block_size(layout);
  const bool blocks = b > 1 && s.symmetric;
  const auto jacobi = std::make_shared<detail::LocalPreconditioner<V, Exec>>(
      blocks ? PreconditionerKind::block_jacobi : PreconditionerKind::jacobi, blocks ? b : 1,
      s.symmetric ? DiagonalRule::as_it_is
      : mirrored  ? DiagonalRule::row_norm
                  : DiagonalRule::one_for_zero);
  const auto jacobi_setup = s.consider(ctx, A, layout, jacobi, 30, 0, jacobi_iteration);
  // Where iterations are many, the first ones promise too much, or nothing yet: longer trials, of about the same work.
  const bool is_hard = s.best > 1000;
  if (is_hard && s.best < never) {
    s.best = std::numeric_limits<double>::infinity();
    s.choice.clear();
    s.consider(ctx, A, layout, jacobi, 120, 0, jacobi_iteration);
  }
  if (s.best > little && A.rows >= worth_levels)
    s.consider(ctx, A, layout, s.amg, is_hard ? 24 : 8, 150, 3);
  // Multigrid that works needs no rival.
  const bool works = s.taken == s.amg && s.best < 400 + 200.0 * s.solves;
  if (s.best > little && !works) {
    const auto kind = s.symmetric ? IncompleteKind::ic0 : IncompleteKind::ilu0;
    const auto factors = [](const IncompleteOptions& options) {
      return std::make_shared<IncompleteFactorization<V, Exec>>(options);
    };
    s.consider(ctx, A, layout, factors({kind}), is_hard ? 40 : 20, 20, factor_iteration);
    if (!s.symmetric && s.best > 1000)
      s.consider(ctx, A, layout, factors({IncompleteKind::ilut, 1e-3, 5}), 20, 200,
                 2 * factor_iteration);
  }
  // A promise of so many iterations says nothing. Jacobi then does no harm.
  constexpr double hopeless = 5000;
  if (!s.taken || (s.promised > hopeless && jacobi_setup.ok())) {
    s.taken = jacobi;
    if (!jacobi_setup.ok()) return jacobi_setup;
  }
  if (s.taken != s.amg) s.amg->clear();
  s.choice = s.taken->name() + ": " + s.choice;
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
