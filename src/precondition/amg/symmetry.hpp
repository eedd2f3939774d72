#pragma once

#include "convert/analyze.hpp"
#include "convert/spaces.hpp"
#include "convert/sparse_product.hpp"

#include <cmath>

// Whether a matrix is symmetric, to what rounding leaves.

namespace cnc::detail {

/// What a comparison of blocks with their mirror images counts.
struct BlockPairs : Facts {
  offset_t lower = 0;   ///< blocks below the diagonal
  offset_t paired = 0;  ///< blocks above the diagonal that have a mirror image
  offset_t differ = 0;  ///< blocks that are not the transpose of theirs

  KOKKOS_INLINE_FUNCTION BlockPairs& operator+=(const BlockPairs& other) {
    lower += other.lower;
    paired += other.paired;
    differ += other.differ;
    return *this;
  }
};

/// Compares the blocks on and above the diagonal with their mirror images; or, `unpaired`, looks for blocks below it that have none.
/// Blocks are B x B, or of a size of run time where that is zero. Columns ascend.
template <int B, class Exec, class T, bool unpaired>
struct CompareBlocks {
  BcsrOperand<T> A;
  double
      tolerance;  ///< entries may differ by so much of what bounds them, as in Asymmetry::relative
  FindMirror<Exec> find = {};
  CompareBlocks for_range(offset_t begin, offset_t end) const
      requires(on_threads<Exec> && !unpaired) {
    return {A, tolerance, find_for_range(begin, end, A.block_rows())};
  }

  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit, BlockPairs& pairs) const {
    constexpr int lanes = row_lanes<Exec>;
    const auto row = static_cast<index_t>(unit / lanes);
    const index_t end = A.row_offsets[row + 1];
    for (auto k = static_cast<index_t>(A.row_offsets[row] + unit % lanes); k < end; k += lanes) {
      const index_t column = A.columns[k];
      if constexpr (unpaired) {
        if (column < row && find_entry(A, column, row) < 0) pairs.differ += differs(row, k, -1);
      } else if (column < row) {
        ++pairs.lower;
      } else {
        const index_t mirror = column == row ? k : find(A, column, row);
        pairs.paired += column > row && mirror >= 0;
        pairs.differ += differs(row, k, mirror);
      }
    }
  }

  /// Of block k in a block row and its mirror image, zeros where there is none.
  KOKKOS_INLINE_FUNCTION bool differs(index_t row, index_t k, index_t mirror) const {
    const int b = B > 0 ? B : A.block_size;
    const offset_t block = b * b;
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < b; ++c) {
        const T value = A.values[k * block + r * b + c];
        const T other = mirror < 0 ? T(0) : A.values[mirror * block + c * b + r];
        if (value != other && !is_close(row, r, A.columns[k], c, value, other)) return true;
      }
    return false;
  }
  KOKKOS_INLINE_FUNCTION bool is_close(index_t row, int r, index_t column, int c, double value,
                                       double other) const {
    const double bound = std::sqrt(diagonal_size(row, r)) * std::sqrt(diagonal_size(column, c));
    const double size = std::abs(value) > std::abs(other) ? std::abs(value) : std::abs(other);
    return std::abs(value - other) <= tolerance * (size > bound ? size : bound);
  }
  KOKKOS_INLINE_FUNCTION double diagonal_size(index_t row, int r) const {
    const offset_t b = B > 0 ? B : A.block_size;
    const index_t k = find_entry(A, row, row);
    return k < 0 ? 0 : std::abs(static_cast<double>(A.values[k * b * b + r * b + r]));
  }
};

/// Whether entries differ from their mirror images by no more than `tolerance` of what bounds them. Square; blocks ascend. Waits.
template <class Exec, class V, class Space>
bool blocks_are_symmetric(const Exec& exec, const BcsrMatrix<V, Space>& A, double tolerance) {
  const int b = A.block_size;
  return for_block_sizes(b, b, b, [&]<int B, int, int>() {
    const auto compared = [&]<bool unpaired>() {
      return sum_over<BlockPairs>(exec, offset_t(A.block_rows()) * row_lanes<Exec>,
                                  CompareBlocks<B, Exec, V, unpaired>{A.operand(), tolerance});
    };
    const BlockPairs pairs = compared.template operator()<false>();
    if (pairs.differ > 0 || pairs.paired == pairs.lower) return pairs.differ == 0;
    return compared.template operator()<true>().differ == 0;
  });
}

/// Whether A is, to what rounding leaves; from its layout where that says so or has it in blocks. Waits.
template <class V, class Space>
bool is_symmetric(const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout) {
  constexpr double tolerance = sizeof(V) < sizeof(double) ? 1e-5 : 1e-10;
  const auto* const diagonals = std::get_if<DiaMatrix<V, Space>>(&layout);
  if (diagonals != nullptr && diagonals->symmetric) return true;  // what the layout was chosen for
  const auto* const blocks = std::get_if<BcsrMatrix<V, Space>>(&layout);
  if (blocks != nullptr && blocks->block_size > 1)
    return blocks_are_symmetric(instance<SetUpExec<Space>>(), *blocks, tolerance);
  return find_asymmetry(A).relative <= tolerance;
}

}  // namespace cnc::detail
