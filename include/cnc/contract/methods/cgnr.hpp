#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// Conjugate gradients of the normal equations A^T A x = A^T b, for any A without a vector that it maps to zero; M is a
/// preconditioner of A^T A. The residual b - A x never grows, but the condition of A counts squared.
///
/// r is that of A x = b, and s = A^T r is formed anew in every iteration, which rounding harms less than a recurrence.
///
/// Method   Hestenes & Stiefel, Methods of conjugate gradients for solving linear systems, 1952, section 10; Saad,
///          Iterative methods for sparse linear systems, 2nd ed., 2003, algorithm 8.4 and section 9.5.
template <class V>
struct Cgnr {
  static constexpr const char* name = "cgnr";
  static constexpr const char* title = "conjugate gradients of the normal equations";
  static constexpr bool symmetric = false;
  static constexpr bool normal_equations = true;
  enum Vector { r, q, p, x, s, z, vectors };
  enum Scalar { rr, sz, sz_previous, qq, alpha, scalars };
  static constexpr int definite = sz;  ///< negative: M is not positive definite
  static constexpr bool restarts = true;
  static constexpr int scratch = q;
  static constexpr int flops_per_row = 13;

  /// r . r, which no later pass of the start leaves.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), summed = set_of(r);
    static constexpr ScalarList sums = list_of(rr);
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[r]);
    }
  };

  /// z := M^-1 s, with its sum.
  struct Gradient : PassDefaults {
    static constexpr VectorSet reads = set_of(s), summed = set_of(s, z);
    static constexpr Precondition M = {s, z};
    static constexpr ScalarList sums = list_of(sz);
    explicit constexpr Gradient(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[s], v[z]);
    }
  };

  /// p := z + beta p
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(p, z), writes = set_of(p);
    bool is_first;
    V beta;
    explicit constexpr Direction(const MethodScalars& k)
        : is_first(k.first != 0), beta(k.first ? V(0) : static_cast<V>(k[sz] / k[sz_previous])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first)
        v[p] = v[z];
      else
        v[p] = v[z] + beta * v[p];
    }
  };

  /// x += alpha p; r -= alpha q, with its sum.
  struct Update : PassDefaults {
    static constexpr VectorSet reads = set_of(x, p, r, q), writes = set_of(x, r),
                               summed = set_of(r);
    static constexpr ScalarList sums = list_of(rr);
    static constexpr Breakdown step(MethodScalars& k) {
      const Breakdown breakdown = check_positive(k[sz], k[qq]);
      if (breakdown != Breakdown::none) return breakdown;
      k[alpha] = k[sz] / k[qq];
      k[sz_previous] = k[sz];
      return breakdown;
    }
    static constexpr void after(MethodScalars& k) { k.first = 0; }
    V a;
    explicit constexpr Update(const MethodScalars& k) : a(static_cast<V>(k[alpha])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[x] = v[x] + a * v[p];
      v[r] = v[r] - a * v[q];
    }
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[r]);
    }
  };

  using Start = Phases<Begin, TransposedProduct<r, s>, Gradient>;
  using Iteration =
      Phases<Direction, Product<p, q, Dot<q, qq>>, Update, TransposedProduct<r, s>, Gradient>;
  using Finish = void;
};

}  // namespace cnc::methods
