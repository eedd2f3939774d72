#include "support/catch.hpp"

#include <cnc/formats.hpp>
#include <cnc/problems.hpp>
#include <cnc/triplets.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// A byte for each value beside those of a layout.

namespace cnc {
namespace {

/// A band matrix with these values one after the other, and then again from the first.
CsrMatrix<double> band_of(index_t n, const std::vector<double>& values) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      entries.push_back({i, j, values[entries.size() % values.size()]});
  return csr_from_triplets<double>(n, n, entries);
}
std::vector<double> different(int kinds) {
  std::vector<double> values;
  for (int k = 0; k < kinds; ++k) values.push_back(std::sqrt(2.0 + k));
  return values;
}

template <class T>
auto bits_of(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value);
}

template <class T>
int kinds_of(const Matrix<T>& A) {
  return std::visit(
      [](const auto& a) {
        if constexpr (requires { a.value_table; })
          return a.value_table.kinds;
        else
          return 0;
      },
      A);
}

/// Whether the table says what values do, to the bit.
template <class T>
bool says_the_same(const Matrix<T>& A) {
  const auto says = [](const auto& a) {
    if constexpr (requires { a.value_table; }) {
      const auto operand = a.operand();
      if (a.value_table.empty() || operand.value_table.codes == nullptr) return false;
      for (offset_t k = 0; k < a.stored(); ++k) {
        const int code = operand.value_table.codes[k];
        if (code >= a.value_table.kinds ||
            bits_of(operand.value_table.values[code]) != bits_of(operand.values[k]))
          return false;
      }
      return true;
    }
    return false;
  };
  return std::visit(says, A);
}

template <class T>
std::vector<std::uint8_t> codes_of(const Matrix<T>& A) {
  const auto codes = [](const auto& a) -> std::vector<std::uint8_t> {
    if constexpr (requires { a.value_table; })
      return {a.value_table.codes.data(), a.value_table.codes.data() + a.stored()};
    return {};
  };
  return std::visit(codes, A);
}

TEST_CASE("a table of values says what they do") {
  const auto A = generate_problem("poisson2d:23x19");
  for (const char* const format : {"csr", "bsell", "bcsr:2", "bsell:2", "dia", "dia-symmetric"}) {
    CAPTURE(format);
    const FormatSpec spec = parse_format(format);
    const bool has = spec.name == "csr" || (spec.name == "bsell" && spec.block_size == 1);
    Matrix<double> layout = build_format(A, spec);
    CHECK(find_value_table(layout) == has);
    CHECK(says_the_same(layout) == has);
    Matrix<float> in_float = build_format(convert_values<float>(A), spec);
    CHECK(find_value_table(in_float) == has);
    CHECK(says_the_same(in_float) == has);
  }
}

TEST_CASE("256 different values have a table, 257 have none") {
  for (const char* const format : {"csr", "bsell"})
    for (const int kinds : {1, 2, 218, 255, 256, 257, 400, 2000, 9000}) {
      CAPTURE(format, kinds);
      const auto A = band_of(3000, different(kinds));
      Matrix<double> layout = build_format(A, parse_format(format));
      // The padding of slices is of zeros.
      const int with_padding = format == std::string("csr") ? kinds : kinds + 1;
      const bool has = with_padding <= most_table_values;
      CHECK(find_value_table(layout) == has);
      CHECK(kinds_of(layout) == (has ? with_padding : 0));
      CHECK(says_the_same(layout) == has);
    }
  // The one too many comes last.
  auto values = different(256);
  values.resize(8998, values[0]);
  values.back() = -1;
  Matrix<double> layout = band_of(3000, values);
  CHECK(stored(layout) == 8998);
  CHECK_FALSE(find_value_table(layout));
}

TEST_CASE("values are told apart by their bits") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = {0.0,
                                      -0.0,
                                      nan,
                                      -nan,
                                      std::bit_cast<double>(~std::uint64_t(0)),
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::denorm_min(),
                                      1.0};
  Matrix<double> layout = band_of(50, values);
  CHECK(find_value_table(layout));
  CHECK(kinds_of(layout) == 8);
  CHECK(says_the_same(layout));
  std::vector<float> in_float = {0.0F, -0.0F, std::bit_cast<float>(~std::uint32_t(0))};
  const auto wide = band_of(50, {1.0, 2.0, 3.0});
  Vector<float> stored_in_float("values", wide.values.extent(0));
  for (std::size_t k = 0; k < stored_in_float.extent(0); ++k) stored_in_float(k) = in_float[k % 3];
  Matrix<float> narrow =
      CsrMatrix<float>(50, 50, 1, wide.row_offsets, wide.columns, stored_in_float);
  CHECK(find_value_table(narrow));
  CHECK(kinds_of(narrow) == 3);
  CHECK(says_the_same(narrow));
}

TEST_CASE("a matrix without entries has no table of values") {
  for (const index_t n : {0, 3}) {
    Matrix<double> layout = csr_from_triplets<double>(n, n, {});
    CHECK_FALSE(find_value_table(layout));
    CHECK(kinds_of(layout) == 0);
  }
}

TEST_CASE("the same values have the same codes, whatever found them first") {
  const auto A = band_of(5000, different(200));
  Matrix<double> layout = A;
  REQUIRE(find_value_table(layout));
  const auto codes = codes_of(layout);
  for (int again = 0; again < 5; ++again) {
    Matrix<double> other = A;
    REQUIRE(find_value_table(other));
    CHECK(codes_of(other) == codes);
  }
  // Of a copy with other values, which leaves that of the first as it is.
  BcsrMatrix<double> other = std::get<BcsrMatrix<double>>(layout);
  other.values = band_of(5000, different(100)).values;
  Matrix<double> of_others = other;
  REQUIRE(find_value_table(of_others));
  CHECK(kinds_of(of_others) == 100);
  CHECK(says_the_same(of_others));
  CHECK(says_the_same(layout));
}

TEST_CASE("new values get another table of values, or none where they are too many") {
  const auto A = band_of(300, different(40)), fewer = band_of(300, different(3)),
             many = band_of(300, different(500));
  for (const char* const format : {"csr", "bsell"}) {
    CAPTURE(format);
    Matrix<double> layout = build_format(A, parse_format(format));
    if (format == std::string("csr")) {  // that is not the caller's
      Vector<double> values("values", A.values.extent(0));
      Kokkos::deep_copy(values, A.values);
      layout = CsrMatrix<double>(A.rows, A.cols, 1, A.row_offsets, A.columns, values);
    }
    const int zero = format == std::string("csr") ? 0 : 1;
    update_values(layout, A);
    CHECK(kinds_of(layout) == 0);  // that is for find_value_table to say
    REQUIRE(find_value_table(layout));
    const double with = spmv_cost(layout, sizeof(double)).bytes;
    const Matrix<double> copy = layout;  // which shares values, and what tells of them
    const auto* const codes = std::visit(
        [](const auto& a) -> const void* {
          if constexpr (requires { a.value_table; })
            return a.value_table.codes.data();
          else
            return nullptr;
        },
        layout);
    update_values(layout, fewer);
    CHECK(kinds_of(layout) == 3 + zero);
    CHECK(says_the_same(layout));
    CHECK(std::visit(
        [&](const auto& a) {
          if constexpr (requires { a.value_table; })
            return a.value_table.codes.data() == codes;
          else
            return false;
        },
        layout));
    CHECK(says_the_same(copy));
    update_values(layout, many);
    CHECK(kinds_of(layout) == 0);
    CHECK(spmv_cost(layout, sizeof(double)).bytes == with + 7.0 * double(stored(layout)));
    update_values(layout, A);
    CHECK(kinds_of(layout) == 0);
  }
}

TEST_CASE("values written to in place get another table from update_values") {
  auto A = band_of(300, different(40));
  Vector<double> values("values", A.values.extent(0));
  Kokkos::deep_copy(values, A.values);
  const CsrMatrix<double> own(A.rows, A.cols, 1, A.row_offsets, A.columns, values);
  Matrix<double> layout = own;
  REQUIRE(find_value_table(layout));
  for (std::size_t k = 0; k < values.extent(0); ++k) values(k) = -2 * values(k) + double(k % 2);
  update_values(layout, own);
  CHECK(kinds_of(layout) > 0);
  CHECK(says_the_same(layout));
}

TEST_CASE("values in another precision have no table of the first") {
  Matrix<double> layout = band_of(300, different(40));
  REQUIRE(find_value_table(layout));
  const auto narrow = convert_values<float>(std::get<BcsrMatrix<double>>(layout));
  CHECK(narrow.value_table.empty());
}

}  // namespace
}  // namespace cnc
