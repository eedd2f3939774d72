#pragma once

#include <cnc/solver.hpp>

#include "add_sentence.hpp"
#include "solve/choose_method.hpp"
#include "solve/criterion.hpp"
#include "solve/diagnosis.hpp"
#include "solve/energy.hpp"
#include "solve/engine.hpp"
#include "solve/iterate.hpp"
#include "solve/method_queue.hpp"
#include "solve/residual.hpp"
#include "solve/spectrum.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

namespace cnc::detail {

/// One solve from beginning to end. The recurrence runs in batches; between them the host looks at
/// limits, takes snapshots and calls back. Only the true residual, computed from b - A x, decides about
/// convergence: where the recurrence is done but the true residual is not, the iteration starts again
/// from it (residual replacement), until it converges or no longer gains. Norms without a name are 2-norms, which
/// recurrences know; where a Criterion decides, a recurrence that the true residual still follows goes on, to a lower
/// target.
template <class V, class Exec>
class Drive {
 public:
  using Space = typename Exec::memory_space;
  Drive(System<V, Exec>& system, Workspace<V, Space>& work, const SolveOptions& options,
        std::span<const Method> methods, const PreconditionerSetup& setup,
        Diagnosis<V, Exec>& diagnosis, const NullVectors<V, Exec>& null_space,
        const Vector<const V, Space>& b, const Vector<V, Space>& x,
        const IterateViews<V, Exec>& views, const LayOutTranspose& lay_out_transpose,
        SolveReport& report)
      : system_(system),
        work_(work),
        options_(options),
        methods_(system, work, options, methods, lay_out_transpose),
        setup_(setup),
        diagnosis_(diagnosis),
        x_(x),
        views_(views),
        report_(report),
        engine_(system, work, x, methods[0], choose_form(system, methods[0], options.form), tally_),
        true_residual_(system, work, null_space, b, x, tally_),
        criterion_(*system.ctx, work, options, views.ordering.permutation, system.rows, tally_,
                   system.ranks.get()) {
    if (engine_.unseen()) engine_.set_behind(enqueue_residual_behind, this);
    engine_.set_parameters(spectrum().smallest, spectrum().largest);
  }

  void solve() {
    const auto start = Clock::now();
    start_ = start;
    try {
      report_.status = run();
    } catch (...) {  // the caller's own functions may throw, and what they threw comes first
      try {
        if (true_residual_.scale() != 1) true_residual_.multiply(x_, 1 / true_residual_.scale());
        // Nothing may still write to the caller's vectors, or read what he frees.
        system_.ctx->fence();
      } catch (...) {
      }
      throw;
    }
    if (true_residual_.scale() != 1) return_to_units_given();
    add_diagnosis();
    report_.iterations = engine_.iterations();
    report_.form = engine_.used();
    report_.unit_diagonal = engine_.unit_diagonal();
    report_.method = method();
    if (takes_spectrum()) report_.spectrum = spectrum();
    report_.backend_calls = tally_.backend_calls;
    report_.host_synchronisations = tally_.host_synchronisations;
    add_cost();
    if (!reads_table()) report_.value_kinds = 0;
    if (options_.record_history) {
      report_.history.reserve(log_.rr.size() + 1);
      report_.history.push_back(initial_ / scale_);
      for (double rr : log_.rr) report_.history.push_back(std::sqrt(rr) / scale_);
    }
    take_energy_error();
    if (!system_.is_rounded()) report_.energy_gains = log_.energy_gains;
    for (double& gain : report_.energy_gains) gain /= scale_ * scale_;
    if (tally_.calls_done != tally_.backend_calls) system_.ctx->fence();
    report_.seconds = seconds();
  }

 private:
  using Clock = std::chrono::steady_clock;

  using Work = Workspace<V, Space>;
  /// Least iterations between snapshots: one costs about two iterations, on a device, where the host
  /// waits for it, up to ten.
  static constexpr index_t snapshot_interval = is_host_space<Space> ? 64 : 512;
  /// No recurrence is trusted for more than this: rounding has long decided what is true by then, and the sums
  /// must not underflow.
  static constexpr double least_reduction =
      double(std::numeric_limits<V>::epsilon()) * std::numeric_limits<V>::epsilon();
  /// A recurrence goes on beside a true residual that is no larger than so many times its own.
  static constexpr double most_drift = 2;
  /// A residual grows so far while the error becomes smaller, and not beyond, as long as the spectrum is right.
  static constexpr double most_growth = 10;
  /// A snapshot costs a product with the matrix: it waits for this much gain over the last one.
  static constexpr double snapshot_gain = 0.1;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// The time by which limits are judged: one clock for all ranks.
  double limiting_seconds() const {
    return system_.ranks ? system_.ranks->of_first(seconds()) : seconds();
  }

  Cost iteration_cost() const {
    double passes = facts().passes, flops = facts().flops_per_row;
    const auto M = system_.preconditioner().local();
    if (is_run(engine_.used()) && M && M->is_scalar()) passes = facts().fewest_passes;
    if (!is_phased(method())) {  // means over a cycle
      passes = methods_.restart() + 8;
      flops = 2 * methods_.restart() + 6;
    }
    if (engine_.used() == SolveForm::plain_operations && is_phased(method()))
      passes = cost::plain_passes;
    if (engine_.used() == SolveForm::resident) passes = cost::resident_passes;
    if (engine_.used() == SolveForm::one_meeting) passes = 0;  // all vectors stay on chip
    Cost product = system_.product_cost(engine_.read_dictionary(), reads_table());
    if (engine_.unit_diagonal()) {  // M^-1 r is r
      product.bytes -= system_.diagonal_bytes();
      passes -= 1;
    }
    return product * facts().products + cost::vectors(system_.rows, passes, flops, sizeof(V));
  }
  /// Whether products read the table of values, where there is one: a run with one meeting reads the values.
  bool reads_table() const {
    return report_.value_kinds > 0 && engine_.used() != SolveForm::one_meeting;
  }
  /// Of the iterations of this method.
  void add_cost() {
    const Cost cost = iteration_cost() * double(engine_.iterations() - begun_at_);
    report_.bytes += cost.bytes;
    report_.flops += cost.flops;
  }

  Method method() const { return methods_.method(); }
  const MethodFacts& facts() const { return method_facts(method()); }

  void copy(const Vector<const V, Space>& from, const Vector<V, Space>& to) {
    Kokkos::deep_copy(system_.ctx->execution_space_instance(), to, from);
    ++tally_.backend_calls;
  }

  SolveStatus run() {
    methods_.allocate_basis();
    calls_back_ = system_.anywhere(bool(options_.callback));
    const auto start = true_residual_.begin(work_.r, [&] {
      if (!engine_.unseen() || !setup_.ok()) return false;
      engine_.start_ahead();
      copy(x_, work_.best);
      return true;
    });
    report_.norm = options_.norm;
    report_.rhs_norm = rhs_norm_ = start.rhs_norm;
    const double scaled_rhs_norm = true_residual_.begin_scaling(rhs_norm_);
    scale_ = true_residual_.scale();
    if (!std::isfinite(scaled_rhs_norm)) return end(SolveStatus::not_finite, "the right-hand side");
    if (scaled_rhs_norm == 0) return zero_rhs();
    const bool ahead = start.has_residual && scale_ == 1;
    double residual = ahead ? start.residual : true_residual_(work_.r);
    if (!ahead) engine_.forget_start();
    report_.initial_residual = report_.recurrence_residual = initial_ = residual;
    reference_ = options_.reference == ToleranceReference::rhs ? scaled_rhs_norm : residual;
    report_.tolerance = std::max(options_.rtol * reference_, options_.atol * scale_);
    if (criterion_.active()) begin_criterion();
    record(residual);
    if (!std::isfinite(residual + true_residual_.of_data()))
      return end(SolveStatus::not_finite, "the initial residual b - A x0");
    if (is_met(residual)) return SolveStatus::converged;
    if (system_.anywhere(!setup_.ok())) return preconditioner_failure();
    if (methods_.is_one() && facts().symmetric && !options_.allow_nonsymmetric &&
        diagnosis_.is_clearly_nonsymmetric())
      return explain(
          SolveStatus::unsuitable,
          diagnosis_.asymmetry_text() +
              "; SolveOptions::allow_nonsymmetric (--allow-nonsymmetric) iterates all the same");

    if (ahead && engine_.unseen()) best_ = residual;  // its x is there
    for (;;) {
      keep_best(residual);
      SolveStatus ended = recurrence(residual);
      double now = residual_at_end();
      while (ended == SolveStatus::converged && can_go_lower(now)) {
        ended = go_down_to(criterion_.aim(report_.recurrence_residual, criterion_.worst(norms_)));
        now = residual_at_end();
      }
      record(now);
      if (is_met(now)) return SolveStatus::converged;
      if (accepted_) return explain(SolveStatus::converged, "accepted by the callback");
      if (ended != SolveStatus::converged && !starts_again_after(ended, now, residual)) {
        if (!goes_on_otherwise(ended, now, residual)) return restore_best(ended, now);
        continue;
      }
      report_.detail.clear();
      if (restarts_ > 0 && !(now <= least_gain * residual)) {
        if (takes_double(SolveStatus::stagnated)) {
          residual = from_best(SolveStatus::stagnated, now);
          continue;
        }
        return restore_best(SolveStatus::stagnated, now,
                            "the true residual no longer follows the recurrence: the attainable "
                            "accuracy of this precision is reached");
      }
      residual = now;
      if (residual_is_behind_) copy(work_.scratch, work_.r);
      ++report_.restarts;
      ++restarts_;
    }
  }

  /// Whether another method, or the matrix in double, is tried from the best x there is.
  bool goes_on_otherwise(SolveStatus ended, double now, double& residual) {
    if (!takes_next_method(ended) && !takes_double(ended)) return false;
    residual = from_best(ended, now);
    return true;
  }
  /// x is the best one there is; its residual.
  double from_best(SolveStatus ended, double now) {
    if (!(now <= best_)) restore_best(ended, now);
    return recorded_;
  }
  /// Whether an end says something of the method or the matrix, with iterations left to try another.
  bool can_be_mended(SolveStatus ended) const {
    return engine_.iterations() < options_.max_iterations &&
           (ended == SolveStatus::breakdown || ended == SolveStatus::diverged ||
            ended == SolveStatus::not_positive_definite || ended == SolveStatus::stagnated ||
            ended == SolveStatus::not_finite);
  }

  /// Whether iterations go over from the float copy of the matrix to the matrix itself: the copy may be indefinite, or
  /// singular, where the matrix is not.
  bool takes_double(SolveStatus ended) {
    if (!system_.is_rounded() || !can_be_mended(ended)) return false;
    system_.narrow_failed = true;
    SolveForm form = SolveForm::automatic;
    bool can = true;
    try {
      form = choose_form(system_, method(), options_.form);
      plan_iterations(system_, work_);
    } catch (const Error&) {  // there is no room, or no such form
      can = false;
    }
    if (system_.anywhere(!can)) {  // the solve ends as it would have
      system_.narrow_failed = false;
      plan_iterations(system_, work_);
      return false;
    }
    add_cost();
    say_what_followed(ended, engine_.iterations() - begun_at_, "with the matrix in float",
                      "in double");
    begun_at_ = engine_.iterations();
    log_.energy_gains.clear();  // they were of another matrix
    report_.format = "csr";
    report_.values_in_float = false;
    report_.row_kinds = 0;
    report_.short_columns = false;
    report_.value_kinds = 0;
    take_up(form);
    return true;
  }
  void say_what_followed(SolveStatus ended, index_t iterations, const std::string& of,
                         const std::string& next) {
    add_sentence(report_.choice, "after " + std::to_string(iterations) + " iterations " + of +
                                     " (" + to_string(ended) + ") " + next);
  }
  /// The engine goes on from x and r with what is there now.
  void take_up(SolveForm form) {
    report_.detail.clear();
    restarts_ = 0;
    if (residual_is_behind_) copy(work_.scratch, work_.r);
    residual_is_behind_ = false;
    engine_.take(method(), form);
    if (engine_.unseen()) engine_.set_behind(enqueue_residual_behind, this);
  }

  /// Whether another method is tried from the best x there is, because the one before is not for this matrix.
  bool takes_next_method(SolveStatus ended) {
    if (!can_be_mended(ended)) return false;
    SolveForm form = SolveForm::automatic;
    const std::size_t next = methods_.next_offered(form, report_.choice);
    if (next == methods_.size()) return false;
    add_cost();
    say_what_followed(ended, engine_.iterations() - begun_at_, "of " + methods_.name(),
                      methods_.name_of(next));
    log_.energy_gains.clear();
    report_.energy_error = SolveReport::not_computed;
    methods_.take(next);
    begun_at_ = engine_.iterations();
    system_.uses_normal = facts().normal_equations;
    report_.preconditioner = system_.preconditioner().name();
    take_up(form);
    return true;
  }

  /// Whether a breakdown is answered by a new start from the true residual. One that gains nothing at the level of
  /// rounding is no property of the matrix: the caller finds that it stagnates.
  bool starts_again_after(SolveStatus ended, double now, double residual) {
    if (!facts().restarts) return false;
    if (ended != SolveStatus::breakdown && ended != SolveStatus::not_positive_definite)
      return false;
    constexpr double rounding = 1e4 * std::numeric_limits<V>::epsilon();
    return now <= least_gain * residual || (restarts_ > 0 && now <= rounding * rhs_norm_ * scale_);
  }

  /// A run that the host does not see ends with the true residual of where it came to, in the vector that is free between
  /// iterations: one wait serves both.
  static void enqueue_residual_behind(void* self) {
    Drive& drive = *static_cast<Drive*>(self);
    drive.true_residual_.enqueue(drive.work_.scratch, slot_behind);
    drive.residual_is_behind_ = true;
  }
  double residual_at_end() {
    if (residual_is_behind_)
      return measured(true_residual_.norm_of(work_.scratch, slot_behind), work_.scratch);
    if (!criterion_.active()) return true_residual_(work_.r);
    residual_is_behind_ = true;  // and r is still that of the recurrence
    return measured(true_residual_(work_.scratch), work_.scratch);
  }

  /// The norm of a true residual that was computed to r. Takes those by which a Criterion decides.
  double measured(double norm, const Vector<V, Space>& r) {
    if (criterion_.active())
      norms_ = true_residual_.with_exact(r, [&](const auto& v) { return criterion_.norms(v); });
    return norm;
  }
  /// Whether the residual that was measured last meets the tolerance; a NaN does not.
  bool is_met(double residual) const {
    return criterion_.active() ? criterion_.worst(norms_) <= 1 : residual <= report_.tolerance;
  }
  /// What the recurrence goes down to from `residual`.
  double aim(double residual) const {
    return criterion_.active() ? criterion_.aim(residual, criterion_.worst(norms_))
                               : report_.tolerance;
  }
  /// Whether all that is wrong with a recurrence that is done is its target: a start would cost it its directions.
  bool can_go_lower(double now) const {
    return criterion_.active() && criterion_.worst(norms_) > 1 &&
           now <= most_drift * report_.recurrence_residual &&
           report_.recurrence_residual > least_target_;
  }

  /// Norms and tolerances of a Criterion, once the first residual is in work_.r.
  void begin_criterion() {
    measured(initial_, work_.r);
    const auto of_rhs = criterion_.norms(true_residual_.rhs());
    report_.rhs_norm = criterion_.whole(of_rhs);
    report_.initial_residual = criterion_.whole(norms_);
    references_ = of_rhs;
    if (options_.reference == ToleranceReference::initial_residual) {
      references_ = norms_;
      for (double& norm : references_) norm /= scale_;
    }
    refer(scale_);
  }
  /// Tolerances of s b - A s x.
  void refer(double scale) {
    auto scaled = references_;
    for (double& norm : scaled) norm *= scale;
    criterion_.refer_to(scaled, scale);
    whole_reference_ = criterion_.whole(scaled);
    report_.tolerance = std::max(options_.rtol * whole_reference_, options_.atol * scale);
    if (options_.components > 1) report_.component_tolerances = criterion_.tolerances();
  }

  /// x = 0 is exact, and no relative tolerance could be met otherwise. It takes the place of the guess before
  /// anything is computed from that.
  SolveStatus zero_rhs() {
    true_residual_.multiply(x_, 0);
    report_.initial_residual = report_.recurrence_residual = initial_ = 0;
    report_.tolerance = options_.atol;
    if (criterion_.active()) {
      norms_.assign(static_cast<std::size_t>(options_.components), 0);
      references_ = norms_;
      refer(1);
    }
    record(facts().least_squares ? true_residual_(work_.r) : 0);
    return SolveStatus::converged;
  }

  /// What was computed for s b and s x, for b and x.
  void return_to_units_given() {
    report_.initial_residual /= scale_;
    report_.recurrence_residual /= scale_;
    reference_ /= scale_;
    report_.tolerance = std::max(options_.rtol * reference_, options_.atol);
    const double now = measured(true_residual_.end_scaling(), work_.r);
    if (!references_.empty()) refer(1);
    record(now);
    if (report_.status == SolveStatus::converged && !accepted_ && !is_met(now))
      report_.status =
          explain(SolveStatus::stagnated, "x is too small or large for this precision");
  }

  /// Where the iteration got nowhere, the reason may be that the method is not for this matrix.
  void add_diagnosis() {
    switch (report_.status) {
      case SolveStatus::max_iterations:
      case SolveStatus::stagnated:
      case SolveStatus::diverged:
      case SolveStatus::breakdown:
      case SolveStatus::not_positive_definite: break;
      default: return;
    }
    if (!facts().symmetric || !diagnosis_.nonsymmetric()) return;
    add_sentence(report_.detail, diagnosis_.asymmetry_text());
  }

  /// Runs the recurrence from the residual in r; `converged` means that it believes so.
  SolveStatus recurrence(double residual) {
    learning_ = takes_spectrum() && !is_known(spectrum());
    leaves_interval_ = false;
    if (learning_)
      begin_learning(residual);
    else
      start(method(), residual);
    take_energy_error();
    log_.energy_gains.clear();
    lowest_ = begun_with_ = residual;
    lowest_at_ = started_at_ = engine_.iterations();
    least_target_ = residual * (system_.is_rounded() ? narrow_reduction : least_reduction);
    // Having missed the tolerance by a rounding once, the recurrence aims lower.
    return go_down_to(aim(residual) * (restarts_ > 0 ? least_gain : 1.0));
  }

  /// Goes on with it.
  SolveStatus go_down_to(double norm) {
    residual_is_behind_ = false;
    const double target = std::max(norm, least_target_);
    const double limit = options_.divergence * initial_;
    while (!(engine_.seen().rr() <= target * target)) {
      if (engine_.iterations() >= options_.max_iterations) return SolveStatus::max_iterations;
      if (is_timed() && limiting_seconds() >= options_.max_seconds) return SolveStatus::time_limit;
      if (learning_)
        iterate_and_learn(target * target);
      else
        engine_.iterate(batch_size(), target * target, options_.record_history ? &log_ : nullptr);
      report_.recurrence_residual = std::sqrt(engine_.seen().rr());
      if (engine_.seen().breakdown != Breakdown::none) return breakdown(engine_.seen().breakdown);
      if (!std::isfinite(report_.recurrence_residual))
        return explain(SolveStatus::not_finite, "the recurrence residual overflowed");
      if (takes_spectrum()) follow_spectrum();
      if (report_.recurrence_residual > limit && !leaves_interval_) return SolveStatus::diverged;
      if (!report_progress()) return SolveStatus::stopped;
      if (!gains())
        return explain(SolveStatus::stagnated, std::to_string(engine_.iterations() - lowest_at_) +
                                                   " iterations have not halved the residual");
      take_snapshot();
    }
    return SolveStatus::converged;
  }

  // --- methods that are given the spectrum of M^-1 A ---------------------------------------------------------

  bool takes_spectrum() const { return facts().parameters.count > 0; }
  bool spectrum_is_given() const { return is_known(options_.spectrum); }
  const Spectrum& spectrum() const {
    return spectrum_is_given() ? options_.spectrum : found_spectrum_;
  }

  /// The engine starts from r with this method.
  void start(Method with, double residual) {
    if (engine_.method() != with) {
      engine_.take(with, choose_form(system_, with, options_.form));
      // What is behind a run of few iterations would cost more than they do.
      if (engine_.unseen() && !learning_) engine_.set_behind(enqueue_residual_behind, this);
    }
    residual_is_behind_ = false;
    engine_.set_parameters(spectrum().smallest, spectrum().largest);
    engine_.start(residual);
  }
  /// Goes on with CG, whose coefficients tell of the spectrum.
  void begin_learning(double residual) {
    static_assert(int(methods::Cg<V>::vectors) == methods::Chebyshev<V>::vectors &&
                      int(methods::Cg<V>::r) == methods::Chebyshev<V>::r &&
                      int(methods::Cg<V>::x) == methods::Chebyshev<V>::x,
                  "they work in the same vectors");
    learning_ = true;
    estimate_ = {};
    start(Method::pcg, residual);
  }
  void iterate_and_learn(double rr_target) {
    using Cg = methods::Cg<V>;
    const index_t before = engine_.iterations();
    engine_.iterate(1, rr_target, options_.record_history ? &log_ : nullptr);
    log_.energy_gains.clear();                   // the method itself tells none
    if (engine_.iterations() == before) return;  // it has broken down
    const double rz = engine_.seen()[Cg::rz], rz_before = engine_.seen()[Cg::rz_previous];
    estimate_.add(engine_.energy_gain() / rz_before, rz_before, rz);
  }
  /// Takes up the method once the spectrum is known, and leaves it where that turns out to have been wrong.
  void follow_spectrum() {
    double& residual = report_.recurrence_residual;
    if (!learning_) {
      if (spectrum_is_given() || converges_as_promised()) return;
      leaves_interval_ = residual > begun_with_;
      begin_learning(residual);
      return;
    }
    if (!estimate_.is_settled()) return;
    learning_ = false;
    if (leaves_interval_) {  // what has grown has shown what it is
      copy(work_.best, x_);
      residual = true_residual_(work_.r);
      leaves_interval_ = false;
    } else {
      keep_best(true_residual_(work_.scratch));
    }
    const Spectrum before = found_spectrum_;
    found_spectrum_ = joined(before, estimate_.found());
    learns_no_more_ = is_known(before) && found_spectrum_.smallest > 0.9 * before.smallest &&
                      found_spectrum_.largest < 1.01 * before.largest;
    begun_with_ = residual;
    started_at_ = engine_.iterations();
    start(method(), residual);
  }
  /// Whether the method makes the residual smaller at half the rate at least that follows from the spectrum, and not much
  /// larger on the way.
  bool converges_as_promised() const {
    if (report_.recurrence_residual > most_growth * begun_with_) return learns_no_more_;
    const double promised =
        chebyshev_rate(spectrum()) * double(engine_.iterations() - started_at_) - std::log(2.0);
    const double kept = std::log(begun_with_ / report_.recurrence_residual);
    return learns_no_more_ || promised < 2 || kept >= promised / 2;
  }

  bool is_timed() const { return std::isfinite(options_.max_seconds); }

  index_t batch_size() const {
    const index_t done = engine_.iterations();
    index_t size = std::min(Work::longest_batch, options_.max_iterations - done);
    // An eigenvalue beyond the spectrum shows before much is lost.
    if (takes_spectrum() && !spectrum_is_given())
      size = std::min(size, std::max<index_t>(4, done - started_at_));
    if (calls_back_ && options_.callback_interval > 0)
      size = std::min(size, options_.callback_interval - done % options_.callback_interval);
    if (is_timed()) {
      // No more iterations than fit into the time left, judged by those done so far.
      const double now = limiting_seconds();
      const double each = done > 0 ? now / done : 0;
      const double fit = each > 0 ? (options_.max_seconds - now) / each : 1;
      size = std::max<index_t>(1, static_cast<index_t>(std::min<double>(size, fit)));
    }
    return size;
  }

  bool report_progress() {
    const index_t done = engine_.iterations();
    const index_t interval = options_.callback_interval;
    if (!calls_back_ || (interval > 0 && done % interval != 0)) return true;
    const CallbackAction action = agreed(call_back());
    accepted_ = action.value == CallbackAction::accept;
    return action.value == CallbackAction::proceed;
  }
  /// What the caller's function answers; on a rank without one what does not count.
  CallbackAction call_back() {
    take_energy_error();  // also on ranks that call nobody: their reports are the same
    if (!options_.callback) return CallbackAction::accept;
    const index_t done = engine_.iterations();
    ShownIterate<V, Exec> shown(
        true_residual_, views_,
        [](void* engine) { static_cast<Engine<V, Exec>*>(engine)->form_residual(); }, &engine_);
    const CallbackAction action = options_.callback({done, report_.recurrence_residual / scale_,
                                                     report_.recurrence_residual / reference_,
                                                     seconds(), report_.energy_error, &shown});
    residual_is_behind_ = false;  // the callback may have used the context's slots, and q to see r
    return action;
  }
  /// The answer of all ranks: stop where one says so, accept where all do.
  CallbackAction agreed(CallbackAction mine) const {
    if (system_.anywhere(mine.value == CallbackAction::stop)) return CallbackAction::stop;
    return system_.anywhere(mine.value == CallbackAction::proceed) ? CallbackAction::proceed : mine;
  }

  /// Nothing is promised for a matrix that is not symmetric: one that gains nothing ends here.
  bool gains() {
    const index_t done = engine_.iterations();
    if (report_.recurrence_residual < 0.5 * lowest_) {
      lowest_ = report_.recurrence_residual;
      lowest_at_ = done;
    }
    // GMRES learns nothing new before its basis has grown again and again.
    const index_t cycles = is_phased(method()) ? 0 : 4 * methods_.restart();
    if (done - lowest_at_ < std::max(patience, cycles) && is_on_the_way()) return true;
    if (facts().symmetric) return options_.allow_nonsymmetric || !diagnosis_.nonsymmetric();
    SolveForm form = SolveForm::automatic;
    if (methods_.next_offered(form, report_.choice) < methods_.size())
      return false;  // it is another one's turn
    lowest_at_ = done;
    return true;
  }

  /// Whether, of several methods, that of the normal equations comes to the tolerance within the iterations left, at the rate
  /// of those it has done. Its residual never grows, so that the rate says something; others' leap or stand still.
  bool is_on_the_way() const {
    const index_t done = engine_.iterations(), took = done - started_at_;
    if (methods_.is_one() || !facts().normal_equations || took < patience) return true;
    const double gained = std::log(begun_with_ / report_.recurrence_residual);
    const double wanted = std::log(report_.recurrence_residual / report_.tolerance);
    // It becomes faster on the way.
    return wanted * double(took) <= 3 * gained * double(options_.max_iterations - done);
  }

  /// Keeps x when it is the best so far by its true residual: the recurrence drifts away from that,
  /// and a snapshot taken on its word could be worse than the guess that it replaces.
  void take_snapshot() {
    if (!(report_.recurrence_residual < snapshot_gain * best_)) return;
    if (engine_.iterations() < next_snapshot_) return;
    next_snapshot_ = engine_.iterations() + snapshot_interval;
    keep_best(residual_is_behind_ ? true_residual_.norm_of(work_.scratch, slot_behind)
                                  : true_residual_(work_.scratch));  // it is free
  }

  void keep_best(double residual) {
    if (best_ >= 0 && !(residual < best_)) return;
    best_ = residual;
    copy(x_, work_.best);
  }

  /// Ends without convergence: whichever of the last and the best kept iterate is better stays in x.
  SolveStatus restore_best(SolveStatus status, double now, const char* detail = nullptr) {
    if (detail != nullptr) report_.detail = detail;
    if (!(now <= best_)) {
      copy(work_.best, x_);
      record(measured(true_residual_(work_.r), work_.r));
    }
    return status;
  }

  void record(double residual) {
    recorded_ = residual;
    double reference = reference_;
    if (criterion_.active()) {
      residual = criterion_.whole(norms_);
      reference = whole_reference_;
      if (options_.components > 1) report_.component_residuals = norms_;
    }
    report_.true_residual = residual;
    report_.relative_residual = reference > 0 ? residual / reference : 0;
    if (facts().least_squares)
      report_.least_squares_residual = true_residual_.of_data() / true_residual_.scale();
  }

  /// What the iterations of this recurrence tell of the error, unless an earlier one has told more. Those with a float
  /// matrix solve another system.
  void take_energy_error() {
    if (log_.energy_gains.empty() || system_.is_rounded()) return;
    if (engine_.seen().breakdown == Breakdown::not_positive_definite) return;
    const EnergyEstimate estimate = estimate_energy_error(log_.energy_gains);
    if (!estimate.close && !std::isnan(report_.energy_error)) return;
    report_.energy_error = estimate.error / scale_;
    report_.energy_iteration = started_at_ + static_cast<index_t>(estimate.iteration);
  }

  SolveStatus explain(SolveStatus status, std::string detail) {
    report_.detail = std::move(detail);
    return status;
  }

  SolveStatus end(SolveStatus status, const char* culprit) {
    return explain(status,
                   std::string(culprit) + " holds a NaN or an infinity, or its norm overflows");
  }

  SolveStatus preconditioner_failure() {
    return explain(SolveStatus::breakdown,
                   system_.said_by_ranks(setup_.ok() ? "" : preconditioner_fault()));
  }
  std::string preconditioner_fault() const {
    const std::string row = "row " + system_.row_text(setup_.row) + " (counted from 0) ";
    if (setup_.fault != nullptr)
      return "preconditioner '" + system_.preconditioner().name() + "': " + row + setup_.fault;
    return std::string(setup_.singular_block ? "the diagonal block" : "the diagonal entry") +
           (facts().normal_equations ? " of A^T A" : "") + " of " + row + "is " +
           (setup_.singular_block ? "singular" : "zero, missing or not finite");
  }

  SolveStatus breakdown(Breakdown kind) {
    const MethodFacts& iterating = method_facts(engine_.method());
    const char* const divided =
        iterating.symmetric && !iterating.indefinite ? "p.Ap or r.z" : "a divisor of the method";
    switch (kind) {
      case Breakdown::not_finite:
        return explain(SolveStatus::not_finite, std::string(divided) + " is a NaN or an infinity");
      case Breakdown::not_positive_definite:
        return explain(SolveStatus::not_positive_definite,
                       indefinite_text(iterating.rz >= 0 && engine_.seen()[iterating.rz] < 0));
      default:
        return explain(SolveStatus::breakdown,
                       std::string(divided) + " is zero although the residual is not");
    }
  }

  /// What is not positive definite: a built-in preconditioner is what the matrix makes it.
  std::string indefinite_text(bool preconditioner) {
    if (facts().normal_equations) return "r.z < 0: the preconditioner of A^T A is not definite";
    const bool by_recurrence =
        method() == Method::pcg_single_reduction || method() == Method::pcg_pipelined;
    if (!system_.preconditioner().keeps_symmetry() && (preconditioner || by_recurrence))
      return std::string(preconditioner ? "r.z < 0" : "p.Ap < 0 by its recurrence") +
             ": the preconditioner is not symmetric, as the method requires";
    if (preconditioner && system_.given)
      return "r.z < 0: the preconditioner given is not positive definite";
    if (facts().indefinite)
      return "r.z < 0: the preconditioner is not positive definite; jacobi is made so for minres";
    const std::string row = diagnosis_.negative_diagonal_text();
    return std::string(preconditioner ? "r.z < 0" : "p.Ap < 0") +
           ": the matrix is not positive definite, which CG requires and minres does not" +
           (row.empty() ? "" : ": " + row);
  }

  System<V, Exec>& system_;
  Workspace<V, Space>& work_;
  const SolveOptions& options_;
  MethodQueue<V, Exec> methods_;
  PreconditionerSetup setup_;
  Diagnosis<V, Exec>& diagnosis_;
  Vector<V, Space> x_;
  const IterateViews<V, Exec>& views_;
  SolveReport& report_;
  Tally tally_;
  Engine<V, Exec> engine_;
  TrueResidual<V, Exec> true_residual_;
  Criterion<V, Exec> criterion_;
  std::vector<double> norms_;       ///< of the Criterion, of the residual measured last
  std::vector<double> references_;  ///< of the Criterion, in the caller's units
  double whole_reference_ = 0;      ///< the norm of those
  Clock::time_point start_;
  static constexpr int slot_behind = 2;
  bool residual_is_behind_ = false;  ///< scratch and the slot hold the true residual of x
  index_t begun_at_ = 0;             ///< the iteration at which it began
  index_t restarts_ = 0;             ///< its own
  double scale_ = 1;                 ///< residuals, reference and tolerance are those of s b, s x
  double lowest_ = 0;  ///< recurrence residual of iteration lowest_at_, halved since the one before
  index_t lowest_at_ = 0;
  double begun_with_ = 0;  ///< the residual with which the recurrence began
  SpectrumEstimate estimate_;
  Spectrum found_spectrum_;      ///< of M^-1 A
  bool learning_ = false;        ///< CG is finding out the spectrum
  bool learns_no_more_ = false;  ///< it has found the same one again
  bool leaves_interval_ =
      false;  ///< ... because the residual has grown: x is then that from before
  bool accepted_ = false;
  bool calls_back_ = false;  ///< there is a callback, on any rank
  double rhs_norm_ = 0, initial_ = SolveReport::not_computed, reference_ = 0;
  double recorded_ = 0;      ///< the true residual in the report
  double least_target_ = 0;  ///< below which the recurrence is not trusted
  index_t started_at_ = 0;   ///< the iteration at which it began
  double best_ = -1;  ///< true residual of the snapshot in work_.best; negative before the first
  index_t next_snapshot_ = snapshot_interval;  ///< iteration before which none is taken
  IterationLog log_;
};

}  // namespace cnc::detail
