#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// BiCGstab(2), for any square A, with the preconditioner on the right: two steps of bi-conjugate gradients, then the
/// residual is made least over two directions, which the eigenvalues of a nearly skew matrix ask for. An iteration is
/// all of that and has four products, where one of bicgstab has two.
///
/// B = A M^-1 and C = M^-1 A. Br and BBr are s and t of the paper's algorithm, Bp and BBp are v and w; x moves once, at
/// the end, along what was preconditioned for the products. Where nothing is left to do after the first step, or the
/// second has nothing to divide by, that one is left out; where BBr is a multiple of Br, the residual is made least over
/// Br alone. Either ends the recurrence: the next iteration, if one is due, breaks down.
///
/// Method   Sleijpen & Fokkema, BiCGstab(l) for linear equations involving unsymmetric matrices with complex spectrum,
///          1993, section 3; for l = 2: van der Vorst, Iterative Krylov methods for large linear systems, 2003, section 9.2.
template <class V>
struct Bicgstab2 {
  static constexpr const char* name = "bicgstab2";
  static constexpr const char* title =
      "stabilised bi-conjugate gradients, two directions at a time";
  static constexpr bool symmetric = false;
  enum Vector { r, Br, Bp, p, shadow, BBr, BBp, x, y, z, Cy, Cz, vectors };
  enum Scalar {
    rr,
    rho,
    shadow_Bp,
    shadow_Br,
    shadow_BBp,
    r_Br,
    Br_Br,
    r_BBr,
    Br_BBr,
    BBr_BBr,
    omega,
    omega_2,
    scalars
  };
  static constexpr int definite = -1;
  static constexpr bool restarts = true;
  static constexpr int scratch = BBr;
  static constexpr int flops_per_row = 52;
  /// The square of a sine: Br and BBr with a smaller one between them count as one direction.
  static constexpr double least_sine_2 = 1e-14;

  /// Coefficients of the two steps, from the dots with the shadow.
  static constexpr double alpha(const MethodScalars& s) { return s[rho] / s[shadow_Bp]; }
  static constexpr double beta_2(const MethodScalars& s) { return s[shadow_Br] / s[shadow_Bp]; }
  static constexpr double alpha_2(const MethodScalars& s) {
    return s[shadow_BBp] != 0 ? s[shadow_Br] / s[shadow_BBp] : 0.0;
  }

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

  /// p := r + beta (p - omega B p - omega_2 B B p); y := M^-1 p
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(r, p, Bp, BBp), writes = set_of(p);
    static constexpr Precondition M = {p, y};
    static constexpr Breakdown step(MethodScalars& s) {
      if (s.first) return Breakdown::none;
      Breakdown breakdown = check_divisor(s[rho], s[omega_2]);
      if (breakdown == Breakdown::none) breakdown = check_divisor(s[rho], alpha_2(s));
      // A residual orthogonal to the shadow leads nowhere.
      return breakdown != Breakdown::none ? breakdown : check_divisor(s[omega_2], s[rho]);
    }
    bool is_first;
    V b, w, w_2;
    explicit constexpr Direction(const MethodScalars& s)
        : is_first(s.first != 0),
          b(s.first ? V(0) : static_cast<V>(s[rho] / s[shadow_BBp] / s[omega_2])),
          w(static_cast<V>(s[omega])),
          w_2(static_cast<V>(s[omega_2])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first)
        v[p] = v[r];
      else
        v[p] = v[r] + b * (v[p] - w * v[Bp] - w_2 * v[BBp]);
    }
  };

  /// r -= alpha B p; z := M^-1 r
  struct FirstStep : PassDefaults {
    static constexpr VectorSet reads = set_of(r, Bp), writes = set_of(r);
    static constexpr Precondition M = {r, z};
    static constexpr Breakdown step(MethodScalars& s) {
      return check_divisor(s[rho], s[shadow_Bp]);
    }
    V a;
    explicit constexpr FirstStep(const MethodScalars& s) : a(static_cast<V>(alpha(s))) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[r] = v[r] - a * v[Bp];
    }
  };

  /// B p := B r - beta_2 B p; C y := M^-1 B p
  struct SecondDirection : PassDefaults {
    static constexpr VectorSet reads = set_of(Br, Bp), writes = set_of(Bp);
    static constexpr Precondition M = {Bp, Cy};
    static constexpr Breakdown step(MethodScalars& s) {
      return check_divisor(s[shadow_Br], s[shadow_Bp]);
    }
    V b;
    explicit constexpr SecondDirection(const MethodScalars& s) : b(static_cast<V>(beta_2(s))) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[Bp] = v[Br] - b * v[Bp];
    }
  };

  /// p := r - beta_2 p; r -= alpha_2 B p; B r -= alpha_2 B B p; C z := M^-1 B r, and what is known of the least residual.
  struct SecondStep : PassDefaults {
    static constexpr VectorSet reads = set_of(r, Br, Bp, BBp, p), writes = set_of(r, Br, p);
    static constexpr Precondition M = {Br, Cz};
    static constexpr VectorSet summed = set_of(r, Br);
    static constexpr ScalarList sums = list_of(r_Br, Br_Br);
    static constexpr Breakdown step(MethodScalars& s) {
      return is_finite(s[shadow_BBp]) ? Breakdown::none : Breakdown::not_finite;
    }
    V a, b;
    explicit constexpr SecondStep(const MethodScalars& s)
        : a(static_cast<V>(alpha_2(s))), b(static_cast<V>(beta_2(s))) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[p] = v[r] - b * v[p];
      v[r] = v[r] - a * v[Bp];
      v[Br] = v[Br] - a * v[BBp];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[Br]);
      add(1, v[Br], v[Br]);
    }
  };

  /// The rest of it: three dots, of which a product takes two only, and no more vectors are read than with these.
  struct Angles : PassDefaults {
    static constexpr VectorSet reads = set_of(r, Br, BBr), summed = set_of(r, Br, BBr);
    static constexpr ScalarList sums = list_of(r_BBr, Br_BBr, BBr_BBr);
    explicit constexpr Angles(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[BBr]);
      add(1, v[Br], v[BBr]);
      add(2, v[BBr], v[BBr]);
    }
  };

  /// x += alpha y + alpha_2 (z - beta_2 y) + omega (z - alpha_2 C y) + omega_2 C z; r -= omega B r + omega_2 B B r, with
  /// its sums.
  struct Update : PassDefaults {
    static constexpr VectorSet reads = set_of(x, y, z, Cy, Cz, r, Br, BBr, shadow),
                               writes = set_of(x, r);
    static constexpr VectorSet summed = set_of(r, shadow);
    static constexpr ScalarList sums = list_of(rho, rr);
    static constexpr Breakdown step(MethodScalars& s) {
      if (!is_finite(s[r_Br]) || !is_finite(s[Br_Br]) || !is_finite(s[r_BBr]) ||
          !is_finite(s[Br_BBr]) || !is_finite(s[BBr_BBr]))
        return Breakdown::not_finite;
      const bool any = s[Br_Br] > 0;
      const double along = any ? s[Br_BBr] / s[Br_Br] : 0.0;
      const double across_2 = s[BBr_BBr] - along * s[Br_BBr];
      const bool two = any && across_2 > least_sine_2 * s[BBr_BBr];
      s[omega_2] = two ? (s[r_BBr] - along * s[r_Br]) / across_2 : 0.0;
      s[omega] = any ? s[r_Br] / s[Br_Br] - along * s[omega_2] : 0.0;
      return Breakdown::none;
    }
    static constexpr void after(MethodScalars& s) { s.first = 0; }
    V of_y, of_z, of_Cy, w, w_2;
    explicit constexpr Update(const MethodScalars& s)
        : of_y(static_cast<V>(alpha(s) - alpha_2(s) * beta_2(s))),
          of_z(static_cast<V>(alpha_2(s) + s[omega])),
          of_Cy(static_cast<V>(-alpha_2(s) * s[omega])),
          w(static_cast<V>(s[omega])),
          w_2(static_cast<V>(s[omega_2])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[x] = v[x] + of_y * v[y] + of_z * v[z] + of_Cy * v[Cy] + w_2 * v[Cz];
      v[r] = v[r] - w * v[Br] - w_2 * v[BBr];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[shadow]);
      add(1, v[r], v[r]);
    }
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Direction, Product<y, Bp, Dot<shadow, shadow_Bp>>, FirstStep,
                           Product<z, Br, Dot<shadow, shadow_Br>>, SecondDirection,
                           Product<Cy, BBp, Dot<shadow, shadow_BBp>>, SecondStep, Product<Cz, BBr>,
                           Angles, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
