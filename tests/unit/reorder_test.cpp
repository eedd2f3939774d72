#include "dense.hpp"
#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/problems.hpp>
#include <cnc/reorder.hpp>
#include <cnc/triplets.hpp>

#include <algorithm>
#include <numeric>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

Vector<index_t> vector_of(const std::vector<index_t>& list) {
  Vector<index_t> p("p", list.size());
  std::copy(list.begin(), list.end(), p.data());
  return p;
}

/// A random permutation that moves blocks of b; a partial last block stays.
Vector<index_t> shuffle(index_t rows, std::uint64_t seed, index_t b = 1) {
  std::vector<index_t> blocks(static_cast<std::size_t>(rows / b));
  std::iota(blocks.begin(), blocks.end(), 0);
  Random random(seed);
  for (std::size_t k = blocks.size(); k > 1; --k) {
    std::swap(blocks[k - 1],
              blocks[static_cast<std::size_t>(random.below(static_cast<offset_t>(k)))]);
  }
  std::vector<index_t> p;
  for (const index_t block : blocks) {
    for (index_t r = 0; r < b; ++r) p.push_back(block * b + r);
  }
  for (index_t row = rows / b * b; row < rows; ++row) p.push_back(row);
  return vector_of(p);
}

bool is_permutation_of_rows(const Vector<index_t>& p, index_t rows) {
  std::vector<index_t> sorted = entries(p);
  std::sort(sorted.begin(), sorted.end());
  std::vector<index_t> expected(static_cast<std::size_t>(rows));
  std::iota(expected.begin(), expected.end(), 0);
  return sorted == expected;
}

template <class T>
index_t bandwidth(const CsrMatrix<T>& A) {
  index_t widest = 0;
  for (index_t i = 0; i < A.rows; ++i) {
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      widest = std::max(widest, std::abs(i - A.columns(k)));
    }
  }
  return widest;
}

}  // namespace

TEST_CASE("permute moves rows and columns") {
  const auto A = literal_csr<double>(3, 3, {0, 2, 3, 5}, {0, 2, 1, 0, 1}, {1, 2, 3, 4, 5});
  const auto B = permute(A, vector_of({2, 0, 1}));
  CHECK(entries(B.row_offsets) == std::vector<index_t>{0, 2, 4, 5});
  CHECK(entries(B.columns) == std::vector<index_t>{1, 2, 0, 1, 2});
  CHECK(entries(B.values) == std::vector<double>{4, 5, 2, 1, 3});
}

TEMPLATE_TEST_CASE("permuting forth and back is the identity", "", float, double) {
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    if (A.rows != A.cols) continue;
    INFO(name);
    const auto p = shuffle(A.rows, 5);
    std::vector<index_t> inverse(static_cast<std::size_t>(A.rows));
    for (index_t i = 0; i < A.rows; ++i) inverse[static_cast<std::size_t>(p(i))] = i;
    const auto B = permute(A, p);
    CHECK_NOTHROW(B.validate());
    CHECK(same_matrix(permute(B, vector_of(inverse)), A));
  }
}

TEST_CASE("permute refuses what is no permutation") {
  const auto A = generate_problem("poisson2d:2");
  CHECK_THROWS_WITH(permute(A, vector_of({0, 1, 2})), ContainsSubstring("length"));
  CHECK_THROWS_WITH(permute(A, vector_of({0, 1, 1, 3})), ContainsSubstring("entry 2"));
  CHECK_THROWS_WITH(permute(A, vector_of({0, 1, 2, 4})), ContainsSubstring("entry 3"));
  CHECK_THROWS_WITH(permute(A, vector_of({-1, 1, 2, 3})), ContainsSubstring("entry 0"));
  const auto rectangle = random_csr<double>(4, 5, 2, 1);
  CHECK_THROWS_AS(permute(rectangle, vector_of({0, 1, 2, 3})), InvalidArgument);
}

TEMPLATE_TEST_CASE("rcm is a permutation of any square matrix", "", float, double) {
  for (const auto& [name, A] : edge_matrices<TestType>()) {
    if (A.rows != A.cols) continue;
    for (const int b : {1, 2, 3, 16}) {
      INFO(name << ", blocks of " << b);
      const auto p = rcm_ordering(A, b);
      CHECK(is_permutation_of_rows(p, A.rows));
      CHECK(same_entries(rcm_ordering(A, b), p));
    }
  }
}

TEST_CASE("rcm restores a shuffled path") {
  std::vector<Triplet<double>> list;
  const index_t n = 50;
  for (index_t i = 0; i + 1 < n; ++i)
    list.push_back({i, i + 1, 1});  // one half of the pattern only
  const auto path = csr_from_triplets<double>(n, n, std::span<const Triplet<double>>(list));
  const auto shuffled = permute(path, shuffle(n, 2));
  CHECK(bandwidth(shuffled) > 10);
  CHECK(bandwidth(permute(shuffled, rcm_ordering(shuffled))) == 1);
}

TEST_CASE("rcm reduces the bandwidth of a shuffled grid to that of its short side") {
  const auto A = generate_problem("poisson2d:90x30");
  const auto shuffled = permute(A, shuffle(A.rows, 8));
  CHECK(bandwidth(shuffled) > 2000);
  CHECK(bandwidth(permute(shuffled, rcm_ordering(shuffled))) <= 32);
}

TEST_CASE("rcm orders components one after the other and keeps isolated rows") {
  // Two paths of three, interlaced, and rows 6 and 7 without a neighbour (one empty, one diagonal).
  const std::vector<Triplet<double>> list = {{0, 2, 1}, {2, 0, 1}, {2, 4, 1}, {4, 2, 1}, {1, 3, 1},
                                             {3, 1, 1}, {3, 5, 1}, {5, 3, 1}, {7, 7, 1}};
  const auto A = csr_from_triplets<double>(8, 8, std::span<const Triplet<double>>(list));
  const auto p = rcm_ordering(A);
  CHECK(is_permutation_of_rows(p, 8));
  CHECK(bandwidth(permute(A, p)) == 1);
  CHECK(p(1) == 2);
  CHECK(p(4) == 3);
}

TEST_CASE("rcm keeps blocks together and a partial block last") {
  const auto elasticity = generate_problem("elasticity2d:12");
  const auto shuffled = permute(elasticity, shuffle(elasticity.rows, 4, 2));
  const auto p = rcm_ordering(shuffled, 2);
  bool together = true;
  for (index_t row = 0; row < shuffled.rows; row += 2) {
    together = together && p(row) % 2 == 0 && p(row + 1) == p(row) + 1;
  }
  CHECK(together);
  CHECK(bandwidth(shuffled) > 250);
  CHECK(bandwidth(permute(shuffled, p)) <= 2 * bandwidth(elasticity));

  const auto odd = generate_problem("poisson2d:5x5");
  const auto q = rcm_ordering(odd, 4);
  CHECK(is_permutation_of_rows(q, 25));
  CHECK(q(24) == 24);
  for (index_t row = 0; row < 24; ++row) CHECK(q(row) == q(row / 4 * 4) + row % 4);
}

TEST_CASE("rcm refuses rectangles and block sizes out of range") {
  CHECK_THROWS_AS(rcm_ordering(random_csr<double>(4, 5, 2, 1)), InvalidArgument);
  const auto A = generate_problem("poisson2d:4");
  CHECK_THROWS_AS(rcm_ordering(A, 0), InvalidArgument);
  CHECK_THROWS_AS(rcm_ordering(A, 17), InvalidArgument);
}
