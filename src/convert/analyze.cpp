#include "convert/checks.hpp"

#include <cnc/formats.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace cnc {
namespace {

constexpr int analyzed_block_sizes[] = {2, 3, 4, 5, 6, 8};

/// What one thread learns from its rows' offsets and outermost columns.
struct RowFacts {
  index_t longest = 0;
  index_t shortest = std::numeric_limits<index_t>::max();
  index_t empty = 0;
  double sum_of_squares = 0;
  index_t lower_bandwidth = 0, upper_bandwidth = 0;

  void add_row(index_t row, const index_t* first, const index_t* last) {
    const auto length = static_cast<index_t>(last - first);
    longest = std::max(longest, length);
    shortest = std::min(shortest, length);
    sum_of_squares += static_cast<double>(length) * length;
    if (length == 0) {
      ++empty;
      return;
    }
    lower_bandwidth = std::max(lower_bandwidth, row - *first);
    upper_bandwidth = std::max(upper_bandwidth, *(last - 1) - row);
  }

  void merge(const RowFacts& other) {
    longest = std::max(longest, other.longest);
    shortest = std::min(shortest, other.shortest);
    empty += other.empty;
    sum_of_squares += other.sum_of_squares;
    lower_bandwidth = std::max(lower_bandwidth, other.lower_bandwidth);
    upper_bandwidth = std::max(upper_bandwidth, other.upper_bandwidth);
  }
};

/// What the comparison of entries with their mirror images finds.
struct SymmetryFacts {
  offset_t upper = 0, lower = 0;  ///< entries above and below the diagonal
  offset_t paired = 0;            ///< entries above the diagonal that have a mirror image
  bool equal = true;              ///< all pairs hold equal values
  double largest = 0;             ///< max |a(i,j)|
  double largest_difference = 0;  ///< max |a(i,j) - a(j,i)|, a missing entry counting as zero

  void merge(const SymmetryFacts& other) {
    upper += other.upper;
    lower += other.lower;
    paired += other.paired;
    equal = equal && other.equal;
    largest = std::max(largest, other.largest);
    largest_difference = std::max(largest_difference, other.largest_difference);
  }
};

/// Runs body(row, facts) over all rows, one Facts per thread, and merges them in row order.
template <class Facts, class Body>
Facts gather_rows(index_t rows, const Body& body) {
  const int parts = detail::set_up_threads();
  std::vector<Facts> partial(static_cast<std::size_t>(parts));
  detail::parallel_ranges(rows, parts, [&](index_t begin, index_t end, int part) {
    Facts facts;
    for (index_t row = begin; row < end; ++row) body(row, facts);
    partial[static_cast<std::size_t>(part)] = facts;
  });
  Facts all;
  for (const Facts& facts : partial) all.merge(facts);
  return all;
}

/// Position of entry (row, column), or -1.
template <class T>
index_t find_entry(const BcsrOperand<T>& A, index_t row, index_t column) {
  const index_t* end = A.columns + A.row_offsets[row + 1];
  const index_t* found = std::lower_bound(A.columns + A.row_offsets[row], end, column);
  return found != end && *found == column ? static_cast<index_t>(found - A.columns) : -1;
}

/// Compares row's entries above the diagonal with their mirror images.
template <class T>
void compare_upper(const BcsrOperand<T>& A, index_t row, SymmetryFacts& facts) {
  for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
    const index_t column = A.columns[k];
    const auto value = static_cast<double>(A.values[k]);
    facts.largest = std::max(facts.largest, std::abs(value));
    if (column < row) ++facts.lower;
    if (column <= row) continue;
    ++facts.upper;
    const index_t mirror = find_entry(A, column, row);
    if (mirror >= 0) ++facts.paired;
    const double other = mirror >= 0 ? static_cast<double>(A.values[mirror]) : 0;
    if (value == other) continue;
    facts.equal = false;
    facts.largest_difference = std::max(facts.largest_difference, std::abs(value - other));
  }
}

/// The entries below the diagonal that compare_upper has not met: those without a mirror image.
template <class T>
void compare_lower(const BcsrOperand<T>& A, index_t row, SymmetryFacts& facts) {
  for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1] && A.columns[k] < row; ++k)
    if (find_entry(A, A.columns[k], row) < 0)
      facts.largest_difference =
          std::max(facts.largest_difference, std::abs(static_cast<double>(A.values[k])));
}

template <class T>
void find_symmetry(const BcsrOperand<T>& A, Structure& structure) {
  if (A.rows != A.cols) return;
  SymmetryFacts facts = gather_rows<SymmetryFacts>(
      A.rows, [&](index_t row, SymmetryFacts& f) { compare_upper(A, row, f); });
  if (facts.paired != facts.lower)
    facts.merge(gather_rows<SymmetryFacts>(
        A.rows, [&](index_t row, SymmetryFacts& f) { compare_lower(A, row, f); }));
  structure.pattern_symmetric = facts.paired == facts.upper && facts.paired == facts.lower;
  structure.value_symmetric = structure.pattern_symmetric && facts.equal;
  if (facts.largest > 0) structure.asymmetry = facts.largest_difference / facts.largest;
}

/// Distinct values of col - row, by marking each one met.
template <class T>
offset_t count_diagonals(const BcsrOperand<T>& A) {
  const std::size_t n = static_cast<std::size_t>(A.rows) + static_cast<std::size_t>(A.cols);
  const auto marks = std::make_unique<std::atomic<unsigned char>[]>(n);
  detail::parallel_for(A.rows, [&](index_t row) {
    const offset_t zero = static_cast<offset_t>(A.rows) - row;  // mark of col == row is A.rows
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      auto& mark = marks[static_cast<std::size_t>(zero + A.columns[k])];
      // Reading first keeps the marks of a structured matrix in every core's cache.
      if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
  });
  return std::count_if(marks.get(), marks.get() + n,
                       [](const auto& mark) { return mark.load(std::memory_order_relaxed) != 0; });
}

}  // namespace

template <class T>
Structure analyze(const CsrMatrix<T>& A) {
  detail::require_csr(A);
  const auto source = A.operand();
  Structure structure;
  structure.rows = A.rows;
  structure.cols = A.cols;
  structure.nonzeros = A.blocks();
  if (A.rows > 0) {
    const auto facts = gather_rows<RowFacts>(A.rows, [&](index_t row, RowFacts& f) {
      f.add_row(row, source.columns + source.row_offsets[row],
                source.columns + source.row_offsets[row + 1]);
    });
    structure.longest_row = facts.longest;
    structure.shortest_row = facts.shortest;
    structure.empty_rows = facts.empty;
    structure.mean_row = static_cast<double>(structure.nonzeros) / A.rows;
    structure.row_deviation = std::sqrt(
        std::max(0.0, facts.sum_of_squares / A.rows - structure.mean_row * structure.mean_row));
    structure.lower_bandwidth = facts.lower_bandwidth;
    structure.upper_bandwidth = facts.upper_bandwidth;
  }
  structure.diagonals = count_diagonals(source);
  find_symmetry(source, structure);
  for (const int block_size : analyzed_block_sizes)
    structure.occupancy.push_back(block_occupancy(A, block_size));
  return structure;
}

template Structure analyze(const CsrMatrix<float>&);
template Structure analyze(const CsrMatrix<double>&);

}  // namespace cnc
