#pragma once

#include <cnc/contract/phases.hpp>

#include <cmath>

namespace cnc::methods {

/// Minimal residuals, for symmetric A, definite or not, and positive definite M: the residual never grows in the norm of
/// M^-1.
///
/// u are the vectors of Lanczos, not normalised, and z = M^-1 u; w is the direction times the rotation's new diagonal
/// entry rho. The square of the norm of M^-1 A must therefore be representable in V. r follows by a recurrence of its own,
/// so that its 2-norm is known: r := s^2 r - (c eta / rho) u.
///
/// Method   Paige & Saunders, Solution of sparse indefinite systems of linear equations, 1975, section 6; with a
///          preconditioner: Elman, Silvester & Wathen, Finite elements and fast iterative solvers, 2nd ed., 2014,
///          algorithm 4.1.
template <class V>
struct Minres {
  static constexpr const char* name = "minres";
  static constexpr const char* title = "minimal residuals";
  static constexpr bool symmetric = true;
  static constexpr bool indefinite = true;
  enum Vector { r, u, x, w, q, u_previous, w_previous, z, vectors };
  enum Scalar {
    rr,
    uz,
    zq,
    gamma,
    gamma_previous,
    eta,
    c,
    c_previous,
    s,
    s_previous,
    rho,
    rho_previous,
    scalars
  };
  static constexpr int definite = uz;
  static constexpr bool restarts = false;
  static constexpr int scratch = q;
  static constexpr int flops_per_row = 22;

  /// u := r; z := M^-1 u, with its sums.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), writes = set_of(u), summed = set_of(r, u, z);
    static constexpr Precondition M = {u, z};
    static constexpr ScalarList sums = list_of(uz, rr);
    static constexpr void after(MethodScalars& k) {
      k[eta] = k[uz] > 0 ? std::sqrt(k[uz]) : 0.0;
      k[c] = k[c_previous] = k[rho] = k[rho_previous] = 1;
    }
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[u] = v[r];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[u], v[z]);
      add(1, v[r], v[r]);
    }
  };

  /// The next vector of Lanczos, and what of the next direction is known before its length: u, u_previous and
  /// w, w_previous move on; z := M^-1 u, with its sum.
  struct Lanczos : PassDefaults {
    static constexpr VectorSet reads = set_of(q, u, u_previous, z, w, w_previous);
    static constexpr VectorSet writes = set_of(u, u_previous, w, w_previous), summed = set_of(u, z);
    static constexpr Precondition M = {u, z};
    static constexpr ScalarList sums = list_of(uz);
    static constexpr Breakdown step(MethodScalars& k) {
      const Breakdown breakdown = check_positive(k[uz], k[uz]);
      if (breakdown != Breakdown::none) return breakdown;
      if (!is_finite(k[zq])) return Breakdown::not_finite;
      k[gamma_previous] = k[gamma];
      k[gamma] = std::sqrt(k[uz]);
      return breakdown;
    }
    bool is_first;
    V of_q, of_u, of_u_previous, of_w, of_w_previous;
    explicit constexpr Lanczos(const MethodScalars& k)
        : is_first(k.first != 0),
          of_q(static_cast<V>(1 / k[gamma])),
          of_u(static_cast<V>(k[zq] / k[uz] / k[gamma])),
          of_u_previous(k.first ? V(0) : static_cast<V>(k[gamma] / k[gamma_previous])),
          of_w(static_cast<V>((k[s] * (k[zq] / k[uz]) + k[c_previous] * k[c] * k[gamma]) / k[rho])),
          of_w_previous(static_cast<V>(k[s_previous] * k[gamma] / k[rho_previous])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      auto next = of_q * v[q] - of_u * v[u];
      auto direction = of_q * v[z];
      if (!is_first) {
        next = next - of_u_previous * v[u_previous];
        direction = direction - of_w_previous * v[w_previous] - of_w * v[w];
      }
      v[u_previous] = v[u];
      v[u] = next;
      v[w_previous] = is_first ? V(0) : v[w];
      v[w] = direction;
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[u], v[z]);
    }
  };

  /// x += (c eta / rho) w; r := s^2 r - (c eta / rho) u, with its sum.
  struct Update : PassDefaults {
    static constexpr VectorSet reads = set_of(x, w, r, u), writes = set_of(x, r),
                               summed = set_of(r);
    static constexpr ScalarList sums = list_of(rr);
    static constexpr Breakdown step(MethodScalars& k) {
      if (!is_finite(k[uz])) return Breakdown::not_finite;
      if (k[uz] < 0) return Breakdown::not_positive_definite;
      // The rotation that takes the last row of the tridiagonal matrix out.
      const double diagonal =
          k[c] * (k[zq] / (k[gamma] * k[gamma])) - k[c_previous] * k[s] * k[gamma];
      const double length = std::sqrt(diagonal * diagonal + k[uz]);
      const Breakdown breakdown = check_divisor(k[eta], length);
      if (breakdown != Breakdown::none) return breakdown;
      k[c_previous] = k[c];
      k[s_previous] = k[s];
      k[rho_previous] = k[rho];
      k[c] = diagonal / length;
      k[s] = std::sqrt(k[uz]) / length;
      k[rho] = length;
      return breakdown;
    }
    static constexpr void after(MethodScalars& k) {
      k[eta] = -k[s] * k[eta];
      k.first = 0;
    }
    V step_length, kept;
    explicit constexpr Update(const MethodScalars& k)
        : step_length(static_cast<V>(k[c] * k[eta] / k[rho])), kept(static_cast<V>(k[s] * k[s])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[x] = v[x] + step_length * v[w];
      v[r] = kept * v[r] - step_length * v[u];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[r]);
    }
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Product<z, q, Dot<z, zq>>, Lanczos, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
