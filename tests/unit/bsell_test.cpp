#include "support/catch.hpp"
#include "support/same_matrix.hpp"

#include <cnc/convert.hpp>

#include <limits>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Row lengths 1 3 0 2 3:
///   . 1 . .
///   2 3 . 4
///   . . . .
///   . 5 6 .
///   7 . 8 9
CsrMatrix<double> small() {
  return literal_csr<double>(5, 4, {0, 1, 4, 4, 6, 9}, {1, 0, 1, 3, 1, 2, 0, 2, 3},
                             {1, 2, 3, 4, 5, 6, 7, 8, 9});
}

/// A copy of a BSELL matrix, whose arrays the test may spoil.
struct Spoilable {
  explicit Spoilable(const BsellMatrix<double>& good)
      : slice_offsets("slice_offsets", good.slice_offsets.extent(0)),
        columns("columns", good.columns.extent(0)),
        row_permutation("row_permutation", good.row_permutation.extent(0)),
        values("values", good.values.extent(0)),
        A(good) {
    Kokkos::deep_copy(slice_offsets, good.slice_offsets);
    Kokkos::deep_copy(columns, good.columns);
    Kokkos::deep_copy(row_permutation, good.row_permutation);
    Kokkos::deep_copy(values, good.values);
    A.slice_offsets = slice_offsets;
    A.columns = columns;
    A.row_permutation = row_permutation;
    A.values = values;
  }

  Kokkos::View<offset_t*, HostSpace> slice_offsets;
  Kokkos::View<index_t*, HostSpace> columns;
  Kokkos::View<index_t*, HostSpace> row_permutation;
  Vector<double> values;
  BsellMatrix<double> A;
};

}  // namespace

TEST_CASE("to_bsell lays out a small matrix as documented") {
  const auto A = to_bsell(small(), 1, 2, 4);
  CHECK(A.rows == 5);
  CHECK(A.cols == 4);
  CHECK(A.slice_height == 2);
  CHECK(A.sort_window == 4);
  CHECK(A.nonzeros == 9);
  // Sorted within rows 0..3; row 4 stays alone and brings a padding lane.
  CHECK(entries(A.row_permutation) == std::vector<index_t>{1, 3, 0, 2, 4, -1});
  CHECK(entries(A.slice_offsets) == std::vector<offset_t>{0, 6, 8, 14});
  CHECK(entries(A.columns) == std::vector<index_t>{0, 1, 1, 2, 3, 2,  // row 3 repeats column 2
                                                   1, 0,              // row 2 is empty
                                                   0, 0, 2, 0, 3, 0});
  CHECK(entries(A.values) == std::vector<double>{2, 5, 3, 6, 4, 0,  //
                                                 1, 0,              //
                                                 7, 0, 8, 0, 9, 0});
  CHECK_NOTHROW(A.validate());
}

TEST_CASE("to_bsell spreads the entries of a block over the lanes") {
  //   1 2 | 3
  //   . 4 | .
  //   ----+--
  //   . . | 5      blocks of 2, two block rows side by side, the second one shorter
  const auto csr = literal_csr<float>(3, 3, {0, 3, 4, 5}, {0, 1, 2, 1, 2}, {1, 2, 3, 4, 5});
  const auto A = to_bsell(csr, 2, 2, 1);
  CHECK(entries(A.row_permutation) == std::vector<index_t>{0, 1});
  CHECK(entries(A.slice_offsets) == std::vector<offset_t>{0, 4});
  CHECK(entries(A.columns) == std::vector<index_t>{0, 1, 1, 1});
  CHECK(entries(A.values) == std::vector<float>{1, 5, 2, 0, 0, 0, 4, 0,  //
                                                3, 0, 0, 0, 0, 0, 0, 0});
  CHECK_NOTHROW(A.validate());
}

TEST_CASE("to_bsell sorts within windows only, and is stable") {
  const auto csr = small();
  CHECK(entries(to_bsell(csr, 1, 1, 1).row_permutation) == std::vector<index_t>{0, 1, 2, 3, 4});
  CHECK(entries(to_bsell(csr, 1, 1, 2).row_permutation) == std::vector<index_t>{1, 0, 3, 2, 4});
  CHECK(entries(to_bsell(csr, 1, 1, 100).row_permutation) == std::vector<index_t>{1, 4, 3, 0, 2});
  CHECK(to_bsell(csr, 1, 1, 100).slots() == 9);
}

TEST_CASE("to_bsell has the documented defaults and limits") {
  CHECK(to_bsell(small()).slice_height == 8);
  CHECK(to_bsell(small()).sort_window == 256);
  CHECK(to_bsell(convert_values<float>(small())).slice_height == 16);
  CHECK(to_bsell(small(), 1, 1024).slices() == 1);
  CHECK_THROWS_AS(to_bsell(small(), 0), InvalidArgument);
  CHECK_THROWS_AS(to_bsell(small(), 17), InvalidArgument);
  CHECK_THROWS_AS(to_bsell(small(), 1, -1), InvalidArgument);
  CHECK_THROWS_AS(to_bsell(small(), 1, 1025), InvalidArgument);
  CHECK_THROWS_AS(to_bsell(small(), 1, 8, -1), InvalidArgument);
}

TEST_CASE("BsellMatrix::validate names each kind of fault") {
  Spoilable spoiled(to_bsell(small(), 1, 2, 4));
  auto& A = spoiled.A;
  REQUIRE_NOTHROW(A.validate());

  SECTION("slice offsets") {
    spoiled.slice_offsets(0) = 2;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("start at 0"));
    spoiled.slice_offsets(0) = 0;
    spoiled.slice_offsets(3) = 12;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("end at the number of slots"));
    spoiled.slice_offsets(3) = 14;
    spoiled.slice_offsets(1) = 100000;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 0: slice offsets do not ascend"));
    spoiled.slice_offsets(1) = 5;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 0: its slots are no multiple"));
  }
  SECTION("the permutation") {
    spoiled.row_permutation(0) = 5;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("out of range at sorted position 0"));
    spoiled.row_permutation(0) = -1;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("out of range at sorted position 0"));
    spoiled.row_permutation(0) = 3;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("repeats a block row at sorted position 1"));
    spoiled.row_permutation(0) = 1;
    spoiled.row_permutation(5) = 4;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("not -1 at sorted position 5"));
  }
  SECTION("columns") {
    spoiled.columns(13) = 4;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 2: a column is out of range"));
    spoiled.columns(13) = 0;
    spoiled.columns(2) = 0;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 0: padding is not zero"));
    spoiled.columns(2) = 1;
    spoiled.columns(4) = 0;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 0: padding is not zero"));
    spoiled.columns(4) = 3;
    spoiled.columns(1) = 3;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 0: columns do not ascend"));
    spoiled.columns(1) = 1;
    spoiled.columns(5) = 0;  // padding of row 3, which has columns 1 and 2
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("repeats no column of its row"));
  }
  SECTION("padding that is not zero") {
    spoiled.values(5) = 1;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 0: padding is not zero"));
    spoiled.values(5) = 0;
    spoiled.values(9) = std::numeric_limits<double>::quiet_NaN();  // the padding lane
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice 2: padding is not zero"));
  }
  SECTION("padding may repeat any column of its row") {
    spoiled.columns(5) = 1;
    CHECK_NOTHROW(A.validate());
  }
  SECTION("sizes and extents") {
    A.slice_height = 0;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice height"));
    A.slice_height = 3;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("slice_offsets"));
    A.slice_height = 2;
    A.sort_window = 0;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("sort window"));
    A.sort_window = 4;
    A.nonzeros = 15;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("nonzeros"));
    A.nonzeros = 9;
    A.block_size = 17;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("block size"));
    A.block_size = 1;
    A.row_permutation = Kokkos::View<index_t*, HostSpace>("short", 5);
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("row_permutation"));
    A.row_permutation = spoiled.row_permutation;
    A.values = Vector<double>("short", 13);
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("values"));
    A.values = spoiled.values;
    A.rows = -1;
    CHECK_THROWS_WITH(A.validate(), ContainsSubstring("negative"));
  }
}

TEST_CASE("BsellMatrix::validate looks at partial blocks") {
  Spoilable spoiled(to_bsell(small(), 2, 2));
  REQUIRE_NOTHROW(spoiled.A.validate());
  // The last block row (row 4 alone) is a single lane's: its second row must stay zero.
  const auto& A = spoiled.A;
  offset_t lane = 0;
  while (A.row_permutation(lane) != 2) ++lane;
  const offset_t slice = lane / 2;
  spoiled.values(A.slice_offsets(slice) * 4 + 2 * 2 + lane % 2) = 1;
  CHECK_THROWS_WITH(A.validate(), ContainsSubstring("outside the matrix is not zero"));
}
