#pragma once

#include <cnc/contract/methods/cg_single_reduction.hpp>

namespace cnc::methods {

/// Preconditioned conjugate gradients, for symmetric positive definite A and M.
///
/// x takes the step of an iteration in the next one, where its direction passes by anyway: the textbook's
/// x += alpha p reads p once more.
///
/// Method   Hestenes & Stiefel, Methods of conjugate gradients for solving linear systems, 1952; Buatois, Caumon &
///          Levy, Concurrent number cruncher, 2009, listing 1.
template <class V>
struct Cg {
  static constexpr const char* name = "pcg";
  static constexpr const char* title = "preconditioned conjugate gradients";
  static constexpr bool symmetric = true;
  enum Vector { r, q, p, x, z, vectors };
  enum Scalar { rr, rz, rz_previous, pq, alpha, scalars };
  static constexpr int definite = rz;      ///< negative: M is not positive definite
  static constexpr bool restarts = false;  ///< a breakdown may be one of rounding or chance
  static constexpr int scratch = q;        ///< a vector that is free between iterations
  /// With Jacobi's preconditioner iterations are also those of D^-1/2 A D^-1/2 without one: there z is r, and of the two sums of
  /// Update each is what the other is of the system as given.
  struct Scaled {
    static constexpr int residual = r, preconditioned = z, direction = p, iterate = x;
  };
  static constexpr int flops_per_row =
      13;  ///< besides the product: three updates, M^-1 r, three dots

  /// In runs of one launch the same iterates come by the recurrence of Chronopoulos and Gear, whose scalars begin with
  /// these. Its s = A p is worked out where a run goes on: runs leave what those of any other form do.
  struct OneMeeting {
    using Recurrence = CgSingleReduction<V>;
    static constexpr int vectors[] = {r, q, p, x, q, z};  ///< that hold those of the recurrence
    using GoOn = Product<p, q>;
    static_assert(int(rz) == Recurrence::rz && int(rz_previous) == Recurrence::rz_previous &&
                  int(pq) == Recurrence::pAp && int(alpha) == Recurrence::alpha);
  };

  /// z := M^-1 r, with its sums.
  struct Begin : PassDefaults {
    static constexpr bool starts = true;
    static constexpr VectorSet reads = set_of(r), summed = set_of(r, z);
    static constexpr Precondition M = {r, z, true};
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

  /// x += alpha p, of the iteration before; p := z + beta p.
  struct Direction : PassDefaults {
    static constexpr VectorSet reads = set_of(x, p, z), writes = set_of(x, p);
    static constexpr Precondition again = {r, z};
    static constexpr VectorSet operand_reads = set_of(p, z);
    bool is_first;
    V step_length, beta;
    explicit constexpr Direction(const MethodScalars& s)
        : is_first(s.first != 0),
          step_length(static_cast<V>(s[alpha])),
          beta(s.first ? V(0) : static_cast<V>(s[rz] / s[rz_previous])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (is_first) {
        v[p] = v[z];
      } else {
        v[x] = v[x] + step_length * v[p];
        v[p] = v[z] + beta * v[p];
      }
    }
  };

  /// r -= alpha q; z := M^-1 r, with its sums.
  struct Update : Begin {
    static constexpr bool starts = false;
    static constexpr VectorSet reads = set_of(r, q), writes = set_of(r);
    static constexpr Breakdown step(MethodScalars& s) {
      const Breakdown breakdown = check_positive(s[rz], s[pq]);
      if (breakdown != Breakdown::none) return breakdown;
      s[alpha] = s[rz] / s[pq];
      s[rz_previous] = s[rz];
      return breakdown;
    }
    static constexpr void after(MethodScalars& s) { s.first = 0; }
    /// Hestenes & Stiefel, theorem 6:1
    static constexpr double energy_gain(const MethodScalars& s) {
      return s[alpha] * s[rz_previous];
    }
    V step_length;
    explicit constexpr Update(const MethodScalars& s)
        : Begin(s), step_length(static_cast<V>(s[alpha])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      v[r] = v[r] - step_length * v[q];
    }
  };

  /// x += alpha p: the step that x lacks.
  struct End : PassDefaults {
    static constexpr VectorSet reads = set_of(x, p), writes = set_of(x);
    static constexpr bool stores = true;
    bool is_first;
    V step_length;
    explicit constexpr End(const MethodScalars& s)
        : is_first(s.first != 0), step_length(static_cast<V>(s[alpha])) {}
    template <class Row>
    constexpr void operator()(Row& v) const {
      if (!is_first) v[x] = v[x] + step_length * v[p];
    }
    static constexpr void after(MethodScalars& s) { s[alpha] = 0; }  // x lacks nothing now
  };

  using Start = Phases<Begin>;
  using Iteration = Phases<Direction, Product<p, q, Dot<p, pq>>, Update>;
  using Finish = End;
};

}  // namespace cnc::methods
