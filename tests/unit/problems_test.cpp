#include "assemble/element_stiffness.hpp"
#include "dense.hpp"
#include "support/catch.hpp"
#include "support/same_matrix.hpp"

#include <cnc/problems.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string name_of(const ProblemInfo& family) {
  return family.example.substr(0, family.example.find(':'));
}

template <int Dim>
void check_element() {
  using Element = detail::Q1<Dim>;
  const auto K = detail::element_stiffness<Dim>(0.3);
  Dense D(K.size(), K.size());
  for (std::size_t i = 0; i < K.size(); ++i) {
    for (std::size_t j = 0; j < K.size(); ++j) D(i, j) = K[i][j];
  }
  CHECK(is_symmetric(D));

  const auto energy = [&](const std::vector<double>& u) {
    double sum = 0;
    for (std::size_t i = 0; i < K.size(); ++i) {
      for (std::size_t j = 0; j < K.size(); ++j) sum += u[i] * D(i, j) * u[j];
    }
    return sum;
  };
  // u(x) = G x: a node's coordinate along axis d is bit d of its number.
  const auto linear_field = [](std::size_t row, std::size_t col, double g, double g_transposed) {
    std::vector<double> u(Element::unknowns, 0);
    for (std::size_t node = 0; node < Element::nodes; ++node) {
      u[node * Dim + row] += g * static_cast<double>(node >> col & 1);
      u[node * Dim + col] += g_transposed * static_cast<double>(node >> row & 1);
    }
    return u;
  };
  for (std::size_t axis = 0; axis < Dim; ++axis) {
    std::vector<double> translation(Element::unknowns, 0);
    for (std::size_t node = 0; node < Element::nodes; ++node) translation[node * Dim + axis] = 1;
    CHECK(energy(translation) == Approx(0).margin(1e-14));
    // Uniaxial strain: twice the energy density is lambda + 2 mu = (1 - nu) / ((1 + nu)(1 - 2 nu)).
    CHECK(energy(linear_field(axis, axis, 1, 0)) == Approx(0.7 / (1.3 * 0.4)).epsilon(1e-13));
    for (std::size_t other = 0; other < axis; ++other) {
      CHECK(energy(linear_field(axis, other, 1, -1)) == Approx(0).margin(1e-14));  // rotation
      // Pure shear, gamma = 2: mu gamma^2 = 4 / (2 (1 + nu)).
      CHECK(energy(linear_field(axis, other, 1, 1)) == Approx(4 / 2.6).epsilon(1e-13));
    }
  }
}

}  // namespace

TEST_CASE("poisson2d:2x2 is the 5-point matrix") {
  const auto A = generate_problem("poisson2d:2x2");
  CHECK(entries(A.row_offsets) == std::vector<index_t>{0, 3, 6, 9, 12});
  CHECK(entries(A.columns) == std::vector<index_t>{0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3});
  CHECK(entries(A.values) == std::vector<double>{4, -1, -1, -1, 4, -1, -1, 4, -1, -1, -1, 4});
  CHECK(same_matrix(generate_problem("poisson2d:2"), A));
}

TEST_CASE("stencils count their entries") {
  // points + 2 edges
  CHECK(generate_problem("poisson2d:5x3").nonzeros == 15 + 2 * (4 * 3 + 5 * 2));
  CHECK(generate_problem("poisson3d:4").nonzeros == 64 + 2 * 3 * (3 * 16));
  CHECK(generate_problem("poisson3d:2x3x4").nonzeros == 24 + 2 * (12 + 16 + 18));
  CHECK(generate_problem("stencil27:5").nonzeros == 13 * 13 * 13);
  CHECK(generate_problem("convection3d:4:3").nonzeros == generate_problem("poisson3d:4").nonzeros);
}

TEST_CASE("one point or one element is a valid problem") {
  for (const auto& [text, diagonal] : {std::pair<const char*, double>{"poisson2d:1", 4},
                                       {"poisson3d:1", 6},
                                       {"stencil27:1", 26},
                                       {"trefethen:1", 2},
                                       {"anisotropic2d:1:0.5", 3},
                                       {"convection3d:1:2", 12},
                                       {"diffusion3d:1:1", 12}}) {
    INFO(text);
    const auto A = generate_problem(text);
    CHECK(A.rows == 1);
    CHECK(entries(A.values) == std::vector<double>{diagonal});
  }
  CHECK(generate_problem("elasticity2d:1").rows == 4);
  CHECK(generate_problem("elasticity3d:1").rows == 12);
  CHECK(generate_problem("wathen:1x1").rows == 8);
}

TEST_CASE("every family's example is what the family promises") {
  for (const ProblemInfo& family : problem_families()) {
    INFO(family.name);
    CHECK(name_of(family) == family.name);
    CHECK(family.syntax.rfind(family.name + ":", 0) == 0);
    CHECK(is_problem(family.example));
    const auto A = generate_problem(family.example);
    CHECK_NOTHROW(A.validate());
    CHECK(A.rows == A.cols);
    CHECK(A.rows % family.natural_block_size == 0);
    const Dense D = dense(A);
    CHECK(is_symmetric(D) == family.symmetric_positive_definite);
    if (family.symmetric_positive_definite) CHECK(is_positive_definite(D));
    CHECK(same_matrix(generate_problem(family.example), A));
  }
}

TEST_CASE("parallel assembly gives valid matrices beyond the serial threshold") {
  for (const char* text : {"poisson2d:61x53", "poisson3d:15", "stencil27:14",
                           "anisotropic2d:60:0.1", "convection3d:14:1", "diffusion3d:14:9",
                           "elasticity2d:40", "elasticity3d:9", "wathen:31x29", "trefethen:3000"}) {
    INFO(text);
    const auto A = generate_problem(text);
    CHECK(A.rows > 2048);
    CHECK_NOTHROW(A.validate());
  }
}

TEST_CASE("interior rows of the stencils sum to zero") {
  const auto row_sum = [](const CsrMatrix<double>& A, index_t row) {
    return std::accumulate(A.values.data() + A.row_offsets(row),
                           A.values.data() + A.row_offsets(row + 1), 0.0);
  };
  const index_t center3 = 2 + 5 * (2 + 5 * 2);
  CHECK(row_sum(generate_problem("poisson2d:5"), 12) == 0);
  CHECK(row_sum(generate_problem("poisson3d:5"), center3) == 0);
  CHECK(row_sum(generate_problem("stencil27:5"), center3) == 0);
  CHECK(row_sum(generate_problem("anisotropic2d:5:0.25"), 12) == 0);
  const auto convection = generate_problem("convection3d:5:2.5");
  CHECK(row_sum(convection, center3) == 0);
  // The first point lacks its three upstream neighbours, the last its three downstream ones.
  CHECK(row_sum(convection, 0) == 3 * 3.5);
  CHECK(row_sum(convection, 124) == 3);
}

TEST_CASE("convection is upwind and vanishes with the Peclet number") {
  const Dense A = dense(generate_problem("convection3d:2:2.5"));
  CHECK(A(0, 0) == 6 + 3 * 2.5);
  for (const std::size_t stride : {1u, 2u, 4u}) {
    CHECK(A(stride, 0) == -3.5);
    CHECK(A(0, stride) == -1);
  }
  CHECK(same_matrix(generate_problem("convection3d:4:0"), generate_problem("poisson3d:4")));
}

TEST_CASE("diffusion3d is conservative, within its contrast, and varies") {
  // Of one conductivity: six neighbours, or the boundary at half the distance.
  const Dense even = dense(generate_problem("diffusion3d:3:1"));
  CHECK(even(13, 13) == 6);
  CHECK(even(0, 0) == 3 * 1 + 3 * 2);
  CHECK(even(13, 12) == -1);
  const auto A = generate_problem("diffusion3d:9:100");
  const index_t center = 4 + 9 * (4 + 9 * 4);
  double sum = 0, least = 100, largest = 0;
  for (index_t k = A.row_offsets(center); k < A.row_offsets(center + 1); ++k) sum += A.values(k);
  CHECK(std::abs(sum) < 1e-12);
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      if (A.columns(k) != row) {
        least = std::min(least, -A.values(k));
        largest = std::max(largest, -A.values(k));
      }
  CHECK(least >= 1);
  CHECK(largest <= 100);
  CHECK(largest > 20 * least);
}

TEST_CASE("anisotropic2d is weak along y") {
  const Dense A = dense(generate_problem("anisotropic2d:2:0.01"));
  CHECK(A(0, 0) == 2.02);
  CHECK(A(0, 1) == -1);
  CHECK(A(0, 2) == -0.01);
}

TEST_CASE("the element stiffness has the energies of linear elasticity") {
  SECTION("2-D") { check_element<2>(); }
  SECTION("3-D") { check_element<3>(); }
}

TEST_CASE("one clamped element is the free half of its stiffness") {
  const auto K = detail::element_stiffness<2>(0.3);
  const Dense A = dense(generate_problem("elasticity2d:1"));
  // Free are the corners (1, 0) and (1, 1), local nodes 1 and 3.
  const std::size_t local[] = {2, 3, 6, 7};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) CHECK(A(i, j) == K[local[i]][local[j]]);
  }
}

TEST_CASE("elasticity couples whole blocks of all neighbours") {
  const auto A = generate_problem("elasticity3d:3");
  CHECK(A.rows == 3 * 3 * 4 * 4);
  CHECK(A.nonzeros == 9 * (3 * 3 - 2) * (3 * 4 - 2) * (3 * 4 - 2));
  const auto B = generate_problem("elasticity2d:4");
  CHECK(B.rows == 2 * 4 * 5);
  CHECK(B.nonzeros == 4 * (3 * 4 - 2) * (3 * 5 - 2));
  bool whole = true;
  for (index_t row = 0; row < A.rows; ++row) {
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k) {
      whole = whole && A.columns(k) % 3 == (k - A.row_offsets(row)) % 3;
      whole =
          whole && A.columns(k) == A.columns(A.row_offsets(row / 3 * 3) + k - A.row_offsets(row));
    }
  }
  CHECK(whole);
}

TEST_CASE("elasticity rows away from the clamped face carry no load under translation") {
  const auto A = generate_problem("elasticity3d:3");
  for (index_t row = 0; row < A.rows; ++row) {
    const bool clamped_neighbour = row / 3 % 3 == 0;
    double sum[3] = {};
    double magnitude = 0;
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k) {
      sum[A.columns(k) % 3] += A.values(k);
      magnitude += std::abs(A.values(k));
    }
    const bool zero = std::abs(sum[0]) + std::abs(sum[1]) + std::abs(sum[2]) < 1e-14 * magnitude;
    CHECK(zero != clamped_neighbour);
  }
}

TEST_CASE("trefethen:20 is the matrix of the collections") {
  const auto A = generate_problem("trefethen:20");
  CHECK(A.nonzeros == 158);
  const Dense D = dense(A);
  const double primes[] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29,
                           31, 37, 41, 43, 47, 53, 59, 61, 67, 71};
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < 20; ++j) {
      const std::size_t distance = i > j ? i - j : j - i;
      const bool power_of_two = distance > 0 && (distance & (distance - 1)) == 0;
      CHECK(D(i, j) == (distance == 0 ? primes[i] : power_of_two ? 1 : 0));
    }
  }
}

TEST_CASE("trefethen:20000 has the entries of the collections") {
  const auto A = generate_problem("trefethen:20000");
  CHECK(A.nonzeros == 554466);
  CHECK(A.values(static_cast<std::size_t>(A.nonzeros) - 1) == 224737);  // the 20000th prime
}

TEST_CASE("wathen has the pattern and the eigenvalue bounds of Wathen 1987") {
  const auto A = generate_problem("wathen:4x3");
  CHECK(A.rows == 3 * 4 * 3 + 2 * 4 + 2 * 3 + 1);
  const Dense D = dense(A);
  CHECK(is_symmetric(D));
  // D^-1 A has its eigenvalues in [1/4, 9/2]: A - c D and C D - A are definite just outside.
  CHECK(is_positive_definite(with_diagonal(D, 1, -0.2499)));
  CHECK(is_positive_definite(with_diagonal(D, -1, 4.5001)));
  CHECK_FALSE(is_positive_definite(with_diagonal(D, 1, -0.6)));
  CHECK_FALSE(is_positive_definite(with_diagonal(D, -1, 2)));
}

TEST_CASE("wathen:1x1 is one multiple of the element matrix") {
  const Dense A = dense(generate_problem("wathen:1x1"));
  // Nodes in the order of numbering: three below, two in the middle, three above.
  const double expected[8][8] = {{6, -6, 2, -6, -8, 2, -8, 3},     {-6, 32, -6, 20, 20, -8, 16, -8},
                                 {2, -6, 6, -8, -6, 3, -8, 2},     {-6, 20, -8, 32, 16, -6, 20, -8},
                                 {-8, 20, -6, 16, 32, -8, 20, -6}, {2, -8, 3, -6, -8, 6, -6, 2},
                                 {-8, 16, -8, 20, 20, -6, 32, -6}, {3, -8, 2, -8, -6, 2, -6, 6}};
  const double density = A(0, 0) / 6;
  CHECK(density > 0);
  CHECK(density < 100.0 / 45);
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      CHECK(A(i, j) == Approx(density * expected[i][j]).epsilon(1e-15));
    }
  }
}

TEST_CASE("wathen densities differ from element to element") {
  const auto A = generate_problem("wathen:2x2");
  // Middles of the bottom line belong to one element each: nodes 1 and 3.
  CHECK(dense(A)(1, 1) != dense(A)(3, 3));
}

TEST_CASE("a problem is told from a file") {
  CHECK(is_problem("poisson3d:8"));
  CHECK(is_problem("poisson3d:nonsense"));
  CHECK_FALSE(is_problem("poisson3d"));
  CHECK_FALSE(is_problem("poisson4d:8"));
  CHECK_FALSE(is_problem("matrix.mtx"));
  CHECK_FALSE(is_problem(""));
  CHECK_FALSE(is_problem(":"));
}

TEST_CASE("malformed problems are refused with the expected syntax") {
  const char* const malformed[] = {"poisson2d:",         "poisson2d:0",
                                   "poisson2d:-3",       "poisson2d:3x",
                                   "poisson2d:x3",       "poisson2d:3x4x5",
                                   "poisson2d:3.5",      "poisson2d:3:4",
                                   "poisson2d: 3",       "poisson2d:+3",
                                   "poisson2d",          "poisson3d:3x4",
                                   "poisson3d:3x4x5x6",  "stencil27:3x3",
                                   "stencil27:three",    "elasticity2d:2x2",
                                   "elasticity3d:",      "elasticity3d:0",
                                   "wathen:3",           "wathen:3x4x5",
                                   "wathen:3x0",         "trefethen:0",
                                   "trefethen:2x2",      "convection3d:4",
                                   "convection3d:4:",    "convection3d:4:-1",
                                   "convection3d:4:nan", "convection3d:4:1e999",
                                   "convection3d:4:1:2", "anisotropic2d:4",
                                   "anisotropic2d:4:0",  "anisotropic2d:4:inf",
                                   "anisotropic2d:4:-1", "anisotropic2d:4:1x",
                                   "diffusion3d:4",      "diffusion3d:4:0.5",
                                   "diffusion3d:4x4:2",  "poisson2d:99999999999999999999"};
  for (const std::string text : malformed) {
    INFO(text);
    const std::string name = text.substr(0, text.find(':'));
    CHECK_THROWS_AS(generate_problem(text), InvalidArgument);
    CHECK_THROWS_WITH(generate_problem(text), ContainsSubstring("'" + text + "'") &&
                                                  ContainsSubstring("expected " + name + ":"));
  }
  CHECK_THROWS_AS(generate_problem("poisson4d:8"), InvalidArgument);
  CHECK_THROWS_WITH(generate_problem("poisson4d:8"),
                    ContainsSubstring("poisson2d, poisson3d") && ContainsSubstring("trefethen"));
  CHECK_THROWS_AS(generate_problem(""), InvalidArgument);
}

TEST_CASE("problems beyond 32-bit indices are refused before anything is allocated") {
  for (const char* text :
       {"poisson2d:2147483647", "poisson2d:46341x46341", "poisson2d:21000", "poisson3d:700",
        "poisson3d:2147483647", "stencil27:431", "stencil27:2147483647", "elasticity2d:12000",
        "elasticity3d:210", "elasticity3d:2147483647", "wathen:20000x20000",
        "wathen:2147483647x2147483647", "trefethen:2147483647", "convection3d:700:1",
        "anisotropic2d:21000:1", "diffusion3d:700:1", "diffusion3d:2147483647:1"}) {
    INFO(text);
    CHECK_THROWS_WITH(generate_problem(text), ContainsSubstring("more than 2^31 - 1"));
  }
}
