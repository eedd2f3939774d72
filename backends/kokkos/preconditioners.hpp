#pragma once

#include <cnc/contract/preconditioner_operand.hpp>

#include <Kokkos_Core.hpp>

// z = M^-1 r, unit by unit. A unit is the rows that belong together: apply(i, n, r, z) reads r and
// writes z in the rows [first(i), first(i) + height(i, n)) alone, so a pass may hold the unit's rows
// in its hands from its statements to its sums.

namespace cnc::kokkos {

/// Units of one row.
struct PointUnits {
  KOKKOS_INLINE_FUNCTION index_t first(index_t i) const { return i; }
  KOKKOS_INLINE_FUNCTION int height(index_t, index_t) const { return 1; }
  int scalars() const { return 1; }
};

template <class V>
struct NoPreconditioner : PointUnits {
  KOKKOS_INLINE_FUNCTION void apply(index_t i, index_t, const V* r, V* z) const { z[i] = r[i]; }
};

template <class V>
struct Jacobi : PointUnits {
  const V* inverse;
  explicit Jacobi(const V* inverse_) : inverse(inverse_) {}
  KOKKOS_INLINE_FUNCTION void apply(index_t i, index_t, const V* r, V* z) const {
    z[i] = inverse[i] * r[i];
  }
};

/// Of any size: compiled sizes would multiply the passes of all methods.
template <class V>
struct BlockJacobi {
  const V* inverse;
  int size;

  int scalars() const { return size; }
  KOKKOS_INLINE_FUNCTION index_t first(index_t i) const { return i * size; }
  KOKKOS_INLINE_FUNCTION int height(index_t i, index_t n) const {
    return n - first(i) < size ? n - first(i) : size;
  }
  KOKKOS_INLINE_FUNCTION void apply(index_t i, index_t n, const V* r, V* z) const {
    const int rows = height(i, n);
    const V* block = inverse + static_cast<offset_t>(i) * size * size;
    for (int row = 0; row < rows; ++row) {
      V sum = 0;
      for (int column = 0; column < rows; ++column)
        sum += block[row * size + column] * r[first(i) + column];
      z[first(i) + row] = sum;
    }
  }
};

/// Calls run with the operand as one of the types above.
template <class V, class Run>
void with_preconditioner(const PreconditionerOperand<V>& M, const Run& run) {
  switch (M.kind) {
    case PreconditionerKind::none: return run(NoPreconditioner<V>());
    case PreconditionerKind::jacobi: return run(Jacobi<V>(M.inverse));
    case PreconditionerKind::block_jacobi: return run(BlockJacobi<V>{M.inverse, M.block_size});
  }
}

}  // namespace cnc::kokkos
