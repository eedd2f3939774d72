#pragma once

#include "conformance/per_backend.hpp"

#include <map>
#include <utility>
#include <vector>

namespace cnc::testing {

/// A symmetric positive definite preconditioner between walls: inverse entries in (0.75, 1.25) on the diagonal and
/// small ones beside it, so that it leaves a well-conditioned matrix one.
template <class V>
class TestPreconditioner {
 public:
  TestPreconditioner(index_t n, PreconditionerKind kind, int block_size, Alignment alignment,
                     bool is_uniform = false)
      : kind_(kind),
        block_size_(block_size),
        uniform_(is_uniform),
        inverse_(extent(n, kind, block_size), alignment) {
    inverse_.randomize(8);
    const index_t area = block_size * block_size;
    for (index_t i = 0; i < inverse_.size(); ++i) {
      const bool diagonal = i % area % (block_size + 1) == 0;
      const bool upper = i % area / block_size < i % block_size;
      if (diagonal)
        inverse_[i] = V(1) + inverse_[i] / 4;
      else if (upper)
        inverse_[i] *= V(0.03);
    }
    make_symmetric(n);
    if (is_uniform)
      for (index_t i = 0; i < inverse_.size(); ++i) inverse_[i] = inverse_[0];
  }

  PreconditionerOperand<V> in(const TestQueue& queue) const {
    const V* const inverse = queue(inverse_);
    return {kind_, block_size_, inverse, inverse, uniform_};  // its own transpose
  }
  int block_size() const { return block_size_; }
  std::string name() const {
    if (kind_ == PreconditionerKind::none) return "no preconditioner";
    if (kind_ == PreconditionerKind::jacobi) return uniform_ ? "uniform jacobi" : "jacobi";
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
  bool uniform_;
  GuardedVector<V> inverse_;
};

/// Made once and kept: tests ask for them more often than they use one.
template <class V>
const std::vector<TestPreconditioner<V>>& test_preconditioners(index_t n, Alignment alignment) {
  thread_local std::map<std::pair<index_t, Alignment>, std::vector<TestPreconditioner<V>>> made;
  std::vector<TestPreconditioner<V>>& list = made[{n, alignment}];
  if (!list.empty()) return list;
  list.emplace_back(n, PreconditionerKind::none, 1, alignment);
  list.emplace_back(n, PreconditionerKind::jacobi, 1, alignment);
  list.emplace_back(n, PreconditionerKind::jacobi, 1, alignment, true);
  for (const int block_size : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16})
    list.emplace_back(n, PreconditionerKind::block_jacobi, block_size, alignment);
  return list;
}

}  // namespace cnc::testing
