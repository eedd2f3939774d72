#pragma once

#include "precondition/amg/aggregate.hpp"
#include "precondition/invert_block.hpp"

// From aggregates to a prolongation: the near-null space cut to aggregates and made orthonormal (tentative), then smoothed.
//
// Method   Vanek, Mandel & Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems, 1996,
//          section 3 (algorithms 1 and 2).

namespace cnc::detail {

/// A block for each node that has an aggregate. Counts, or writes.
struct PlaceAggregates {
  const index_t* aggregate;
  const index_t* offsets;  ///< null: counts
  index_t* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const bool has_one = aggregate[i] >= 0;
    if (offsets == nullptr)
      to[i + 1] = has_one;
    else if (has_one)
      to[offsets[i]] = aggregate[i];
  }
};

/// The near-null space of one aggregate made orthonormal: Q to the blocks of its nodes, R to the coarse one. A vector that
/// depends on those before it, or is zero there, gives a column of zeros, of Q and of R.
///
/// Method   modified Gram-Schmidt, each vector twice: Golub & Van Loan, Matrix computations, 4th ed., 2013, section 5.2.8.
template <class T>
struct Orthonormalize {
  BlocksOperand<T> tentative;  ///< nodes x aggregates, blocks of b x k
  const index_t* offsets;      ///< of aggregates
  const index_t* nodes;        ///< [offsets of the last]
  const T* fine;               ///< [nodes b][k]
  T* coarse;                   ///< [aggregates k][k]

  KOKKOS_INLINE_FUNCTION T* rows_of(index_t at) const {
    return tentative.block(tentative.row_offsets[nodes[at]]);
  }
  KOKKOS_INLINE_FUNCTION double dot(offset_t a, int p, int q) const {
    const int b = tentative.height, k = tentative.width;
    double sum = 0;
    for (index_t at = offsets[a]; at < offsets[a + 1]; ++at) {
      const T* const rows = rows_of(at);
      for (int r = 0; r < b; ++r)
        sum += static_cast<double>(rows[r * k + p]) * static_cast<double>(rows[r * k + q]);
    }
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t a) const {
    constexpr double dependent = 1e-6;  // of its length is left of a vector
    const int b = tentative.height, k = tentative.width;
    for (index_t at = offsets[a]; at < offsets[a + 1]; ++at)
      for (int e = 0; e < b * k; ++e)
        rows_of(at)[e] = fine[static_cast<offset_t>(nodes[at]) * b * k + e];
    T* const R = coarse + a * k * k;
    for (int e = 0; e < k * k; ++e) R[e] = 0;
    for (int j = 0; j < k; ++j) {
      const double length = sqrt(dot(a, j, j));
      for (int pass = 0; pass < 2; ++pass)
        for (int q = 0; q < j; ++q) {
          const double part = dot(a, q, j);
          R[q * k + j] += static_cast<T>(part);
          for (index_t at = offsets[a]; at < offsets[a + 1]; ++at)
            for (int r = 0; r < b; ++r)
              rows_of(at)[r * k + j] -=
                  static_cast<T>(part * static_cast<double>(rows_of(at)[r * k + q]));
        }
      const double rest = sqrt(dot(a, j, j));
      const bool is_new = rest > dependent * length;
      R[j * k + j] = is_new ? static_cast<T>(rest) : T(0);
      for (index_t at = offsets[a]; at < offsets[a + 1]; ++at)
        for (int r = 0; r < b; ++r) {
          T& entry = rows_of(at)[r * k + j];
          entry = is_new ? static_cast<T>(static_cast<double>(entry) / rest) : T(0);
        }
    }
  }
};

/// The tentative prolongation, blocks of b x k, and the near-null space of the coarse matrix. Waits.
template <class Exec, class T, class Space>
SparseBlocks<T, Space> tentative_prolongation(const Exec& exec, const Aggregates<Space>& aggregates,
                                              int b, const NearNullSpace<T, Space>& fine,
                                              NearNullSpace<T, Space>& coarse) {
  const index_t nodes = checked_extent(aggregates.of.extent(0));
  const int k = fine.vectors;
  SparseBlocks<T, Space> P;
  P.rows = nodes;
  P.cols = aggregates.count;
  P.height = b;
  P.width = k;
  const auto offsets =
      zeroed<index_t, Space>("cnc::tentative", static_cast<std::size_t>(nodes) + 1);
  on_each(exec, nodes, PlaceAggregates{aggregates.of.data(), nullptr, offsets.data()});
  const std::size_t blocks = offsets_from_counts(exec, offsets.data(), nodes, "aggregated nodes");
  const auto columns = uninitialized<index_t, Space>("cnc::tentative", blocks);
  on_each(exec, nodes, PlaceAggregates{aggregates.of.data(), offsets.data(), columns.data()});
  exec.fence();
  P.row_offsets = offsets;
  P.columns = columns;
  P.values = uninitialized<T, Space>("cnc::tentative", blocks * static_cast<std::size_t>(b * k));
  const TransposedPattern<Space> members = transposed_blocks(P);
  coarse.vectors = k;
  coarse.rows =
      uninitialized<T, Space>("cnc::near_null_space", static_cast<std::size_t>(aggregates.count) *
                                                          static_cast<std::size_t>(k * k));
  on_each(exec, aggregates.count,
          Orthonormalize<T>{operand_of(P), members.row_offsets.data(), members.columns.data(),
                            fine.rows.data(), coarse.rows.data()});
  exec.fence();
  return P;
}

/// P := T - omega D^-1 P, where P holds A T, D^-1 the inverse of the diagonal (blocks) of A, and each row of T has one
/// block at most.
template <class T>
struct SmoothRow {
  BlocksOperand<T> tentative, P;
  const T* inverse;  ///< [rows b b]
  T omega;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    constexpr int most = 16;
    const int b = P.height, k = P.width;
    const T* const D = inverse + i * b * b;
    const index_t begin = tentative.row_offsets[i], end = tentative.row_offsets[i + 1];
    for (index_t at = P.row_offsets[i]; at < P.row_offsets[i + 1]; ++at) {
      T* const block = P.block(at);
      const bool meets = begin < end && tentative.columns[begin] == P.columns[at];
      for (int c = 0; c < k; ++c) {
        T column[most];
        for (int r = 0; r < b; ++r) column[r] = block[r * k + c];
        for (int r = 0; r < b; ++r) {
          T sum = 0;
          for (int q = 0; q < b; ++q) sum += D[r * b + q] * column[q];
          const T old = meets ? tentative.block(begin)[r * k + c] : T(0);
          block[r * k + c] = old - omega * sum;
        }
      }
    }
  }
};

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

/// The largest of numbers that are not negative.
struct Largest : Facts {
  double value = 0;
  /// What is no number stays.
  KOKKOS_INLINE_FUNCTION void take(double other) {
    if (value == value && !(other <= value)) value = other;
  }
  KOKKOS_INLINE_FUNCTION Largest& operator+=(const Largest& other) {
    take(other.value);
    return *this;
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
  const auto bounds = uninitialized<double, Space>("cnc::bounds", static_cast<std::size_t>(A.rows));
  if (A.height == 1)
    on_each(exec, A.rows, RowSumBound<1, T>{operand_of(A), inverse.data(), bounds.data()});
  else
    on_each(exec, A.rows,
            RowSumBound<max_block_size, T>{operand_of(A), inverse.data(), bounds.data()});
  return sum_over<Largest>(exec, A.rows, TakeLargest{bounds.data()}).value;
}

/// inverse block i := the inverse of diagonal block i of A, b <= capacity. Adds up faults.
template <int capacity, class T>
struct InvertBlockOf {
  BlocksOperand<T> A;
  T* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    const int b = A.height;
    double block[capacity * capacity] = {}, inverted[capacity * capacity];
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      if (A.columns[k] == i)
        for (int e = 0; e < b * b; ++e) block[e] = static_cast<double>(A.block(k)[e]);
    double diagonal[capacity];
    for (int r = 0; r < b; ++r) diagonal[r] = block[r * b + r];
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

/// The inverted diagonal (blocks) of A. The first row at fault, or -1. Waits.
template <class Exec, class T, class Space>
index_t invert_diagonal(const Exec& exec, const SparseBlocks<T, Space>& A,
                        const Vector<T, Space>& inverse) {
  const auto run = [&](const auto& body) { return sum_over<Least>(exec, A.rows, body); };
  const auto a = operand_of(A);
  T* const to = inverse.data();
  const Least fault = A.height == 1   ? run(InvertBlockOf<1, T>{a, to})
                      : A.height <= 3 ? run(InvertBlockOf<3, T>{a, to})
                      : A.height <= 6 ? run(InvertBlockOf<6, T>{a, to})
                                      : run(InvertBlockOf<max_block_size, T>{a, to});
  return fault.found() ? static_cast<index_t>(fault.key) : -1;
}

/// Unknowns that no column of the prolongation stands for have a row of zeros: that of the identity instead.
template <class T>
struct KeepRegular {
  BlocksOperand<T> A;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const int b = A.height;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      if (A.columns[k] == i)
        for (int r = 0; r < b; ++r)
          if (A.block(k)[r * b + r] == 0) A.block(k)[r * b + r] = 1;
  }
};

}  // namespace cnc::detail
