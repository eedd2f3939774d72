#pragma once

#include "solve/system.hpp"
#include "solve/tally.hpp"
#include "solve/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Restarted GMRES with the preconditioner on the right, and flexible GMRES, which keeps the preconditioned vectors and so
/// allows another preconditioner in each step.
///
/// The basis is made by classical Gram-Schmidt, the dots of a step for eight vectors in one reduction, and a second time
/// where the first has taken away all but a tenth of a vector. The host reads the columns of the Hessenberg matrix of
/// eight steps at once on a device, and of one on a host; where it finds such a loss before the last of them, the steps
/// from there on are done again, and all later ones with two passes at once. Givens rotations give the residual norm. When
/// a cycle ends, the residual is a combination of the basis: no product, and b is not needed. A backend may make the steps
/// between two looks in one launch (MatrixOps::arnoldi): more of them then, and a loss in the last is no exception.
/// Among several ranks every step waits for the host, which adds up the dots.
///
/// Method   Saad & Schultz, GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems, 1986,
///          section 3; Saad, A flexible inner-outer preconditioned GMRES algorithm, 1993; reorthogonalisation:
///          Daniel, Gragg, Kaufman & Stewart 1976.
template <class V, class Exec>
class Gmres {
 public:
  using Space = typename Exec::memory_space;

  Gmres(const System<V, Exec>& system, const Workspace<V, Space>& work, const Vector<V, Space>& x,
        Tally& tally)
      : system_(system), work_(work), x_(x), tally_(tally) {}

  /// Begins a cycle from r, whose norm is `residual`, and x.
  void start(Method method, SolveForm form, double residual) {
    flexible_ = method == Method::fgmres;
    form_ = form;
    resident_ = form != SolveForm::plain_operations && work_.plan != nullptr;
    twice_ = false;
    seen_ = {};
    begin_cycle(residual);
    copy(x_, base());
  }

  /// Does at most `iterations` more until r . r <= rr_target; x is that of the last one.
  index_t iterate(index_t iterations, double rr_target, std::vector<double>* rr_history) {
    index_t done = 0;
    while (done < iterations && !(seen_.rr() <= rr_target) && goes_on()) {
      const int first = steps_;
      const auto take = [&](int begin, int end) {
        for (int j = begin; j < end && !(seen_.rr() <= rr_target) && goes_on(); ++j) {
          if (!rotate(j)) return;
          ++steps_;
          ++done;
          if (rr_history != nullptr) rr_history->push_back(seen_.rr());
        }
      };
      const int last = do_next_steps(
          first, static_cast<int>(std::min<index_t>(restart(), first + iterations - done)));
      look(first, last);
      const int lost = twice_ ? last : first_loss(first, last);
      take(first, lost);
      if (steps_ == lost && lost < last && !(seen_.rr() <= rr_target)) {
        make_up_for(lost, last);
        take(lost, last);
      }
      // Steps that were done ahead and are not wanted any more are done again should the cycle go on.
      if (steps_ == restart()) end_cycle();
    }
    if (steps_ > 0) form_x();
    return done;
  }

  /// r := the residual of the recurrence, which is known by its norm alone in the middle of a cycle.
  void form_residual() {
    if (steps_ == 0) return;
    // V Q^T e g, the rotations Q taken back.
    std::vector<double>& c = basis().y;
    std::fill(c.begin(), c.end(), 0.0);
    c[steps_] = basis().g[steps_];
    for (int k = steps_ - 1; k >= 0; --k) {
      const double above = c[k], below = c[k + 1];
      c[k] = basis().cosines[k] * above - basis().sines[k] * below;
      c[k + 1] = basis().sines[k] * above + basis().cosines[k] * below;
    }
    combine(in_backend(c, steps_ + 1, For::residual), steps_ + 1);
    copy(w(), r());
  }

  const MethodScalars& seen() const { return seen_; }
  /// How the steps are made.
  SolveForm used() const { return resident_ ? SolveForm::resident : SolveForm::plain_operations; }

 private:
  using Basis = typename Workspace<V, Space>::Basis;

  // --- vectors and coefficients ------------------------------------------------------------------------------

  Basis& basis() const { return *work_.basis; }
  int restart() const { return basis().restart; }
  bool goes_on() const { return seen_.breakdown == Breakdown::none; }

  /// One of several vectors.
  Vector<V, Space> vector(const Vector<V, Space>& of, int j) const {
    return Vector<V, Space>(of.data() + basis().stride * j, static_cast<std::size_t>(n()));
  }
  Vector<V, Space> v(int j) const { return vector(basis().v, j); }
  /// M^-1 v_j: kept if flexible.
  Vector<V, Space> z(int j) const { return vector(basis().z, flexible_ ? j : 0); }
  const Vector<V, Space>& r() const { return work_.r; }
  const Vector<V, Space>& w() const { return basis().w; }
  const Vector<V, Space>& base() const { return basis().base; }

  const Queue& queue() const { return recording_ != nullptr ? *recording_ : system_.ctx->queue(); }
  const VectorOps<V>& ops() const { return system_.vector_ops(); }
  index_t n() const { return system_.rows; }

  /// Column j in the backend's memory: dots of the first pass, those of the second if there was one, and w . w after each.
  double* column(int j) const { return basis().columns.data() + basis().column_size() * j; }
  const double* host_column(int j) const {
    return basis().host_columns.data() + basis().column_size() * j;
  }

  void copy(const Vector<const V, Space>& from, const Vector<V, Space>& to) {
    Kokkos::deep_copy(system_.ctx->execution_space_instance(), to, from);
    ++tally_.backend_calls;
  }

  // --- a step ------------------------------------------------------------------------------------------------

  /// The steps from `first` on before the next look, up to `most`: how far they came.
  int do_next_steps(int first, int most) {
    const auto before_look = [&](index_t steps) {
      return static_cast<int>(std::min<index_t>(most, first + steps));
    };
    int last = before_look(basis().resident_steps_between_looks);
    if (do_resident_steps(first, last)) return last;
    last = before_look(basis().steps_between_looks);
    do_steps(first, last);
    return last;
  }

  /// The steps [first, last), which a device replays where they have come up before.
  void do_steps(int first, int last) {
    const auto enqueue = [&](const Queue* recording) {
      recording_ = recording;
      for (int j = first; j < last; ++j) step(j);
      recording_ = nullptr;
    };
    const auto local = system_.preconditioner().local();
    const bool comes_again = last == restart() || last - first == basis().steps_between_looks;
    const Backend& backend = system_.ctx->backend();
    if (!basis().recorded.offered(backend) || !local || system_.matrix_free || system_.ranks ||
        !comes_again)
      return enqueue(nullptr);
    const Queue& queue = system_.ctx->queue();
    if (basis().recorded.run(backend, queue,
                             {first, last, twice_, system_.arrays_of_matrix, system_.arithmetic,
                              *local, queue.partials, queue.block_threads},
                             tally_, enqueue))
      std::fill(basis().twice.begin() + first, basis().twice.begin() + last, twice_);
  }

  /// The same in one launch; false, and nothing done, where they do not fit.
  bool do_resident_steps(int first, int last) {
    const auto local = system_.preconditioner().local();
    resident_ = resident_ && local && system_.has_resident_steps();
    if (!resident_) return false;
    const ArnoldiSteps<V> steps{.first = first,
                                .last = last,
                                .twice = twice_,
                                .vectors = restart() + 1,
                                .v = basis().v.data(),
                                .stride = basis().stride,
                                .z = basis().z.data(),
                                .z_stride = flexible_ ? basis().stride : 0,
                                .columns = basis().columns.data(),
                                .plan = work_.plan.get(),
                                .forced = form_ == SolveForm::resident};
    resident_ = system_.with_operand([&](const auto& A) {
      return system_.ctx->template matrices<V>(A).arnoldi(queue(), A, *local, steps);
    });
    if (!resident_) return false;
    ++tally_.backend_calls;
    std::fill(basis().twice.begin() + first, basis().twice.begin() + last, twice_);
    return true;
  }

  /// w := A M^-1 v_j made orthogonal to v_0 .. v_j once or twice, and v_{j+1}. Enqueued only.
  void step(int j) {
    if (recording_ != nullptr) {
      detail::apply_local<V>(*system_.ctx, queue(), *system_.preconditioner().local(), v(j), z(j));
      system_.multiply(queue(), z(j), w());
    } else {
      system_.preconditioner().apply(*system_.ctx, v(j), z(j));
      system_.apply(z(j), w());
    }
    tally_.backend_calls += 2;
    double* const h = column(j);
    const int size = restart() + 1;
    orthogonalize(j + 1, h, h + 2 * size);
    basis().twice[j] = 0;
    if (twice_) return orthogonalize_again(j);
    ops().normalize(queue(), n(), w().data(), h + 2 * size, v(j + 1).data());
    ++tally_.backend_calls;
  }
  /// The second pass, while w is still that of this step.
  void orthogonalize_again(int j) {
    double* const h = column(j);
    const int size = restart() + 1;
    orthogonalize(j + 1, h + size, h + 2 * size + 1);
    basis().twice[j] = 1;
    ops().normalize(queue(), n(), w().data(), h + 2 * size + 1, v(j + 1).data());
    ++tally_.backend_calls;
  }

  /// A digit is lost in the step `lost`, of those up to `last` that are done.
  void make_up_for(int lost, int last) {
    if (lost + 1 == last && !resident_) {
      orthogonalize_again(lost);
    } else {
      twice_ = true;
      if (!do_resident_steps(lost, last)) do_steps(lost, last);
    }
    look(lost, last);
  }

  /// The first of the steps [first, last) whose vector has lost a digit to those before it; `last`: none.
  int first_loss(int first, int last) const {
    for (int j = first; j < last; ++j) {
      const double* const h = host_column(j);
      const double left = h[2 * (restart() + 1)];
      double removed = 0;
      for (int k = 0; k <= j; ++k) removed += h[k] * h[k];
      if (left < 0.01 * (left + removed)) return j;
    }
    return last;
  }

  /// w less its part in v_0 .. v_{count-1}: h[k] := v_k . w, w := w - sum h[k] v_k, *ww := w . w.
  void orthogonalize(int count, double* h, double* ww) {
    for (int k = 0; k < count; k += max_vectors_together) {
      const int part = std::min(max_vectors_together, count - k);
      ops().mdot(queue(), n(), part, v(k).data(), basis().stride, w().data(), h + k);
      ++tally_.backend_calls;
    }
    system_.add_up_there(Vector<double, Space>(h, static_cast<std::size_t>(count)));
    add(-1, count, h, basis().v, w(), ww);
    system_.add_up_there(Vector<double, Space>(ww, 1));
  }

  /// to := to + scale sum_k c[k] of_k, c in the backend's memory.
  void add(double scale, int count, const double* c, const Vector<V, Space>& of,
           const Vector<V, Space>& to, double* norm2 = nullptr) {
    ops().maxpy(queue(), n(), count, scale, c, of.data(), basis().stride, to.data(), norm2);
    ++tally_.backend_calls;
  }

  /// The host reads the columns [first, last).
  void look(int first, int last) {
    ++tally_.host_synchronisations;
    const auto columns = std::make_pair(basis().column_size() * static_cast<std::size_t>(first),
                                        basis().column_size() * static_cast<std::size_t>(last));
    Kokkos::deep_copy(system_.ctx->execution_space_instance(),
                      Kokkos::subview(basis().host_columns, columns),
                      Kokkos::subview(basis().columns, columns));
    system_.ctx->fence();
  }

  // --- the small problem, on the host --------------------------------------------------------------------------

  /// Column j of R, and the residual norm after it; false at a breakdown.
  bool rotate(int j) {
    const int size = restart() + 1;
    const double* const h = host_column(j);
    double* const column = &R(0, j);
    const bool twice = basis().twice[j] != 0;
    const double left = h[2 * size + twice];
    bool finite = std::isfinite(left);
    for (int k = 0; k <= j; ++k) {
      column[k] = h[k] + (twice ? h[size + k] : 0.0);
      finite = finite && std::isfinite(column[k]);
    }
    if (!finite) return breaks_down(Breakdown::not_finite);
    double norm2 = left;  // of A M^-1 v_j
    for (int k = 0; k <= j; ++k) norm2 += column[k] * column[k];
    const double below = std::sqrt(std::max(left, 0.0));
    for (int k = 0; k < j; ++k) turn(k, column[k], column[k + 1]);
    const double length = std::hypot(column[j], below);
    // A is singular as far as the basis goes, to rounding.
    constexpr double rounding = 4 * double(std::numeric_limits<V>::epsilon());
    if (!(length > rounding * std::sqrt(norm2))) return breaks_down(Breakdown::zero_divisor);
    basis().cosines[j] = column[j] / length;
    basis().sines[j] = below / length;
    column[j] = length;
    double* const g = basis().g.data();
    g[j + 1] = -basis().sines[j] * g[j];
    g[j] *= basis().cosines[j];
    seen_[0] = g[j + 1] * g[j + 1];
    return true;
  }
  double& R(int row, int column) const {
    return basis().upper[static_cast<std::size_t>(column) * (restart() + 1) + row];
  }
  void turn(int k, double& above, double& below) const {
    const double kept = above;
    above = basis().cosines[k] * kept + basis().sines[k] * below;
    below = -basis().sines[k] * kept + basis().cosines[k] * below;
  }
  bool breaks_down(Breakdown why) {
    seen_.breakdown = why;
    return false;
  }

  /// Brings numbers of the host to the backend's memory: those of x or of the residual. Each of these has a place of its own,
  /// written again after another look at the earliest: nothing waits for the copy.
  enum class For { x, residual };
  const double* in_backend(const std::vector<double>& numbers, int count, For place) {
    const std::size_t size = static_cast<std::size_t>(restart()) + 1;
    const std::size_t first = place == For::x ? 0 : size;
    const auto those = std::make_pair(first, first + static_cast<std::size_t>(count));
    const auto here = Kokkos::subview(basis().host_coefficients, those);
    const auto there = Kokkos::subview(basis().coefficients, those);
    for (int k = 0; k < count; ++k) here(k) = numbers[k];
    Kokkos::deep_copy(system_.ctx->execution_space_instance(), there, here);
    return there.data();
  }

  // --- x and the residual --------------------------------------------------------------------------------------

  /// x := base + M^-1 sum y_k v_k with R y = g.
  void form_x() {
    std::vector<double>& y = basis().y;
    for (int k = steps_ - 1; k >= 0; --k) {
      y[k] = basis().g[k];
      for (int i = k + 1; i < steps_; ++i) y[k] -= R(k, i) * y[i];
      y[k] /= R(k, k);
    }
    const double* const c = in_backend(y, steps_, For::x);
    copy(base(), x_);
    if (flexible_) return add(1, steps_, c, basis().z, x_);
    combine(c, steps_);
    system_.preconditioner().apply(*system_.ctx, w(), z(0));
    ops().axpy(queue(), n(), V(1), z(0).data(), x_.data());
    tally_.backend_calls += 2;
  }

  /// w := sum c_k v_k
  void combine(const double* c, int count) {
    ops().scal(queue(), n(), V(0), w().data());
    ++tally_.backend_calls;
    add(1, count, c, basis().v, w());
  }

  void end_cycle() {
    form_x();
    form_residual();
    copy(x_, base());
    begin_cycle(std::abs(basis().g[steps_]));
  }

  void begin_cycle(double residual) {
    steps_ = 0;
    basis().g[0] = residual;
    seen_[0] = residual * residual;
    ops().axpby(queue(), n(), static_cast<V>(residual > 0 ? 1 / residual : 0), r().data(), V(0),
                v(0).data());
    ++tally_.backend_calls;
  }

  const System<V, Exec>& system_;
  const Workspace<V, Space>& work_;
  Vector<V, Space> x_;
  Tally& tally_;
  MethodScalars seen_;
  bool flexible_ = false;
  SolveForm form_ = SolveForm::automatic;  ///< asked for
  bool resident_ = false;                  ///< whether steps are, as long as they fit
  const Queue* recording_ = nullptr;       ///< the queue that steps are recorded on, while they are
  bool twice_ = false;                     ///< whether all steps take two passes
  int steps_ = 0;                          ///< of this cycle
};

}  // namespace cnc::detail
