#pragma once

#include "solve/form.hpp"
#include "solve/gmres.hpp"
#include "solve/plain_cg.hpp"
#include "solve/tally.hpp"
#include "solve/workspace.hpp"

#include <array>
#include <vector>

namespace cnc::detail {

/// What backends set up once for the matrix that iterations use now, and for the runs of it that are planned.
template <class V, class Exec>
void plan_iterations(System<V, Exec>& system, Workspace<V, typename Exec::memory_space>& work) {
  work.plan.reset();
  system.plan_products();
  work.plan = system.make_plan(work.planned);
}

/// What is recorded of iterations.
struct IterationLog {
  std::vector<double> rr;
  std::vector<double> energy_gains;  ///< of this recurrence, where the method tells them
};

/// The iterations of any method over the highest level of operations that a system offers, a limited number of them at
/// a time. Scalars stay in the backend's memory space; `seen` is the host's copy.
template <class V, class Exec>
class Engine {
 public:
  using Space = typename Exec::memory_space;

  Engine(const System<V, Exec>& system, const Workspace<V, Space>& work, const Vector<V, Space>& x,
         Method method, SolveForm form, Tally& tally)
      : system_(system),
        work_(work),
        x_(x),
        which_(method),
        method_(&method_facts(method)),
        form_(form),
        used_(form),
        local_(system.preconditioner().local()),
        tally_(tally),
        gmres_(system, work, x, tally) {}

  /// Whether runs go on without the host, which then sees scalars only at their end.
  bool unseen() const {
    return is_phased(which_) && is_run(form_) && !is_host_space<Space> && !system_.ranks;
  }

  /// Runs enqueue behind(context) before the host waits for them. For unseen ones.
  void set_behind(void (*behind)(void*), void* context) {
    behind_ = behind;
    behind_context_ = context;
  }

  /// What starts of a method with parameters are given, in their order.
  void set_parameters(double first, double second) { parameters_ = {first, second}; }

  /// For unseen runs: the part of `start` that needs no norm.
  void start_ahead() {
    write_parameters();
    execute(PhaseGroup::start);
    started_ahead_ = true;
  }

  void forget_start() { started_ahead_ = false; }

  /// Goes on with another method, which a start has to follow.
  void take(Method method, SolveForm form) {
    which_ = method;
    method_ = &method_facts(method);
    form_ = used_ = form;
    read_dictionary_ = true;
    unit_diagonal_ = false;
    local_ = system_.preconditioner().local();
    behind_ = nullptr;
    started_ahead_ = starts_ = false;
  }

  /// Begins a recurrence from the residual in r, whose norm is `residual`.
  void start(double residual) {
    if (!is_phased(which_)) {
      gmres_.start(which_, form_, residual);
    } else if (is_run(form_)) {
      if (unseen() && !started_ahead_) start_ahead();
      started_ahead_ = false;
      // All that the host needs to know before the run, and it costs no waiting.
      scalars() = MethodScalars();
      scalars()[0] = residual * residual;
      starts_ = !unseen();
      if (starts_) write_parameters();
    } else if (form_ == SolveForm::plain_operations) {
      PlainCg<V, Exec>(system_, work_, x_, tally_).start(which_, scalars());
    } else {
      write_parameters();
      execute(PhaseGroup::start);
      see();
    }
  }

  /// Does at most `iterations` more, Workspace::longest_batch at most, until r . r <= rr_target or a
  /// breakdown. Without a log nothing is recorded.
  void iterate(index_t iterations, double rr_target, IterationLog* log) {
    if (!is_phased(which_)) {
      iterations_ += gmres_.iterate(iterations, rr_target, log != nullptr ? &log->rr : nullptr);
      return;
    }
    if (is_run(form_)) return run(iterations, rr_target, log);
    if (form_ == SolveForm::plain_operations) {
      PlainCg<V, Exec> plain(system_, work_, x_, tally_);
      return repeat(iterations, rr_target, log, [&] {
        which_ == Method::pcg ? plain.classic(scalars()) : plain.single_reduction(scalars());
      });
    }
    repeat(iterations, rr_target, log, [&] {
      execute(PhaseGroup::iteration);
      see();
    });
    if (const PassEntry<V> finish = passes().finish) {
      finish(queue(), system_.rows, {}, vectors(), work_.scalars.data(), PassPart::whole);
      ++tally_.backend_calls;
    }
  }

  /// Sees to it that r is the residual of the recurrence.
  void form_residual() {
    if (!is_phased(which_)) gmres_.form_residual();
  }

  const MethodScalars& seen() const {
    return is_phased(which_) ? work_.host_scalars(0) : gmres_.seen();
  }
  /// What the last iteration has taken off the square of the energy norm of the error, if it was logged or alone in its call
  /// and the method tells.
  double energy_gain() const { return energy_gain_; }
  index_t iterations() const { return iterations_; }
  Method method() const { return which_; }
  /// The form, and of runs and steps on a basis how the last ones were done.
  /// Whether products of iterations so far read the dictionary of rows, where there is one.
  bool read_dictionary() const {
    return is_phased(which_) ? read_dictionary_ : used() != SolveForm::resident;
  }
  /// Whether the last run went on the matrix scaled to a unit diagonal.
  bool unit_diagonal() const { return unit_diagonal_; }
  SolveForm used() const { return is_phased(which_) ? used_ : gmres_.used(); }

 private:
  const Queue& queue() const { return system_.ctx->queue(); }
  MethodScalars& scalars() const { return work_.host_scalars(0); }
  const MethodPasses<V>& passes() const { return system_.passes(which_); }

  const Vector<V, Space>& vector(int k) const { return k == method_->x ? x_ : work_.vectors[k]; }
  MethodVectors<V> vectors() const {
    MethodVectors<V> all;
    for (int k = 0; k < method_->vectors; ++k) all.at[k] = vector(k).data();
    return all;
  }
  double* scalar(int k) const { return &work_.scalars.data()->value[k]; }

  /// In the order of the queue.
  void write_parameters() {
    for (int k = 0; k < method_->parameters.count; ++k) {
      double* const to = scalar(method_->parameters.at[k]);
      if constexpr (is_host_space<Space>)
        *to = parameters_[k];
      else
        Kokkos::deep_copy(system_.ctx->execution_space_instance(), Vector<double, Space>(to, 1),
                          parameters_[k]);
    }
  }

  template <class Iterate>
  void repeat(index_t iterations, double rr_target, IterationLog* log, const Iterate& iterate) {
    for (; iterations > 0 && !(seen().rr() <= rr_target); --iterations) {
      if (seen().breakdown == Breakdown::none) iterate();
      if (seen().breakdown != Breakdown::none) return;  // the iteration did not come to its end
      if (method_->energy_gain != nullptr) energy_gain_ = method_->energy_gain(seen());
      if (log != nullptr) {
        log->rr.push_back(seen().rr());
        if (method_->energy_gain != nullptr) log->energy_gains.push_back(energy_gain_);
      }
      ++iterations_;
    }
  }

  /// The phases of a start, or of an iteration.
  void execute(PhaseGroup group) {
    const bool starts = group == PhaseGroup::start;
    const PhaseFacts* const phases = starts ? method_->start : method_->iteration;
    const PassEntry<V>* const entries = starts ? passes().start : passes().iteration;
    const int count = starts ? method_->start_phases : method_->iteration_phases;
    is_seen_ = false;  // parameters have been written since, or by a finishing pass
    for (int k = 0; k < count; ++k) {
      const PassName name{static_cast<int>(which_), group, k};
      if (system_.ranks && phases[k].sums.count > 0 && !phases[k].is_product) keep_scalars();
      is_seen_ = has_halo_dot_ = false;
      phases[k].is_product ? multiply(phases[k]) : pass(phases[k], entries[k], name);
      if (system_.ranks && phases[k].sums.count > 0) add_up(phases[k]);
    }
  }
  /// The scalars as they are before a phase, once the queue has come there.
  void keep_scalars() const {
    if (is_host_space<Space> || is_seen_)
      work_.kept_scalars(0) = scalars();
    else
      Kokkos::deep_copy(system_.ctx->execution_space_instance(), work_.kept_scalars, work_.scalars);
  }

  /// What a phase has summed over the own rows becomes the sum over those of all ranks. Of a pass, the scalars that follow
  /// from its sums are worked out again, from those before it. A breakdown follows from sums, so all ranks have it.
  void add_up(const PhaseFacts& phase) {
    see();
    MethodScalars& s = scalars();
    if (s.breakdown != Breakdown::none) return;
    double sums[3] = {};
    for (int k = 0; k < phase.sums.count; ++k) {
      sums[k] = s[phase.sums.at[k]];
      if (has_halo_dot_ && phase.sums.at[k] == phase.with_scalar)
        sums[k] += system_.ranks->dot_of_end();
    }
    system_.add_up(sums, phase.sums.count);
    if (phase.is_product) {
      for (int k = 0; k < phase.sums.count; ++k) s[phase.sums.at[k]] = sums[k];
    } else {
      s = work_.kept_scalars(0);
      phase.take_sums(s, sums);
    }
    if constexpr (!is_host_space<Space>)
      on_each(*system_.ctx, 1, Put<MethodScalars>{s, work_.scalars.data()});
    is_seen_ = true;
  }

  /// A preconditioner that passes do not apply is enqueued between the two parts of one; so is any where the second part is
  /// compensated.
  void pass(const PhaseFacts& phase, PassEntry<V> entry, PassName name) {
    const auto part = [&](PassPart which) {
      entry(queue(), system_.rows, operand(), vectors(), work_.scalars.data(), which);
      ++tally_.backend_calls;
    };
    const bool compensates = is_compensated(system_.arithmetic) && phase.sums.count > 0;
    if (!compensates && (local_ || !phase.M.active())) return part(PassPart::whole);
    part(PassPart::before);
    if (phase.M.active()) {
      precondition(phase.M.from, phase.M.to, phase.M.transposed);
      ++tally_.backend_calls;
    }
    if (compensates) {
      system_.vector_ops().sums_compensated(queue(), name, system_.rows, vectors(),
                                            work_.scalars.data());
      ++tally_.backend_calls;
    } else if (phase.stores) {
      part(PassPart::after);
    }
  }

  PreconditionerOperand<V> operand() const { return local_.value_or(PreconditionerOperand<V>()); }
  void precondition(int from, int to, bool transposed) const {
    const PreconditionerBase<V, Exec>& M = system_.preconditioner();
    if (transposed)
      M.apply_transposed(*system_.ctx, vector(from), vector(to));
    else
      M.apply(*system_.ctx, vector(from), vector(to));
  }

  void multiply(const PhaseFacts& phase) {
    ++tally_.backend_calls;
    if (phase.with >= 0 && multiplies_with_dots(phase)) {
      const ProductDots<V> dots{vector(phase.with).data(), scalar(phase.with_scalar),
                                phase.self_scalar >= 0 ? scalar(phase.self_scalar) : nullptr};
      if (system_.ranks) system_.ranks->begin(vector(phase.of).data(), phase.transposed);
      system_.with_operand([&](const auto& A) {
        system_.ctx->template matrices<V>(A).spmv_dot(queue(), phase.transposed ? *A.transpose : A,
                                                      vector(phase.of).data(),
                                                      vector(phase.to).data(), dots);
      });
      if (system_.ranks) {
        system_.ranks->end(vector(phase.to).data(), phase.transposed, dots.with);
        has_halo_dot_ = true;
      }
      return;
    }
    system_.apply(vector(phase.of), vector(phase.to), phase.transposed);
    const V* const result = vector(phase.to).data();
    const auto dot = [&](const V* with, int to) {
      system_.dot(with, result, scalar(to));
      ++tally_.backend_calls;
    };
    if (phase.with >= 0) dot(vector(phase.with).data(), phase.with_scalar);
    if (phase.self_scalar >= 0) dot(result, phase.self_scalar);
  }

  /// Whether a product leaves its dots. With other ranks these are of the own block and made up by the dot with what others
  /// add; one of the result with itself would lose digits so.
  bool multiplies_with_dots(const PhaseFacts& phase) const {
    const bool adds_up = phase.self_scalar < 0 && phase.with != phase.to;
    return system_.has_product_with_dots() && (!system_.ranks || adds_up);
  }

  /// Iterations in one backend call.
  void run(index_t iterations, double rr_target, IterationLog* log) {
    MethodRun run;
    run.form = form_;
    run.starts = starts_;
    run.is_first = seen().first != 0;
    run.max_iterations = iterations;
    run.rr_target = rr_target;
    const bool logs_energy = (log != nullptr || iterations == 1) && method_->energy_gain != nullptr;
    if (log != nullptr) run.history = work_.rr_history.data();
    if (logs_energy) run.energy_gains = work_.energy_gains.data();
    run.plan = work_.plan.get();
    if (system_.ranks) {
      run.peers = system_.ranks->peers();
      run.peers_of_transpose = system_.ranks->peers_of_transpose();
    }
    run.behind = behind_;
    run.behind_context = behind_context_;
    if (!local_)
      run.preconditioner = {[](void* self, int from, int to, bool transposed) {
                              static_cast<const Engine*>(self)->precondition(from, to, transposed);
                            },
                            this, system_.version};
    const DeviceWaits waits(system_.ranks.get());
    system_.with_operand([&](const auto& A) {
      system_.ctx->template matrices<V>(A).run[static_cast<int>(which_)](
          queue(), A, operand(), vectors(), work_.scalars.data(), &run);
    });
    if (log != nullptr) log->rr.insert(log->rr.end(), run.history, run.history + run.iterations);
    if (logs_energy && run.iterations > 0) energy_gain_ = run.energy_gains[run.iterations - 1];
    if (logs_energy && log != nullptr)
      log->energy_gains.insert(log->energy_gains.end(), run.energy_gains,
                               run.energy_gains + run.iterations);
    starts_ = false;
    iterations_ += run.iterations;
    used_ = run.used;
    read_dictionary_ = run.read_dictionary;
    unit_diagonal_ = run.unit_diagonal;
    scalars() = run.scalars;
    tally_.backend_calls += run.launches;
    tally_.host_synchronisations += run.synchronisations;
    tally_.calls_done = tally_.backend_calls;
  }

  /// The host waits for the scalars, unless it has just written them itself.
  void see() {
    if (is_seen_) return;
    ++tally_.host_synchronisations;
    if (!is_host_space<Space> && system_.ranks) {
      work_.notice->give(*system_.ctx, work_.scalars.data(), work_.host_scalars.data());
      return work_.notice->wait(*system_.ctx);
    }
    Kokkos::deep_copy(system_.ctx->execution_space_instance(), work_.host_scalars, work_.scalars);
    system_.ctx->fence();
  }

  const System<V, Exec>& system_;
  const Workspace<V, Space>& work_;
  Vector<V, Space> x_;
  Method which_;
  const MethodFacts* method_;
  SolveForm form_, used_;
  bool read_dictionary_ = true;
  bool unit_diagonal_ = false;
  std::optional<PreconditionerOperand<V>> local_;  ///< empty: enqueued between passes
  Tally& tally_;
  Gmres<V, Exec> gmres_;  ///< of the methods with a basis
  std::array<double, 2> parameters_ = {};
  double energy_gain_ = 0;
  void (*behind_)(void*) = nullptr;
  void* behind_context_ = nullptr;
  bool started_ahead_ = false;
  bool is_seen_ = false;       ///< the host's scalars are those of the last phase
  bool has_halo_dot_ = false;  ///< what other ranks have added to a product has a dot of its own
  bool starts_ = false;        ///< the next run begins the recurrence
  index_t iterations_ = 0;
};

}  // namespace cnc::detail
