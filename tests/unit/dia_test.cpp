#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/convert.hpp>
#include <cnc/problems.hpp>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

///  4 -1  .  2
/// -1  5 -3  .
///  . -3  6  .
///  2  .  .  7
CsrMatrix<double> small() {
  return literal_csr<double>(4, 4, {0, 3, 6, 8, 10}, {0, 1, 3, 0, 1, 2, 1, 2, 0, 3},
                             {4, -1, 2, -1, 5, -3, -3, 6, 2, 7});
}

}  // namespace

TEST_CASE("to_dia lays out a small matrix as documented") {
  const auto A = to_dia(small());
  CHECK_FALSE(A.symmetric);
  CHECK(A.nonzeros == 10);
  CHECK(entries(A.offsets) == std::vector<index_t>{-3, -1, 0, 1, 3});
  CHECK(entries(A.values) == std::vector<double>{0,  0,  0,  2,  //
                                                 0,  -1, -3, 0,  //
                                                 4,  5,  6,  7,  //
                                                 -1, -3, 0,  0,  //
                                                 2,  0,  0,  0});
  A.validate();
}

TEST_CASE("the symmetric variant keeps the upper half") {
  const auto A = to_dia(small(), true);
  CHECK(A.symmetric);
  CHECK(A.nonzeros == 10);
  CHECK(entries(A.offsets) == std::vector<index_t>{0, 1, 3});
  CHECK(entries(A.values) == std::vector<double>{4, 5, 6, 7, -1, -3, 0, 0, 2, 0, 0, 0});
  CHECK(same_matrix(to_csr(A), small()));
}

TEST_CASE("CSR comes back from DIA") {
  for (const auto& edge : edge_matrices<double>()) {
    INFO(edge.name);
    if (edge.A.rows * offset_t(edge.A.cols) > 200000) continue;
    CHECK(same_matrix(to_csr(to_dia(edge.A)), edge.A));
  }
  for (const char* problem : {"poisson2d:7x9", "elasticity2d:4", "wathen:3x4", "trefethen:50"}) {
    INFO(problem);
    // Stored zeros of the finite elements do not come back: compare what a second round gives.
    const auto A = to_csr(to_dia(generate_problem(problem)));
    CHECK(same_matrix(to_csr(to_dia(A, true)), A));
  }
}

TEST_CASE("to_dia refuses what it cannot hold") {
  auto unlike = deep_copy_of(small());
  unlike.values(2) = 2.5;  // (0, 3) differs from (3, 0)
  CHECK_THROWS_WITH(to_dia(unlike, true), ContainsSubstring("not symmetric"));
  const auto upper = literal_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 0, 1});
  CHECK_THROWS_AS(to_dia(upper, true), InvalidArgument);
  CHECK_THROWS_WITH(to_dia(literal_csr<double>(2, 3, {0, 1, 2}, {0, 2}, {1, 1}), true),
                    ContainsSubstring("square"));
  // An arrow: 2 n - 1 diagonals for 3 n entries.
  const index_t n = 3000;
  std::vector<index_t> offsets{0}, columns;
  for (index_t i = 0; i < n; ++i) {
    if (i == 0)
      for (index_t j = 0; j < n; ++j) columns.push_back(j);
    else {
      columns.push_back(0);
      columns.push_back(i);
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  const auto arrow =
      literal_csr<double>(n, n, offsets, columns, std::vector<double>(columns.size(), 1.0));
  CHECK_THROWS_WITH(to_dia(arrow), ContainsSubstring("5999 diagonals"));
}

TEST_CASE("update_values refreshes DIA in place") {
  auto twice = deep_copy_of(small());
  for (std::size_t k = 0; k < twice.values.extent(0); ++k) twice.values(k) *= 2;
  for (const bool symmetric : {false, true}) {
    auto A = to_dia(small(), symmetric);
    const double* before = A.values.data();
    update_values(A, twice);
    CHECK(A.values.data() == before);
    CHECK(same_matrix(to_csr(A), twice));
  }
  auto A = to_dia(small());
  const auto foreign = literal_csr<double>(4, 4, {0, 1, 1, 1, 1}, {2}, {1});
  CHECK_THROWS_WITH(update_values(A, foreign), ContainsSubstring("row 0 has no place"));
}

TEST_CASE("validate finds each kind of fault in DIA") {
  const auto good = to_dia(small());
  const auto spoil = [&](auto change) {
    DiaMatrix<double> A = good;
    Kokkos::View<index_t*, HostSpace> offsets("offsets", good.offsets.extent(0));
    Vector<double> values("values", good.values.extent(0));
    Kokkos::deep_copy(offsets, good.offsets);
    Kokkos::deep_copy(values, good.values);
    change(A, offsets, values);
    A.offsets = offsets;
    A.values = values;
    return A;
  };
  const auto fails = [&](auto change, const char* text) {
    CHECK_THROWS_WITH(spoil(change).validate(), ContainsSubstring(text));
  };
  fails([](auto&, auto& offsets, auto&) { offsets(1) = -3; }, "ascend");
  fails([](auto&, auto& offsets, auto&) { offsets(4) = 4; }, "outside the matrix");
  fails([](auto&, auto&, auto& values) { values(0) = 1; }, "outside the matrix in row 0");
  fails([](auto& A, auto&, auto&) { A.symmetric = true; }, "no offset below 0");
  fails([](auto& A, auto&, auto&) { A.rows = 5; }, "diagonals * rows");
}
