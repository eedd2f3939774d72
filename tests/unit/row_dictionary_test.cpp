#include "support/catch.hpp"
#include "support/in_blocks.hpp"

#include "convert/row_dictionary.hpp"

#include <cnc/formats.hpp>
#include <cnc/problems.hpp>

#include <cmath>
#include <cstring>
#include <vector>

// The different rows of a matrix beside a layout of it.

namespace cnc {
namespace {

/// The matrix that the dictionary of a layout says.
template <class T>
void check_says(const RowDictionary<T>& dictionary, const CsrMatrix<double>& A) {
  REQUIRE(dictionary.codes.extent(0) == static_cast<std::size_t>(A.rows));
  bool same = true;
  for (index_t i = 0; i < A.rows; ++i) {
    const std::size_t kind = dictionary.codes(static_cast<std::size_t>(i));
    index_t k = A.row_offsets(static_cast<std::size_t>(i));
    for (index_t e = dictionary.starts(kind); e < dictionary.starts(kind + 1); ++e, ++k) {
      const RowEntry<T> entry = dictionary.entries(static_cast<std::size_t>(e));
      same = same && entry.offset + i == A.columns(static_cast<std::size_t>(k)) &&
             entry.value == static_cast<T>(A.values(static_cast<std::size_t>(k)));
    }
    same = same && k == A.row_offsets(static_cast<std::size_t>(i) + 1);
  }
  CHECK(same);
}

template <class T>
const RowDictionary<T>& dictionary_of(const Matrix<T>& A) {
  return std::visit([](const auto& a) -> const RowDictionary<T>& { return a.dictionary; }, A);
}

/// Rows that hold their number modulo `kinds` on the diagonal.
CsrMatrix<double> repeating_diagonal(index_t n, index_t kinds) {
  Vector<index_t> offsets("offsets", static_cast<std::size_t>(n) + 1),
      columns("columns", static_cast<std::size_t>(n));
  Vector<double> values("values", static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    offsets(at + 1) = i + 1;
    columns(at) = i;
    values(at) = 1 + i % kinds;
  }
  return {n, n, 1, offsets, columns, values};
}

/// The same of its stencil and parts, if there is a stencil.
template <class T>
bool says_by_stencil(const RowDictionary<T>& dictionary, const CsrMatrix<double>& A) {
  const RowDictionaryOperand<T> operand = dictionary.operand();
  if (operand.stencil == nullptr) return false;
  const RowStencil<T>& stencil = *operand.stencil;
  CHECK(stencil.offset[0] == 0);
  bool same = true;
  for (index_t i = 0; i < A.rows; ++i) {
    const RowPart<T> part = stencil.parts[operand.codes[i]];
    index_t entries = 0;
    for (index_t k = 0; k < stencil.size; ++k) entries += index_t(part.entries >> k & 1u);
    same = same && (part.entries >> stencil.size) == 0;
    for (index_t k = A.row_offsets(std::size_t(i)); k < A.row_offsets(std::size_t(i) + 1); ++k) {
      const index_t offset = A.columns(std::size_t(k)) - i;
      index_t at = 0;
      while (at < stencil.size && stencil.offset[at] != offset) ++at;
      same =
          same && at < stencil.size && (part.entries >> at & 1u) != 0 &&
          (at == 0 ? part.diagonal : stencil.value[at]) == static_cast<T>(A.values(std::size_t(k)));
      --entries;
    }
    same = same && entries == 0;
  }
  CHECK(same);
  return true;
}

TEST_CASE("rows that repeat are found in every layout that is a copy") {
  struct Case {
    const char* problem;
    index_t kinds;
  };
  for (const Case& c :
       {Case{"poisson2d:20", 9}, Case{"poisson3d:9x7x8", 27}, Case{"stencil27:8", 27}}) {
    CAPTURE(c.problem);
    const CsrMatrix<double> A = generate_problem(c.problem);
    for (const FormatSpec& spec : comparable_formats(analyze(A), 0)) {
      CAPTURE(spec.text());
      Matrix<double> layout = build_format(A, spec);
      const bool found = find_row_dictionary(layout, A);
      CHECK(found == (spec.name != "csr"));
      if (!found) continue;
      CHECK(dictionary_of(layout).kinds() == c.kinds);
      check_says(dictionary_of(layout), A);
      CHECK(says_by_stencil(dictionary_of(layout), A));
      CHECK(spmv_cost(layout, 8).bytes < 0.5 * spmv_cost(build_format(A, spec), 8).bytes);
    }
    Matrix<float> narrow = build_format(convert_values<float>(A), {"dia", 1});
    CHECK(find_row_dictionary(narrow, A));
    check_says(dictionary_of(narrow), A);
  }
}

TEST_CASE("blocks of rows with the same columns are found") {
  const auto block_size_of = [](const CsrMatrix<double>& A, const FormatSpec& spec) {
    Matrix<double> layout = build_format(A, spec);
    REQUIRE(find_row_dictionary(layout, A));
    check_says(dictionary_of(layout), A);
    return dictionary_of(layout).operand().block_size;
  };
  CHECK(block_size_of(generate_problem("elasticity3d:8"), {"bsell", 3}) == 3);
  CHECK(block_size_of(generate_problem("elasticity3d:8"), {"dia", 1}) == 3);
  CHECK(block_size_of(generate_problem("elasticity2d:16"), {"bsell", 1}) == 2);
  CHECK(block_size_of(generate_problem("poisson2d:20"), {"dia", 1}) == 1);
  CHECK(block_size_of(generate_problem("stencil27:9"), {"dia", 1}) == 1);
  CHECK(block_size_of(repeating_diagonal(66, 3), {"dia", 1}) == 1);

  // Blocks of three rows, each full in six columns that begin `shift` after the block's own, but for one entry of row `lacking`.
  const auto banded = [](index_t blocks, index_t shift, index_t lacking) {
    std::vector<index_t> offsets = {0}, columns;
    std::vector<double> values;
    const index_t n = 3 * blocks;
    for (index_t i = 0; i < n; ++i) {
      const index_t first = i - i % 3 + shift;
      for (index_t j = first; j < first + 6; ++j)
        if (j >= 0 && j < n && !(i == lacking && j == first + 1)) {
          columns.push_back(j);
          values.push_back(j == i ? 9 : 1 + (i + j) % 3);
        }
      offsets.push_back(static_cast<index_t>(columns.size()));
    }
    using detail::copied_there;
    return CsrMatrix<double>(n, n, 1, copied_there<HostSpace>("offsets", offsets),
                             copied_there<HostSpace>("columns", columns),
                             copied_there<HostSpace>("values", values));
  };
  CHECK(block_size_of(banded(40, 0, -1), {"bsell", 1}) == 3);
  CHECK(block_size_of(banded(40, -3, -1), {"bsell", 1}) == 3);
  CHECK(block_size_of(banded(40, -1, -1), {"bsell", 1}) == 1);  // not whole blocks
  CHECK(block_size_of(banded(40, 0, 61), {"bsell", 1}) == 1);   // one row has other columns
  CHECK(block_size_of(banded(40, 0, 119), {"bsell", 1}) == 1);

  // New values keep the blocks, other columns do not.
  const CsrMatrix<double> A = banded(40, 0, -1), B = banded(40, 0, 61);
  Matrix<double> layout = build_format(A, {"bsell", 1});
  REQUIRE(find_row_dictionary(layout, A));
  const CsrMatrix<double> twice = convert_values<double>(A);
  for (std::size_t k = 0; k < twice.values.extent(0); ++k) twice.values(k) = 2 * A.values(k);
  update_values(layout, twice);
  CHECK(dictionary_of(layout).block_size == 3);
  check_says(dictionary_of(layout), twice);
  const CsrMatrix<double> other = banded(40, -3, -1);
  const auto renewed = detail::set_up::row_dictionary<Kokkos::DefaultHostExecutionSpace>(
      other, dictionary_of(layout));
  CHECK(renewed.block_size == 3);
  check_says(renewed, other);
  CHECK(detail::set_up::row_dictionary<Kokkos::DefaultHostExecutionSpace>(B, renewed).block_size ==
        1);
}

TEST_CASE("blocks of rows that follow each other are runs on a host") {
  const auto runs_of = [](const CsrMatrix<double>& A) {
    Matrix<double> layout = build_format(A, {"dia", 1});
    REQUIRE(find_row_dictionary(layout, A));
    return dictionary_of(layout);
  };
  const CsrMatrix<double> lines = generate_problem("poisson2d:40x3");
  CHECK(runs_of(lines).run_period == 1);
  CHECK(runs_of(lines).operand().run_count == 9);
  for (const int b : {2, 3}) {
    CAPTURE(b);
    const RowDictionary<double> found = runs_of(testing::in_blocks(lines, b));
    CHECK(found.run_period == b);
    CHECK(found.operand().run_period == b);
    // The first node of each line, those between, and the last one.
    const std::vector<index_t> expected = {0, 1, 39, 40, 41, 79, 80, 81, 119, 120};
    REQUIRE(found.runs.extent(0) == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(found.runs(k) == b * expected[k]);
  }
  // Lines of 11 nodes are too short.
  CHECK(runs_of(testing::in_blocks(generate_problem("poisson2d:11x9"), 2)).runs.extent(0) == 0);
}

TEST_CASE("at most 256 different rows, and each often") {
  for (const auto& [rows, kinds, found] :
       {std::tuple(1024, 256, true), std::tuple(2000, 257, false), std::tuple(1023, 256, false),
        std::tuple(100000, 5000, false), std::tuple(0, 1, false)}) {
    CAPTURE(rows, kinds);
    const CsrMatrix<double> A = repeating_diagonal(rows, kinds);
    Matrix<double> layout = build_format(A, {"dia", 1});
    CHECK(find_row_dictionary(layout, A) == found);
    if (found) check_says(dictionary_of(layout), A);
  }
  // Values that differ by a sign of zero, or columns by their place alone, are different rows.
  CsrMatrix<double> A = repeating_diagonal(64, 1);
  A.values(5) = 0.0;
  A.values(6) = -0.0;
  Matrix<double> layout = build_format(A, {"dia", 1});
  REQUIRE(find_row_dictionary(layout, A));
  CHECK(dictionary_of(layout).kinds() == 3);
}

TEST_CASE("codes are those of the first rows, on every run") {
  const CsrMatrix<double> A = generate_problem("poisson3d:20");
  Matrix<double> first = build_format(A, {"dia", 1}), second = first;
  REQUIRE(find_row_dictionary(first, A));
  REQUIRE(find_row_dictionary(second, A));
  CHECK(dictionary_of(first).codes(0) == 0);
  CHECK(dictionary_of(first).codes(1) == 1);
  CHECK(std::memcmp(dictionary_of(first).codes.data(), dictionary_of(second).codes.data(),
                    static_cast<std::size_t>(A.rows)) == 0);
}

TEST_CASE("a dictionary follows the values of its layout") {
  const CsrMatrix<double> A = generate_problem("poisson2d:30");
  Matrix<double> layout = build_format(A, {"bsell", 1});
  REQUIRE(find_row_dictionary(layout, A));
  const Matrix<double> copy = layout;
  CsrMatrix<double> other = A;
  other.values = Vector<double>("values", A.values.extent(0));
  for (std::size_t k = 0; k < A.values.extent(0); ++k) other.values(k) = 2 * A.values(k);
  update_values(layout, other);
  check_says(dictionary_of(layout), other);
  CHECK(says_by_stencil(dictionary_of(layout), other));
  CHECK(says_by_stencil(dictionary_of(copy), other));  // it shares the values
  for (std::size_t k = 0; k < A.values.extent(0); ++k) other.values(k) = double(k);
  update_values(layout, other);
  CHECK(dictionary_of(layout).empty());  // no row repeats
}

TEST_CASE("rows that are parts of one but for their diagonals have a stencil") {
  const auto has_stencil = [](const CsrMatrix<double>& A) {
    Matrix<double> layout = build_format(A, {"dia", 1});
    REQUIRE(find_row_dictionary(layout, A));
    return says_by_stencil(dictionary_of(layout), A);
  };
  // Diagonals as with borders of another kind, and as many entries as there may be.
  CsrMatrix<double> A = generate_problem("poisson3d:9");
  for (index_t i = 0; i < A.rows; ++i) {
    const index_t begin = A.row_offsets(std::size_t(i)), end = A.row_offsets(std::size_t(i) + 1);
    for (index_t k = begin; k < end; ++k)
      if (A.columns(std::size_t(k)) == i) A.values(std::size_t(k)) = end - begin - 1;
  }
  CHECK(has_stencil(A));
  CHECK(has_stencil(generate_problem("stencil27:8")));
  CHECK(has_stencil(repeating_diagonal(1024, 256)));
  CHECK_FALSE(has_stencil(generate_problem("elasticity3d:8")));   // too many
  CHECK_FALSE(has_stencil(generate_problem("elasticity2d:16")));  // two kinds of rows of a point
  // Two values in one place, and one that is no number.
  A = generate_problem("poisson2d:30");
  A.values(A.row_offsets(40)) = -2;
  CHECK_FALSE(has_stencil(A));
  A.values(A.row_offsets(40)) = std::nan("");
  CHECK_FALSE(has_stencil(A));
  for (std::size_t k = 0; k < A.values.extent(0); ++k)
    if (A.values(k) != 4) A.values(k) = HUGE_VAL;
  CHECK_FALSE(has_stencil(A));
  // Rows without a diagonal, and without an entry.
  Vector<index_t> offsets("offsets", 101), columns("columns", 100);
  Vector<double> values("values", 100);
  index_t entries = 0;
  for (index_t i = 0; i < 100; ++i) {
    if (i % 2 == 1) {
      columns(std::size_t(entries)) = i - 1;
      values(std::size_t(entries++)) = 3;
    }
    offsets(std::size_t(i) + 1) = entries;
  }
  Kokkos::resize(columns, std::size_t(entries));
  Kokkos::resize(values, std::size_t(entries));
  CHECK(has_stencil({100, 100, 1, offsets, columns, values}));
}

TEST_CASE("a dictionary is one of the layout's own matrix") {
  const CsrMatrix<double> A = generate_problem("poisson2d:30");
  Matrix<double> layout = build_format(A, {"dia", 1});
  CHECK_THROWS_AS(find_row_dictionary(layout, generate_problem("poisson2d:29")), InvalidArgument);
}

}  // namespace
}  // namespace cnc
