#include "dense.hpp"
#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/convert.hpp>
#include <cnc/formats.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/problems.hpp>

#include <limits>
#include <tuple>

using namespace cnc;
using namespace cnc::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A full n x n matrix of random entries with a diagonal that is small, so that pivoting is needed.
template <class S>
CsrMatrix<S> full_matrix(index_t n, std::uint64_t seed) {
  std::vector<index_t> offsets = {0}, columns;
  std::vector<S> values;
  Random random(seed);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      columns.push_back(j);
      values.push_back(static_cast<S>(i == j ? 1e-3 : random.value() + 2 * ((i + 1) % n == j)));
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  return literal_csr<S>(n, n, offsets, columns, values);
}

CsrMatrix<double> diagonal_matrix(const std::vector<double>& diagonal) {
  std::vector<index_t> offsets = {0}, columns;
  for (index_t i = 0; i < static_cast<index_t>(diagonal.size()); ++i) {
    columns.push_back(i);
    offsets.push_back(i + 1);
  }
  const auto n = static_cast<index_t>(diagonal.size());
  return literal_csr<double>(n, n, offsets, columns, diagonal);
}

/// A full block by rows.
CsrMatrix<double> block_matrix(index_t n, const std::vector<double>& values) {
  std::vector<index_t> offsets = {0}, columns;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) columns.push_back(j);
    offsets.push_back((i + 1) * n);
  }
  return literal_csr<double>(n, n, offsets, columns, values);
}

/// The largest deviation of (block i of A) (block i of M) from the identity; out of A it is the identity.
template <class V, class S>
double inverse_error(const CsrMatrix<S>& A, const Preconditioner<V>& M, index_t i) {
  const Dense D = dense(A);
  const auto b = static_cast<std::size_t>(M.block_size);
  const std::size_t first = static_cast<std::size_t>(i) * b;
  double error = 0;
  for (std::size_t r = 0; r < b; ++r) {
    for (std::size_t c = 0; c < b; ++c) {
      double sum = r == c ? -1 : 0;
      for (std::size_t k = 0; k < b; ++k) {
        const bool inside = first + r < D.rows && first + k < D.rows;
        const double a = inside ? D(first + r, first + k) : (r == k ? 1 : 0);
        sum += a * static_cast<double>(M.inverse(first * b + k * b + c));
      }
      error = std::max(error, std::abs(sum));
    }
  }
  return error;
}

}  // namespace

TEST_CASE("jacobi is one over the diagonal") {
  const auto A = literal_csr<double>(3, 3, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {2, 7, -4, 9, 0.5});
  Preconditioner<double> M;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 3, M).ok());
  CHECK(M.kind == PreconditionerKind::jacobi);
  CHECK(M.block_size == 1);
  CHECK(entries(M.inverse) == std::vector<double>{0.5, -0.25, 2});
}

TEST_CASE("jacobi of a diagonal that is not positive follows the rule given") {
  // -4, a zero, none stored, 0.5
  const auto A = literal_csr<double>(4, 4, {0, 1, 2, 3, 4}, {0, 1, 3, 3}, {-4, 0, 7, 0.5});
  Preconditioner<double> M;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M).row == 1);
  M.diagonal = DiagonalRule::one_for_zero;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M).ok());
  CHECK(entries(M.inverse) == std::vector<double>{-0.25, 1, 1, 2});
  M.diagonal = DiagonalRule::magnitude;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M).ok());
  CHECK(entries(M.inverse) == std::vector<double>{0.25, 1, 1, 2});
  M.diagonal = DiagonalRule::row_norm;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M).ok());
  CHECK(entries(M.inverse) == std::vector<double>{0.25, 1, 1 / 7.0, 2});
  for (const auto& format : formats<double>()) {
    const FormatSpec spec{format.name, format.smallest_block_size};
    if (format.predicted_bytes(analyze(A), spec, sizeof(double)) < 0) continue;
    INFO(spec.text());
    CHECK(set_up_preconditioner(build_format(A, spec), PreconditionerKind::jacobi, 1, M).ok());
    CHECK(entries(M.inverse) == std::vector<double>{0.25, 1, 1 / 7.0, 2});
  }
}

TEST_CASE("an inverse that is the same in every row is said to be so") {
  Preconditioner<double> M;
  const auto is_uniform = [&](const CsrMatrix<double>& A, PreconditionerKind kind, int block_size) {
    set_up_preconditioner(A, kind, block_size, M);
    CHECK(M.operand().uniform == M.uniform);
    return M.uniform;
  };
  const auto A = generate_problem("poisson2d:5");
  CHECK(is_uniform(A, PreconditionerKind::jacobi, 1));
  CHECK_FALSE(is_uniform(A, PreconditionerKind::block_jacobi, 2));
  CHECK_FALSE(is_uniform(A, PreconditionerKind::none, 1));
  CHECK_FALSE(is_uniform(generate_problem("wathen:3x3"), PreconditionerKind::jacobi, 1));
  CHECK(is_uniform(literal_csr<double>(1, 1, {0, 1}, {0}, {3}), PreconditionerKind::jacobi, 1));
}

TEST_CASE("none leaves the inverse empty") {
  Preconditioner<double> M;
  const auto A = generate_problem("poisson2d:3");
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M).ok());
  CHECK(set_up_preconditioner(A, PreconditionerKind::none, 1, M).ok());
  CHECK(M.kind == PreconditionerKind::none);
  CHECK(M.inverse.extent(0) == 0);
}

TEST_CASE("a 2 x 2 block is inverted exactly") {
  // [2 1; 1 1] and [0 4; 2 0], which needs a pivot.
  const auto A = literal_csr<double>(4, 4, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 3, 2}, {2, 1, 1, 1, 4, 2});
  Preconditioner<double> M;
  CHECK(set_up_preconditioner(A, PreconditionerKind::block_jacobi, 2, M).ok());
  CHECK(entries(M.inverse) == std::vector<double>{1, -1, -1, 2, 0, 0.5, 0.25, 0});
}

TEMPLATE_TEST_CASE("block times inverse is the identity for every size and tail", "",
                   (std::tuple<float, float>), (std::tuple<float, double>),
                   (std::tuple<double, float>), (std::tuple<double, double>)) {
  using V = std::tuple_element_t<0, TestType>;
  using S = std::tuple_element_t<1, TestType>;
  const double tolerance = 1000 * static_cast<double>(std::numeric_limits<V>::epsilon());
  for (int b = 1; b <= max_block_size; ++b) {
    for (const index_t rows : {b, 3 * b, 3 * b - 1, 2 * b + 1}) {
      INFO("block size " << b << ", rows " << rows);
      const auto A = full_matrix<S>(rows, static_cast<std::uint64_t>(100 * b + rows));
      Preconditioner<V> M;
      REQUIRE(set_up_preconditioner(A, PreconditionerKind::block_jacobi, b, M).ok());
      CHECK(M.block_size == b);
      const index_t blocks = ceil_div(rows, b);
      REQUIRE(M.inverse.extent(0) == static_cast<std::size_t>(blocks * b * b));
      for (index_t i = 0; i < blocks; ++i) CHECK(inverse_error(A, M, i) < tolerance);
    }
  }
}

TEST_CASE("a preconditioner of the normal equations inverts the blocks of A^T A") {
  const auto A = full_matrix<double>(7, 5);
  const Dense D = dense(A);
  std::vector<double> normal;
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 7; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 7; ++k) sum += D(k, i) * D(k, j);
      normal.push_back(sum);
    }
  const auto AtA = block_matrix(7, normal);
  for (const int b : {1, 2, 3}) {
    Preconditioner<double> M;
    CHECK(set_up_normal_preconditioner(transpose(A), PreconditionerKind::block_jacobi, b, M).ok());
    for (index_t i = 0; i < ceil_div(7, b); ++i) CHECK(inverse_error(AtA, M, i) < 1e-9);
  }
  // A column without entries
  const auto empty = literal_csr<double>(2, 2, {0, 1, 2}, {1, 1}, {3, 4});
  Preconditioner<double> M;
  M.diagonal = DiagonalRule::one_for_zero;
  CHECK(set_up_normal_preconditioner(transpose(empty), PreconditionerKind::jacobi, 1, M).ok());
  CHECK(entries(M.inverse) == std::vector<double>{1, 1.0 / 25});
}

TEST_CASE("block_jacobi of size 1 is jacobi") {
  const auto A = generate_problem("trefethen:40");
  Preconditioner<double> jacobi, block;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, jacobi).ok());
  CHECK(set_up_preconditioner(A, PreconditionerKind::block_jacobi, 1, block).ok());
  CHECK(same_entries(jacobi.inverse, block.inverse));
  CHECK(block.kind == PreconditionerKind::block_jacobi);
}

TEST_CASE("large matrices are set up in parallel") {
  const auto A = generate_problem("elasticity3d:14");
  Preconditioner<double> M;
  CHECK(set_up_preconditioner(A, PreconditionerKind::block_jacobi, 3, M).ok());
  // All nodes inside the body are alike.
  const index_t nodes[] = {1 + 14 * (1 + 15 * 1), 12 + 14 * (13 + 15 * 13)};
  for (std::size_t k = 0; k < 9; ++k) {
    CHECK(M.inverse(static_cast<std::size_t>(nodes[0]) * 9 + k) ==
          M.inverse(static_cast<std::size_t>(nodes[1]) * 9 + k));
  }
}

TEST_CASE("the inverse is allocated once") {
  const auto A = generate_problem("poisson2d:8");
  Preconditioner<double> M;
  set_up_preconditioner(A, PreconditionerKind::block_jacobi, 4, M);
  const double* const data = M.inverse.data();
  set_up_preconditioner(A, PreconditionerKind::block_jacobi, 4, M);
  CHECK(M.inverse.data() == data);
}

TEST_CASE("the first bad diagonal entry is reported") {
  Preconditioner<double> M;
  for (const double bad : {0.0, -0.0, infinity, -infinity, not_a_number, 1e-310}) {
    INFO("diagonal " << bad);
    const auto A = diagonal_matrix({1, 2, bad, 4, bad});
    const auto result = set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M);
    CHECK_FALSE(result.ok());
    CHECK(result.row == 2);
    CHECK_FALSE(result.singular_block);
    CHECK(entries(M.inverse) == std::vector<double>{1, 0.5, 1, 0.25, 1});
  }
  // No entry at all: an empty row, and a row with entries on both sides.
  const auto A = literal_csr<double>(3, 3, {0, 1, 3, 3}, {0, 0, 2}, {1, 1, 1});
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, M).row == 1);

  std::vector<double> large(10000, 1);
  for (std::size_t i = 3000; i < large.size(); i += 3) large[i] = 0;
  CHECK(set_up_preconditioner(diagonal_matrix(large), PreconditionerKind::jacobi, 1, M).row ==
        3000);
}

TEST_CASE("an inverse beyond the range of float is reported for float only") {
  const auto A = diagonal_matrix({1, 1e-40, 1e60});
  Preconditioner<float> narrow;
  Preconditioner<double> wide;
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, narrow).row == 1);
  CHECK(set_up_preconditioner(A, PreconditionerKind::jacobi, 1, wide).ok());
  CHECK(set_up_preconditioner(diagonal_matrix({1e60}), PreconditionerKind::jacobi, 1, narrow).row ==
        0);
}

TEST_CASE("a negative diagonal is no fault of the set-up") {
  Preconditioner<double> M;
  CHECK(set_up_preconditioner(diagonal_matrix({-2, 1}), PreconditionerKind::jacobi, 1, M).ok());
  CHECK(M.inverse(0) == -0.5);
}

TEST_CASE("a singular block is reported by its first row") {
  Preconditioner<double> M;
  // Blocks: the identity, rank one, zero.
  const auto A = literal_csr<double>(6, 6, {0, 1, 2, 4, 6, 6, 6}, {0, 1, 2, 3, 2, 3},
                                     {1, 1, 1, 3, 1.0 / 3, 1});
  const auto result = set_up_preconditioner(A, PreconditionerKind::block_jacobi, 2, M);
  CHECK(result.row == 2);
  CHECK(result.singular_block);
  CHECK(entries(M.inverse) == std::vector<double>{1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1});
}

TEST_CASE("singularity is judged relative to the block's magnitude") {
  Preconditioner<double> M;
  for (const double scale : {1.0, 1e-150, 1e150}) {
    INFO("scale " << scale);
    const auto singular = block_matrix(3, {scale, 2 * scale, 3 * scale, 4 * scale, 5 * scale,
                                           6 * scale, 7 * scale, 8 * scale, 9 * scale});
    CHECK(set_up_preconditioner(singular, PreconditionerKind::block_jacobi, 3, M).singular_block);
    const auto regular = block_matrix(2, {2 * scale, scale, scale, 2 * scale});
    REQUIRE(set_up_preconditioner(regular, PreconditionerKind::block_jacobi, 2, M).ok());
    CHECK(M.inverse(0) * scale == Approx(2.0 / 3));
    CHECK(M.inverse(1) * scale == Approx(-1.0 / 3));
  }
  // Unknowns of very different units, and a penalty row, are regular.
  const auto units = block_matrix(2, {2e20, 1, 1, 2e-20});
  REQUIRE(set_up_preconditioner(units, PreconditionerKind::block_jacobi, 2, M).ok());
  CHECK(M.inverse(0) == Approx(2e-20 / 3));
  CHECK(M.inverse(1) == Approx(-1.0 / 3));
  CHECK(M.inverse(2) == Approx(-1.0 / 3));
  CHECK(M.inverse(3) == Approx(2e20 / 3));
  const auto penalty = block_matrix(2, {1e30, 0, 0, 1});
  REQUIRE(set_up_preconditioner(penalty, PreconditionerKind::block_jacobi, 2, M).ok());
  CHECK(M.inverse(0) == Approx(1e-30));
  CHECK(M.inverse(3) == 1);
}

TEST_CASE("a value that is not finite is reported by its row, inside the block only") {
  Preconditioner<double> M;
  const auto jacobi = PreconditionerKind::block_jacobi;
  auto result = set_up_preconditioner(block_matrix(2, {1, 0, not_a_number, 1}), jacobi, 2, M);
  CHECK(result.row == 1);
  CHECK_FALSE(result.singular_block);
  result = set_up_preconditioner(block_matrix(2, {1, infinity, 0, 1}), jacobi, 2, M);
  CHECK(result.row == 0);
  const auto outside =
      literal_csr<double>(4, 4, {0, 2, 3, 4, 5}, {0, 3, 1, 2, 3}, {1, not_a_number, 1, 1, 1});
  CHECK(set_up_preconditioner(outside, jacobi, 2, M).ok());
}

TEST_CASE("matrices without rows have an empty preconditioner") {
  const auto A = literal_csr<double>(0, 0, {0}, {}, {});
  for (const auto kind :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
    Preconditioner<double> M;
    CHECK(set_up_preconditioner(A, kind, 3, M).ok());
    CHECK(M.inverse.extent(0) == 0);
  }
}

TEST_CASE("rectangles and block sizes out of range are refused") {
  Preconditioner<double> M;
  const auto rectangle = random_csr<double>(4, 5, 2, 1);
  CHECK_THROWS_AS(set_up_preconditioner(rectangle, PreconditionerKind::jacobi, 1, M),
                  InvalidArgument);
  const auto A = generate_problem("poisson2d:4");
  for (const int b : {-1, 0, 17}) {
    CHECK_THROWS_AS(set_up_preconditioner(A, PreconditionerKind::block_jacobi, b, M),
                    InvalidArgument);
  }
}
