#pragma once

#include <cnc/contract/methods/cg_single_reduction.hpp>

namespace cnc::methods {

/// Conjugate gradients whose inner products are under way during the product: recurrences for M^-1 r, A M^-1 r and what
/// they are multiplied with make the operand of the product known before the sums are.
///
/// More recurrences round more: the residual parts from the true one earlier, and the solver starts again from that.
///
/// Method   Ghysels & Vanroose, Hiding global synchronization latency in the preconditioned conjugate gradient
///          algorithm, 2014, algorithm 4.
template <class V>
struct CgPipelined {
  static constexpr const char* name = "pcg-pipelined";
  static constexpr const char* title = "pipelined conjugate gradients";
  static constexpr bool symmetric = true;
  enum Vector { r, u, w, n, z, q, s, p, x, m, vectors };
  enum Scalar { rr, gamma, gamma_previous, gamma_inverse, delta, curvature, alpha, beta, scalars };
  static constexpr int definite = gamma;
  static constexpr bool restarts = true;
  static constexpr int scratch = n;
  static constexpr int flops_per_row = 23;

  /// u := M^-1 r
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r);
    static constexpr Precondition M = {r, u};
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
  };

  /// m := M^-1 w, with the sums of r, u and w.
  struct BeginSums : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r, u, w), summed = reads;
    static constexpr Precondition M = {w, m};
    static constexpr ScalarList sums = list_of(gamma, delta, rr);
    explicit constexpr BeginSums(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[u]);
      add(1, v[w], v[u]);
      add(2, v[r], v[r]);
    }
  };

  /// All recurrences; m := M^-1 w, with the sums.
  struct Update : BeginSums {
    static constexpr bool starts = false;
    static constexpr VectorSet reads = set_of(n, m, w, u, z, q, s, p, x, r);
    static constexpr VectorSet writes = set_of(z, q, s, p, x, r, u, w);
    static constexpr Breakdown step(MethodScalars& c) {
      return single_reduction_step<gamma, gamma_previous, gamma_inverse, delta, curvature, alpha,
                                   beta>(c);
    }
    static constexpr void after(MethodScalars& c) { c.first = 0; }
    /// Hestenes & Stiefel, theorem 6:1
    static constexpr double energy_gain(const MethodScalars& c) {
      return c[alpha] * c[gamma_previous];
    }
    bool is_first;
    V a, b;
    explicit constexpr Update(const MethodScalars& c)
        : BeginSums(c),
          is_first(c.first != 0),
          a(static_cast<V>(c[alpha])),
          b(static_cast<V>(c[beta])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[z] = is_first ? v[n] : v[n] + b * v[z];
      v[q] = is_first ? v[m] : v[m] + b * v[q];
      v[s] = is_first ? v[w] : v[w] + b * v[s];
      v[p] = is_first ? v[u] : v[u] + b * v[p];
      v[x] = v[x] + a * v[p];
      v[r] = v[r] - a * v[s];
      v[u] = v[u] - a * v[q];
      v[w] = v[w] - a * v[z];
    }
  };

  using Start = Phases<Begin, Product<u, w>, BeginSums>;
  using Iteration = Phases<Product<m, n>, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
