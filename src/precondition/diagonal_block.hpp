#pragma once

#include "convert/search.hpp"
#include "convert/sorted_rows.hpp"
#include "on_each.hpp"

#include <cnc/contract/operands.hpp>
#include <cnc/preconditioner.hpp>
#include <precondition/invert_block.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <cmath>

// The inverse of one diagonal entry or block of a matrix. Called by host loops and inside kernels alike.

namespace cnc::detail {

/// What inverting one entry or block found: a row at fault, or -1.
struct BlockFault {
  index_t row = -1;
  bool singular_block = false;
};

/// An entry that is not that of the first row.
template <class V>
struct DiffersFromFirst {
  const V* inverse;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const { return !(inverse[i] == inverse[0]); }
};
/// Whether all n entries of an inverse are the same. Waits.
template <class Exec, class V>
bool is_uniform(const Exec& exec, index_t n, const V* inverse) {
  return first_row(exec, n, DiffersFromFirst<V>{inverse}) < 0;
}

/// Position of the first entry of a row at column >= `column`.
template <class S>
KOKKOS_INLINE_FUNCTION index_t find_column(const BcsrOperand<S>& A, index_t row, index_t column) {
  return static_cast<index_t>(
      first_not_less(A.columns + A.row_offsets[row], A.columns + A.row_offsets[row + 1], column) -
      A.columns);
}

/// The diagonal blocks of a CSR matrix. Rows that do not ascend are searched from end to end.
template <class S>
struct BlocksInCsr {
  BcsrOperand<S> A;
  bool ascending;

  KOKKOS_INLINE_FUNCTION double entry(index_t row) const {
    index_t k = ascending ? find_column(A, row, row) : A.row_offsets[row];
    if (!ascending)
      while (k < A.row_offsets[row + 1] && A.columns[k] != row) ++k;
    const bool stored = k < A.row_offsets[row + 1] && A.columns[k] == row;
    return stored ? static_cast<double>(A.values[k]) : 0;
  }

  /// Copies the entries of `row` in columns [first, first + b) to `entries`, which are zero.
  KOKKOS_INLINE_FUNCTION void copy_row(index_t row, index_t first, int b, double* entries) const {
    index_t k = ascending ? find_column(A, row, first) : A.row_offsets[row];
    for (; k < A.row_offsets[row + 1]; ++k) {
      const offset_t c = static_cast<offset_t>(A.columns[k]) - first;
      if (c >= b && ascending) break;
      if (c >= 0 && c < b) entries[c] = static_cast<double>(A.values[k]);
    }
  }
};

/// The diagonal blocks of A^T A, from A^T in CSR with ascending rows. A column of zeros counts as one of the identity.
template <class S>
struct NormalBlocks {
  BcsrOperand<S> A;  ///< A^T, whose rows are the columns

  KOKKOS_INLINE_FUNCTION double product(index_t i, index_t j) const {
    double sum = 0;
    index_t k = A.row_offsets[i], l = A.row_offsets[j];
    while (k < A.row_offsets[i + 1] && l < A.row_offsets[j + 1]) {
      const index_t at_k = A.columns[k], at_l = A.columns[l];
      if (at_k == at_l) sum += static_cast<double>(A.values[k]) * static_cast<double>(A.values[l]);
      k += at_k <= at_l;
      l += at_l <= at_k;
    }
    return sum;
  }
  KOKKOS_INLINE_FUNCTION double entry(index_t row) const { return product(row, row); }
  KOKKOS_INLINE_FUNCTION void copy_row(index_t row, index_t first, int b, double* entries) const {
    for (int c = 0; c < b && c < A.rows - first; ++c) entries[c] = product(row, first + c);
    if (entries[row - first] == 0) entries[row - first] = 1;
  }
};

/// Diagonal blocks copied before: row-major, one after the other.
template <class V>
struct CopiedBlocks {
  struct Size {
    index_t rows;
  } A;
  const V* blocks;

  KOKKOS_INLINE_FUNCTION double entry(index_t row) const {
    return static_cast<double>(blocks[row]);
  }
  KOKKOS_INLINE_FUNCTION void copy_row(index_t row, index_t, int b, double* entries) const {
    for (int c = 0; c < b; ++c)
      entries[c] = static_cast<double>(blocks[static_cast<offset_t>(row) * b + c]);
  }
};

/// inverse := 1 / a(row, row), one when V cannot hold or use that.
template <class V, class Blocks>
KOKKOS_INLINE_FUNCTION BlockFault invert_entry(const Blocks& blocks, DiagonalRule rule, index_t row,
                                               V& inverse) {
  double diagonal = blocks.entry(row);
  if (rule != DiagonalRule::as_it_is && diagonal == 0) diagonal = 1;
  if (rule == DiagonalRule::magnitude) diagonal = std::abs(diagonal);
  const bool regular = std::isfinite(diagonal) && diagonal != 0;
  inverse = regular ? static_cast<V>(1 / diagonal) : V(1);
  if (regular && std::isfinite(inverse) && inverse != 0) return {};
  inverse = V(1);
  return {row, false};
}

/// Copies the diagonal block that starts at row `first` into `block` (row-major), the identity where it
/// sticks out of A. Returns the first row with an entry that is not finite, or -1.
template <class Blocks>
KOKKOS_INLINE_FUNCTION index_t gather_block(const Blocks& blocks, index_t first, int b,
                                            double* block) {
  index_t fault = -1;
  for (int k = 0; k < b * b; ++k) block[k] = 0;
  for (int r = 0; r < b; ++r) {
    if (r >= blocks.A.rows - first) {
      block[r * b + r] = 1;
      continue;
    }
    blocks.copy_row(first + r, first, b, block + r * b);
    for (int c = 0; c < b && fault < 0; ++c)
      if (!std::isfinite(block[r * b + c])) fault = first + r;
  }
  return fault;
}

/// inverse := the inverse of diagonal block i, row-major; the identity when V cannot hold it. Capacity
/// is at least b: the room that a thread needs.
template <int capacity, class V, class Blocks>
KOKKOS_INLINE_FUNCTION BlockFault invert_diagonal_block(const Blocks& blocks, int b, index_t i,
                                                        V* inverse) {
  double block[capacity * capacity];
  double inverted[capacity * capacity];
  const index_t first = i * b;
  const index_t not_finite_row = gather_block(blocks, first, b, block);
  bool good = not_finite_row < 0 && invert_block(b, block, inverted);
  for (int k = 0; k < b * b && good; ++k) {
    inverse[k] = static_cast<V>(inverted[k]);
    good = std::isfinite(inverse[k]);
  }
  if (good) return {};
  for (int k = 0; k < b * b; ++k) inverse[k] = k % (b + 1) == 0 ? V(1) : V(0);
  return {not_finite_row < 0 ? first : not_finite_row, not_finite_row < 0};
}

/// What a set-up is refused for.
inline void require_set_up(index_t rows, index_t cols, PreconditionerKind kind, int block_size) {
  require(rows == cols, "set_up_preconditioner: the matrix must be square");
  require(
      kind != PreconditionerKind::block_jacobi || (block_size >= 1 && block_size <= max_block_size),
      "set_up_preconditioner: block size must be 1 to 16");
}

/// Starts a set-up whose arguments have been checked: an `inverse` of the right size. The number of blocks to invert.
template <class V, class Space>
index_t open_set_up(index_t rows, PreconditionerKind kind, int block_size,
                    Preconditioner<V, Space>& M) {
  M.kind = kind;
  M.block_size = kind == PreconditionerKind::block_jacobi ? block_size : 1;
  const index_t blocks = kind == PreconditionerKind::none ? 0 : ceil_div(rows, M.block_size);
  const auto n =
      static_cast<std::size_t>(blocks) * static_cast<std::size_t>(M.block_size * M.block_size);
  if (M.inverse.extent(0) != n) M.inverse = uninitialized<V, Space>("cnc::preconditioner", n);
  return blocks;
}

}  // namespace cnc::detail
