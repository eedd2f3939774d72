#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace cnc::testing {

/// A small generator with the same numbers on every platform (splitmix64; Steele, Lea & Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, n), n > 0.
  index_t below(offset_t n) { return static_cast<index_t>(next() % static_cast<std::uint64_t>(n)); }
  /// A multiple of 1/4096 in [-1, 1] other than zero: exact in float, and so are short sums of it.
  double value() {
    const int magnitude = below(4096) + 1;
    return (next() % 2 == 0 ? 1.0 : -1.0) * magnitude / 4096;
  }

 private:
  std::uint64_t state_;
};

/// Where the entries of a random matrix lie.
struct Pattern {
  enum class Kind { uniform, empty_rows, one_dense_row, banded, blocks };
  Kind kind = Kind::uniform;
  int block_size = 1;  ///< blocks only
};

inline constexpr Pattern uniform{Pattern::Kind::uniform};
/// Two rows in three are empty, among them the first and the last.
inline constexpr Pattern empty_rows{Pattern::Kind::empty_rows};
/// The middle row has every column.
inline constexpr Pattern one_dense_row{Pattern::Kind::one_dense_row};
/// Entries lie within twice the mean row length of the diagonal.
inline constexpr Pattern banded{Pattern::Kind::banded};
/// Whole b x b blocks, cut off at the last row and column.
constexpr Pattern block(int b) { return {Pattern::Kind::blocks, b}; }

inline std::string to_string(const Pattern& pattern) {
  switch (pattern.kind) {
    case Pattern::Kind::uniform: return "uniform";
    case Pattern::Kind::empty_rows: return "empty rows";
    case Pattern::Kind::one_dense_row: return "one dense row";
    case Pattern::Kind::banded: return "banded";
    case Pattern::Kind::blocks: return "blocks of " + std::to_string(pattern.block_size);
  }
  return "";
}

namespace random_rows {

/// `count` columns out of [begin, end), drawn with repetition, ascending and distinct.
inline std::set<index_t> draw(Random& random, index_t count, index_t begin, index_t end) {
  std::set<index_t> columns;
  if (begin >= end) return columns;
  for (index_t i = 0; i < count; ++i)
    columns.insert(begin + random.below(static_cast<offset_t>(end) - begin));
  return columns;
}

/// Lengths vary from 0 to twice the mean.
inline std::set<index_t> draw_row(Random& random, index_t row, index_t rows, index_t cols,
                                  int mean_row_length, const Pattern& pattern) {
  const index_t length = random.below(2 * static_cast<offset_t>(mean_row_length) + 1);
  switch (pattern.kind) {
    case Pattern::Kind::empty_rows:
      if (row % 3 != 1 || row == rows - 1) return {};
      return draw(random, 3 * length, 0, cols);
    case Pattern::Kind::one_dense_row:
      if (row == rows / 2) {
        std::set<index_t> all;
        for (index_t column = 0; column < cols; ++column) all.insert(all.end(), column);
        return all;
      }
      return draw(random, length, 0, cols);
    case Pattern::Kind::banded:
      return draw(random, length, std::clamp(row - 2 * mean_row_length, 0, cols),
                  std::clamp(row + 2 * mean_row_length + 1, 0, cols));
    default: return draw(random, length, 0, cols);
  }
}

/// The block columns of a block row, widened to scalar columns.
inline std::set<index_t> draw_block_row(Random& random, index_t cols, int mean_row_length, int b) {
  const index_t count = random.below(2 * static_cast<offset_t>(ceil_div(mean_row_length, b)) + 1);
  std::set<index_t> columns;
  for (const index_t block : draw(random, count, 0, ceil_div(cols, b)))
    for (index_t column = block * b; column < std::min(cols, (block + 1) * b); ++column)
      columns.insert(columns.end(), column);
  return columns;
}

}  // namespace random_rows

/// A valid CSR matrix with about mean_row_length entries a row (twice that at most, but for dense rows),
/// none of them zero. The same arguments give the same matrix everywhere.
template <class T>
CsrMatrix<T> random_csr(index_t rows, index_t cols, int mean_row_length, std::uint64_t seed,
                        Pattern pattern = uniform) {
  Random random(seed);
  std::vector<index_t> columns;
  Kokkos::View<index_t*, HostSpace> row_offsets("row_offsets", static_cast<std::size_t>(rows) + 1);
  std::set<index_t> row_columns;
  for (index_t row = 0; row < rows; ++row) {
    if (pattern.kind != Pattern::Kind::blocks)
      row_columns = random_rows::draw_row(random, row, rows, cols, mean_row_length, pattern);
    else if (row % pattern.block_size == 0)
      row_columns = random_rows::draw_block_row(random, cols, mean_row_length, pattern.block_size);
    columns.insert(columns.end(), row_columns.begin(), row_columns.end());
    row_offsets(row + 1) = static_cast<index_t>(columns.size());
  }
  Kokkos::View<index_t*, HostSpace> column_view("columns", columns.size());
  Vector<T> values("values", columns.size());
  std::copy(columns.begin(), columns.end(), column_view.data());
  for (std::size_t k = 0; k < columns.size(); ++k) values(k) = static_cast<T>(random.value());
  return {rows, cols, 1, row_offsets, column_view, values};
}

}  // namespace cnc::testing
