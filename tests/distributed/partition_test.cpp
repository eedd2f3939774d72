#include "distributed/distributed_test.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a partitioned matrix multiplies as the whole one does") {
  for (const char* text :
       {"poisson2d:13x11", "elasticity3d:2", "convection3d:4:2", "trefethen:60", "trefethen:3"}) {
    INFO(text);
    const CsrMatrix<double> A = generate_problem(text);
    check_products(A, partitioned(A));
    check_products(A, scattered(A));
    check_products(convert_values<float>(A), partitioned(convert_values<float>(A)));
  }
}

TEST_CASE("ranks may have their rows in any order, and none") {
  const CsrMatrix<double> A = generate_problem("poisson2d:8x7");
  // The last rank has the first rows, the first none where there are several.
  const int from_behind = world().size() - 1 - world().rank();
  const int with_rows = std::max(1, world().size() - 1);
  const auto at = [&](int k) {
    return static_cast<index_t>(A.rows * std::min(k, with_rows) / with_rows);
  };
  const PartitionedMatrix<double> parts(
      world(), Slice<double>(A, at(from_behind), at(from_behind + 1)).rows());
  CHECK((world().size() == 1 || world().rank() != 0 || parts.rows() == 0));
  check_products(A, parts);
}

TEST_CASE("segments have as equal numbers of entries as whole blocks allow") {
  const CsrMatrix<double> A = generate_problem("elasticity3d:4");
  const auto parts = scattered(A, {.block_size = 3});
  CHECK(parts.first_row() % 3 == 0);
  const double share = double(A.nonzeros) / world().size();
  const double of_a_block = 3 * 81;
  CHECK(std::abs(double(parts.facts().entries) - share) <= 2 * of_a_block);
  const Vector<double> x = varied_vector<double>(A.rows);
  CHECK(same_bits(parts.scatter(of_first(x)), own_part(parts, x)));
}

TEST_CASE("segments are even where many rows are empty") {
  const index_t n = 400;
  Vector<index_t> offsets("offsets", std::size_t(n) + 1), columns("columns", 200);
  Vector<double> values("values", 200);
  Kokkos::deep_copy(values, 1.0);
  for (index_t i = 0; i < n; ++i) {
    const bool is_full = i < 3 || i >= n - 197;
    if (is_full) columns(std::size_t(offsets(std::size_t(i)))) = i;
    offsets(std::size_t(i) + 1) = offsets(std::size_t(i)) + is_full;
  }
  const auto parts = scattered(CsrMatrix<double>(n, n, 1, offsets, columns, values));
  CHECK(std::abs(double(parts.facts().entries) - 200.0 / world().size()) <= 1);
  CHECK(parts.partition() == Partition::segments);
}

TEST_CASE("what a rank knows of its part") {
  const CsrMatrix<double> A = generate_problem("poisson2d:12x12");
  const PartitionedMatrix<double> parts = partitioned(A);
  const PartitionFacts& facts = parts.facts();
  const int sides = (world().rank() > 0) + (world().rank() + 1 < world().size());
  CHECK(facts.rows == parts.rows());
  CHECK(facts.neighbours == sides);
  CHECK(facts.halo == 12 * sides);
  CHECK(facts.halo_entries == 12 * sides);
  CHECK(facts.boundary_rows == 12 * sides);
}

TEST_CASE("more ranks than rows") {
  const CsrMatrix<double> A = generate_problem("trefethen:2");
  check_products(A, partitioned(A));
  const CsrMatrix<double> none(0, 0, 1, Vector<index_t>("offsets", 1), Vector<index_t>(),
                               Vector<double>());
  check_products(none, partitioned(none));
}

TEST_CASE("rows that do not make a matrix are refused on all ranks") {
  const CsrMatrix<double> A = generate_problem("poisson2d:6x6");
  const int rank = world().rank(), last = world().size() - 1;
  const auto refusal = [](const Slice<double>& mine) {
    return thrown_by([&] { PartitionedMatrix<double>(world(), mine.rows()); });
  };
  const Slice<double> good(A, bound(36, rank), bound(36, rank + 1));
  {
    INFO("a row of two ranks, or of none");
    Slice<double> mine = good;
    if (rank == last) mine.first -= 1;
    const std::string text = refusal(mine);
    CHECK(same_on_all(text));
    CHECK_THAT(text, ContainsSubstring(last == 0 ? "is negative" : "is one of rank"));
    mine.first += rank == last ? 2 : 0;
    CHECK_THAT(refusal(mine),
               ContainsSubstring("no rank has row " + std::to_string(bound(36, last))));
  }
  {
    INFO("on the last rank alone");
    Slice<double> outside = good, twice = good, short_of_values = good;
    if (rank == last) {
      outside.columns.back() = 36;
      twice.columns[0] = twice.columns[1];
      short_of_values.values.pop_back();
    }
    const std::string by = rank == last ? "" : "rank " + std::to_string(last) + ": ";
    CHECK(refusal(outside) == by + "PartitionedMatrix: row 35, column 36 is outside the 36 rows");
    CHECK_THAT(refusal(twice), ContainsSubstring("comes twice"));
    CHECK_THAT(refusal(short_of_values), ContainsSubstring("as many values as columns"));
  }
  if (last > 0) {
    INFO("another type of values");
    const Slice<float> in_float(convert_values<float>(A), bound(36, rank), bound(36, rank + 1));
    const std::string text =
        rank == 1 ? thrown_by([&] { PartitionedMatrix<float>(world(), in_float.rows()); })
                  : refusal(good);
    CHECK(text == "PartitionedMatrix: rank 1 has values of 4 bytes, rank 0 of 8");
  }
  check_products(A, partitioned(A));  // and the ranks are still together
}
