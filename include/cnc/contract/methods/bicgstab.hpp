#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// The stabilised bi-conjugate gradients, for any square A, with the preconditioner on the right.
///
/// The first of the two half steps may solve already; then A z is zero, omega is taken as 0, and the iteration ends with
/// that residual: at the price of one product in the last iteration nothing looks at half steps.
///
/// Method   van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
///          linear systems, 1992, section 4. Ay and Az are its v and t; r holds s between the half steps.
template <class V>
struct Bicgstab {
  static constexpr const char* name = "bicgstab";
  static constexpr const char* title = "stabilised bi-conjugate gradients";
  static constexpr bool symmetric = false;
  enum Vector { r, Ay, p, x, Az, shadow, y, z, vectors };
  enum Scalar { rr, rho, rho_previous, shadow_Ay, r_Az, Az_Az, alpha, omega, scalars };
  static constexpr int definite = -1;
  static constexpr bool restarts = true;
  static constexpr int scratch = Az;
  static constexpr int flops_per_row = 24;
  /// Whoever keeps these of the rows that its products gather keeps p and r of them up to date by itself, given A y and A z.
  static constexpr VectorSet halo = set_of(r, p, Ay);

  /// shadow := r
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), writes = set_of(shadow);
    static constexpr VectorSet summed = set_of(r, shadow);
    static constexpr ScalarList sums = list_of(rho, rr);
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[shadow] = v[r];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[shadow]);
      add(1, v[r], v[r]);
    }
  };

  /// p := r + beta (p - omega A y); y := M^-1 p
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(r, p, Ay), writes = set_of(p);
    static constexpr Precondition M = {p, y};
    static constexpr Breakdown step(MethodScalars& s) {
      if (s.first) return Breakdown::none;
      const Breakdown breakdown = check_divisor(s[alpha], s[omega]);
      // A residual orthogonal to the shadow leads nowhere.
      return breakdown != Breakdown::none ? breakdown : check_divisor(s[rho_previous], s[rho]);
    }
    bool is_first;
    V b, w;
    explicit constexpr Direction(const MethodScalars& s)
        : is_first(s.first != 0),
          b(s.first ? V(0) : static_cast<V>(s[rho] / s[rho_previous] * (s[alpha] / s[omega]))),
          w(static_cast<V>(s[omega])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first)
        v[p] = v[r];
      else
        v[p] = v[r] + b * (v[p] - w * v[Ay]);
    }
  };

  /// r -= alpha A y; z := M^-1 r
  struct HalfStep : PassDefaults {
    static constexpr VectorSet reads = set_of(r, Ay), writes = set_of(r);
    static constexpr Precondition M = {r, z};
    static constexpr Breakdown step(MethodScalars& s) {
      const Breakdown breakdown = check_divisor(s[rho], s[shadow_Ay]);
      if (breakdown == Breakdown::none) s[alpha] = s[rho] / s[shadow_Ay];
      return breakdown;
    }
    V a;
    explicit constexpr HalfStep(const MethodScalars& s) : a(static_cast<V>(s[alpha])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[r] = v[r] - a * v[Ay];
    }
  };

  /// x += alpha y + omega z; r -= omega A z, with its sums.
  struct Update : PassDefaults {
    static constexpr VectorSet reads = set_of(x, y, z, r, Az, shadow), writes = set_of(x, r);
    static constexpr VectorSet summed = set_of(r, shadow);
    static constexpr ScalarList sums = list_of(rho, rr);
    static constexpr Breakdown step(MethodScalars& s) {
      if (!is_finite(s[r_Az]) || !is_finite(s[Az_Az])) return Breakdown::not_finite;
      s[alpha] = s[rho] / s[shadow_Ay];
      s[omega] = s[Az_Az] > 0 ? s[r_Az] / s[Az_Az] : 0.0;
      s[rho_previous] = s[rho];
      return Breakdown::none;
    }
    static constexpr void after(MethodScalars& s) { s.first = 0; }
    V a, w;
    explicit constexpr Update(const MethodScalars& s)
        : a(static_cast<V>(s[alpha])), w(static_cast<V>(s[omega])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[x] = v[x] + a * v[y] + w * v[z];
      v[r] = v[r] - w * v[Az];
    }
    template <class Row, class Add>
    static constexpr void sums_of(const Row& v, Add& add) {
      add(0, v[r], v[shadow]);
      add(1, v[r], v[r]);
    }
  };

  /// What Direction needs of the sums of Update, predicted from two more sums of the product before, so that it need not wait:
  /// shadow . (r - omega A z). HalfStep, which follows, takes the sum itself.
  struct Foretold {
    template <class Row, class Add>
    static constexpr void sums_of(const Row& v, Add& add) {
      add(0, v[r], v[shadow]);
      add(1, v[Az], v[shadow]);
    }
    static constexpr void take(MethodScalars& s, const double* sums) {
      s[rho] = sums[0] - s[omega] * sums[1];
      Update::after(s);
    }
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Direction, Product<y, Ay, Dot<shadow, shadow_Ay>>, HalfStep,
                           Product<z, Az, Dot<r, r_Az>, Dot<Az, Az_Az>>, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
