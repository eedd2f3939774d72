#pragma once

#include "conformance/per_backend.hpp"

#include <cnc/contract/pcg.hpp>

namespace cnc::testing {

/// Vectors and scalars of one PCG iteration.
template <class V>
struct PcgState {
  GuardedVector<V> x, r, z, p, q, s;
  PcgScalars scalars;

  PcgState(index_t n, Alignment alignment)
      : x(n, alignment),
        r(n, alignment),
        z(n, alignment),
        p(n, alignment),
        q(n, alignment),
        s(n, alignment) {
    x.randomize(1);
    r.randomize(2);
    z.randomize(3);
    p.randomize(4);
    q.randomize(5);
    s.randomize(6);
    if (n == 0) return;  // all sums are zero
    // No cancellation in the Chronopoulos-Gear denominator: 2 - (0.7 / 1.1) 0.7 / 0.9.
    scalars.rz = 0.7;
    scalars.rz_previous = 1.1;
    scalars.pq = 2;
    scalars.rr = 0.8;
    scalars.alpha = 0.9;
    scalars.beta = 0.4;
  }
  /// The state before the first direction: nothing but x, r, z and q holds anything yet.
  void make_first() {
    scalars.rz_previous = scalars.alpha = scalars.beta = 0;
    p.fill(GuardedVector<V>::nan());
    s.fill(GuardedVector<V>::nan());
  }
  PcgVectors<V> in(const TestQueue& queue) {
    return {queue(x), queue(r), queue(z), queue(p), queue(q), queue(s)};
  }
  bool walls_intact() const {
    return x.walls_intact() && r.walls_intact() && z.walls_intact() && p.walls_intact() &&
           q.walls_intact() && s.walls_intact();
  }
  bool same_vectors(const PcgState& other) const {
    return x.same_bits(other.x) && r.same_bits(other.r) && z.same_bits(other.z) &&
           p.same_bits(other.p) && q.same_bits(other.q) && s.same_bits(other.s);
  }
};

/// Whether two sets of scalars have the same bits, NaN included.
inline bool same_scalars(const PcgScalars& a, const PcgScalars& b) {
  const double left[] = {a.rz, a.rz_previous, a.pq, a.rr, a.alpha, a.beta};
  const double right[] = {b.rz, b.rz_previous, b.pq, b.rr, b.alpha, b.beta};
  return a.breakdown == b.breakdown && std::memcmp(left, right, sizeof left) == 0;
}

/// A preconditioner with inverse entries in (0.5, 1.5) on the diagonal and small ones beside it.
template <class V>
class TestPreconditioner {
 public:
  TestPreconditioner(index_t n, PreconditionerKind kind, int block_size, Alignment alignment)
      : kind_(kind), block_size_(block_size), inverse_(extent(n, kind, block_size), alignment) {
    inverse_.randomize(8);
    const index_t area = block_size * block_size;
    for (index_t i = 0; i < inverse_.size(); ++i) {
      const bool diagonal = i % area % (block_size + 1) == 0;
      const bool upper = i % area / block_size < i % block_size;
      if (diagonal)
        inverse_[i] = V(1) + inverse_[i] / 2;
      else if (upper)
        inverse_[i] *= V(0.03);
    }
    make_symmetric(n);
  }

  PreconditionerOperand<V> in(const TestQueue& queue) const {
    return {kind_, block_size_, queue(inverse_)};
  }
  int block_size() const { return block_size_; }
  std::string name() const {
    if (kind_ == PreconditionerKind::none) return "no preconditioner";
    if (kind_ == PreconditionerKind::jacobi) return "jacobi";
    return "block jacobi " + std::to_string(block_size_);
  }
  /// |M^-1| v on row i: what bounds the error of z for an error (or size) v of r.
  template <class Vector>
  double absolute_product(const Vector& v, index_t n, index_t i) const {
    if (kind_ == PreconditionerKind::none) return v[static_cast<std::size_t>(i)];
    const index_t first = i / block_size_ * block_size_;
    double sum = 0;
    for (index_t j = first; j < std::min(n, first + block_size_); ++j)
      sum +=
          std::abs(double(inverse_[i * block_size_ + j - first])) * v[static_cast<std::size_t>(j)];
    return sum;
  }

 private:
  static index_t extent(index_t n, PreconditionerKind kind, int block_size) {
    if (kind == PreconditionerKind::none) return 0;
    return ceil_div(n, block_size) * block_size * block_size;
  }
  /// Copies the upper triangles down; a partial last block is padded with the identity.
  void make_symmetric(index_t n) {
    for (index_t row = 0; row * block_size_ < inverse_.size(); ++row)
      for (index_t c = 0; c < block_size_; ++c) {
        const index_t block = row / block_size_ * block_size_;
        const index_t r = row % block_size_;
        V& entry = inverse_[row * block_size_ + c];
        if (row >= n || block + c >= n)
          entry = V(r == c ? 1 : 0);
        else if (c < r)
          entry = inverse_[(block + c) * block_size_ + r];
      }
  }

  PreconditionerKind kind_;
  int block_size_;
  GuardedVector<V> inverse_;
};

template <class V>
std::vector<TestPreconditioner<V>> test_preconditioners(index_t n, Alignment alignment) {
  std::vector<TestPreconditioner<V>> list;
  list.emplace_back(n, PreconditionerKind::none, 1, alignment);
  list.emplace_back(n, PreconditionerKind::jacobi, 1, alignment);
  for (const int block_size : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16})
    list.emplace_back(n, PreconditionerKind::block_jacobi, block_size, alignment);
  return list;
}

}  // namespace cnc::testing
