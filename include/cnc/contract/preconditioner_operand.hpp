#pragma once

#include <cnc/contract/types.hpp>

namespace cnc {

/// Built-in preconditioners z = M^-1 r that are local to a row or a block of rows: passes apply them on the way.
enum class PreconditionerKind { none, jacobi, block_jacobi };

/// `inverse` holds 1/diag(A) (jacobi, [n]) or the inverted diagonal blocks, row-major
/// (block_jacobi, [ceil(n/b) b^2]; a partial last block is padded with the identity).
template <class V>
struct PreconditionerOperand {
  PreconditionerKind kind = PreconditionerKind::none;  ///< which of them
  int block_size = 1;
  const V* inverse = nullptr;  ///< null for none
  /// block_jacobi: the same with every block transposed, for methods that need M^-T; else null.
  const V* transposed_inverse = nullptr;
  /// jacobi: the inverse is the same in every row, of which kernels may read the first alone.
  bool uniform = false;

  /// Whether M^-1 r is as cheap to work out as to read.
  constexpr bool is_scalar() const {
    return kind == PreconditionerKind::none || (kind == PreconditionerKind::jacobi && uniform);
  }
  /// M^-T.
  constexpr PreconditionerOperand transposed() const {
    PreconditionerOperand other = *this;
    if (kind == PreconditionerKind::block_jacobi) {
      other.inverse = transposed_inverse;
      other.transposed_inverse = inverse;
    }
    return other;
  }
  bool operator==(const PreconditionerOperand&) const = default;
};

}  // namespace cnc
