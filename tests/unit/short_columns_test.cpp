#include "support/catch.hpp"

#include <cnc/formats.hpp>
#include <cnc/problems.hpp>
#include <cnc/triplets.hpp>

#include <limits>
#include <vector>

// Columns in 16 bits beside those of a layout.

namespace cnc {
namespace {

constexpr index_t last_short = std::numeric_limits<ShortColumn>::max();

/// The unit matrix with one entry more.
CsrMatrix<double> unit_and(index_t n, index_t row, index_t column) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < n; ++i) entries.push_back({i, i, 2});
  entries.push_back({row, column, -1});
  return csr_from_triplets<double>(n, n, entries);
}

/// Whether short columns say what columns do.
template <class T>
bool says_the_same(const Matrix<T>& A) {
  const auto says = [](const auto& a) {
    if constexpr (requires { a.short_columns; }) {
      const auto operand = a.operand();
      if (operand.short_columns == nullptr) return false;
      for (index_t i = 0; i < a.block_rows(); ++i) {
        offset_t begin = 0, end = 0, step = 1;
        index_t place = i;
        if constexpr (requires { a.slice_height; }) {
          const index_t slice = i / a.slice_height;
          place = slice * a.slice_height;
          step = a.slice_height;
          begin = operand.slice_offsets[slice] + i % a.slice_height;
          end = operand.slice_offsets[slice + 1];
        } else {
          begin = operand.row_offsets[i];
          end = operand.row_offsets[i + 1];
        }
        for (offset_t k = begin; k < end; k += step)
          if (column_at(operand.short_columns[k], place) != operand.columns[k]) return false;
      }
      return true;
    }
    return false;
  };
  return std::visit(says, A);
}

TEST_CASE("short columns say what columns do") {
  const auto A = generate_problem("wathen:13x9");
  for (const char* const format : {"csr", "bcsr:2", "bcsr:3", "bsell", "bsell:3", "bsell:4"}) {
    CAPTURE(format);
    const int b = parse_format(format).block_size;
    Matrix<double> layout = build_format(A, parse_format(format));
    CHECK(find_short_columns(layout) == (b < 3));  // large blocks gain little
    CHECK(says_the_same(layout) == (b < 3));
    Matrix<float> in_float = build_format(convert_values<float>(A), parse_format(format));
    CHECK(find_short_columns(in_float) == (b < 4));
    CHECK(says_the_same(in_float) == (b < 4));
  }
  Matrix<double> diagonals = build_format(generate_problem("poisson2d:9x9"), parse_format("dia"));
  CHECK_FALSE(find_short_columns(diagonals));
}

TEST_CASE("a matrix has short columns if 16 bits hold all of them") {
  const index_t n = 40000;
  for (const char* const format : {"csr", "bsell"}) {
    CAPTURE(format);
    const auto holds = [&](index_t row, index_t column) {
      Matrix<double> layout = build_format(unit_and(n, row, column), parse_format(format));
      const bool found = find_short_columns(layout);
      CHECK(found == says_the_same(layout));
      return found;
    };
    // A row with one entry more than others comes first in its window of 32 slices of 8.
    const auto place = [&](index_t row) {
      return parse_format(format).name == "csr" ? row : row / 256 * 256;
    };
    CHECK(holds(7, place(7) + last_short));
    CHECK_FALSE(holds(7, place(7) + last_short + 1));
    CHECK(holds(n - 1, place(n - 1) - last_short - 1));
    CHECK_FALSE(holds(n - 1, place(n - 1) - last_short - 2));
  }
  // In blocks they reach further.
  Matrix<double> blocks = build_format(unit_and(n, 0, last_short + 1000), parse_format("bcsr:2"));
  CHECK(find_short_columns(blocks));
  CHECK(says_the_same(blocks));
}

TEST_CASE("new values leave short columns as they are, and products cost less with them") {
  const auto A = generate_problem("wathen:13x9");
  Matrix<double> layout = build_format(A, parse_format("bsell"));
  const double before = spmv_cost(layout, sizeof(double)).bytes;
  REQUIRE(find_short_columns(layout));
  CHECK(spmv_cost(layout, sizeof(double)).bytes ==
        before - 2.0 * double(std::get<BsellMatrix<double>>(layout).slots()));
  update_values(layout, A);
  CHECK(says_the_same(layout));
}

}  // namespace
}  // namespace cnc
