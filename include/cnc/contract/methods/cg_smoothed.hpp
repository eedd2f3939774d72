#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// Conjugate gradients whose x and r are means of those of all iterations, with the weights that make the norm of r, that
/// of M^-1, the least: then x is that of MINRES, and meets a tolerance where the residual of CG still leaps. For symmetric
/// positive definite A and M. It costs four vectors read or written more than CG, and no meeting.
///
/// g is the residual of CG and e the way from x to its iterate. The weight of an iterate is known once its sums are, so that x and
/// r take it in the next iteration and are always one behind.
///
/// Method   Schoenauer's smoothing: Weiss, Parameter-free iterative linear solvers, 1996, section 5; Zhou & Walker, Residual
///          smoothing techniques for iterative methods, 1994, section 2. The weight 1 / (r . z) of an iterate is there
///          already, because residuals of CG are orthogonal.
template <class V>
struct CgSmoothed {
  static constexpr const char* name = "pcg-smoothed";
  static constexpr const char* title = "conjugate gradients with smoothed residuals";
  static constexpr bool symmetric = true;
  static constexpr bool smoothed = true;
  enum Vector { r, g, q, p, e, x, z, vectors };
  /// tau: the square of the norm of r, one iteration ahead of r.
  enum Scalar { rr, gz, gz_previous, pq, alpha, eta, tau, scalars };
  static constexpr int definite = gz;  ///< negative: M is not positive definite
  static constexpr bool restarts = false;
  static constexpr int scratch = q;
  static constexpr int flops_per_row = 21;

  /// Whether CG has solved the system, and x and r are about to follow.
  static constexpr bool is_solved(const MethodScalars& s) {
    return s[gz] == 0 && s[rr] > 0 && s[eta] > 0;
  }

  /// g := r; z := M^-1 g, with its sums.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), writes = set_of(g), summed = set_of(g, z);
    static constexpr Precondition M = {g, z, true};
    static constexpr ScalarList sums = list_of(gz, rr);
    static constexpr void after(MethodScalars& s) { s[tau] = s[gz]; }
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[g] = v[r];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[g], v[z]);
      add(1, v[g], v[g]);
    }
  };

  /// e += alpha p, x += eta e, e -= eta e, of the iteration before; p := z + beta p.
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(x, e, p, z), writes = set_of(x, e, p);
    static constexpr Precondition again = {g, z};
    static constexpr VectorSet operand_reads = set_of(p, z);
    bool is_first;
    V step_length, weight, rest, beta;
    explicit constexpr Direction(const MethodScalars& s)
        : is_first(s.first != 0),
          step_length(static_cast<V>(s[alpha])),
          weight(static_cast<V>(s[eta])),
          rest(static_cast<V>(1 - s[eta])),
          beta(s.first || s[gz] == 0 ? V(0) : static_cast<V>(s[gz] / s[gz_previous])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first) {
        v[e] = V(0) * v[z];
        v[p] = v[z];
      } else {
        v[e] = v[e] + step_length * v[p];
        v[x] = v[x] + weight * v[e];
        v[e] = rest * v[e];
        v[p] = v[z] + beta * v[p];
      }
    }
  };

  /// r += eta (g - r), of the iteration before, with its sum; g -= alpha q; z := M^-1 g, with its sum.
  struct Update : PassDefaults {
    static constexpr VectorSet reads = set_of(r, g, q), writes = set_of(r, g),
                               summed = set_of(r, g, z);
    static constexpr Precondition M = {g, z, true};
    static constexpr ScalarList sums = list_of(gz, rr);
    static constexpr Breakdown step(MethodScalars& s) {
      const Breakdown breakdown = is_solved(s) ? Breakdown::none : check_positive(s[gz], s[pq]);
      if (breakdown != Breakdown::none) return breakdown;
      s[alpha] = is_solved(s) ? 0.0 : s[gz] / s[pq];
      s[gz_previous] = s[gz];
      return breakdown;
    }
    static constexpr void after(MethodScalars& s) {
      const double both = s[tau] + s[gz];
      s[eta] = both > 0 ? s[tau] / both : 0.0;
      s[tau] = s[eta] * s[gz];
      s.first = 0;
    }
    V step_length, weight;
    explicit constexpr Update(const MethodScalars& s)
        : step_length(static_cast<V>(s[alpha])), weight(static_cast<V>(s[eta])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[r] = v[r] + weight * (v[g] - v[r]);
      v[g] = v[g] - step_length * v[q];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[g], v[z]);
      add(1, v[r], v[r]);
    }
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Direction, Product<p, q, Dot<p, pq>>, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
