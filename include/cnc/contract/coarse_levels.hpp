#pragma once

#include <cnc/contract/operands.hpp>

namespace cnc {

/// Levels of a cycle that one launch goes through, at most.
inline constexpr int max_coarse_levels = 7;  // as arguments of a kernel: 4 KB
/// Steps of a smoother before or after a coarse correction, at most.
inline constexpr int max_smoothing_steps = 16;

/// A level of a multigrid cycle whose smoother is a polynomial in D^-1 A. Matrices are in CSR, rows x rows of this level but for
/// those that lead to the next: restriction [next rows x rows], prolongation [rows x next rows].
template <class V>
struct CoarseLevel {                            /// @{ Its matrices.
  BcsrOperand<V> A, restriction, prolongation;  /// @}
  int block_size = 1;                           ///< of D
  const V* inverse = nullptr;                   ///< of D: [ceil(rows / b) b^2], row-major
  V factor = 1;                                 ///< of the coefficients of all steps
  const V* dense =
      nullptr;  ///< the last level: the inverse of its matrix, [rows rows], row-major; it has nothing else
  index_t rows = 0;  ///< scalars  @{ Its vectors, [rows] each.
  V *f = nullptr, *x = nullptr, *y = nullptr, *r = nullptr;  /// @}
};

/// One V-cycle through such levels: x of the first := about A^-1 f of the first. Everything else in f, x, y and r is scratch.
/// A step of the smoother is d := of_last d + factor of_residual D^-1 (f - A x), x := x + d; d and x are zero at first.
template <class V>
struct CoarseCycle {
  CoarseLevel<V> levels[max_coarse_levels];  ///< the finest first
  int count = 0;                             ///< of levels, the last included
  int steps = 0;                             ///< of the smoother, before and after a correction
  V of_last[max_smoothing_steps] = {};       ///< see above
  V of_residual[max_smoothing_steps] = {};   ///< see above
};

/// What a backend sets up for such a cycle. Opaque.
struct CoarsePlan {
  virtual ~CoarsePlan() = default;
};

}  // namespace cnc
