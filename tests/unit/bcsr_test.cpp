#include "convert/checks.hpp"
#include "support/catch.hpp"
#include "support/random_matrix.hpp"
#include "support/same_matrix.hpp"

#include <cnc/convert.hpp>

#include <limits>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// 3 x 5 in blocks of 2, so that the last block row and column are partial:
///   1 2 | . . | 3
///   . 4 | . . | .
///   ----+-----+--
///   . . | 5 . | 6
CsrMatrix<double> small() {
  return literal_csr<double>(3, 5, {0, 3, 4, 6}, {0, 1, 4, 1, 2, 4}, {1, 2, 3, 4, 5, 6});
}

/// A BCSR matrix of literal arrays, whose views the test may spoil.
struct Spoilable {
  Kokkos::View<index_t*, HostSpace> row_offsets{"row_offsets", 3};
  Kokkos::View<index_t*, HostSpace> columns{"columns", 4};
  Vector<double> values{"values", 16};
  BcsrMatrix<double> A;

  Spoilable() {
    const auto good = to_bcsr(small(), 2);
    Kokkos::deep_copy(row_offsets, good.row_offsets);
    Kokkos::deep_copy(columns, good.columns);
    Kokkos::deep_copy(values, good.values);
    A = {3, 5, 2, row_offsets, columns, values, 6};
  }
};

}  // namespace

TEST_CASE("to_bcsr lays out a small matrix as documented") {
  const auto A = to_bcsr(small(), 2);
  CHECK(A.rows == 3);
  CHECK(A.cols == 5);
  CHECK(A.block_size == 2);
  CHECK(A.nonzeros == 6);
  CHECK(entries(A.row_offsets) == std::vector<index_t>{0, 2, 4});
  CHECK(entries(A.columns) == std::vector<index_t>{0, 2, 1, 2});
  CHECK(entries(A.values) == std::vector<double>{1, 2, 0, 4, 3, 0, 0, 0,  //
                                                 5, 0, 0, 0, 6, 0, 0, 0});
  CHECK_NOTHROW(A.validate());
}

TEST_CASE("block size 1 is CSR and shares its views") {
  const auto A = small();
  const auto B = to_bcsr(A, 1);
  CHECK(B.values.data() == A.values.data());
  CHECK(B.columns.data() == A.columns.data());
  CHECK(to_csr(B).values.data() == A.values.data());
}

TEST_CASE("BcsrMatrix::validate names each kind of fault") {
  Spoilable spoiled;
  REQUIRE_NOTHROW(spoiled.A.validate());

  SECTION("offsets that do not start at 0") {
    spoiled.row_offsets(0) = 1;
    CHECK_THROWS_WITH(spoiled.A.validate(), ContainsSubstring("start at 0"));
  }
  SECTION("offsets that end elsewhere") {
    spoiled.row_offsets(2) = 3;
    CHECK_THROWS_WITH(spoiled.A.validate(), ContainsSubstring("end at the number of blocks"));
  }
  SECTION("offsets that leave the arrays on the way") {
    spoiled.row_offsets(1) = 1000000;
    CHECK_THROWS_WITH(spoiled.A.validate(),
                      ContainsSubstring("block row 0") && ContainsSubstring("offsets"));
    spoiled.row_offsets(1) = -1;
    CHECK_THROWS_WITH(spoiled.A.validate(),
                      ContainsSubstring("block row 0") && ContainsSubstring("offsets"));
  }
  SECTION("columns that repeat or descend") {
    spoiled.columns(3) = 1;
    CHECK_THROWS_WITH(spoiled.A.validate(),
                      ContainsSubstring("block row 1: columns do not ascend"));
    spoiled.columns(2) = 2;
    CHECK_THROWS_WITH(spoiled.A.validate(),
                      ContainsSubstring("block row 1: columns do not ascend"));
  }
  SECTION("columns out of range") {
    spoiled.columns(1) = 3;
    CHECK_THROWS_WITH(spoiled.A.validate(), ContainsSubstring("block row 0: column") &&
                                                ContainsSubstring("out of range"));
    spoiled.columns(1) = 2;
    spoiled.columns(0) = -1;
    CHECK_THROWS_WITH(spoiled.A.validate(), ContainsSubstring("block row 0: column") &&
                                                ContainsSubstring("out of range"));
  }
  SECTION("a value right of the last column") {
    spoiled.values(5) = 9;
    CHECK_THROWS_WITH(spoiled.A.validate(),
                      ContainsSubstring("block row 0") && ContainsSubstring("not zero"));
  }
  SECTION("a value below the last row") {
    spoiled.values(10) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(spoiled.A.validate(),
                      ContainsSubstring("block row 1") && ContainsSubstring("not zero"));
  }
  SECTION("a useful count beyond the stored one") {
    spoiled.A.nonzeros = 17;
    CHECK_THROWS_WITH(spoiled.A.validate(), ContainsSubstring("nonzeros"));
  }
  SECTION("extents changed behind the constructor's back") {
    spoiled.A.rows = 5;
    CHECK_THROWS_WITH(spoiled.A.validate(), ContainsSubstring("row_offsets"));
  }
}

TEST_CASE("the first fault is named, whatever the number of threads") {
  const auto A = deep_copy_of(random_csr<double>(9000, 9000, 5, 1, banded));
  auto* columns = const_cast<index_t*>(A.columns.data());
  for (index_t row = 8999; row >= 4321; row -= 7)
    if (A.row_offsets(row) < A.row_offsets(row + 1)) columns[A.row_offsets(row)] = -5;
  index_t first = 0;
  while (A.row_offsets(first) == A.row_offsets(first + 1) || columns[A.row_offsets(first)] >= 0)
    ++first;
  CHECK_THROWS_WITH(A.validate(),
                    ContainsSubstring("row " + std::to_string(first) + ": column -5"));
}

TEST_CASE("a matrix that is not valid is refused by the conversions") {
  auto A = deep_copy_of(small());
  const_cast<index_t*>(A.columns.data())[1] = 0;
  CHECK_THROWS_AS(to_bcsr(A, 2), InvalidArgument);
  CHECK_THROWS_AS(to_bsell(A), InvalidArgument);
  CHECK_THROWS_AS(transpose(A), InvalidArgument);
  CHECK_THROWS_AS(to_bcsr(CsrMatrix<double>(), 2), InvalidArgument);
}

TEST_CASE("constructors and wrappers check what costs nothing to check") {
  const index_t offsets[] = {0, 1};
  const index_t columns[] = {0};
  double values[] = {1, 2, 3, 4};
  CHECK_NOTHROW(wrap_csr(1, 1, 1, offsets, columns, values).validate());
  CHECK_NOTHROW(wrap_csr<HostSpace, double>(0, 0, 0, offsets, nullptr, nullptr).validate());
  CHECK_THROWS_AS(wrap_csr(-1, 1, 1, offsets, columns, values), InvalidArgument);
  CHECK_THROWS_AS(wrap_csr(1, -1, 1, offsets, columns, values), InvalidArgument);
  CHECK_THROWS_AS(wrap_csr(1, 1, -1, offsets, columns, values), InvalidArgument);
  CHECK_THROWS_AS(wrap_csr(1, 1, 1, nullptr, columns, values), InvalidArgument);
  CHECK_THROWS_AS((wrap_csr<HostSpace, double>(1, 1, 1, offsets, columns, nullptr)),
                  InvalidArgument);
  CHECK_NOTHROW(wrap_bcsr(2, 2, 2, 1, offsets, columns, values).validate());
  CHECK_THROWS_AS(wrap_bcsr(2, 2, 0, 1, offsets, columns, values), InvalidArgument);
  CHECK_THROWS_AS(wrap_bcsr(2, 2, 17, 1, offsets, columns, values), InvalidArgument);
  CHECK_THROWS_AS(wrap_bcsr(2, 2, 2, 1, nullptr, columns, values), InvalidArgument);

  const Kokkos::View<index_t*, HostSpace> two("two", 2);
  CHECK_THROWS_AS((BcsrMatrix<double>(3, 1, 1, two, {}, {})), InvalidArgument);
  CHECK_THROWS_AS((BcsrMatrix<double>(1, 1, 2, two, two, Vector<double>("values", 7))),
                  InvalidArgument);
}

TEST_CASE("wrapping copies nothing") {
  const index_t offsets[] = {0, 1, 2};
  const index_t columns[] = {0, 1};
  double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto csr = wrap_csr(2, 2, 2, offsets, columns, values);
  CHECK(csr.values.data() == values);
  CHECK(csr.columns.data() == columns);
  CHECK(csr.row_offsets.data() == offsets);
  CHECK(csr.nonzeros == 2);
  const auto bcsr = wrap_bcsr(4, 4, 2, 2, offsets, columns, values);
  CHECK(bcsr.values.data() == values);
  CHECK(bcsr.columns.data() == columns);
  CHECK(bcsr.row_offsets.data() == offsets);
  CHECK(bcsr.nonzeros == 8);
}

TEST_CASE("counts beyond 32 bits are refused") {
  // Only the extent is looked at: nothing of this size is allocated or read.
  index_t index = 0;
  double value = 0;
  const std::size_t too_many = std::size_t{1} << 31;
  const BcsrMatrix<double>::Columns columns(&index, too_many);
  const Vector<double> values(&value, too_many);
  const Kokkos::View<index_t*, HostSpace> offsets("offsets", 2);
  CHECK_THROWS_WITH((BcsrMatrix<double>(1, 1, 1, offsets, columns, values)),
                    ContainsSubstring("2^31 - 1"));

  const Kokkos::DefaultHostExecutionSpace host;
  index_t counts[] = {0, 1 << 30, 1 << 30};
  CHECK_THROWS_WITH(cnc::detail::offsets_from_counts(host, counts, 2, "blocks"),
                    ContainsSubstring("more than 2147483647 blocks"));
  index_t fitting[] = {7, 1 << 30, (1 << 30) - 1};
  CHECK(cnc::detail::offsets_from_counts(host, fitting, 2, "blocks") == 2147483647);
  CHECK(fitting[0] == 0);
  offset_t wide[] = {0, offset_t{1} << 31, 1};
  CHECK(cnc::detail::offsets_from_counts(host, wide, 2, "slots") == (offset_t{1} << 31) + 1);
}
