#pragma once

#include <cnc/contract/phases.hpp>

namespace cnc::methods {

/// Richardson's iteration x := x + M^-1 (b - A x), for any A where M^-1 A is close to the identity. With the diagonal for M
/// it is Jacobi's iteration, with a triangle of A that of Gauss and Seidel, or SOR.
///
/// No inner product but r . r: nothing that could break down, and nothing that adapts to A either.
///
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, sections 4.1 and 4.2.
template <class V>
struct Richardson {
  static constexpr const char* name = "richardson";
  static constexpr const char* title = "Richardson's iteration";
  static constexpr bool symmetric = false;
  static constexpr bool stationary = true;
  enum Vector { r, q, x, z, vectors };
  enum Scalar { rr, scalars };
  static constexpr int definite = -1;
  static constexpr bool restarts = false;
  static constexpr int scratch = q;
  static constexpr int flops_per_row = 5;

  /// z := M^-1 r, with r . r.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), summed = set_of(r);
    static constexpr Precondition M = {r, z};
    static constexpr ScalarList sums = list_of(rr);
    explicit constexpr Begin(const MethodScalars&) {}
    template <class Row>
    constexpr void operator()(Row&) const {}
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      add(0, v[r], v[r]);
    }
  };

  /// x += z; r -= A z; z := M^-1 r, with r . r.
  struct Update : Begin {
    static constexpr bool starts = false;
    static constexpr VectorSet reads = set_of(x, z, r, q), writes = set_of(x, r);
    static constexpr Breakdown step(MethodScalars& s) { return check_divisor(1.0, s[rr]); }
    static constexpr void after(MethodScalars& s) { s.first = 0; }
    explicit constexpr Update(const MethodScalars& s) : Begin(s) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[x] = v[x] + v[z];
      v[r] = v[r] - v[q];
    }
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Product<z, q>, Update>;
  using Finish = void;
};

}  // namespace cnc::methods
