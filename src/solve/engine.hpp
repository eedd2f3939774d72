#pragma once

#include "solve/system.hpp"

#include <vector>

namespace cnc::detail {

/// Which level of the operation table does the work.
enum class Form { run, fused_steps, plain_operations };

inline const char* to_string(Form form) {
  switch (form) {
    case Form::run: return "run";
    case Form::fused_steps: return "fused steps";
    case Form::plain_operations: return "plain operations";
  }
  return "unknown";
}

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
      : system_(system), work_(work), x_(x), form_(form), tally_(tally) {
    host_scalars_ = Kokkos::create_mirror_view(work.scalars);
  }

  /// Begins a recurrence from the residual in r.
  void start() {
    if (form_ == Form::plain_operations) {
      system_.precondition(work_.r, work_.z);
      PcgScalars fresh;
      fresh.rz = dot(work_.r, work_.z);
      fresh.rr = dot(work_.r, work_.r);
      host_scalars_(0) = fresh;
      tally_.backend_calls += 1;
    } else {
      ops().pcg_start(queue(), rows(), preconditioner(), vectors(), work_.scalars.data());
      count_and_see();
    }
  }

  /// Sets the bounds of the next batch of iterations. Without `rr_history` nothing is recorded.
  void allow(index_t iterations, double rr_target, std::vector<double>* rr_history) {
    left_ = iterations;
    rr_target_ = rr_target;
    rr_history_ = rr_history;
  }

  /// The whole batch in one backend call (Form::run).
  void run() {
    const std::size_t before = rr_history_ != nullptr ? rr_history_->size() : 0;
    PcgRun run{left_, rr_target_, nullptr, 0};
    if (rr_history_ != nullptr) {
      rr_history_->resize(before + static_cast<std::size_t>(left_));
      run.history = rr_history_->data() + before;
    }
    system_.with_operand([&](const auto& A) {
      system_.ctx->template matrices<V>(A).pcg_run(queue(), A, preconditioner(), vectors(),
                                                   work_.scalars.data(), &run);
    });
    if (rr_history_ != nullptr)
      rr_history_->resize(before + static_cast<std::size_t>(run.iterations));
    iterations_ += run.iterations;
    left_ -= run.iterations;
    count_and_see();
  }

  bool done() const {
    return left_ == 0 || seen().rr <= rr_target_ || seen().breakdown != PcgBreakdown::none;
  }

  PcgVectors<V> vectors() const {
    return {x_.data(),      work_.r.data(), work_.z.data(),
            work_.p.data(), work_.q.data(), work_.s.data()};
  }

  void direction() {
    if (form_ == Form::plain_operations) {
      PcgScalars& s = host_scalars_(0);
      s.beta = s.rz_previous == 0 ? 0.0 : s.rz / s.rz_previous;
      ops().axpby(queue(), rows(), V(1), work_.z.data(), static_cast<V>(s.beta), work_.p.data());
    } else {
      ops().pcg_direction(queue(), rows(), vectors(), work_.scalars.data());
    }
    ++tally_.backend_calls;
  }

  /// q := A v and its curvature v . q; v is p or z.
  void multiply(const V* v) {
    if (form_ == Form::plain_operations) {
      const Vector<V, Space>& from = v == work_.p.data() ? work_.p : work_.z;
      system_.apply(from, work_.q);
      host_scalars_(0).pq = dot(from, work_.q);
    } else {
      system_.with_operand([&](const auto& A) {
        system_.ctx->template matrices<V>(A).spmv_dot(queue(), A, v, work_.q.data(),
                                                      &work_.scalars.data()->pq);
      });
    }
    ++tally_.backend_calls;
  }

  void update() {
    if (form_ == Form::plain_operations) {
      PcgScalars& s = host_scalars_(0);
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
    if (form_ == Form::plain_operations) {
      PcgScalars& s = host_scalars_(0);
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

  const PcgScalars& seen() const { return host_scalars_(0); }
  index_t iterations() const { return iterations_; }

 private:
  index_t rows() const { return system_.rows; }
  const Queue& queue() const { return system_.ctx->queue(); }
  const VectorOps<V>& ops() const { return system_.vector_ops(); }
  PreconditionerOperand<V> preconditioner() const { return system_.preconditioner.operand(); }

  /// One backend call, after which the host looks at the scalars.
  void count_and_see() {
    ++tally_.backend_calls;
    ++tally_.host_synchronisations;
    Kokkos::deep_copy(system_.ctx->execution_space_instance(), host_scalars_, work_.scalars);
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
  typename Kokkos::View<PcgScalars*, Space>::HostMirror host_scalars_;
  index_t iterations_ = 0;
  index_t left_ = 0;
  double rr_target_ = 0;
  std::vector<double>* rr_history_ = nullptr;
};

}  // namespace cnc::detail
