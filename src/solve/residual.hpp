#pragma once

#include "on_each.hpp"
#include "solve/engine.hpp"
#include "solve/notice.hpp"
#include "solve/null_vectors.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace cnc::detail {

/// A restart that does not halve the true residual is the last, the first one excepted.
inline constexpr double least_gain = 0.5;
/// A recurrence with a float matrix is trusted for this much before it starts again.
inline constexpr double narrow_reduction = 1e-5;
/// Iterations within which a recurrence with a nonsymmetric matrix has to halve its residual.
inline constexpr index_t patience = 500;

/// to[i] := from[i], exactly
struct Widen {
  const float* from;
  double* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { to[i] = from[i]; }
};
/// wide[i] := scale b[i] - wide[i], and r[i] the same rounded
struct SubtractFrom {
  double scale;
  const float* b;
  double* wide;
  float* r;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    wide[i] = scale * b[i] - wide[i];
    r[i] = static_cast<float>(wide[i]);
  }
};

/// Norms and the residual s b - A x of one solve. s is a power of two: a right-hand side near the ends of
/// the range of V is solved as A (s x) = s b, so that the sums of the recurrence neither underflow nor
/// overflow. Of least squares all norms are those of the normal equations, A^T b and A^T (s b - A x).
template <class V, class Exec>
class TrueResidual {
 public:
  using Space = typename Exec::memory_space;

  TrueResidual(const System<V, Exec>& system, const Workspace<V, Space>& work,
               const NullVectors<V, Exec>& null_space, const Vector<const V, Space>& b,
               const Vector<V, Space>& x, Tally& tally)
      : system_(system), work_(work), null_space_(null_space), b_(b), x_(x), tally_(tally) {}

  /// r := s b - A x with the matrix given; its norm.
  double operator()(const Vector<V, Space>& r) {
    enqueue(r, 0);
    wait();
    return norm_of(r, 0);
  }

  /// The same in two parts: r and its norm are there once all that was enqueued is done.
  void enqueue(const Vector<V, Space>& r, int slot) {
    if constexpr (std::is_same_v<V, float>) {
      if (work_.has_wide) return enqueue_in_double(r, slot);
    }
    ++tally_.backend_calls;
    if (residual_with_norms(r, slot, nullptr)) return stay_in_range(r);
    if (scale_ != 1 || !system_.subtract_product_exactly(b_, x_, r)) {
      system_.apply_exactly(x_, r);
      system_.vector_ops().axpby(queue(), rows(), static_cast<V>(scale_), b_.data(), V(-1),
                                 r.data());
      ++tally_.backend_calls;
    }
    enqueue_norm_to_decide(r, slot);
    stay_in_range(r);
  }
  double norm_of(const Vector<V, Space>& r, int slot) {
    const double plain = norm_in(slot);
    if (!least_squares()) return fits(plain) ? plain : norm(r);
    const double of_r = norm_in(slot_of_data);
    of_data_ = fits(of_r) ? of_r : norm(r);
    return fits(plain) ? plain : norm(work_.normal);
  }
  /// Of least squares: || s b - A x || of the last residual; else 0.
  double of_data() const { return of_data_; }

  /// Calls f with the residual as it was last computed to r, before it was rounded where it was accumulated in double.
  template <class F>
  decltype(auto) with_exact(const Vector<V, Space>& r, F&& f) const {
    if constexpr (std::is_same_v<V, float>)
      if (work_.has_wide) return f(work_.wide_r);
    return f(r);
  }

  /// The norm of b, and where the host would have to wait for it, what comes next as well: r := b - A x and its
  /// norm, after one wait for both; ahead() may enqueue more before it, at its own risk, and says whether it has. Then the host goes
  /// on when the norms are there, and the device with the rest.
  struct Start {
    double rhs_norm = 0;
    bool has_residual = false;
    double residual = 0;
  };
  template <class Ahead>
  Start begin(const Vector<V, Space>& r, const Ahead& ahead) {
    if constexpr (is_host_space<Space>) {
      return {rhs_norm()};
    } else {
      for (const int slot : {0, 1}) *system_.ctx->result_slot(slot) = no_norm;
      if (residual_with_norms(r, 0, system_.ctx->result_slot(1))) {
        ++tally_.backend_calls;
        stay_in_range(r);
      } else {
        enqueue_norm_to_decide(b_, 1);
        enqueue(r, 0);
      }
      if (ahead() && !least_squares())
        wait_for_norms();
      else
        wait();
      const double plain = norm_in(1);
      if (fits(plain)) return {plain, true, norm_of(r, 0)};
      return {rhs_norm()};
    }
  }

  /// The norm of b as it was given. Overwrites r.
  double rhs_norm() {
    enqueue_norm_to_decide(b_, 0);
    wait();
    const double plain = norm_in(0);
    if (fits(plain)) return plain;
    if (least_squares()) return norm(work_.normal);
    Kokkos::deep_copy(execution_space_instance(), work_.r, b_);
    ++tally_.backend_calls;
    return norm(work_.r);
  }

  /// Chooses s for a right-hand side of this norm, and multiplies x by it; the norm of s b. Of
  /// least squares it may overwrite r.
  double begin_scaling(double rhs_norm) {
    if (rhs_norm == 0 && least_squares()) return begin_scaling_by_data();
    if (!(rhs_norm > 0) || !std::isfinite(rhs_norm)) return rhs_norm;
    choose_scale(rhs_norm);
    return scale_ * rhs_norm;
  }
  /// x and the true residual again in the caller's units.
  double end_scaling() {
    multiply(x_, 1 / scale_);
    scale_ = 1;
    return (*this)(work_.r);
  }
  double scale() const { return scale_; }
  const Vector<const V, Space>& rhs() const { return b_; }
  const Exec& execution_space_instance() const { return system_.ctx->execution_space_instance(); }
  void multiply(const Vector<V, Space>& v, double factor) const {
    system_.vector_ops().scal(queue(), rows(), static_cast<V>(factor), v.data());
    ++tally_.backend_calls;
  }

  /// The 2-norm of v. Where squares may have underflowed or overflowed, it is that of a multiple by a power of
  /// two. v is as before on return.
  double norm(const Vector<V, Space>& v) {
    double result = sum_of_squares_root(v);
    if (fits(result)) return result;
    int shift = 0;
    const auto shift_by = [&](int by) {
      shift += by;
      multiply(v, std::ldexp(1.0, by));
      return sum_of_squares_root(v);
    };
    while (result < least_norm && shift < 1000) result = shift_by(500);
    if (shift == 0) result = shift_by(-600);
    multiply(v, std::ldexp(1.0, -shift));
    return std::ldexp(result, -shift);
  }

 private:
  /// Below it squares have begun to underflow, above it to overflow.
  static constexpr double least_norm = 1e-150;
  static constexpr double largest_norm = 1e150;

  static constexpr int slot_of_data = 3;
  static constexpr double no_norm = -1;  ///< in a slot before there is one

  bool least_squares() const { return work_.has_normal; }
  void choose_scale(double rhs_norm) {
    constexpr double largest = std::is_same_v<V, float> ? 1e20 : 1e100;
    constexpr int exponents = std::numeric_limits<V>::max_exponent - 8;
    if (rhs_norm >= 1 / largest && rhs_norm <= largest) return;
    const double scale = std::ldexp(1.0, std::clamp(-std::ilogb(rhs_norm), -exponents, exponents));
    // A guess that would overflow is of more weight than b.
    if (!(scale * norm(x_) < 1e-8 * std::numeric_limits<V>::max())) return;
    scale_ = scale;
    multiply(x_, scale_);
  }
  /// A^T b is zero, or has underflowed where b has not: the norm of A^T (s b), with an s for b.
  double begin_scaling_by_data() {
    Kokkos::deep_copy(execution_space_instance(), work_.r, b_);
    ++tally_.backend_calls;
    const double of_b = norm(work_.r);
    if (!(of_b > 0)) return of_b;
    choose_scale(of_b);
    multiply(work_.r, scale_);
    enqueue_norm_to_decide(work_.r, 0);
    wait();
    return norm_of(work_.r, 0);
  }
  /// r := b - A x with its norm and that of b, if all of this is one operation of the backend.
  bool residual_with_norms(const Vector<V, Space>& r, int slot, double* norm_of_b) const {
    if (scale_ != 1 || least_squares()) return false;
    if constexpr (std::is_same_v<V, float>)
      if (work_.has_wide) return false;
    return system_.residual_exactly(b_, x_, r, system_.ctx->result_slot(slot), norm_of_b);
  }
  /// The norm of v, or, of least squares, that of A^T v, which `normal` then holds.
  template <class Values>
  void enqueue_norm_to_decide(const Values& v, int slot) {
    if (!least_squares()) return enqueue_norm(v, slot);
    enqueue_norm(v, slot_of_data);
    system_.apply_exactly(v, work_.normal, true);
    ++tally_.backend_calls;
    enqueue_norm(work_.normal, slot);
  }

  /// Whether a norm computed from plain squares is good. Those of floats are exact in double.
  static bool fits(double norm) {
    return std::is_same_v<V, float> || (norm >= least_norm && norm <= largest_norm);
  }

  template <class W>
  void enqueue_norm(const Vector<W, Space>& v, int slot) {
    ++tally_.backend_calls;
    const Context<Exec>& ctx = *system_.ctx;
    const auto& ops = ctx.template vectors<std::remove_const_t<W>>();
    double* const result = ctx.result_slot(slot);
    if (is_compensated(system_.arithmetic))
      ops.dot_compensated(queue(), rows(), v.data(), v.data(), result);
    else if (leaves_squares())
      ops.dot(queue(), rows(), v.data(), v.data(), result);
    else
      ops.nrm2(queue(), rows(), v.data(), result);
    if (!system_.ranks) return;
    if constexpr (!is_host_space<Space>) wait();
    system_.add_up(result, 1);
  }
  /// The norm that enqueue_norm has left there.
  double norm_in(int slot) const {
    const double left = *system_.ctx->result_slot(slot);
    return leaves_squares() ? std::sqrt(left) : left;
  }
  /// Whether enqueue_norm leaves the square of the norm: what is compensated, and what ranks can add up.
  bool leaves_squares() const { return is_compensated(system_.arithmetic) || system_.ranks; }
  void wait() {
    ++tally_.host_synchronisations;
    (void)system_.ctx->read_results();
    tally_.calls_done = tally_.backend_calls;
  }
  /// Until there are norms in the first two slots: each is written once, when it is final.
  void wait_for_norms() {
    if constexpr (!host_sees_stores) return wait();
    ++tally_.host_synchronisations;
    const auto is_there = [this](int slot) {
      const std::atomic_ref<double> norm(*system_.ctx->result_slot(slot));
      return norm.load(std::memory_order_acquire) != no_norm;
    };
    wait_until(*system_.ctx, [&] { return is_there(0) && is_there(1); });
  }
  template <class W>
  double sum_of_squares_root(const Vector<W, Space>& v) {
    enqueue_norm(v, 0);
    wait();
    return norm_in(0);
  }

  /// The residual of float vectors, accumulated in double.
  void enqueue_in_double(const Vector<V, Space>& r, int slot) {
    on_each(*system_.ctx, rows(), Widen{x_.data(), work_.wide_x.data()});
    system_.apply_widened(work_.wide_x, work_.wide_r);
    on_each(*system_.ctx, rows(), SubtractFrom{scale_, b_.data(), work_.wide_r.data(), r.data()});
    tally_.backend_calls += 3;
    if (least_squares())
      enqueue_norm_to_decide(r, slot);
    else
      enqueue_norm(work_.wide_r, slot);
    stay_in_range(r);
  }
  /// A recurrence never loses what r has in the null space by rounding. The norm is that with it.
  void stay_in_range(const Vector<V, Space>& r) {
    if (!null_space_.empty()) null_space_.project(system_, r, tally_);
  }

  const Queue& queue() const { return system_.ctx->queue(); }
  index_t rows() const { return system_.rows; }

  const System<V, Exec>& system_;
  const Workspace<V, Space>& work_;
  const NullVectors<V, Exec>& null_space_;
  Vector<const V, Space> b_;
  Vector<V, Space> x_;
  Tally& tally_;
  double scale_ = 1;
  double of_data_ = 0;
};

}  // namespace cnc::detail
