#include "convert/bcsr.hpp"
#include "convert/sparse_product.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/amg/dense_inverse.hpp"
#include "precondition/amg/prolongation.hpp"
#include "precondition/amg/symmetry.hpp"
#include "support/catch.hpp"
#include "support/set_up_threads.hpp"
#include "support/small_matrix.hpp"
#include "unit/dense.hpp"

#include <cnc/problems.hpp>

#include <cmath>
#include <set>

// The parts of a multigrid set-up, by the loops of the host's threads and by Kokkos' loops as on a device, against dense sums.

using namespace cnc;
using namespace cnc::testing;

namespace {

using OnThreads = Kokkos::DefaultHostExecutionSpace;
/// Kokkos' host space as if it were a device.
struct LikeDevice : Kokkos::DefaultHostExecutionSpace {};

}  // namespace

template <>
inline constexpr bool cnc::detail::on_threads<LikeDevice> = false;

namespace {

using Blocks = detail::SparseBlocks<double, HostSpace>;

/// Blocks here and there, entries without a pattern.
Blocks random_blocks(index_t rows, index_t cols, int height, int width, unsigned seed) {
  std::vector<index_t> columns;
  Vector<index_t> offsets("offsets", static_cast<std::size_t>(rows) + 1);
  const auto draw = [&] {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
  };
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j)
      if (draw() % 4 == 0 && i % 5 != 3) columns.push_back(j);
    offsets(i + 1) = static_cast<index_t>(columns.size());
  }
  Vector<index_t> own("columns", columns.size());
  std::copy(columns.begin(), columns.end(), own.data());
  Vector<double> values("values", columns.size() * static_cast<std::size_t>(height * width));
  for (std::size_t k = 0; k < values.extent(0); ++k) values(k) = draw() % 1000 / 500.0 - 1;
  return {rows, cols, height, width, offsets, own, values};
}

Dense dense_of(const Blocks& A) {
  Dense D(static_cast<std::size_t>(A.rows * A.height), static_cast<std::size_t>(A.cols * A.width));
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      for (int r = 0; r < A.height; ++r)
        for (int c = 0; c < A.width; ++c)
          D(static_cast<std::size_t>(i * A.height + r),
            static_cast<std::size_t>(A.columns(k) * A.width + c)) =
              A.values(static_cast<std::size_t>((k * A.height + r) * A.width + c));
  return D;
}

Dense times(const Dense& A, const Dense& B) {
  Dense C(A.rows, B.cols);
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t k = 0; k < A.cols; ++k)
      for (std::size_t j = 0; j < B.cols; ++j) C(i, j) += A(i, k) * B(k, j);
  return C;
}
double largest_difference(const Dense& A, const Dense& B) {
  REQUIRE(A.rows == B.rows);
  REQUIRE(A.cols == B.cols);
  double worst = 0;
  for (std::size_t k = 0; k < A.values.size(); ++k)
    worst = std::max(worst, std::abs(A.values[k] - B.values[k]));
  return worst;
}

bool rows_ascend(const Blocks& A) {
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i) + 1; k < A.row_offsets(i + 1); ++k)
      if (A.columns(k - 1) >= A.columns(k)) return false;
  return true;
}

/// A smooth function of the rows, as a near-null space of one vector for each unknown of a node.
detail::NearNullSpace<double, HostSpace> varied_null_space(index_t nodes, int unknowns) {
  const auto n = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(unknowns * unknowns);
  Vector<double> rows("rows", n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto row = k / static_cast<std::size_t>(unknowns);
    const bool own =
        row % static_cast<std::size_t>(unknowns) == k % static_cast<std::size_t>(unknowns);
    rows(k) = own ? 1 + 0.3 * std::sin(0.1 * double(row)) : 0.1 * std::cos(0.2 * double(k));
  }
  return {unknowns, rows};
}

/// Other values in the same pattern, a symmetric matrix staying one.
Blocks varied(const Blocks& A) {
  Blocks other = A;
  other.values = Vector<double>("values", A.values.extent(0));
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      other.values(k) =
          A.values(k) * (A.columns(k) == i ? 1 : 0.1 + std::abs(std::sin(i + A.columns(k))));
  return other;
}

/// Long rows, each with couplings of its own, strong and weak, which those at their other ends do not have.
Blocks one_sided(index_t rows) {
  const Blocks pattern = random_blocks(rows, rows, 1, 1, 11);
  std::vector<index_t> columns;
  std::vector<double> values;
  Vector<index_t> offsets("offsets", static_cast<std::size_t>(rows) + 1);
  for (index_t i = 0; i < rows; ++i) {
    bool has_own = false;
    const auto add_own = [&] {
      columns.push_back(i);
      values.push_back(40);
      has_own = true;
    };
    for (index_t k = pattern.row_offsets(i); k < pattern.row_offsets(i + 1); ++k) {
      const index_t j = pattern.columns(k);
      if (j >= i && !has_own) add_own();
      if (j == i || std::abs(j - i) > 50) continue;
      columns.push_back(j);
      values.push_back((i + j) % 9 < 5 ? -1
                                       : -0.2);  // as many strong ones of others as weak ones here
    }
    if (!has_own) add_own();
    offsets(i + 1) = static_cast<index_t>(columns.size());
  }
  Blocks A{rows,
           rows,
           1,
           1,
           offsets,
           Vector<index_t>("columns", columns.size()),
           Vector<double>("values", values.size())};
  std::copy(columns.begin(), columns.end(), const_cast<index_t*>(A.columns.data()));
  std::copy(values.begin(), values.end(), A.values.data());
  return A;
}

/// Nodes within distance 1.
std::set<index_t> around(const detail::StrengthGraph<HostSpace>& graph, index_t i) {
  std::set<index_t> nodes{i};
  for (index_t k = graph.offsets(i); k < graph.ends(i); ++k) nodes.insert(graph.neighbours(k));
  return nodes;
}

}  // namespace

TEMPLATE_TEST_CASE("products of blocks are those of dense matrices, first and again", "", OnThreads,
                   LikeDevice) {
  const TestType exec;
  struct Sizes {
    int h, m, w;
  };
  for (const Sizes s :
       {Sizes{1, 1, 1}, Sizes{2, 2, 2}, Sizes{3, 3, 6}, Sizes{6, 3, 6}, Sizes{2, 5, 3}})
    for (const index_t n : {0, 1, 37, 70}) {
      INFO(s.h << "x" << s.m << "x" << s.w << ", " << n);
      const Blocks A = random_blocks(n, n + 2, s.h, s.m, 7),
                   B = random_blocks(n + 2, n + 1, s.m, s.w, 9);
      const Blocks C = detail::product(exec, A, B, "C");
      CHECK(rows_ascend(C));
      CHECK(largest_difference(dense_of(C), times(dense_of(A), dense_of(B))) < 1e-12);
      const Blocks any = detail::product(exec, A, B, "C", detail::RowsOf::any_order);
      CHECK(largest_difference(dense_of(any), dense_of(C)) == 0);
      for (std::size_t k = 0; k < A.values.extent(0); ++k) A.values(k) *= -2;
      detail::multiply_again(exec, A, B, C);
      detail::multiply_again(exec, A, B, any);
      CHECK(largest_difference(dense_of(C), times(dense_of(A), dense_of(B))) < 1e-12);
      CHECK(largest_difference(dense_of(any), dense_of(C)) == 0);
    }
}

TEMPLATE_TEST_CASE("long rows of a product are sorted as a whole", "", OnThreads, LikeDevice) {
  for (const index_t n : {300, 1100}) {
    const Blocks A = random_blocks(3, n, 1, 1, 3), B = random_blocks(n, n, 1, 1, 5);
    const Blocks C = detail::product(TestType(), A, B, "C");
    CHECK(rows_ascend(C));
    CHECK(largest_difference(dense_of(C), times(dense_of(A), dense_of(B))) < 1e-11);
  }
}

TEMPLATE_TEST_CASE("a product of long matrices is a matrix of sums over paths", "", OnThreads,
                   LikeDevice) {
  // The square of a product sums over paths of four steps: by (A A) (A A) and by A (A (A A)).
  for (const char* problem : {"poisson3d:14", "stencil27:11", "poisson2d:60x70"}) {
    INFO(problem);
    const TestType exec;
    const Blocks A = detail::as_blocks(generate_problem(problem));
    const Blocks A2 = detail::product(exec, A, A, "A A");
    const Blocks even = detail::product(exec, A2, A2, "A^4");
    const Blocks odd = detail::product(exec, A, detail::product(exec, A, A2, "A^3"), "A^4");
    REQUIRE(even.blocks() == odd.blocks());
    CHECK(rows_ascend(even));
    const auto n = static_cast<std::size_t>(even.blocks());
    CHECK(std::equal(even.columns.data(), even.columns.data() + n, odd.columns.data()));
    // Whole numbers: exact.
    CHECK(std::equal(even.values.data(), even.values.data() + n, odd.values.data()));
  }
}

TEMPLATE_TEST_CASE("a scan knows the sum before each element", "", OnThreads, LikeDevice) {
  for (const offset_t n : {0, 1, 1000, 4096, 4097, 5000, 10240}) {
    INFO(n);
    Vector<index_t> counts("counts", static_cast<std::size_t>(n) + 1);
    std::vector<index_t> expected{0};
    for (offset_t i = 1; i <= n; ++i) {
      counts(static_cast<std::size_t>(i)) = static_cast<index_t>(i * 7 % 5);
      expected.push_back(expected.back() + counts(static_cast<std::size_t>(i)));
    }
    const auto sum = detail::offsets_from_counts(TestType(), counts.data(), n, "counts");
    CHECK(sum == static_cast<std::size_t>(expected.back()));
    CHECK(std::equal(expected.begin(), expected.end(), counts.data()));
  }
}

TEMPLATE_TEST_CASE("aggregates are near, and cover what has neighbours", "", OnThreads,
                   LikeDevice) {
  const TestType exec;
  for (const char* problem :
       {"poisson2d:17x23", "stencil27:7", "trefethen:200", "convection3d:6:4"}) {
    INFO(problem);
    const auto A = detail::as_blocks(generate_problem(problem));
    for (const double strength : {0.0, 0.25}) {
      const bool symmetric = std::string(problem) != "convection3d:6:4";
      const auto graph = detail::strong_couplings(exec, A, strength, symmetric);
      // Symmetric, without loops.
      for (index_t i = 0; i < graph.nodes; ++i)
        for (const index_t j : around(graph, i)) REQUIRE(around(graph, j).count(i) == 1);
      const auto aggregates = detail::aggregate(exec, graph);
      REQUIRE(aggregates.count > 0);
      std::vector<std::set<index_t>> members(static_cast<std::size_t>(aggregates.count));
      for (index_t i = 0; i < graph.nodes; ++i) {
        const index_t a = aggregates.of(i);
        REQUIRE(a < aggregates.count);
        REQUIRE((a < 0) == (around(graph, i).size() == 1));
        if (a >= 0) members[static_cast<std::size_t>(a)].insert(i);
      }
      // Every aggregate has a node next to which all of it is, but for what joined last, one step further.
      for (const auto& own : members) {
        REQUIRE(!own.empty());
        bool found = false;
        for (const index_t centre : own) {
          std::set<index_t> reach;
          for (const index_t j : around(graph, centre)) reach.merge(around(graph, j));
          found = found || std::includes(reach.begin(), reach.end(), own.begin(), own.end());
        }
        CHECK(found);
      }
      CHECK(aggregates.count * 2 <= graph.nodes);
      const auto again = detail::aggregate(exec, graph);
      CHECK(again.count == aggregates.count);
    }
  }
}

TEST_CASE("weak couplings are left out by row and column") {
  // 0 - 1 strong, 1 - 2 weak, and 3 with nobody.
  const auto A = small_matrix({{2, -1, 0, 0}, {-1, 2, -0.01, 0}, {0, -0.01, 1, 0}, {0, 0, 0, 1}});
  const auto graph = detail::strong_couplings(OnThreads(), detail::as_blocks(A), 0.5, true);
  CHECK(around(graph, 0) == std::set<index_t>{0, 1});
  CHECK(around(graph, 2) == std::set<index_t>{2});
  CHECK(around(graph, 3) == std::set<index_t>{3});
}

TEMPLATE_TEST_CASE("a smoothed prolongation holds the smoothed near-null space", "", OnThreads,
                   LikeDevice) {
  const TestType exec;
  const double omega = 0.6;
  const auto check = [&](const Blocks& A, double strength, int vectors) {
    INFO(A.height << " unknowns, " << vectors << " vectors, strength " << strength);
    auto fine = varied_null_space(A.rows, A.height);
    if (vectors != A.height) {
      fine.vectors = vectors;
      fine.rows = Vector<double>("rows", static_cast<std::size_t>(A.rows * A.height * vectors));
      for (std::size_t k = 0; k < fine.rows.extent(0); ++k)
        fine.rows(k) = 1 + std::sin(0.7 * double(k) + 0.01 * double(k * k % 97));
    }
    const auto graph = detail::strong_couplings(exec, A, strength, true);
    const auto aggregates = detail::aggregate(exec, graph);
    detail::NearNullSpace<double, HostSpace> coarse;
    const Blocks T = detail::tentative_prolongation(exec, aggregates, A.height, fine, coarse);
    Vector<double> inverse("inverse", static_cast<std::size_t>(A.rows * A.height * A.height));
    const Blocks P = detail::smoothed_pattern(exec, graph, aggregates, T, "P");
    CHECK(rows_ascend(P));
    const auto unknowns = static_cast<std::size_t>(A.rows * A.height);
    const auto k = static_cast<std::size_t>(vectors);
    Dense B(unknowns, k), coarse_B(static_cast<std::size_t>(T.cols) * k, k);
    std::copy_n(fine.rows.data(), B.values.size(), B.values.begin());
    std::copy_n(coarse.rows.data(), coarse_B.values.size(), coarse_B.values.begin());
    for (int turn = 0; turn < 2; ++turn) {
      REQUIRE(detail::invert_diagonal(exec, A, inverse) < 0);
      detail::smooth(exec, A, graph, T, inverse, fine, coarse, omega, P);
      // (I - omega D^-1 A) B, and with every coupling kept (I - omega D^-1 A) T.
      const auto smoothed = [&](const Dense& X) {
        const Dense AX = times(dense_of(A), X);
        Dense Y = X;
        const auto b = static_cast<std::size_t>(A.height);
        for (std::size_t row = 0; row < unknowns; ++row)
          for (std::size_t j = 0; j < X.cols; ++j)
            for (std::size_t q = 0; q < b; ++q)
              Y(row, j) -= omega * inverse(row * b + q) * AX(row / b * b + q, j);
        return Y;
      };
      CHECK(largest_difference(times(dense_of(P), coarse_B), smoothed(B)) < 1e-11);
      if (strength == 0) CHECK(largest_difference(dense_of(P), smoothed(dense_of(T))) < 1e-12);
      for (std::size_t e = 0; e < A.values.extent(0); ++e)
        A.values(e) *= 1 + 0.1 * std::cos(double(e));
    }
  };
  for (const double strength : {0.0, 0.5}) {
    check(detail::as_blocks(generate_problem("anisotropic2d:12:0.1")), strength, 1);
    check(varied(detail::as_blocks(generate_problem("stencil27:6"))), strength, 1);
    // The same with several unknowns to each node, which may have more near-null vectors, rotations say.
    const auto one = detail::as_blocks(generate_problem("anisotropic2d:12:0.1"));
    const auto of_unknowns = [&](int b) {
      Blocks several = one;
      several.height = several.width = b;
      const auto block = static_cast<std::size_t>(b * b);
      several.values = Vector<double>("values", one.values.extent(0) * block);
      for (std::size_t k = 0; k < one.values.extent(0); ++k)
        for (std::size_t e = 0; e < block; ++e)
          several.values(block * k + e) =
              one.values(k) * (e % static_cast<std::size_t>(b + 1) == 0 ? 1 : 0.6 / b);
      return several;
    };
    check(of_unknowns(3), strength, 3);
    check(of_unknowns(3), strength, 6);
    check(of_unknowns(7), strength, 7);
  }
}

TEMPLATE_TEST_CASE("a node with very many neighbours has a prolongation too", "", OnThreads,
                   LikeDevice) {
  // The last node is coupled with all others, which belong to aggregates in no order.
  constexpr index_t n = 600, aggregates = 90;
  std::vector<std::vector<double>> arrow(n, std::vector<double>(n, 0));
  detail::Aggregates<HostSpace> chosen{Vector<index_t>("of", n), aggregates};
  for (index_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    arrow[row][row] = 3;
    arrow[row][n - 1] = arrow[n - 1][row] = i + 1 < n ? -0.5 : 900;
    chosen.of(i) = i * 53 % aggregates;
  }
  const auto A = detail::as_blocks(small_matrix(arrow));
  const auto graph = detail::strong_couplings(TestType(), A, 0.0, true);
  const auto fine = varied_null_space(n, 1);
  detail::NearNullSpace<double, HostSpace> coarse;
  const Blocks T = detail::tentative_prolongation(TestType(), chosen, 1, fine, coarse);
  const Blocks P = detail::smoothed_pattern(TestType(), graph, chosen, T, "P");
  CHECK(rows_ascend(P));
  CHECK(P.row_offsets(n) - P.row_offsets(n - 1) == aggregates);
  CHECK(P.row_offsets(1) == 2);
}

TEMPLATE_TEST_CASE("a prolongation of a matrix that is not symmetric", "", OnThreads, LikeDevice) {
  const TestType exec;
  const Blocks A = GENERATE(0, 1) == 0 ? detail::as_blocks(generate_problem("convection3d:5:3"))
                                       : one_sided(600);
  const auto graph = detail::strong_couplings(exec, A, 0.6, false);
  for (index_t i = 0; i < graph.nodes; ++i)
    for (const index_t j : around(graph, i)) REQUIRE(around(graph, j).count(i) == 1);
  const auto aggregates = detail::aggregate(exec, graph);
  const auto fine = varied_null_space(A.rows, 1);
  detail::NearNullSpace<double, HostSpace> coarse;
  const Blocks T = detail::tentative_prolongation(exec, aggregates, 1, fine, coarse);
  const Blocks P = detail::smoothed_pattern(exec, graph, aggregates, T, "P");
  Vector<double> inverse("inverse", static_cast<std::size_t>(A.rows));
  REQUIRE(detail::invert_diagonal(exec, A, inverse) < 0);
  detail::smooth(exec, A, graph, T, inverse, fine, coarse, 0.5, P);
  CHECK(rows_ascend(P));
  Dense B(static_cast<std::size_t>(A.rows), 1), coarse_B(static_cast<std::size_t>(T.cols), 1);
  std::copy_n(fine.rows.data(), B.values.size(), B.values.begin());
  std::copy_n(coarse.rows.data(), coarse_B.values.size(), coarse_B.values.begin());
  const Dense AB = times(dense_of(A), B), PB = times(dense_of(P), coarse_B);
  for (index_t i = 0; i < A.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (aggregates.of(i) >= 0)
      CHECK(std::abs(PB(row, 0) - (B(row, 0) - 0.5 * inverse(i) * AB(row, 0))) < 1e-12);
  }
}

TEST_CASE("magnitudes beside the diagonal are added where a smoother wants them") {
  const auto A = detail::as_blocks(small_matrix({{2, -1, 0}, {-1, 2, -0.5}, {0, -0.5, -4}}));
  Vector<double> inverse("inverse", 3);
  CHECK(detail::invert_diagonal(OnThreads(), A, inverse, true) < 0);
  CHECK(inverse(0) == 1 / 3.0);
  CHECK(inverse(1) == 1 / 3.5);
  CHECK(inverse(2) == -1 / 4.5);
}

TEMPLATE_TEST_CASE("a tentative prolongation is orthonormal and holds the near-null space", "",
                   OnThreads, LikeDevice) {
  const TestType exec;
  for (const int b : {1, 3}) {
    const auto A = detail::as_blocks(generate_problem("poisson2d:9x8"));
    const auto graph = detail::strong_couplings(exec, A, 0.25, true);
    const auto aggregates = detail::aggregate(exec, graph);
    const auto fine = varied_null_space(A.rows, b);
    detail::NearNullSpace<double, HostSpace> coarse;
    const Blocks T = detail::tentative_prolongation(exec, aggregates, b, fine, coarse);
    const Dense t = dense_of(T);
    Dense transposed(t.cols, t.rows), identity(t.cols, t.cols);
    for (std::size_t i = 0; i < t.rows; ++i)
      for (std::size_t j = 0; j < t.cols; ++j) transposed(j, i) = t(i, j);
    for (std::size_t j = 0; j < t.cols; ++j) identity(j, j) = 1;
    CHECK(largest_difference(times(transposed, t), identity) < 1e-12);
    const auto k = static_cast<std::size_t>(b);
    Dense fine_rows(t.rows, k), coarse_rows(t.cols, k);
    std::copy_n(fine.rows.data(), fine_rows.values.size(), fine_rows.values.begin());
    std::copy_n(coarse.rows.data(), coarse_rows.values.size(), coarse_rows.values.begin());
    CHECK(largest_difference(times(t, coarse_rows), fine_rows) < 1e-12);
  }
}

TEST_CASE("a vector that depends on others leaves a column of zeros") {
  // Two nodes, one aggregate, two vectors that are the same there.
  detail::Aggregates<HostSpace> aggregates{Vector<index_t>("of", 2), 1};
  detail::NearNullSpace<double, HostSpace> fine{2, Vector<double>("rows", 4)}, coarse;
  for (std::size_t k = 0; k < 4; ++k) fine.rows(k) = 1;
  const Blocks T = detail::tentative_prolongation(OnThreads(), aggregates, 1, fine, coarse);
  const Dense t = dense_of(T);
  CHECK(std::abs(t(0, 0) - std::sqrt(0.5)) < 1e-15);
  CHECK(t(0, 1) == 0);
  CHECK(t(1, 1) == 0);
  CHECK(coarse.rows(3) == 0);
}

TEST_CASE("inverses of dense matrices, and what is left of singular ones") {
  const auto identity_of = [](std::size_t size) {
    Dense identity(size, size);
    for (std::size_t i = 0; i < size; ++i) identity(i, i) = 1;
    return identity;
  };
  const auto inverted = [](const Dense& A, bool symmetric, std::size_t rank) {
    Dense X = A;
    CHECK(detail::DenseInverse(X.values, A.rows, symmetric).rank() == rank);
    return X;
  };
  for (const std::size_t n : {1u, 2u, 7u, 40u})
    for (const bool symmetric : {true, false}) {
      Dense A(n, n);
      unsigned seed = 11;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          seed = seed * 1664525u + 1013904223u;
          A(i, j) = symmetric && j < i ? A(j, i) : (seed >> 8) % 1000 / 500.0 - 1;
        }
        if (symmetric) A(i, i) += double(n);
      }
      CHECK(largest_difference(times(A, inverted(A, symmetric, n)), identity_of(n)) < 1e-9);
    }
  // Entries of different units are no loss of rank, no numbers are no pivots.
  Dense units(2, 2), none(2, 2);
  units(0, 0) = 1;
  units(0, 1) = units(1, 0) = 1e11;
  units(1, 1) = 1e24;
  (void)inverted(units, true, 2);
  (void)inverted(units, false, 2);
  none(0, 0) = none(1, 1) = 2;
  none(0, 1) = none(1, 0) = std::nan("");
  for (const bool symmetric : {true, false}) {
    Dense X = none;
    CHECK(detail::DenseInverse(X.values, 2, symmetric).rank() <= 2);
  }
  // No pivot on the diagonal; a constant in the null space; nothing at all.
  Dense crossed(2, 2), neumann(3, 3), zero(2, 2);
  crossed(0, 1) = crossed(1, 0) = 2;
  CHECK(largest_difference(times(crossed, inverted(crossed, true, 2)),
                           times(inverted(crossed, false, 2), crossed)) == 0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) neumann(i, j) = i == j ? 2 : -1;
  const Dense X = inverted(neumann, true, 2);
  CHECK(is_symmetric(X));
  CHECK(largest_difference(times(times(neumann, X), neumann), neumann) < 1e-13);
  CHECK(largest_difference(inverted(zero, true, 0), zero) == 0);
  // A path of many nodes, whose constant is left, and two unknowns that only pivots beside the diagonal reach, coupled with it.
  constexpr std::size_t n = 61;
  Dense path(n, n), saddle(n + 2, n + 2);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    path(i, i) += 1;
    path(i + 1, i + 1) += 1;
    path(i, i + 1) = path(i + 1, i) = -1;
  }
  const Dense P = inverted(path, true, n - 1);
  CHECK(is_symmetric(P));
  CHECK(largest_difference(times(times(path, P), path), path) < 1e-12);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) saddle(i, j) = path(i, j) + (i == j);
  saddle(n, n + 1) = saddle(n + 1, n) = 3;
  saddle(7, n) = saddle(n, 7) = 1e-9;
  CHECK(largest_difference(times(saddle, inverted(saddle, true, n + 2)), identity_of(n + 2)) <
        1e-9);
  // Small diagonals: pivots far above one once rows are scaled.
  Dense crossing(2, 2), indefinite(n, n);
  crossing(0, 0) = crossing(1, 1) = 1e-4;
  crossing(0, 1) = crossing(1, 0) = 1;
  CHECK(largest_difference(times(crossing, inverted(crossing, true, 2)), identity_of(2)) < 1e-11);
  unsigned seed = 5;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      seed = seed * 1664525u + 1013904223u;
      indefinite(i, j) = indefinite(j, i) = ((seed >> 8) % 1000 / 500.0 - 1) * (i == j ? 1e-3 : 1);
    }
  CHECK(largest_difference(times(indefinite, inverted(indefinite, true, n)), identity_of(n)) <
        1e-8);
}

TEMPLATE_TEST_CASE("blocks are compared with their mirror images", "", OnThreads, LikeDevice) {
  const TestType exec;
  const Threads threads(3);
  for (const int b : {1, 2, 3, 4}) {
    INFO("blocks of " << b);
    // Rows enough for several threads, whose entries reach across what each of them has.
    const BcsrMatrix<double> A =
        to_bcsr(generate_problem("poisson2d:96x" + std::to_string(60 * b)), b);
    CHECK(detail::blocks_are_symmetric(exec, A, 0));
    const index_t n = A.block_rows(), block = b * b;
    const auto at = [&](index_t row, index_t column) {
      const index_t k = detail::find_entry(A.operand(), row, column);
      REQUIRE(k >= 0);
      return static_cast<std::size_t>(k * block);
    };
    for (const index_t row : {index_t(0), n / 2 - 1, n / 2, n - 1}) {
      INFO("row " << row);
      const index_t column = A.columns(A.row_offsets(row)),
                    last = A.columns(A.row_offsets(row + 1) - 1);
      for (const index_t other : {column, last}) {
        if (other == row) continue;
        double& entry = A.values(at(row, other) + static_cast<std::size_t>(block) - 1);
        const double before = entry;
        entry = before + 1e-12;
        CHECK(!detail::blocks_are_symmetric(exec, A, 0));
        CHECK(detail::blocks_are_symmetric(exec, A, 1e-10));
        entry = before + 0.1;
        CHECK(!detail::blocks_are_symmetric(exec, A, 1e-10));
        entry = std::nan("");
        CHECK(!detail::blocks_are_symmetric(exec, A, 1e-10));
        entry = before;
      }
      // Within the block on the diagonal.
      if (b > 1) {
        A.values(at(row, row) + 1) += 0.1;
        CHECK(!detail::blocks_are_symmetric(exec, A, 1e-10));
        A.values(at(row, row) + 1) -= 0.1;
      }
    }
  }
}

TEMPLATE_TEST_CASE("a block without a mirror image counts as beside zeros", "", OnThreads,
                   LikeDevice) {
  const TestType exec;
  for (const bool below : {false, true})
    for (const double value : {0.0, 1.0}) {
      INFO("below " << below << ", " << value);
      Vector<index_t> offsets("offsets", 4), columns("columns", 4);
      const index_t starts[] = {0, below ? 1 : 2, below ? 2 : 3, 4};
      const index_t places[] = {0, below ? 1 : 2, below ? 0 : 1, 2};
      std::copy_n(starts, 4, offsets.data());
      std::copy_n(places, 4, columns.data());
      Vector<double> values("values", 16);
      for (index_t k = 0; k < 4; ++k) values(4 * k) = values(4 * k + 3) = 1;
      const BcsrMatrix<double> A(6, 6, 2, offsets, columns, values);
      const std::size_t lonely = below ? 2 : 1;
      values(4 * lonely) = values(4 * lonely + 3) = value;
      CHECK(detail::blocks_are_symmetric(exec, A, 1e-10) == (value == 0));
    }
}

TEST_CASE("rows of levels are in slices where that pays") {
  const auto is_sliced = [](const CsrMatrix<double>& A) {
    const Matrix<double> taken = detail::in_slices_on_host(Matrix<double>(A));
    return std::holds_alternative<BsellMatrix<double>>(taken);
  };
  CHECK(is_sliced(generate_problem("poisson2d:16x16")));
  CHECK(!is_sliced(generate_problem("poisson2d:15x17")));  // 255 rows
  // One row for each window that is as long as all others of it together.
  constexpr index_t n = 2048;
  Vector<index_t> offsets("offsets", n + 1);
  std::vector<index_t> columns;
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = 0; k < (i % 256 == 0 ? 512 : 2); ++k) columns.push_back(k);
    offsets(static_cast<std::size_t>(i) + 1) = static_cast<index_t>(columns.size());
  }
  Vector<index_t> own("columns", columns.size());
  std::copy(columns.begin(), columns.end(), own.data());
  const Vector<double> values("values", columns.size());
  CHECK(!is_sliced(CsrMatrix<double>(n, n, 1, offsets, own, values)));
  // No entries at all.
  CHECK(is_sliced(CsrMatrix<double>(300, 300, 1, Vector<index_t>("offsets", 301),
                                    Vector<index_t>("columns", 0), Vector<double>("values", 0))));
}

TEST_CASE("blocks that threads share are those that one fills") {
  for (const char* problem : {"poisson2d:9x7", "trefethen:50", "elasticity3d:4"})
    for (const int b : {2, 3, 5}) {
      INFO(problem << " in blocks of " << b);
      const auto A = generate_problem(problem);
      const auto expected = to_bcsr(A, b);
      const auto shared = detail::set_up::to_bcsr<LikeDevice>(A, b);
      const auto n = expected.columns.extent(0), values = expected.values.extent(0);
      REQUIRE(shared.columns.extent(0) == n);
      REQUIRE(shared.values.extent(0) == values);
      CHECK(
          std::equal(expected.columns.data(), expected.columns.data() + n, shared.columns.data()));
      CHECK(std::equal(expected.values.data(), expected.values.data() + values,
                       shared.values.data()));
    }
}
