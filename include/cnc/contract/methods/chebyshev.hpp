#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// Chebyshev's iteration, for symmetric positive definite A and M whose M^-1 A has its eigenvalues in an interval
/// [smallest, largest] that is known: after k iterations the error is that of the polynomial of degree k that is
/// smallest there. No inner product but r . r, and in a run none that an iteration waits for.
///
/// An eigenvalue above the interval makes it diverge, one below it converge slower. x takes the step of an
/// iteration in the next one, where its direction passes by anyway.
///
/// Method   Golub & Varga, Chebyshev semi-iterative methods, 1961; Saad, Iterative methods for sparse linear systems,
///          2nd ed., 2003, algorithm 12.1.
template <class V>
struct Chebyshev {
  static constexpr const char* name = "chebyshev";
  static constexpr const char* title = "Chebyshev's iteration";
  static constexpr bool symmetric = true;
  enum Vector { r, q, p, x, z, vectors };
  /// rho: sigma_k / sigma_{k+1} of Saad; of_z and of_p: the coefficients of the next direction; due: whether x
  /// lacks a step.
  enum Scalar { rr, smallest, largest, rho, of_z, of_p, due, scalars };
  static constexpr int definite = -1;
  static constexpr bool restarts = false;
  static constexpr int scratch = q;
  static constexpr int flops_per_row = 9;

  static constexpr double centre(const MethodScalars& s) { return (s[largest] + s[smallest]) / 2; }
  static constexpr double radius(const MethodScalars& s) { return (s[largest] - s[smallest]) / 2; }

  /// z := M^-1 r, with r . r.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr ScalarList parameters = list_of(smallest, largest);
    static constexpr VectorSet reads = set_of(r), summed = set_of(r);
    static constexpr Precondition M = {r, z, true};
    static constexpr ScalarList sums = list_of(rr);
    static constexpr void after(MethodScalars& s) {
      s[rho] = radius(s) / centre(s);
      s[of_z] = 1 / centre(s);
    }
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[r]);
    }
  };

  /// x += p, of the iteration before; p := of_p p + of_z z.
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(x, p, z), writes = set_of(x, p);
    static constexpr Precondition again = {r, z};
    static constexpr VectorSet operand_reads = set_of(p, z);
    bool is_first;
    V step_length, with_z, with_p;
    explicit constexpr Direction(const MethodScalars& s)
        : is_first(s.first != 0),
          step_length(static_cast<V>(s[due])),
          with_z(static_cast<V>(s[of_z])),
          with_p(static_cast<V>(s[of_p])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first) {
        v[p] = with_z * v[z];
      } else {
        v[x] = v[x] + step_length * v[p];
        v[p] = with_z * v[z] + with_p * v[p];
      }
    }
  };

  /// r -= q; z := M^-1 r, with r . r.
  struct Update : Begin {
    static constexpr bool starts = false;
    static constexpr VectorSet reads = set_of(r, q), writes = set_of(r);
    static constexpr Breakdown step(MethodScalars& s) { return check_divisor(1.0, s[rr]); }
    static constexpr void after(MethodScalars& s) {
      const double divisor = 2 * centre(s) - radius(s) * s[rho];
      const double next = radius(s) / divisor;
      s[of_z] = 2 / divisor;
      s[of_p] = next * s[rho];
      s[rho] = next;
      s[due] = 1;
      s.first = 0;
    }
    explicit constexpr Update(const MethodScalars& s) : Begin(s) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[r] = v[r] - v[q];
    }
  };

  /// x += p: the step that x lacks.
  struct End : PassDefaults {
    static constexpr VectorSet reads = set_of(x, p), writes = set_of(x);
    static constexpr bool stores = true;
    bool is_first;
    V step_length;
    explicit constexpr End(const MethodScalars& s)
        : is_first(s.first != 0), step_length(static_cast<V>(s[due])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (!is_first) v[x] = v[x] + step_length * v[p];
    }
    static constexpr void after(MethodScalars& s) { s[due] = 0; }  // x lacks nothing now
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Direction, Product<p, q>, Update>;
  using Finish = End;
};

}  // namespace cnc::methods
