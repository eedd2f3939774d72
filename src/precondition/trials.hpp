#pragma once

#include <cnc/solver.hpp>

#include "add_sentence.hpp"
#include "on_each.hpp"
#include "precondition/amg/spectral_radius.hpp"
#include "solve/other_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Short solves that tell how preconditioners compare on a matrix.

namespace cnc::detail {

/// How much smaller the residual becomes per iteration, in the later half of a trial; from the beginning where that ended early. Of CG, whose residual is tossed
/// up and down, it is that of minimal smoothing (Zhou & Walker, Residual smoothing techniques for iterative methods, 1994). That falls by 1 / sqrt k even where
/// nothing is gained, and says nothing where it hardly does better.
inline double rate_of(const SolveReport& report, bool by_cg) {
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
inline std::vector<double> progress_of(const SolveReport& report, bool by_energy) {
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

/// A preconditioner for the matrix that it has been set up for, as a solver of trials is given it.
template <class V, class Exec>
class SetUpBefore final : public PreconditionerBase<V, Exec> {
 public:
  using Base = PreconditionerBase<V, Exec>;
  using typename Base::Space;

  explicit SetUpBefore(std::shared_ptr<const Base> made) : made_(std::move(made)) {}

  std::string name() const override { return made_->name(); }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<V, Space>&,
                             const Matrix<V, Space>&) override {
    return {};
  }
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override {
    made_->apply(ctx, r, z);
  }
  /// With one that is local the method goes by its fastest form. Others are not recorded for so few iterations.
  std::optional<PreconditionerOperand<V>> local() const override { return made_->local(); }

 private:
  std::shared_ptr<const Base> made_;
};

/// What is the same for all ranks of a matrix on several; every call is one of all ranks. Without other ranks it is what is here.
class OnAllRanks {
 public:
  explicit OnAllRanks(OtherRanks* ranks) : ranks_(ranks) {}
  double sum(double mine) const {
    if (ranks_ != nullptr) ranks_->add_up(&mine, 1);
    return mine;
  }
  double largest(double mine) const {
    if (ranks_ != nullptr) ranks_->take_largest(&mine, 1);
    return mine;
  }
  bool anywhere(bool here) const { return largest(here) > 0; }
  /// What the first rank has worked out: functions of the mathematical library may round otherwise on another processor.
  double of_first(double value) const {
    return ranks_ != nullptr ? ranks_->of_first(value) : value;
  }

 private:
  OtherRanks* ranks_;
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

/// Candidates for one matrix, set up and tried one after the other. The first, Jacobi, is the measure of the others. Where other ranks have the rest of
/// the matrix every call is one of all ranks, and says the same on them.
template <class V, class Exec>
class Trials {
 public:
  using Space = typename Exec::memory_space;
  using Base = PreconditionerBase<V, Exec>;

  /// ranks: the others; null: there are none.
  Trials(Context<Exec>& ctx, std::shared_ptr<OtherRanks> ranks, const CsrMatrix<V, Space>& A,
         const Matrix<V, Space>& layout, bool symmetric, int solves)
      : ctx_(ctx),
        ranks_(std::move(ranks)),
        A_(A),
        layout_(layout),
        solves_(solves),
        by_cg_(symmetric) {
    const auto n = static_cast<std::size_t>(A.rows);
    b_ = uninitialized<V, Space>("cnc::trial", n);
    x_ = uninitialized<V, Space>("cnc::trial", n);
    on_each(ctx, A.rows, SetRandom<V>{b_.data(), ranks_ ? ranks_->number_of(0) : 0});
    ctx.fence();
  }

  /// Sets up a candidate and tries it. per_iteration() is asked once it is set up.
  template <class PerIteration>
  PreconditionerSetup consider(std::shared_ptr<Base> candidate, index_t iterations, double set_up,
                               const PerIteration& per_iteration) {
    if (!by_cg_) solver_.reset();  // its basis is large beside what a set-up takes
    const OnAllRanks all(ranks_.get());
    const PreconditionerSetup outcome = candidate->set_up(ctx_, A_, layout_);
    if (all.anywhere(!outcome.ok())) {
      failed_.push_back(candidate->name());
      return outcome;
    }
    tried_.push_back(
        {std::move(candidate), set_up, all.largest(per_iteration()), iterations, never, false, {}});
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
  bool has_tried(const std::shared_ptr<Base>& candidate) const {
    return iterations_of(candidate) < infinite;
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
      add_sentence(text, tried.candidate->name() + promise);
    }
    for (const auto& name : failed_) add_sentence(text, name + " cannot be set up");
    return text;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr double digits = 18.4;  ///< -ln 1e-8
  static constexpr double never = 1e9;    ///< iterations of one that does not get on
  static constexpr double nowhere = 1e6;  ///< from which on it is said so

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

  /// Tries a candidate whose set-up is done.
  void observe(Tried<V, Exec>& tried) {
    const Base& candidate = *tried.candidate;
    const OnAllRanks all(ranks_.get());
    SolveReport report;
    bool has_room = true;
    try {
      (void)solver_for(candidate.varies(), tried.trial);
    } catch (const OutOfMemory&) {  // of the trial, which may keep more vectors than the solve
      has_room = false;
    }
    has_room = !all.anywhere(!has_room);
    if (has_room) try {
        solver_->set_preconditioner(std::make_shared<SetUpBefore<V, Exec>>(tried.candidate));
        Kokkos::deep_copy(ctx_.execution_space_instance(), x_, V(0));
        report = solver_->solve(b_, x_);
      } catch (const OutOfMemory&) {
        if (ranks_) throw;  // others may be within an iteration
        has_room = false;
      }
    if (!has_room) {
      solver_.reset();
      if (tried.progress.empty()) tried.promise = never;
      return;
    }
    const double rate =
        report.status == SolveStatus::not_positive_definite ? 1 : rate_of(report, by_cg_);
    tried.promise =
        all.of_first(rate < 1 ? std::min(never, std::ceil(digits / -std::log(rate))) : never);
    tried.has_converged = report.converged();
    tried.progress = progress_of(report, by_cg_);
    for (double& come : tried.progress) come = all.of_first(come);
    // Its preconditioner being positive definite, it is A that is not.
    if (by_cg_ && &tried == &tried_.front() &&
        report.status == SolveStatus::not_positive_definite) {
      by_cg_ = false;
      for (auto& again : tried_) observe(again);
    }
  }

  /// That of all trials by a method: it multiplies by the layout that there is, and keeps its vectors.
  Solver<V, Exec>& solver_for(bool varies, index_t iterations) {
    SolveOptions options;
    options.method = by_cg_ ? (varies ? Method::pcg_flexible : Method::pcg)
                            : (varies ? Method::fgmres : Method::gmres);
    options.preconditioner = PreconditionerKind::none;
    options.rtol = 1e-8;
    options.max_iterations = iterations;
    if (!by_cg_)
      options.restart =
          std::max(options.restart, static_cast<int>(std::min<index_t>(iterations, 60)));
    const bool is_ready = solver_ && solver_->options().method == options.method &&
                          solver_->options().restart == options.restart;
    if (is_ready) {
      solver_->set_options(options);
      return *solver_;
    }
    solver_.reset();
    solver_.emplace(ctx_, options);
    solver_->prepare_as_laid_out(ranks_, A_, layout_);
    return *solver_;
  }

  Context<Exec>& ctx_;
  std::shared_ptr<OtherRanks> ranks_;
  const CsrMatrix<V, Space>& A_;
  const Matrix<V, Space>& layout_;
  int solves_;
  bool by_cg_;
  Vector<V, Space> b_, x_;
  std::vector<Tried<V, Exec>> tried_;
  std::vector<std::string> failed_;
  std::optional<Solver<V, Exec>> solver_;
};

}  // namespace cnc::detail
