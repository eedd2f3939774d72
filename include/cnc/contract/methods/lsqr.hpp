#pragma once

#include <cnc/contract/phases.hpp>

#include <cmath>

namespace cnc::methods {

/// Least squares, min ||b - A x||, by Golub and Kahan's bidiagonalisation: for any A, also where no x solves A x = b; M is
/// a preconditioner of A^T A. What converges is the residual of the normal equations, A^T (b - A x), and rr is the square
/// of its norm; ||b - A x|| never grows. In exact arithmetic its iterates are those of CGNR, with less rounding where A is
/// ill-conditioned.
///
/// u and v are the vectors of the bidiagonalisation times their lengths: beta^2 = u . u and alpha^2 = v . z with
/// z = M^-1 v, so that M is needed in one form only. r = b - A x follows by a recurrence of its own,
/// r := s^2 r - (c phibar / beta) u.
///
/// A matrix that is not square has rows or columns of zeros added: every vector is as long as its longer side.
///
/// Method   Paige & Saunders, LSQR: an algorithm for sparse linear equations and sparse least squares, 1982, section 4;
///          with M^-1 alone: Arridge, Betcke & Harhanen, Iterated preconditioned LSQR method for inverse problems on
///          unstructured grids, 2014, section 4.
template <class V>
struct Lsqr {
  static constexpr const char* name = "lsqr";
  static constexpr const char* title = "least squares by bidiagonalisation";
  static constexpr bool symmetric = false;
  static constexpr bool normal_equations = true;
  static constexpr bool least_squares = true;
  enum Vector { t, u, v, w, x, r, z, vectors };
  enum Scalar { rr, uu, vz, vv, phi, phibar, rhobar, ratio, scalars };
  static constexpr int definite = vz;  ///< negative: M is not positive definite
  static constexpr bool restarts = true;
  static constexpr int scratch = t;
  static constexpr int flops_per_row = 21;

  /// The rotation that takes the length of u out of the bidiagonal matrix.
  struct Rotation {
    double beta, rho, c, s;
    explicit constexpr Rotation(const MethodScalars& k)
        : beta(std::sqrt(k[uu])),
          rho(std::hypot(k[rhobar], beta)),
          c(k[rhobar] / rho),
          s(beta / rho) {}
  };
  /// 1 / a, and 0 for the length of a vector of zeros.
  static constexpr double inverse(double a) { return a > 0 ? 1 / a : 0.0; }

  /// u := r, with its sum.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), writes = set_of(u), summed = set_of(u);
    static constexpr ScalarList sums = list_of(uu);
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row& k) const {
      k[u] = k[r];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& k, Add& add) const {
      add(0, k[u], k[u]);
    }
  };

  /// v := A^T u / beta; z := M^-1 v, with their sums.
  struct First : PassDefaults {
    static constexpr VectorSet reads = set_of(t), writes = set_of(v), summed = set_of(v, z);
    static constexpr Precondition M = {v, z};
    static constexpr ScalarList sums = list_of(vz, vv);
    static constexpr void after(MethodScalars& k) {
      k[phibar] = std::sqrt(k[uu]);
      k[rhobar] = k[vz] > 0 ? std::sqrt(k[vz]) : 0.0;
      k[rr] = k[uu] * k[vv];
    }
    V of_t;
    explicit constexpr First(const MethodScalars& k)
        : of_t(static_cast<V>(inverse(std::sqrt(k[uu])))) {}
    template <class Row>
    constexpr void operator()(Row& k) const {
      k[v] = of_t * k[t];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& k, Add& add) const {
      add(0, k[v], k[z]);
      add(1, k[v], k[v]);
    }
  };

  /// u := A z / alpha - (alpha / beta) u, with its sum; the direction w := z / alpha - (theta / rho) w.
  struct Left : PassDefaults {
    static constexpr VectorSet reads = set_of(t, u, z, w), writes = set_of(u, w),
                               summed = set_of(u);
    static constexpr ScalarList sums = list_of(uu);
    static constexpr Breakdown step(MethodScalars& k) { return check_positive(k[vz], k[uu]); }
    bool is_first;
    V of_z, of_u, of_w;
    explicit constexpr Left(const MethodScalars& k)
        : is_first(k.first != 0),
          of_z(static_cast<V>(inverse(std::sqrt(k[vz])))),
          of_u(static_cast<V>(std::sqrt(k[vz]) * inverse(std::sqrt(k[uu])))),
          of_w(static_cast<V>(k[ratio])) {}
    template <class Row>
    constexpr void operator()(Row& k) const {
      k[u] = of_z * k[t] - of_u * k[u];
      if (is_first)
        k[w] = of_z * k[z];
      else
        k[w] = of_z * k[z] - of_w * k[w];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& k, Add& add) const {
      add(0, k[u], k[u]);
    }
  };

  /// v := A^T u / beta - (beta / alpha) v; z := M^-1 v, with their sums; x += (phi / rho) w; r.
  struct Right : PassDefaults {
    static constexpr VectorSet reads = set_of(t, v, x, w, r, u), writes = set_of(v, x, r),
                               summed = set_of(v, z);
    static constexpr Precondition M = {v, z};
    static constexpr ScalarList sums = list_of(vz, vv);
    static constexpr Breakdown step(MethodScalars& k) {
      if (!is_finite(k[uu])) return Breakdown::not_finite;
      const Rotation turn(k);
      k[phi] = turn.c * k[phibar];
      k[phibar] *= turn.s;
      return Breakdown::none;
    }
    static constexpr void after(MethodScalars& k) {
      const Rotation turn(k);
      const double alpha = k[vz] > 0 ? std::sqrt(k[vz]) : 0.0;
      k[ratio] = turn.s * alpha / turn.rho;
      k[rhobar] = -turn.c * alpha;
      k[rr] = k[phibar] * turn.c * (k[phibar] * turn.c) * k[vv];
      k.first = 0;
    }
    V of_t, of_v, of_w, of_r, of_u;
    explicit constexpr Right(const MethodScalars& k) : Right(k, Rotation(k)) {}
    constexpr Right(const MethodScalars& k, const Rotation& turn)
        : of_t(static_cast<V>(inverse(turn.beta))),
          of_v(static_cast<V>(turn.beta * inverse(std::sqrt(k[vz])))),
          of_w(static_cast<V>(k[phi] / turn.rho)),
          of_r(static_cast<V>(turn.s * turn.s)),
          of_u(static_cast<V>(turn.c * k[phibar] * inverse(turn.beta))) {}
    template <class Row>
    constexpr void operator()(Row& k) const {
      k[v] = of_t * k[t] - of_v * k[v];
      k[x] = k[x] + of_w * k[w];
      k[r] = of_r * k[r] - of_u * k[u];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& k, Add& add) const {
      add(0, k[v], k[z]);
      add(1, k[v], k[v]);
    }
  };

  using Start = Phases<Begin, TransposedProduct<r, t>, First>;
  using Iteration = Phases<Product<z, t>, Left, TransposedProduct<u, t>, Right>;
  using Finish = void;
};

}  // namespace cnc::methods
