#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// The bi-conjugate gradients, for any square A: two recurrences, the other one (the shadow) with A^T and M^-T.
///
/// Method   Fletcher, Conjugate gradient methods for indefinite systems, 1976, section 5; with a preconditioner: Barrett
///          et al., Templates for the solution of linear systems, 1994, section 2.3.5. The first shadow residual is r.
template <class V>
struct Bicg {
  static constexpr const char* name = "bicg";
  static constexpr const char* title = "bi-conjugate gradients";
  static constexpr bool symmetric = false;
  enum Vector { r, q, p, x, z, shadow_r, shadow_q, shadow_p, shadow_z, vectors };
  enum Scalar { rr, rho, rho_previous, shadow_pq, alpha, scalars };
  static constexpr int definite = -1;
  static constexpr bool restarts = true;
  static constexpr int scratch = q;
  static constexpr int flops_per_row = 18;

  /// shadow_r := r; shadow_z := M^-T shadow_r
  struct BeginShadow : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), writes = set_of(shadow_r);
    static constexpr Precondition M = {.from = shadow_r, .to = shadow_z, .transposed = true};
    explicit constexpr BeginShadow(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[shadow_r] = v[r];
    }
  };

  /// z := M^-1 r, with its sums.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r, shadow_r), summed = set_of(r, z, shadow_r);
    static constexpr Precondition M = {r, z};
    static constexpr ScalarList sums = list_of(rho, rr);
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[shadow_r], v[z]);
      add(1, v[r], v[r]);
    }
  };

  /// p := z + beta p, and the same of the shadow.
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(p, z, shadow_p, shadow_z),
                               writes = set_of(p, shadow_p);
    static constexpr Breakdown step(MethodScalars& s) {
      // A residual orthogonal to the shadow leads nowhere.
      return check_divisor(s.first ? 1.0 : s[rho_previous], s[rho]);
    }
    bool is_first;
    V beta;
    explicit constexpr Direction(const MethodScalars& s)
        : is_first(s.first != 0), beta(s.first ? V(0) : static_cast<V>(s[rho] / s[rho_previous])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first) {
        v[p] = v[z];
        v[shadow_p] = v[shadow_z];
      } else {
        v[p] = v[z] + beta * v[p];
        v[shadow_p] = v[shadow_z] + beta * v[shadow_p];
      }
    }
  };

  /// x += alpha p; r -= alpha q; z := M^-1 r
  struct Update : PassDefaults {
    static constexpr VectorSet reads = set_of(x, p, r, q), writes = set_of(x, r);
    static constexpr Precondition M = {r, z};
    static constexpr Breakdown step(MethodScalars& s) {
      const Breakdown breakdown = check_divisor(s[rho], s[shadow_pq]);
      if (breakdown == Breakdown::none) s[alpha] = s[rho] / s[shadow_pq];
      return breakdown;
    }
    V a;
    explicit constexpr Update(const MethodScalars& s) : a(static_cast<V>(s[alpha])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[x] = v[x] + a * v[p];
      v[r] = v[r] - a * v[q];
    }
  };

  /// The same of the shadow's residual, and the sums of both.
  struct UpdateShadow : PassDefaults {
    static constexpr VectorSet reads = set_of(r, z, shadow_r, shadow_q), writes = set_of(shadow_r);
    static constexpr VectorSet summed = set_of(r, z, shadow_r);
    static constexpr Precondition M = {.from = shadow_r, .to = shadow_z, .transposed = true};
    static constexpr ScalarList sums = list_of(rho, rr);
    static constexpr Breakdown step(MethodScalars& s) {
      s[alpha] = s[rho] / s[shadow_pq];
      s[rho_previous] = s[rho];
      return Breakdown::none;
    }
    static constexpr void after(MethodScalars& s) { s.first = 0; }
    V a;
    explicit constexpr UpdateShadow(const MethodScalars& s) : a(static_cast<V>(s[alpha])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[shadow_r] = v[shadow_r] - a * v[shadow_q];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[shadow_r], v[z]);
      add(1, v[r], v[r]);
    }
  };

  using Start = Phases<BeginShadow, Begin>;
  using Iteration = Phases<Direction, Product<p, q, Dot<shadow_p, shadow_pq>>, Update,
                           TransposedProduct<shadow_p, shadow_q>, UpdateShadow>;
  using Finish = void;
};

}  // namespace cnc::methods
