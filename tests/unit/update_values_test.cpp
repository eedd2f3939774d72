#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/convert.hpp>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
bool same_layout(const BcsrMatrix<T>& A, const BcsrMatrix<T>& B) {
  return same_matrix(A, B);
}
template <class T>
bool same_layout(const BsellMatrix<T>& A, const BsellMatrix<T>& B) {
  return A.rows == B.rows && A.nonzeros == B.nonzeros && same_entries(A.columns, B.columns) &&
         same_entries(A.slice_offsets, B.slice_offsets) &&
         same_entries(A.row_permutation, B.row_permutation) && same_entries(A.values, B.values);
}

/// Converts, refreshes from a source of type S, and compares with a fresh conversion.
template <class T, class S, class Convert>
void check_refresh(const Convert& convert) {
  for (const auto& [name, pattern] : edge_matrices<S>()) {
    INFO(name);
    const auto source = with_new_values(pattern);
    auto A = convert(convert_values<T>(pattern));
    const auto* values = A.values.data();
    const long before = allocation_count();
    update_values(A, source);
    const long after = allocation_count();
    REQUIRE((before > 0) == allocations_are_counted);
    REQUIRE(after == before);
    REQUIRE(A.values.data() == values);
    REQUIRE(same_layout(A, convert(convert_values<T>(source))));
  }
}

/// Refuses an entry in a place that the pattern lacks, and one row that is out of order.
template <class Convert>
void check_refusal(const Convert& convert) {
  // 4 x 4: rows 0 and 1 are full in their 2 x 2 block, rows 2 and 3 have the last column only.
  const auto pattern =
      literal_csr<double>(4, 4, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 3, 3}, {1, 2, 3, 4, 5, 6});
  auto A = convert(pattern);
  const auto foreign = literal_csr<double>(4, 4, {0, 0, 0, 0, 2}, {0, 3}, {1, 1});
  CHECK_THROWS_AS(update_values(A, foreign), InvalidArgument);
  CHECK_THROWS_WITH(update_values(A, foreign), ContainsSubstring("entry (3, 0) has no place"));
  const auto beyond = literal_csr<double>(4, 4, {0, 0, 2, 2, 2}, {1, 3}, {1, 1});
  CHECK_THROWS_WITH(update_values(A, beyond), ContainsSubstring("entry (1, 3) has no place"));
  const auto disordered = literal_csr<double>(4, 4, {0, 2, 2, 2, 2}, {3, 0}, {1, 1});
  CHECK_THROWS_AS(update_values(A, disordered), InvalidArgument);
  CHECK_NOTHROW(update_values(A, pattern));
  CHECK(same_layout(A, convert(pattern)));

  CHECK_THROWS_AS(update_values(A, random_csr<double>(4, 5, 0, 1)), InvalidArgument);
  CHECK_THROWS_AS(update_values(A, random_csr<double>(5, 4, 0, 1)), InvalidArgument);
  CHECK_THROWS_AS(update_values(A, to_bcsr(pattern, 2)), InvalidArgument);
}

const auto as_bcsr3 = [](const auto& A) { return to_bcsr(A, 3); };
const auto as_bcsr2 = [](const auto& A) { return to_bcsr(A, 2); };
const auto as_csr = [](const auto& A) { return deep_copy_of(A); };
const auto as_bsell1 = [](const auto& A) { return to_bsell(A, 1, 8); };
const auto as_bsell2 = [](const auto& A) { return to_bsell(A, 2, 4); };

}  // namespace

TEST_CASE("update_values equals a fresh conversion") {
  SECTION("csr") { check_refresh<double, double>(as_csr); }
  SECTION("bcsr") { check_refresh<double, double>(as_bcsr3); }
  SECTION("bcsr, float") { check_refresh<float, float>(as_bcsr2); }
  SECTION("bsell") { check_refresh<double, double>(as_bsell1); }
  SECTION("bsell with blocks") { check_refresh<float, float>(as_bsell2); }
}

TEST_CASE("update_values takes a source of another precision") {
  SECTION("double into float") {
    check_refresh<float, double>(as_bcsr3);
    check_refresh<float, double>(as_bsell1);
  }
  SECTION("float into double") {
    check_refresh<double, float>(as_csr);
    check_refresh<double, float>(as_bsell2);
  }
}

TEST_CASE("update_values refuses an entry that has no place") {
  SECTION("csr") { check_refusal(as_csr); }
  SECTION("bcsr") { check_refusal(as_bcsr2); }
  SECTION("bsell") {
    check_refusal([](const auto& A) { return to_bsell(A, 1, 2); });
  }
  SECTION("bsell with blocks") { check_refusal(as_bsell2); }
}

TEST_CASE("update_values sets what the source lacks to zero") {
  const auto pattern = random_csr<double>(200, 200, 6, 4, block(2));
  const auto nothing = random_csr<double>(200, 200, 0, 4);
  for (Matrix<double> A :
       {Matrix<double>(deep_copy_of(pattern)), Matrix<double>(to_bcsr(pattern, 2)),
        Matrix<double>(to_bsell(pattern))}) {
    update_values(A, nothing);
    CHECK(nonzeros(A) == 0);
    std::visit(
        [](const auto& a) {
          for (const double value : entries(a.values)) REQUIRE(value == 0);
        },
        A);
  }
}

TEST_CASE("update_values refuses a value that overflows the matrix's precision") {
  const auto source = literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {1, 1e60});
  const auto pattern = literal_csr<float>(2, 2, {0, 1, 2}, {0, 1}, {1, 1});
  for (Matrix<float> A : {Matrix<float>(to_bcsr(pattern, 2)), Matrix<float>(to_bsell(pattern))})
    CHECK_THROWS_WITH(update_values(A, source), ContainsSubstring("entry (1, 1) is too large"));
}

TEST_CASE("update_values leaves a matrix that shares the source's arrays alone") {
  const auto source = with_new_values(random_csr<double>(100, 100, 5, 8));
  const auto expected = entries(source.values);
  auto A = to_bcsr(source, 1);
  update_values(A, source);
  CHECK(entries(A.values) == expected);
}
