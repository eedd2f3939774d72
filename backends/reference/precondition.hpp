#pragma once

#include <cnc/contract/preconditioner_operand.hpp>
#include <cnc/contract/queue.hpp>

#include <algorithm>

namespace cnc::reference {

/// z := r ./ diag(A), the division made beforehand
template <class V>
void jacobi(index_t n, const V* inverse, const V* r, V* z) {
  for (index_t i = 0; i < n; ++i) z[i] = inverse[i] * r[i];
}

/// z := D^-1 r, D block-diagonal with blocks of b x b, their inverses row-major. The last block is
/// padded when b does not divide n: its rows and columns beyond n are left alone.
template <class V>
void block_jacobi(index_t n, index_t b, const V* inverse, const V* r, V* z) {
  for (index_t first = 0; first < n; first += b) {
    const index_t size = std::min(b, n - first);
    const V* block = inverse + static_cast<offset_t>(first / b) * b * b;
    for (index_t i = 0; i < size; ++i) {
      double sum = 0;
      for (index_t j = 0; j < size; ++j) sum += double(block[i * b + j]) * r[first + j];
      z[first + i] = static_cast<V>(sum);
    }
  }
}

/// z := M^-T r, from the inverses of M itself
template <class V>
void precondition_transposed(index_t n, const PreconditionerOperand<V>& M, const V* r, V* z) {
  for (index_t i = 0; i < n; ++i) {
    double sum = M.kind == PreconditionerKind::jacobi ? double(M.inverse[i]) * r[i] : double(r[i]);
    if (M.kind == PreconditionerKind::block_jacobi) {
      const index_t b = M.block_size, first = i / b * b;
      sum = 0;
      for (index_t j = first; j < std::min(first + b, n); ++j)
        sum += double(M.inverse[static_cast<offset_t>(j) * b + i % b]) * r[j];
    }
    z[i] = static_cast<V>(sum);
  }
}

/// z := M^-1 r
template <class V>
void precondition(const Queue&, index_t n, const PreconditionerOperand<V>& M, const V* r, V* z) {
  switch (M.kind) {
    case PreconditionerKind::none: std::copy(r, r + n, z); break;
    case PreconditionerKind::jacobi: jacobi(n, M.inverse, r, z); break;
    case PreconditionerKind::block_jacobi: block_jacobi(n, M.block_size, M.inverse, r, z); break;
  }
}

}  // namespace cnc::reference
