#pragma once

#include "convert/search.hpp"
#include "convert/sparse_blocks.hpp"
#include "precondition/amg/magnitudes.hpp"
#include "precondition/invert_block.hpp"

#include <cnc/vector.hpp>

#include <cmath>

// The inverse of the diagonal of a level, and what it says of the level's eigenvalues.

namespace cnc::detail {

/// The largest sum of |entries| of D^-1 A in a row: a bound of its eigenvalues.
///
/// Method   Gershgorin; of blocks by the entries of D^-1 A.
template <int capacity, class T>
struct RowSumBound {
  BlocksOperand<T> A;
  const T* inverse;
  double* bounds;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const int b = capacity == 1 ? 1 : A.height;
    double sums[capacity] = {};
    for (index_t at = A.row_offsets[i]; at < A.row_offsets[i + 1]; ++at)
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c) {
          double entry = 0;
          for (int q = 0; q < b; ++q)
            entry += static_cast<double>(inverse[i * b * b + r * b + q]) *
                     static_cast<double>(A.block(at)[q * b + c]);
          sums[r] += entry < 0 ? -entry : entry;
        }
    double most_of_row = 0;
    for (int r = 0; r < b; ++r)
      if (sums[r] > most_of_row) most_of_row = sums[r];
    bounds[i] = most_of_row;
  }
};

struct TakeLargest {
  const double* of;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Largest& largest) const {
    largest.take(of[i]);
  }
};

template <class Exec, class T, class Space>
double row_sum_bound(const Exec& exec, const SparseBlocks<T, Space>& A,
                     const Vector<T, Space>& inverse) {
  const auto bounds =
      in_large_pages<double, Space>("cnc::bounds", static_cast<std::size_t>(A.rows));
  if (A.height == 1)
    on_each(exec, A.rows, RowSumBound<1, T>{operand_of(A), inverse.data(), bounds.data()});
  else
    on_each(exec, A.rows,
            RowSumBound<max_block_size, T>{operand_of(A), inverse.data(), bounds.data()});
  return sum_over<Largest>(exec, A.rows, TakeLargest{bounds.data()}).value;
}

/// inverse block i := the inverse of diagonal block i of A, b <= capacity, with the magnitudes of each row outside it added to its
/// diagonal if so desired. Adds up faults.
template <int capacity, class T>
struct InvertBlockOf {
  BlocksOperand<T> A;
  bool adds_magnitudes;
  T* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    const int b = A.height;
    double block[capacity * capacity] = {}, inverted[capacity * capacity];
    double diagonal[capacity], magnitudes[capacity] = {};
    const index_t begin = A.row_offsets[i], end = A.row_offsets[i + 1];
    const auto at =
        static_cast<index_t>(first_not_less(A.columns + begin, A.columns + end, i) - A.columns);
    const bool has_block = at < end && A.columns[at] == i;
    for (int e = 0; e < b * b && has_block; ++e) block[e] = static_cast<double>(A.block(at)[e]);
    for (index_t k = begin; k < end && adds_magnitudes; ++k)
      for (int e = 0; e < b * b && A.columns[k] != i; ++e)
        magnitudes[e / b] += std::abs(static_cast<double>(A.block(k)[e]));
    for (int r = 0; r < b; ++r) {
      double& own = block[r * b + r];
      own += own < 0 ? -magnitudes[r] : magnitudes[r];
      diagonal[r] = own;
    }
    T* const to = inverse + i * b * b;
    if (capacity > 1 && invert_block(b, block, inverted)) {
      for (int e = 0; e < b * b; ++e) to[e] = static_cast<T>(inverted[e]);
      return;
    }
    // Row by row then, which is no fault where the diagonal is there.
    for (int r = 0; r < b; ++r) {
      const bool regular = std::isfinite(diagonal[r]) && diagonal[r] != 0;
      if (!regular) fault.report(i * b + r);
      for (int c = 0; c < b; ++c)
        to[r * b + c] = r == c ? static_cast<T>(regular ? 1 / diagonal[r] : 1) : T(0);
    }
  }
};

/// The inverted diagonal (blocks) of A, or of A with magnitudes added. The first row at fault, or -1. Waits.
template <class Exec, class T, class Space>
index_t invert_diagonal(const Exec& exec, const SparseBlocks<T, Space>& A,
                        const Vector<T, Space>& inverse, bool adds_magnitudes = false) {
  const auto run = [&](const auto& body) { return sum_over<Least>(exec, A.rows, body); };
  const auto a = operand_of(A);
  T* const to = inverse.data();
  const Least fault = A.height == 1   ? run(InvertBlockOf<1, T>{a, adds_magnitudes, to})
                      : A.height <= 3 ? run(InvertBlockOf<3, T>{a, adds_magnitudes, to})
                      : A.height <= 6
                          ? run(InvertBlockOf<6, T>{a, adds_magnitudes, to})
                          : run(InvertBlockOf<max_block_size, T>{a, adds_magnitudes, to});
  return fault.found() ? static_cast<index_t>(fault.key) : -1;
}

}  // namespace cnc::detail
