#pragma once

#include "convert/search.hpp"
#include "on_each.hpp"

#include <cnc/contract/operands.hpp>
#include <cnc/formats.hpp>

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// What analyze learns from rows and entries, and how that adds up. Called by host loops and inside
// kernels alike.

namespace cnc::detail {

inline constexpr int analyzed_sizes = 6;
/// An object, so that kernels can have a copy.
struct BlockSizes {
  int at[analyzed_sizes];
};
inline constexpr BlockSizes analyzed_block_sizes{{2, 3, 4, 5, 6, 8}};

/// From the rows' offsets and outermost columns.
struct RowFacts : Facts {
  index_t longest = 0;
  index_t shortest = std::numeric_limits<index_t>::max();
  index_t empty = 0;
  offset_t sum_of_squares = 0;  ///< below 2^62, as there are less than 2^31 entries
  index_t lower_bandwidth = 0, upper_bandwidth = 0;

  KOKKOS_INLINE_FUNCTION void add_row(index_t row, const index_t* first, const index_t* last) {
    const auto length = static_cast<index_t>(last - first);
    longest = std::max(longest, length);
    shortest = std::min(shortest, length);
    sum_of_squares += static_cast<offset_t>(length) * length;
    if (length == 0) {
      ++empty;
      return;
    }
    lower_bandwidth = std::max(lower_bandwidth, row - *first);
    upper_bandwidth = std::max(upper_bandwidth, *(last - 1) - row);
  }

  KOKKOS_INLINE_FUNCTION RowFacts& operator+=(const RowFacts& other) {
    longest = std::max(longest, other.longest);
    shortest = std::min(shortest, other.shortest);
    empty += other.empty;
    sum_of_squares += other.sum_of_squares;
    lower_bandwidth = std::max(lower_bandwidth, other.lower_bandwidth);
    upper_bandwidth = std::max(upper_bandwidth, other.upper_bandwidth);
    return *this;
  }

  /// Of a matrix whose rows, cols and nonzeros are in `structure` already.
  void enter(Structure& structure) const {
    if (structure.rows == 0) return;
    structure.longest_row = longest;
    structure.shortest_row = shortest;
    structure.empty_rows = empty;
    structure.mean_row = static_cast<double>(structure.nonzeros) / structure.rows;
    structure.row_deviation =
        std::sqrt(std::max(0.0, static_cast<double>(sum_of_squares) / structure.rows -
                                    structure.mean_row * structure.mean_row));
    structure.lower_bandwidth = lower_bandwidth;
    structure.upper_bandwidth = upper_bandwidth;
  }
};

/// Whether `a` is the less symmetric place, the earlier one of two that are alike.
KOKKOS_INLINE_FUNCTION bool precedes(const Asymmetry& a, const Asymmetry& b) {
  if (a.relative != b.relative) return a.relative > b.relative;
  if (a.row < 0 || b.row < 0) return a.row >= 0;
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

/// From the comparison of entries with their mirror images.
struct SymmetryFacts : Facts {
  offset_t upper = 0, lower = 0;  ///< entries above and below the diagonal
  offset_t paired = 0;            ///< entries above the diagonal that have a mirror image
  bool equal = true;              ///< all pairs hold equal values
  double largest = 0;             ///< max |a(i,j)|
  double largest_difference = 0;  ///< max |a(i,j) - a(j,i)|, a missing entry counting as zero
  Asymmetry least_symmetric;

  KOKKOS_INLINE_FUNCTION SymmetryFacts& operator+=(const SymmetryFacts& other) {
    upper += other.upper;
    lower += other.lower;
    paired += other.paired;
    equal = equal && other.equal;
    largest = std::max(largest, other.largest);
    largest_difference = std::max(largest_difference, other.largest_difference);
    if (precedes(other.least_symmetric, least_symmetric)) least_symmetric = other.least_symmetric;
    return *this;
  }

  /// Whether entries below the diagonal have no mirror image, so that add_unpaired must meet them.
  bool lacks_lower() const { return paired != lower; }

  void enter(Structure& structure) const {
    structure.pattern_symmetric = paired == upper && paired == lower;
    structure.value_symmetric = structure.pattern_symmetric && equal;
    if (largest > 0) structure.asymmetry = largest_difference / largest;
    structure.least_symmetric = least_symmetric;
  }
};

/// Position of entry (row, column), or -1.
template <class T>
KOKKOS_INLINE_FUNCTION index_t find_entry(const BcsrOperand<T>& A, index_t row, index_t column) {
  const index_t* end = A.columns + A.row_offsets[row + 1];
  const index_t* found = first_not_less(A.columns + A.row_offsets[row], end, column);
  return found != end && *found == column ? static_cast<index_t>(found - A.columns) : -1;
}

/// Size of the diagonal entry of a row, 0 where it is missing.
template <class T>
KOKKOS_INLINE_FUNCTION double diagonal_size(const BcsrOperand<T>& A, index_t row) {
  const index_t k = find_entry(A, row, row);
  return k < 0 ? 0 : std::abs(static_cast<double>(A.values[k]));
}

/// Takes note of an entry that differs from its mirror image.
template <class T>
KOKKOS_INLINE_FUNCTION void add_difference(const BcsrOperand<T>& A, index_t row, index_t column,
                                           double value, double mirror, SymmetryFacts& facts) {
  const double difference = std::abs(value - mirror);
  facts.equal = false;
  facts.largest_difference = std::max(facts.largest_difference, difference);
  const double scale =
      std::max(std::max(std::abs(value), std::abs(mirror)),
               std::sqrt(diagonal_size(A, row)) * std::sqrt(diagonal_size(A, column)));
  Asymmetry found{row, column, value, mirror, difference / scale};
  if (!(found.relative < HUGE_VAL)) found.relative = HUGE_VAL;
  if (precedes(found, facts.least_symmetric)) facts.least_symmetric = found;
}

/// Compares entry k of a row with its mirror image if it lies above the diagonal. find(A, i, j): as find_entry;
/// j ascends from call to call.
template <class T, class Find>
KOKKOS_INLINE_FUNCTION void add_entry(const BcsrOperand<T>& A, index_t row, index_t k,
                                      const Find& find, SymmetryFacts& facts) {
  const index_t column = A.columns[k];
  const auto value = static_cast<double>(A.values[k]);
  facts.largest = std::max(facts.largest, std::abs(value));
  if (column < row) ++facts.lower;
  if (column <= row) return;
  ++facts.upper;
  const index_t mirror = find(A, column, row);
  if (mirror >= 0) ++facts.paired;
  const double other = mirror >= 0 ? static_cast<double>(A.values[mirror]) : 0;
  if (value != other) add_difference(A, row, column, value, other, facts);
}

/// The same for an entry below the diagonal that add_entry did not come to: one without a mirror image.
template <class T>
KOKKOS_INLINE_FUNCTION void add_unpaired(const BcsrOperand<T>& A, index_t row, index_t k,
                                         SymmetryFacts& facts) {
  const auto value = static_cast<double>(A.values[k]);
  if (A.columns[k] < row && value != 0 && find_entry(A, A.columns[k], row) < 0)
    add_difference(A, row, A.columns[k], value, 0, facts);
}

/// The record of a count of blocks.
inline BlockOccupancy occupancy_of(offset_t nonzeros, offset_t blocks, int block_size) {
  BlockOccupancy result;
  result.block_size = block_size;
  result.blocks = blocks;
  if (blocks > 0)
    result.density =
        static_cast<double>(nonzeros) / (static_cast<double>(blocks) * block_size * block_size);
  return result;
}

}  // namespace cnc::detail
