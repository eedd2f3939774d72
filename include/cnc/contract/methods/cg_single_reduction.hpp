#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// The scalar step of conjugate gradients with one reduction: alpha and beta from gamma = r . M^-1 r and
/// delta = M^-1 r . A M^-1 r. The curvature p . A p of the new direction is delta less beta gamma / alpha of the
/// directions before; as that alpha was gamma_previous / curvature, this is beta^2 curvature. One over gamma is worked out
/// beside alpha for the next step: of the divisions, one is in the chain that everybody waits for.
template <int gamma, int gamma_previous, int inverse_previous, int delta, int curvature, int alpha,
          int beta>
constexpr Breakdown single_reduction_step(MethodScalars& c) {
  const double b = c.first ? 0.0 : c[gamma] * c[inverse_previous];
  const double pAp = c.first ? c[delta] : c[delta] - b * b * c[curvature];
  const Breakdown breakdown = check_positive(c[gamma], pAp);
  if (breakdown != Breakdown::none) return breakdown;
  c[beta] = b;
  c[alpha] = c[gamma] / pAp;
  c[curvature] = pAp;
  c[gamma_previous] = c[gamma];
  c[inverse_previous] = 1 / c[gamma];
  return breakdown;
}

/// Conjugate gradients with all inner products of an iteration at one point: s = A p is kept by a recurrence, and p.Ap
/// follows from z.Az.
///
/// Method   Chronopoulos & Gear, s-step iterative methods for symmetric linear systems, 1989, algorithm 2.2; Dehnavi,
///          Fernandez & Giannacopoulos, Enhancing the performance of conjugate gradient solvers on GPUs, 2011,
///          section III.
template <class V>
struct CgSingleReduction {
  static constexpr const char* name = "pcg-single-reduction";
  static constexpr const char* title = "conjugate gradients of Chronopoulos and Gear";
  static constexpr bool symmetric = true;
  enum Vector { r, q, p, x, s, z, vectors };
  enum Scalar { rr, rz, rz_previous, pAp, alpha, rz_inverse, zq, beta, scalars };
  static constexpr int definite = rz;  ///< negative: M is not positive definite
  static constexpr bool restarts = false;
  static constexpr int scratch = q;
  /// Whoever keeps these of the rows that its product gathers keeps r of them up to date by itself, given q.
  static constexpr VectorSet halo = set_of(r, s);
  /// Scalars that follow from others, for a run that goes on with those of another form or method.
  static constexpr void complete(MethodScalars& c) { c[rz_inverse] = 1 / c[rz_previous]; }
  /// At the end of a run: x lacks no step. z . A z is that of a product still to come; until then q . z of pcg_flexible is in its
  /// place, by which that goes on with the beta of a preconditioner that does not change.
  static constexpr void close(MethodScalars& c) {
    c[alpha] = 0;
    if (c.first == 0) c[zq] = -c[pAp] * c[rz] / c[rz_previous];
  }
  static constexpr int flops_per_row = 15;

  /// z := M^-1 r, with its sums.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), summed = set_of(r, z);
    static constexpr Precondition M = {r, z};
    static constexpr ScalarList sums = list_of(rz, rr);
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[z]);
      add(1, v[r], v[r]);
    }
  };

  /// p := z + beta p; s := q + beta s; x += alpha p; r -= alpha s; z := M^-1 r, with its sums.
  struct Update : Begin {
    static constexpr bool starts = false;
    static constexpr VectorSet reads = set_of(z, q, p, s, x, r), writes = set_of(p, s, x, r);
    static constexpr Breakdown step(MethodScalars& c) {
      return single_reduction_step<rz, rz_previous, rz_inverse, zq, pAp, alpha, beta>(c);
    }
    static constexpr void after(MethodScalars& c) { c.first = 0; }
    /// Hestenes & Stiefel, theorem 6:1
    static constexpr double energy_gain(const MethodScalars& c) {
      return c[alpha] * c[rz_previous];
    }
    bool is_first;
    V a, b;
    explicit constexpr Update(const MethodScalars& c)
        : Begin(c),
          is_first(c.first != 0),
          a(static_cast<V>(c[alpha])),
          b(static_cast<V>(c[beta])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first) {
        v[p] = v[z];
        v[s] = v[q];
      } else {
        v[p] = v[z] + b * v[p];
        v[s] = v[q] + b * v[s];
      }
      v[x] = v[x] + a * v[p];
      v[r] = v[r] - a * v[s];
    }
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Product<z, q, Dot<z, zq>>, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
