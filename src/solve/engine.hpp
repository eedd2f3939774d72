#pragma once

#include "solve/form.hpp"
#include "solve/pcg.hpp"
#include "solve/workspace.hpp"

#include <vector>

namespace cnc::detail {

/// What a solve has counted.
struct Tally {
  offset_t backend_calls = 0;
  offset_t host_synchronisations = 0;
};

/// The steps of pcg.hpp over the highest level of operations that a system offers, a limited number of
/// iterations at a time. Scalars stay in the backend's memory space; `seen` is the host's copy.
template <class V, class Exec>
class Engine {
 public:
  using Space = typename Exec::memory_space;

  Engine(const System<V, Exec>& system, const Workspace<V, Space>& work, const Vector<V, Space>& x,
         Form form, Tally& tally)
      : system_(system), work_(work), x_(x), form_(form), tally_(tally) {}

  /// Whether runs go on without the host, which then sees scalars only at their end.
  bool unseen() const { return form_.level == Level::run && !is_host_space<Space>; }

  /// Runs enqueue behind(context) before the host waits for them. For unseen ones.
  void set_behind(void (*behind)(void*), void* context) {
    behind_ = behind;
    behind_context_ = context;
  }

  /// For unseen runs: the part of `start` that needs no norm.
  void start_ahead() {
    ops().pcg_start(queue(), rows(), preconditioner(), vectors(), work_.scalars.data());
    ++tally_.backend_calls;
    started_ahead_ = true;
  }

  void forget_start() { started_ahead_ = false; }

  /// Begins a recurrence from the residual in r, whose norm is `residual`.
  void start(double residual) {
    if (unseen()) {
      if (!started_ahead_) start_ahead();
      started_ahead_ = false;
      // All that the host needs to know before the run, and it costs no waiting.
      scalars() = PcgScalars();
      scalars().rr = residual * residual;
    } else if (plain()) {
      system_.precondition(work_.r, work_.z);
      PcgScalars fresh;
      fresh.rz = dot(work_.r, work_.z);
      fresh.rr = dot(work_.r, work_.r);
      scalars() = fresh;
      tally_.backend_calls += 1;
    } else {
      ops().pcg_start(queue(), rows(), preconditioner(), vectors(), work_.scalars.data());
      count_and_see();
    }
  }

  /// Does at most `iterations` more, Workspace::longest_batch at most, until r . r <= rr_target or a
  /// breakdown. Without `rr_history` nothing is recorded.
  void iterate(index_t iterations, double rr_target, std::vector<double>* rr_history) {
    left_ = iterations;
    rr_target_ = rr_target;
    rr_history_ = rr_history;
    if (form_.level == Level::run)
      run();
    else if (form_.single_reduction)
      pcg_single_reduction(*this);
    else
      pcg(*this);
  }

  // --- the steps of pcg.hpp ---------------------------------------------------------------------

  bool done() const {
    return left_ == 0 || seen().rr <= rr_target_ || seen().breakdown != PcgBreakdown::none;
  }

  PcgVectors<V> vectors() const {
    return {x_.data(),      work_.r.data(), work_.z.data(),
            work_.p.data(), work_.q.data(), work_.s.data()};
  }

  void direction() {
    if (plain()) {
      PcgScalars& s = scalars();
      s.beta = s.rz_previous == 0 ? 0.0 : s.rz / s.rz_previous;
      ops().axpby(queue(), rows(), V(1), work_.z.data(), static_cast<V>(s.beta), work_.p.data());
    } else {
      ops().pcg_direction(queue(), rows(), vectors(), work_.scalars.data());
    }
    ++tally_.backend_calls;
  }

  /// q := A v and its curvature v . q; v is p or z.
  void multiply(const V* v) {
    if (plain()) {
      const Vector<V, Space>& from = v == work_.p.data() ? work_.p : work_.z;
      system_.apply(from, work_.q);
      scalars().pq = dot(from, work_.q);
    } else {
      system_.with_operand([&](const auto& A) {
        system_.ctx->template matrices<V>(A).spmv_dot(queue(), A, v, work_.q.data(),
                                                      &work_.scalars.data()->pq);
      });
    }
    ++tally_.backend_calls;
  }

  void update() {
    if (plain()) {
      PcgScalars& s = scalars();
      s.breakdown = pcg_breakdown(s.rz, s.pq);
      if (s.breakdown != PcgBreakdown::none) return;
      s.alpha = s.rz / s.pq;
      move_along(work_.p, work_.q, s);
    } else {
      ops().pcg_update(queue(), rows(), preconditioner(), vectors(), work_.scalars.data());
      count_and_see();
    }
    finish_iteration();
  }

  void single_reduction_update() {
    if (plain()) {
      PcgScalars& s = scalars();
      const double beta = s.rz_previous == 0 ? 0.0 : s.rz / s.rz_previous;
      const double curvature = beta == 0 ? s.pq : s.pq - beta * s.rz / s.alpha;
      s.breakdown = pcg_breakdown(s.rz, curvature);
      if (s.breakdown != PcgBreakdown::none) return;
      s.beta = beta;
      s.alpha = s.rz / curvature;
      const V b = static_cast<V>(beta);
      ops().axpby(queue(), rows(), V(1), work_.z.data(), b, work_.p.data());
      ops().axpby(queue(), rows(), V(1), work_.q.data(), b, work_.s.data());
      tally_.backend_calls += 2;
      move_along(work_.p, work_.s, s);
    } else {
      ops().pcg_single_reduction_update(queue(), rows(), preconditioner(), vectors(),
                                        work_.scalars.data());
      count_and_see();
    }
    finish_iteration();
  }

  // ----------------------------------------------------------------------------------------------

  const PcgScalars& seen() const { return scalars(); }
  index_t iterations() const { return iterations_; }
  /// How the last run was done.
  PcgForm used() const { return used_; }

 private:
  bool plain() const { return form_.level == Level::plain_operations; }
  index_t rows() const { return system_.rows; }
  const Queue& queue() const { return system_.ctx->queue(); }
  const VectorOps<V>& ops() const { return system_.vector_ops(); }
  PreconditionerOperand<V> preconditioner() const { return system_.preconditioner.operand(); }
  PcgScalars& scalars() const { return work_.host_scalars(0); }

  /// All that is left in one backend call.
  void run() {
    PcgRun run;
    run.form = form_.run;
    run.single_reduction = form_.single_reduction;
    run.max_iterations = left_;
    run.rr_target = rr_target_;
    run.history = rr_history_ != nullptr ? work_.rr_history.data() : nullptr;
    run.plan = work_.plan.get();
    run.behind = behind_;
    run.behind_context = behind_context_;
    system_.with_operand([&](const auto& A) {
      system_.ctx->template matrices<V>(A).pcg_run(queue(), A, preconditioner(), vectors(),
                                                   work_.scalars.data(), &run);
    });
    if (rr_history_ != nullptr)
      rr_history_->insert(rr_history_->end(), run.history, run.history + run.iterations);
    iterations_ += run.iterations;
    left_ -= run.iterations;
    used_ = run.used;
    scalars() = run.scalars;
    tally_.backend_calls += run.launches;
    tally_.host_synchronisations += run.synchronisations;
  }

  /// One backend call, after which the host looks at the scalars.
  void count_and_see() {
    ++tally_.backend_calls;
    ++tally_.host_synchronisations;
    Kokkos::deep_copy(system_.ctx->execution_space_instance(), work_.host_scalars, work_.scalars);
    system_.ctx->fence();
  }

  double dot(const Vector<V, Space>& a, const Vector<V, Space>& b) {
    tally_.backend_calls += 1;
    tally_.host_synchronisations += 1;
    ops().dot(queue(), rows(), a.data(), b.data(), system_.ctx->result_slot());
    return system_.ctx->read_result();
  }

  /// x += alpha p; r -= alpha s; z := M^-1 r; and the sums, from plain operations.
  void move_along(const Vector<V, Space>& p, const Vector<V, Space>& s, PcgScalars& scalars) {
    const V alpha = static_cast<V>(scalars.alpha);
    ops().axpy(queue(), rows(), alpha, p.data(), x_.data());
    ops().axpy(queue(), rows(), -alpha, s.data(), work_.r.data());
    system_.precondition(work_.r, work_.z);
    tally_.backend_calls += 3;
    scalars.rz_previous = scalars.rz;
    scalars.rz = dot(work_.r, work_.z);
    scalars.rr = dot(work_.r, work_.r);
  }

  void finish_iteration() {
    if (seen().breakdown != PcgBreakdown::none) return;  // nothing moved
    if (rr_history_ != nullptr) rr_history_->push_back(seen().rr);
    ++iterations_;
    --left_;
  }

  const System<V, Exec>& system_;
  const Workspace<V, Space>& work_;
  Vector<V, Space> x_;
  Form form_;
  Tally& tally_;
  PcgForm used_ = PcgForm::automatic;
  void (*behind_)(void*) = nullptr;
  void* behind_context_ = nullptr;
  bool started_ahead_ = false;
  index_t iterations_ = 0;
  index_t left_ = 0;
  double rr_target_ = 0;
  std::vector<double>* rr_history_ = nullptr;
};

}  // namespace cnc::detail
