#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/triplets.hpp>

#include <algorithm>
#include <limits>
#include <vector>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
CsrMatrix<T> assemble(index_t rows, index_t cols, const std::vector<Triplet<T>>& entries) {
  return csr_from_triplets<T>(rows, cols, std::span<const Triplet<T>>(entries));
}

/// The entries of A in a random order.
template <class T>
std::vector<Triplet<T>> shuffled_entries(const CsrMatrix<T>& A, Random& random) {
  std::vector<Triplet<T>> list;
  for (index_t i = 0; i < A.rows; ++i) {
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      list.push_back({i, A.columns(k), A.values(k)});
    }
  }
  for (std::size_t k = list.size(); k > 1; --k) {
    std::swap(list[k - 1], list[static_cast<std::size_t>(random.below(static_cast<offset_t>(k)))]);
  }
  return list;
}

}  // namespace

TEST_CASE("triplets become CSR with ascending columns") {
  const auto A = assemble<double>(3, 4, {{2, 3, 6}, {0, 2, 2}, {2, 0, 4}, {0, 0, 1}, {2, 1, 5}});
  CHECK(A.rows == 3);
  CHECK(A.cols == 4);
  CHECK(A.block_size == 1);
  CHECK(A.nonzeros == 5);
  CHECK(entries(A.row_offsets) == std::vector<index_t>{0, 2, 2, 5});
  CHECK(entries(A.columns) == std::vector<index_t>{0, 2, 0, 1, 3});
  CHECK(entries(A.values) == std::vector<double>{1, 2, 4, 5, 6});
}

TEST_CASE("triplets at the same place are summed in the order given") {
  // In float 2^24 + 1 rounds back to 2^24, so the order shows in the sum.
  const float big = 16777216;
  const auto one_first = assemble<float>(1, 2, {{0, 1, 1}, {0, 1, 1}, {0, 1, big}, {0, 0, 3}});
  const auto big_first = assemble<float>(1, 2, {{0, 1, big}, {0, 1, 1}, {0, 0, 3}, {0, 1, 1}});
  CHECK(entries(one_first.values) == std::vector<float>{3, big + 2});
  CHECK(entries(big_first.values) == std::vector<float>{3, big});
  CHECK(one_first.nonzeros == 2);
}

TEST_CASE("explicit zeros and cancelled sums stay stored") {
  const auto A = assemble<double>(2, 2, {{0, 0, 0}, {1, 1, 2}, {1, 1, -2}});
  CHECK(entries(A.row_offsets) == std::vector<index_t>{0, 1, 2});
  CHECK(entries(A.values) == std::vector<double>{0, 0});
}

TEST_CASE("no triplets give an empty matrix of any shape") {
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{0, 0}, {0, 5}, {5, 0}, {4, 3}}) {
    const auto A = assemble<double>(rows, cols, {});
    CHECK(A.rows == rows);
    CHECK(A.cols == cols);
    CHECK(A.nonzeros == 0);
    CHECK(entries(A.row_offsets) == std::vector<index_t>(static_cast<std::size_t>(rows) + 1, 0));
  }
}

TEMPLATE_TEST_CASE("every edge matrix comes back from its shuffled triplets", "", float, double) {
  Random random(3);
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    INFO(name);
    CHECK(same_matrix(assemble(A.rows, A.cols, shuffled_entries(A, random)), A));
  }
}

TEST_CASE("many duplicates give the same bits as a serial sum") {
  const index_t n = 200;
  Random random(11);
  std::vector<Triplet<double>> list;
  std::vector<double> sums(static_cast<std::size_t>(n) * n, 0);
  std::vector<bool> present(sums.size(), false);
  for (int k = 0; k < 100000; ++k) {
    const Triplet<double> entry = {random.below(n), random.below(n), random.value() / 3};
    const auto place = static_cast<std::size_t>(entry.row * n + entry.col);
    sums[place] = present[place] ? sums[place] + entry.value : entry.value;
    present[place] = true;
    list.push_back(entry);
  }
  const auto A = assemble(n, n, list);
  CHECK(A.nonzeros == std::count(present.begin(), present.end(), true));
  bool same = true;
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      same = same && A.values(k) == sums[static_cast<std::size_t>(i * n + A.columns(k))];
    }
  }
  CHECK(same);
}

TEST_CASE("a triplet out of range is refused and named") {
  CHECK_THROWS_WITH(assemble<double>(3, 4, {{0, 0, 1}, {3, 0, 1}, {9, 9, 1}}),
                    ContainsSubstring("entry 1 is at row 3, column 0 of a 3 x 4"));
  CHECK_THROWS_WITH(assemble<double>(3, 4, {{0, 0, 1}, {0, 4, 1}}),
                    ContainsSubstring("entry 1 is at row 0, column 4 of a 3 x 4"));
  CHECK_THROWS_AS(assemble<double>(3, 4, {{-1, 0, 1}}), InvalidArgument);
  CHECK_THROWS_AS(assemble<double>(3, 4, {{0, -1, 1}}), InvalidArgument);
  CHECK_THROWS_AS(assemble<double>(0, 0, {{0, 0, 1}}), InvalidArgument);
  CHECK_THROWS_AS(assemble<double>(-1, 4, {}), InvalidArgument);
  CHECK_THROWS_AS(assemble<double>(4, -1, {}), InvalidArgument);

  // The first of several, also when threads find them at the same time.
  std::vector<Triplet<double>> many(10000, {0, 0, 1});
  for (std::size_t k = 6000; k < many.size(); ++k) many[k].row = 7;
  CHECK_THROWS_WITH(assemble(3, 4, many), ContainsSubstring("entry 6000 "));
}
