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
#include <limits>
#include <vector>

namespace cnc {
namespace {

constexpr double digits = 18.4;  // -ln 1e-8
constexpr double never = 1e9;    // iterations of one that does not get on
constexpr double nowhere = 1e6;  // from which on it is said so

/// How much smaller the residual becomes per iteration, in the later half of a trial; from the beginning where that ended early. Of CG, whose residual is tossed
/// up and down, it is that of minimal smoothing (Zhou & Walker, Residual smoothing techniques for iterative methods, 1994). That falls by 1 / sqrt k even where
/// nothing is gained, and says nothing where it hardly does better.
double rate_of(const SolveReport& report, bool by_cg) {
  const auto& history = report.history;
  if (history.size() < 2 || !(history.back() > 0)) return report.converged() ? 1e-8 : 1;
  const std::size_t last = history.size() - 1, first = report.converged() ? 0 : last / 2;
  const auto rate_between = [&](double before, double after) {
    const double rate = std::pow(after / before, 1 / double(last - first));
    return std::isfinite(rate) && rate < 1 ? rate : 1;
  };
  double inverse_squares = 0, before = 0;
  for (std::size_t k = 0; k <= last; ++k) {
    const double relative = history[0] / history[k];
    inverse_squares += relative * relative;
    if (k == first) before = inverse_squares;
  }
  const double smoothed = rate_between(std::sqrt(inverse_squares), std::sqrt(before));
  const double standing = rate_between(std::sqrt(double(last + 1)), std::sqrt(double(first + 1)));
  return by_cg && smoothed < standing * standing ? smoothed
                                                 : rate_between(history[first], history[last]);
}

/// How far a trial had come after each of its iterations, in a measure that is the same for all candidates; never falling. Of CG the part of x . A x that is
/// found, of other methods by how much the residual is smaller.
std::vector<double> progress_of(const SolveReport& report, bool by_energy) {
  std::vector<double> come;
  double at = 0;
  if (by_energy) {
    if (report.restarts == 0)
      for (const double gain : report.energy_gains) come.push_back(at += std::max(0.0, gain));
    return come;
  }
  const auto& history = report.history;
  for (std::size_t k = 1; k < history.size(); ++k)
    come.push_back(at = std::max(at, std::log(history[0] / history[k])));
  return come;
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
  /// same matrix in CSR: `lead` times less.
  static Costs of_host(double lead) {
    return {.multigrid_setup = 200 * lead,
            .factor_setup = 100 * lead,
            .threshold_setup = 200 * lead,
            .factor_iteration = jacobi_iteration + 3.5 * lead,
            .doubtful = 100 * lead};
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

/// What a trial has shown of a candidate.
template <class V, class Exec>
struct Tried {
  std::shared_ptr<PreconditionerBase<V, Exec>> candidate;
  double set_up, per_iteration;  ///< in products
  index_t trial;                 ///< iterations of it, at most
  double promise;                ///< iterations to 1e-8, by its own rate
  bool has_converged;
  std::vector<double> progress;
};

/// Candidates for one matrix, set up and tried one after the other. The first, Jacobi, is the measure of the others.
template <class V, class Exec>
class Trials {
 public:
  using Space = typename Exec::memory_space;
  using Base = PreconditionerBase<V, Exec>;

  Trials(Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout,
         bool symmetric, int solves)
      : ctx_(ctx), A_(A), layout_(layout), solves_(solves), by_cg_(symmetric) {
    const auto n = static_cast<std::size_t>(A.rows);
    b_ = uninitialized<V, Space>("cnc::trial", n);
    x_ = uninitialized<V, Space>("cnc::trial", n);
    detail::on_each(ctx, A.rows, detail::SetRandom<V>{b_.data()});
    ctx.fence();
  }

  /// Sets up a candidate and tries it.
  PreconditionerSetup consider(std::shared_ptr<Base> candidate, index_t iterations, double set_up,
                               double per_iteration, double per_level = 0) {
    const PreconditionerSetup outcome = candidate->set_up(ctx_, A_, layout_);
    if (!outcome.ok()) {
      failed_.push_back(candidate->name());
      return outcome;
    }
    if (auto* const multigrid = dynamic_cast<Amg<V, Exec>*>(candidate.get()))
      per_iteration += 4 * multigrid->hierarchy().operator_complexity();
    if (auto* const factors = dynamic_cast<IncompleteFactorization<V, Exec>*>(candidate.get()))
      per_iteration += per_level * factors->levels();
    tried_.push_back({std::move(candidate), set_up, per_iteration, iterations, never, false, {}});
    observe(tried_.back());
    return outcome;
  }
  /// Whether trials are of CG. Where the first candidate meets a direction in which A is negative they are of GMRES from then on, and those before
  /// are repeated.
  bool by_cg() const { return by_cg_; }

  /// @{
  /// Tries a candidate again, or all, for more iterations.
  void try_longer(const std::shared_ptr<Base>& candidate, index_t iterations) {
    for (auto& tried : tried_)
      if (tried.candidate == candidate && tried.trial < iterations) {
        tried.trial = iterations;
        observe(tried);
      }
  }
  void try_all_longer(index_t iterations) {
    for (auto& tried : tried_) {
      tried.trial = iterations;
      observe(tried);
    }
  }
  /// @}

  /// @{
  /// The candidate that promises the least work, that work and its iterations, and those of a given one; null and infinite without any. The one with the fewest iterations is sought
  /// among those that are not many times more work.
  std::shared_ptr<Base> best() const { return tried_.empty() ? nullptr : least().candidate; }
  double least_work() const { return tried_.empty() ? infinite : work(least()); }
  std::shared_ptr<Base> with_fewest_iterations() const {
    constexpr double far_too_much = 8;  // solving level by level on a device can be
    const Tried<V, Exec>* fewest = &least();
    for (const auto& tried : tried_)
      if (iterations(tried) < iterations(*fewest) && work(tried) < far_too_much * work(least()))
        fewest = &tried;
    return fewest->candidate;
  }
  double iterations_of(const std::shared_ptr<Base>& candidate) const {
    for (const auto& tried : tried_)
      if (tried.candidate == candidate) return iterations(tried);
    return infinite;
  }
  double promised() const { return tried_.empty() ? infinite : iterations(least()); }
  /// @}

  /// What was tried, in words.
  std::string told() const {
    std::string text;
    for (const auto& tried : tried_) {
      char promise[80] = " gets nowhere";
      if (iterations(tried) < nowhere)
        std::snprintf(promise, sizeof promise,
                      " takes some %.0f iterations, the work of %.0f products", iterations(tried),
                      work(tried));
      detail::add_sentence(text, tried.candidate->name() + promise);
    }
    for (const auto& name : failed_) detail::add_sentence(text, name + " cannot be set up");
    return text;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  const Tried<V, Exec>& least() const {
    return *std::min_element(tried_.begin(), tried_.end(), [&](const auto& one, const auto& other) {
      return work(one) < work(other);
    });
  }
  /// How many iterations of it a solve takes. Rates of short trials promise too much, all about as much too much where a residual stands long before
  /// it falls. Between Jacobi and incomplete factorisations the ratio of iterations is the same from the first ones on: as many as the first candidate's, by how many
  /// each takes to the farthest point that both have come to. What has come farther than the first, as multigrid does, may be better than that still.
  double iterations(const Tried<V, Exec>& tried) const {
    const auto& first = tried_.front();
    if (&tried == &first || tried.has_converged || tried.progress.empty() || first.progress.empty())
      return tried.promise;
    if (first.promise >= never && tried.promise < never) return tried.promise;
    const bool is_beyond = tried.progress.back() > first.progress.back();
    const double level = is_beyond ? first.progress.back() : tried.progress.back();
    const auto reaching = [level](const std::vector<double>& progress) {
      return double(std::lower_bound(progress.begin(), progress.end(), level) - progress.begin()) +
             1;
    };
    const double measured = first.promise * reaching(tried.progress) / reaching(first.progress);
    // Of residuals, which stand and fall, it is said of what is behind only.
    if (by_cg_) return is_beyond ? std::min(tried.promise, measured) : measured;
    return is_beyond ? tried.promise : std::min(tried.promise, measured);
  }
  double work(const Tried<V, Exec>& tried) const {
    return tried.set_up + solves_ * iterations(tried) * tried.per_iteration;
  }

  /// Of `candidate`, whose set-up is done.
  void observe(Tried<V, Exec>& tried) {
    const Base& candidate = *tried.candidate;
    SolveOptions options;
    options.method = by_cg_ ? (candidate.varies() ? Method::pcg_flexible : Method::pcg)
                            : (candidate.varies() ? Method::fgmres : Method::gmres);
    options.preconditioner = PreconditionerKind::none;
    options.format = {"csr", 1};
    options.trusted = A_.checked == Checked::ascending;
    options.rtol = 1e-8;
    options.max_iterations = tried.trial;
    options.restart =
        std::max(options.restart, static_cast<int>(std::min<index_t>(tried.trial, 60)));
    SolveReport report;
    try {
      Solver<V, Exec> solver(ctx_, options);
      // With a local one the method may go by its fastest form, which is worth a second set-up.
      if (candidate.local())
        solver.set_preconditioner(tried.candidate);
      else
        solver.set_preconditioner([&](const Vector<const V, Space>& r, const Vector<V, Space>& z) {
          candidate.apply(ctx_, r, z);
        });
      solver.prepare(A_);
      Kokkos::deep_copy(x_, V(0));
      report = solver.solve(b_, x_);
    } catch (const OutOfMemory&) {  // of the trial, which may keep more vectors than the solve
      if (tried.progress.empty()) tried.promise = never;
      return;
    }
    const double rate =
        report.status == SolveStatus::not_positive_definite ? 1 : rate_of(report, by_cg_);
    tried.promise = rate < 1 ? std::min(never, std::ceil(digits / -std::log(rate))) : never;
    tried.has_converged = report.converged();
    tried.progress = progress_of(report, by_cg_);
    // Its preconditioner being positive definite, it is A that is not.
    if (by_cg_ && &tried == &tried_.front() &&
        report.status == SolveStatus::not_positive_definite) {
      by_cg_ = false;
      for (auto& again : tried_) observe(again);
    }
  }

  Context<Exec>& ctx_;
  const CsrMatrix<V, Space>& A_;
  const Matrix<V, Space>& layout_;
  int solves_;
  bool by_cg_;
  Vector<V, Space> b_, x_;
  std::vector<Tried<V, Exec>> tried_;
  std::vector<std::string> failed_;
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
    costs = Costs::of_host(std::max(
        1.0, A.spmv_cost(sizeof(V)).bytes / std::max(1.0, spmv_cost(layout, sizeof(V)).bytes)));
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
  Trials<V, Exec> trials(ctx, A, layout, symmetric, s.solves);

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
