#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/convert.hpp>

#include <limits>
#include <map>
#include <set>
#include <utility>

using namespace cnc;
using namespace cnc::testing;

namespace {

/// The blocks that hold an entry, counted the slow way.
template <class T>
offset_t count_blocks(const CsrMatrix<T>& A, int block_size) {
  std::set<std::pair<index_t, index_t>> blocks;
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      blocks.insert({row / block_size, A.columns(k) / block_size});
  return static_cast<offset_t>(blocks.size());
}

}  // namespace

TEMPLATE_TEST_CASE("CSR to BCSR and back is the same matrix", "", float, double) {
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    for (int b = 1; b <= max_block_size; ++b) {
      INFO(name << ", block size " << b);
      const auto B = to_bcsr(A, b);
      REQUIRE_NOTHROW(B.validate());
      REQUIRE(B.nonzeros == A.nonzeros);
      REQUIRE(same_matrix(to_csr(B), A));
    }
  }
}

TEMPLATE_TEST_CASE("CSR to BSELL and back is the same matrix", "", float, double) {
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    for (const int b : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
      for (const int slice_height : {0, 1, 5, 32}) {
        for (const index_t sort_window : {0, 1, 7, 100000}) {
          INFO(name << ", block size " << b << ", slice height " << slice_height << ", window "
                    << sort_window);
          const auto B = to_bsell(A, b, slice_height, sort_window);
          REQUIRE_NOTHROW(B.validate());
          REQUIRE(B.nonzeros == A.nonzeros);
          REQUIRE(same_matrix(to_csr(B), A));
        }
      }
    }
  }
}

TEST_CASE("sorting pads little") {
  const auto A = random_csr<double>(10000, 10000, 8, 3);
  CHECK(to_bsell(A, 1, 8, 1).slots() > A.nonzeros * 5 / 4);
  CHECK(to_bsell(A).slots() < A.nonzeros * 21 / 20);
}

TEST_CASE("fill that is zero does not come back, NaN does") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto A = literal_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {0, nan, 2});
  CHECK(to_csr(A).blocks() == 3);
  for (const auto& B : {to_csr(to_bcsr(A, 2)), to_csr(to_bsell(A))}) {
    CHECK(entries(B.row_offsets) == std::vector<index_t>{0, 1, 2});
    CHECK(entries(B.columns) == std::vector<index_t>{1, 1});
    CHECK(B.values(0) != B.values(0));
    CHECK(B.values(1) == 2);
  }
}

TEST_CASE("useful nonzeros travel with the matrix") {
  auto A = deep_copy_of(random_csr<double>(20, 20, 4, 5));
  A.nonzeros = 11;
  CHECK(to_bcsr(A, 3).nonzeros == 11);
  CHECK(to_bsell(A, 2).nonzeros == 11);
  CHECK(transpose(A).nonzeros == 11);
  CHECK(convert_values<float>(A).nonzeros == 11);
}

TEST_CASE("block sizes out of range and sources that are not CSR are refused") {
  const auto A = random_csr<double>(6, 6, 3, 1);
  for (const int b : {-1, 0, 17}) {
    CHECK_THROWS_AS(to_bcsr(A, b), InvalidArgument);
    CHECK_THROWS_AS(block_occupancy(A, b), InvalidArgument);
  }
  const auto B = to_bcsr(A, 2);
  CHECK_THROWS_AS(to_bcsr(B, 3), InvalidArgument);
  CHECK_THROWS_AS(to_bsell(B), InvalidArgument);
  CHECK_THROWS_AS(transpose(B), InvalidArgument);
  CHECK_THROWS_AS(block_occupancy(B, 2), InvalidArgument);
}

TEST_CASE("block_occupancy counts the blocks that to_bcsr stores") {
  for (const auto& [name, A] : edge_matrices<double>()) {
    for (int b = 1; b <= max_block_size; ++b) {
      INFO(name << ", block size " << b);
      const auto occupancy = block_occupancy(A, b);
      const auto B = to_bcsr(A, b);
      REQUIRE(occupancy.block_size == b);
      REQUIRE(occupancy.blocks == B.blocks());
      REQUIRE(occupancy.blocks == count_blocks(A, b));
      if (A.nonzeros == 0)
        REQUIRE(occupancy.density == 0);
      else
        REQUIRE(occupancy.density == double(A.nonzeros) / double(B.stored()));
    }
  }
  CHECK(block_occupancy(random_csr<double>(60, 60, 9, 2, block(3)), 3).density == 1);
}

TEMPLATE_TEST_CASE("transpose swaps rows and columns", "", float, double) {
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    INFO(name);
    const auto B = transpose(A);
    REQUIRE(B.rows == A.cols);
    REQUIRE(B.cols == A.rows);
    REQUIRE_NOTHROW(B.validate());
    std::map<std::pair<index_t, index_t>, TestType> expected;
    for (index_t row = 0; row < A.rows; ++row)
      for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
        expected[{A.columns(k), row}] = A.values(k);
    REQUIRE(static_cast<std::size_t>(B.blocks()) == expected.size());
    auto entry = expected.begin();
    for (index_t row = 0; row < B.rows; ++row) {
      for (index_t k = B.row_offsets(row); k < B.row_offsets(row + 1); ++k, ++entry) {
        REQUIRE(entry->first == std::pair<index_t, index_t>(row, B.columns(k)));
        REQUIRE(entry->second == B.values(k));
      }
    }
    REQUIRE(same_matrix(transpose(B), A));
  }
}

TEST_CASE("convert_values copies values and shares indices") {
  const auto A = to_bcsr(random_csr<double>(300, 300, 6, 9), 2);
  const auto narrow = convert_values<float>(A);
  CHECK(narrow.columns.data() == A.columns.data());
  CHECK(narrow.row_offsets.data() == A.row_offsets.data());
  CHECK(narrow.block_size == 2);
  CHECK(same_matrix(convert_values<double>(narrow), A));  // the values are exact in float
  const auto copy = convert_values<double>(A);
  CHECK(copy.values.data() != A.values.data());
  CHECK(same_matrix(copy, A));
}

TEST_CASE("convert_values refuses finite values that overflow, and nothing else") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto with = [](double value) {
    return literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {1, value});
  };
  CHECK_THROWS_AS(convert_values<float>(with(1e39)), InvalidArgument);
  CHECK_THROWS_AS(convert_values<float>(with(-1e300)), InvalidArgument);
  CHECK_NOTHROW(convert_values<double>(with(1e300)));
  CHECK(convert_values<float>(with(1e-300)).values(1) == 0.0f);
  CHECK(convert_values<float>(with(-infinity)).values(1) ==
        -std::numeric_limits<float>::infinity());
  const auto nan = convert_values<float>(with(std::numeric_limits<double>::quiet_NaN()));
  CHECK(nan.values(1) != nan.values(1));
}
