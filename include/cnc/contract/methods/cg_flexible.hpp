#pragma once

#include <cnc/contract/methods/cg.hpp>

namespace cnc::methods {

/// Conjugate gradients with a preconditioner that may change from iteration to iteration, or is not quite symmetric: a
/// direction is orthogonal to the one before by a product of its own, not by what a fixed M promises. It costs a
/// vector read more than CG, and as many meetings.
///
/// beta is that of Polak and Ribiere, z . (r - r_previous) / (r . z)_previous, where r - r_previous = -alpha q.
///
/// Method   Notay, Flexible conjugate gradients, 2000, algorithm FCG(1).
template <class V>
struct CgFlexible : Cg<V> {
  using Fixed = Cg<V>;
  using Scaled = void;  ///< its third sum is no other
  static constexpr const char* name = "pcg-flexible";
  static constexpr const char* title = "flexible conjugate gradients";
  static constexpr int flops_per_row = Fixed::flops_per_row + 2;
  enum Scalar { rr, rz, rz_previous, pq, alpha, of_recurrence, qz, scalars };
  static_assert(int(alpha) == int(Fixed::alpha));
  // Runs in one launch leave it where this method finds it.
  static_assert(int(qz) == int(CgSingleReduction<V>::zq));

  /// x += alpha p, of the iteration before; p := z + beta p.
  struct Direction : Fixed::Direction {
    explicit constexpr Direction(const MethodScalars& s) : Fixed::Direction(s) {
      if (!this->is_first) this->beta = static_cast<V>(-s[qz] / s[pq]);
    }
  };

  /// r -= alpha q; z := M^-1 r, with its sums.
  struct Update : Fixed::Update {
    static constexpr VectorSet summed = set_of(Fixed::r, Fixed::q, Fixed::z);
    static constexpr ScalarList sums = list_of(rz, rr, qz);
    using Fixed::Update::Update;
    template <class Row, class Add>
    constexpr void sums_of(const Row& v, Add& add) const {
      Fixed::Begin::sums_of(v, add);
      add(2, v[Fixed::q], v[Fixed::z]);
    }
  };

  using Iteration = Phases<Direction, Product<Fixed::p, Fixed::q, Dot<Fixed::p, pq>>, Update>;
};

}  // namespace cnc::methods
