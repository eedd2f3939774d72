#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"
#include "support/set_up_threads.hpp"

#include <cnc/formats.hpp>
#include <cnc/problems.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The finite-difference Laplacian of an n x n grid.
CsrMatrix<double> laplacian(index_t n) {
  std::vector<index_t> offsets{0}, columns;
  std::vector<double> values;
  const auto add = [&](index_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  };
  for (index_t row = 0; row < n * n; ++row) {
    if (row >= n) add(row - n, -1);
    if (row % n > 0) add(row - 1, -1);
    add(row, 4);
    if (row % n < n - 1) add(row + 1, -1);
    if (row < n * (n - 1)) add(row + n, -1);
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  return literal_csr(n * n, n * n, offsets, columns, values);
}

/// The bytes that the matrix's own cost states, vectors left out.
template <class T>
double matrix_bytes(const Matrix<T>& A) {
  return spmv_cost(A, 0).bytes;
}

}  // namespace

TEST_CASE("parse_format and text are inverse") {
  for (const char* text : {"auto", "csr", "bcsr:1", "bcsr:3", "bcsr:16", "bsell:1", "bsell:8"})
    CHECK(parse_format(text).text() == text);
  CHECK(parse_format("bcsr") == FormatSpec{"bcsr", 1});
  CHECK(parse_format("bsell").text() == "bsell:1");
}

TEST_CASE("parse_format refuses what it does not know") {
  for (const char* text :
       {"", ":", "cs", "csrr", "CSR", " csr", "csr:1", "auto:2", "bcsr:", "bcsr:0", "bcsr:17",
        "bcsr:-1", "bcsr:2x", "bcsr: 2", "bcsr:99999999999", "bcsr:2:3"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_format(text), InvalidArgument);
  }
  CHECK_THROWS_WITH(parse_format("ellpack"), ContainsSubstring("'ellpack'") &&
                                                 ContainsSubstring("csr") &&
                                                 ContainsSubstring("bcsr[:B]"));
}

TEST_CASE("the table builds every format") {
  REQUIRE(std::string(formats<double>().front().name) == "csr");
  for (const auto& [name, A] : edge_matrices<float>()) {
    for (const auto& format : formats<float>()) {
      for (const int b : {1, 3}) {
        const FormatSpec spec{format.name, b};
        INFO(name << ", " << spec.text());
        if (format.predicted_bytes(analyze(A), spec, sizeof(float)) < 0) {
          REQUIRE_THROWS_AS(build_format(A, spec), InvalidArgument);
          continue;
        }
        const auto B = build_format(A, spec);
        REQUIRE(rows(B) == A.rows);
        REQUIRE(nonzeros(B) == A.nonzeros);
        REQUIRE(same_matrix(to_csr(B), A));
      }
    }
    INFO(name << ", auto");
    REQUIRE(same_matrix(to_csr(build_format(A, {})), A));
  }
  const auto A = random_csr<double>(4, 4, 2, 1);
  CHECK_THROWS_AS(build_format(A, FormatSpec{"ellpack", 1}), InvalidArgument);
  CHECK_THROWS_AS(build_format(A, FormatSpec{"bcsr", 17}), InvalidArgument);
  CHECK_THROWS_AS(build_format(A, FormatSpec{"bsell", 0}), InvalidArgument);
}

TEMPLATE_TEST_CASE("predicted bytes are those of the matrix built", "", float, double) {
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    const auto structure = analyze(A);
    for (const auto& spec : comparable_formats(structure, 0)) {
      for (const auto& format : formats<TestType>()) {
        if (format.name != spec.name) continue;
        INFO(name << ", " << spec.text());
        const double predicted = format.predicted_bytes(structure, spec, sizeof(TestType));
        Matrix<TestType> built = build_format(A, spec);
        const double actual = matrix_bytes(built);
        if (spec.name != "bsell" && find_short_columns(built))
          REQUIRE(format.predicted_bytes(structure, spec, sizeof(TestType), MemorySpace::device) ==
                  matrix_bytes(built));
        if (spec.name != "bsell")
          REQUIRE(predicted == actual);
        else if (A.rows > 1000)  // the estimate of padding is one for many slices
          REQUIRE(predicted == Approx(actual).epsilon(0.1));
        else
          REQUIRE(predicted > 0);
      }
    }
  }
  Structure structure;
  for (const auto& format : formats<double>())
    if (format.has_blocks) CHECK(format.predicted_bytes(structure, {format.name, 17}, 8) < 0);
}

TEST_CASE("analyze describes a small matrix") {
  //   1 2 . .
  //   . . . .
  //   3 . . 4
  const auto A = literal_csr<double>(3, 4, {0, 2, 2, 4}, {0, 1, 0, 3}, {1, 2, 3, 4});
  const auto structure = analyze(A);
  CHECK(structure.rows == 3);
  CHECK(structure.cols == 4);
  CHECK(structure.nonzeros == 4);
  CHECK(structure.longest_row == 2);
  CHECK(structure.shortest_row == 0);
  CHECK(structure.empty_rows == 1);
  CHECK(structure.mean_row == Approx(4.0 / 3));
  CHECK(structure.row_deviation == Approx(std::sqrt(8.0) / 3));
  CHECK(structure.lower_bandwidth == 2);
  CHECK(structure.upper_bandwidth == 1);
  CHECK(structure.diagonals == 3);
  CHECK_FALSE(structure.pattern_symmetric);
  CHECK_FALSE(structure.value_symmetric);
  REQUIRE(structure.occupancy.size() == 6);
  CHECK(structure.occupancy[0].block_size == 2);
  CHECK(structure.occupancy[0].blocks == 3);
  CHECK(structure.occupancy[0].density == Approx(4.0 / 12));
}

TEST_CASE("analyze describes a Laplacian") {
  const auto structure = analyze(laplacian(60));
  CHECK(structure.nonzeros == 5 * 3600 - 4 * 60);
  CHECK(structure.longest_row == 5);
  CHECK(structure.shortest_row == 3);
  CHECK(structure.lower_bandwidth == 60);
  CHECK(structure.upper_bandwidth == 60);
  CHECK(structure.diagonals == 5);
  CHECK(structure.pattern_symmetric);
  CHECK(structure.value_symmetric);
  CHECK(structure.asymmetry == 0);
}

TEST_CASE("analyze tells kinds of asymmetry apart") {
  const auto A = laplacian(50);
  SECTION("a value above the diagonal") {
    A.values(1) = -1.5;
    const auto structure = analyze(A);
    CHECK(structure.pattern_symmetric);
    CHECK_FALSE(structure.value_symmetric);
    CHECK(structure.asymmetry == Approx(0.5 / 4));
  }
  SECTION("a NaN is unequal to everything") {
    A.values(1) = std::nan("");
    CHECK_FALSE(analyze(A).value_symmetric);
  }
  SECTION("an entry without mirror image") {
    for (const index_t at : {index_t{0}, index_t{2}}) {  // below, above the diagonal
      const auto B = literal_csr<double>(3, 3, {0, 1, 2, 3}, {0, at, 2}, {2, 1, 2});
      const auto structure = analyze(B);
      CHECK_FALSE(structure.pattern_symmetric);
      CHECK_FALSE(structure.value_symmetric);
      CHECK(structure.asymmetry == 0.5);
    }
  }
  SECTION("as many entries above as below, but elsewhere") {
    const auto B = literal_csr<double>(3, 3, {0, 1, 1, 2}, {1, 0}, {1, 3});
    const auto structure = analyze(B);
    CHECK_FALSE(structure.pattern_symmetric);
    CHECK(structure.asymmetry == 1);
  }
}

TEST_CASE("the least symmetric entry is found wherever it is, for any number of threads") {
  constexpr index_t n = 6000;
  for (const int run : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
    const unsigned seed = 1 + static_cast<unsigned>(run) % 3;
    const int threads =
        std::array{7, 3, 2, 1}[static_cast<std::size_t>(run / 3)];  // the most first
    INFO("seed " << seed << ", " << threads << " threads");
    const Threads count(threads);
    // Near the diagonal and far from it, in part without a mirror image.
    std::map<std::pair<index_t, index_t>, double> entries;
    unsigned state = seed;
    const auto draw = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    for (index_t i = 0; i < n; ++i) {
      entries[{i, i}] = 4;
      for (const index_t reach : {index_t(5), index_t(700), n}) {
        const auto j = static_cast<index_t>(i + draw() % reach) % n;
        if (i == j) continue;
        entries[{i, j}] = -1;
        if (draw() % 50 != 0) entries[{j, i}] = -1 - (draw() % 20 == 0 ? draw() % 1000 / 1e3 : 0);
      }
    }
    Vector<index_t> offsets("offsets", n + 1), columns("columns", entries.size());
    Vector<double> values("values", entries.size());
    double relative = 0, largest = 0;
    std::pair<index_t, index_t> place{-1, -1};
    std::size_t k = 0;
    for (const auto& [at, value] : entries) {
      columns(k) = at.second;
      values(k++) = value;
      offsets(static_cast<std::size_t>(at.first) + 1) = static_cast<index_t>(k);
      const auto mirror = entries.find({at.second, at.first});
      const double other = mirror == entries.end() ? 0 : mirror->second;
      largest = std::max(largest, std::abs(value - other) / 4);
      // One of a pair is named, the upper one; all diagonal entries are 4.
      if (at.second < at.first && mirror != entries.end()) continue;
      const double differs =
          std::abs(value - other) / std::max({std::abs(value), std::abs(other), 4.0});
      if (differs > relative) relative = differs, place = at;
    }
    const auto A = literal_csr<double>(n, n, {offsets.data(), offsets.data() + n + 1},
                                       {columns.data(), columns.data() + k},
                                       {values.data(), values.data() + k});
    const Asymmetry found = find_asymmetry(A);
    CHECK(std::pair(found.row, found.column) == place);
    CHECK(found.relative == relative);
    CHECK(analyze(A).least_symmetric.row == place.first);
    CHECK(analyze(A).asymmetry == largest);
  }
}

TEST_CASE("analyze survives matrices with nothing in them") {
  const auto none = analyze(random_csr<double>(0, 0, 0, 1));
  CHECK(none.pattern_symmetric);
  CHECK(none.value_symmetric);
  CHECK(none.diagonals == 0);
  CHECK(none.shortest_row == 0);
  const auto empty_square = analyze(random_csr<double>(5, 5, 0, 1));
  CHECK(empty_square.empty_rows == 5);
  CHECK(empty_square.asymmetry == 0);
  for (const auto& [name, A] : edge_matrices<double>()) {
    INFO(name);
    const auto advice = choose_format(analyze(A), 8);
    REQUIRE_NOTHROW(build_format(A, advice.format));
  }
}

/// Twenty entries a row, but for some rows that are full: the slices of these would be padding for the most part.
CsrMatrix<double> with_full_rows() {
  constexpr index_t n = 3000;
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) {
    const index_t stride = i % 500 == 0 ? 1 : n / 20;
    for (index_t j = i * 7 % stride; j < n; j += stride) columns.push_back(j);
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  return literal_csr<double>(n, n, offsets, columns, std::vector<double>(columns.size(), 1));
}

TEST_CASE("choose_format follows the structure") {
  const auto choice = [](const CsrMatrix<double>& A, int value_bytes) {
    return choose_format(analyze(A), value_bytes).format.text();
  };
  for (const int value_bytes : {4, 8}) {
    CHECK(choice(random_csr<double>(3000, 3000, 60, 1, block(3)), value_bytes) == "bcsr:3");
    CHECK(choice(random_csr<double>(3000, 3000, 40, 1), value_bytes) == "bsell:1");
    CHECK(choice(with_full_rows(), value_bytes) == "csr");
    CHECK(choice(random_csr<double>(1, 5000, 3000, 1), value_bytes) ==
          "csr");  // a slice has 8 rows
    CHECK(choice(laplacian(80), value_bytes) == "dia-symmetric");
    CHECK(choice(random_csr<double>(3000, 3000, 4, 1), value_bytes) == "bsell:1");
  }
  CHECK_THROWS_AS(choose_format(Structure{}, 2), InvalidArgument);
  // CSR in double beside copies in float.
  const Structure structure = analyze(random_csr<double>(3000, 3000, 40, 1));
  const auto reasons = [&](int value_bytes, int csr_value_bytes) {
    return choose_format(structure, value_bytes, MemorySpace::host, csr_value_bytes).reasons;
  };
  for (std::size_t k = 0; k + 1 < reasons(4, 8).size(); ++k) {
    const bool is_csr = reasons(8, 0)[k].starts_with("csr:");
    CHECK(reasons(4, 8)[k] == reasons(is_csr ? 8 : 4, 0)[k]);
  }
  CHECK_THROWS_AS(choose_format(structure, 8, MemorySpace::host, 2), InvalidArgument);
}

TEST_CASE("bytes of slices are foreseen, with rows that are much longer than the others too") {
  constexpr index_t n = 51200;
  for (const index_t every : {256, 1000, n})
    for (const index_t longest : {60, 300, 2000}) {
      INFO("each " << every << "th row has " << longest);
      std::vector<index_t> offsets{0}, columns;
      for (index_t i = 0; i < n; ++i) {
        const index_t length = i % every == 7 ? longest : 20, first = std::min(i, n - length);
        for (index_t k = 0; k < length; ++k) columns.push_back(first + k);
        offsets.push_back(static_cast<index_t>(columns.size()));
      }
      const auto A =
          literal_csr<double>(n, n, offsets, columns, std::vector<double>(columns.size(), 1));
      const BsellMatrix<double> B = to_bsell(A);
      const double stored = double(B.slots()) * 12;
      for (const auto& format : formats<double>())
        if (format.name == std::string_view("bsell")) {
          const double foreseen = format.predicted_bytes(analyze(A), {"bsell", 1}, 8);
          CHECK(foreseen > 0.85 * stored);
          CHECK(foreseen < 1.25 * stored);
        }
    }
}

TEST_CASE("choose_format weighs a device by its own efficiencies") {
  const auto choice = [](const CsrMatrix<double>& A) {
    return choose_format(analyze(A), 8, MemorySpace::device).format.text();
  };
  CHECK(choice(generate_problem("poisson2d:60x60")) == "dia-symmetric");
  CHECK(choice(random_csr<double>(3000, 3000, 4, 1)) == "csr");  // sliced rows start later
  CHECK(choice(random_csr<double>(3000, 3000, 60, 1, block(3))) == "csr");  // short columns
  CHECK(choice(random_csr<double>(45000, 45000, 60, 1, block(3))) == "bsell:3");
  CHECK_THAT(choose_format(analyze(random_csr<double>(300, 300, 4, 1)), 8, MemorySpace::device)
                 .reasons.front(),
             ContainsSubstring("77 % of memory speed"));
}

TEST_CASE("choose_format weighs waiting on a device, where there are few rows") {
  const auto choice = [](const CsrMatrix<double>& A, int value_bytes) {
    return choose_format(analyze(A), value_bytes, MemorySpace::device).format.text();
  };
  const auto elasticity = generate_problem("elasticity3d:8");  // a hundred diagonals, 2187 rows
  for (const int value_bytes : {4, 8}) {
    CHECK(choice(laplacian(300), value_bytes) == "dia-symmetric");
    CHECK(choice(random_csr<double>(3000, 3000, 8, 1), value_bytes) == "csr");
    CHECK(choice(elasticity, value_bytes).rfind("dia", 0) == std::string::npos);
  }
  CHECK(choice(generate_problem("elasticity3d:24"), 4) == "bsell:3");
}

TEST_CASE("choose_format gives a reason for every format it weighed") {
  const auto structure = analyze(random_csr<double>(3000, 3000, 60, 1, block(3)));
  const auto advice = choose_format(structure, 8);
  for (const FormatSpec& spec : comparable_formats(structure)) {
    const auto names = [&](const std::string& reason) {
      return reason.rfind(spec.text() + ":", 0) == 0 && reason.find("bytes") != std::string::npos;
    };
    CHECK(std::count_if(advice.reasons.begin(), advice.reasons.end(), names) == 1);
  }
  CHECK_THAT(advice.reasons.back(), ContainsSubstring("chosen: bcsr:3"));
}

TEST_CASE("comparable_formats keeps dense blocks and every scalar format") {
  const auto has = [](const std::vector<FormatSpec>& specs, const char* text) {
    return std::find(specs.begin(), specs.end(), parse_format(text)) != specs.end();
  };
  const auto specs = comparable_formats(analyze(random_csr<double>(600, 600, 30, 1, block(4))));
  CHECK(has(specs, "csr"));
  CHECK(has(specs, "bsell:1"));
  CHECK(has(specs, "bcsr:2"));
  CHECK(has(specs, "bcsr:4"));
  CHECK(has(specs, "bsell:4"));
  CHECK_FALSE(has(specs, "bcsr:1"));
  CHECK_FALSE(has(specs, "bcsr:3"));
  for (const FormatSpec& spec : comparable_formats(analyze(laplacian(20)), 0.6))
    CHECK(spec.block_size == 1);
}
