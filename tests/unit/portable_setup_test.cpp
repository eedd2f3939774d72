#include "convert/portable/analyze.hpp"
#include "convert/portable/bcsr.hpp"
#include "convert/portable/bsell.hpp"
#include "convert/portable/dia.hpp"
#include "convert/portable/to_csr.hpp"
#include "precondition/portable.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/formats.hpp>
#include <cnc/problems.hpp>

#include <cstring>
#include <limits>

// Set-up as devices do it, on Kokkos' host space, against the host's own.

using namespace cnc;
using namespace cnc::testing;

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Catch::Matchers::ContainsSubstring;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class X, class Y>
bool same_bytes(const X& x, const Y& y) {
  return x.extent(0) == y.extent(0) &&
         (x.extent(0) == 0 ||
          std::memcmp(x.data(), y.data(), x.extent(0) * sizeof(*x.data())) == 0);
}

template <class T>
bool same_layout(const BcsrMatrix<T>& A, const BcsrMatrix<T>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         A.nonzeros == B.nonzeros && same_bytes(A.row_offsets, B.row_offsets) &&
         same_bytes(A.columns, B.columns) && same_bytes(A.values, B.values);
}
template <class T>
bool same_layout(const BsellMatrix<T>& A, const BsellMatrix<T>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         A.slice_height == B.slice_height && A.sort_window == B.sort_window &&
         A.nonzeros == B.nonzeros && same_bytes(A.slice_offsets, B.slice_offsets) &&
         same_bytes(A.columns, B.columns) && same_bytes(A.row_permutation, B.row_permutation) &&
         same_bytes(A.values, B.values);
}
template <class T>
bool same_layout(const DiaMatrix<T>& A, const DiaMatrix<T>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.symmetric == B.symmetric &&
         A.nonzeros == B.nonzeros && same_bytes(A.offsets, B.offsets) &&
         same_bytes(A.values, B.values);
}

/// Edge shapes, rows of very different lengths over many slices, and structured problems.
template <class T>
std::vector<NamedMatrix<T>> matrices() {
  auto list = edge_matrices<T>();
  list.push_back({"long and short rows", random_csr<T>(5000, 4000, 9, 3, empty_rows)});
  list.push_back({"one long row", random_csr<T>(3000, 3000, 5, 4, one_dense_row)});
  for (const char* problem :
       {"poisson2d:45x47", "wathen:9x8", "elasticity3d:3", "convection3d:7:5"})
    list.push_back({problem, convert_values<T>(generate_problem(problem))});
  return list;
}

/// What f throws, "" when it does not.
template <class F>
std::string thrown(const F& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// Both refuse, or neither, and with the same words.
#define CHECK_SAME_REFUSAL(text, portable_call, host_call)      \
  do {                                                          \
    const std::string refusal = thrown([&] { portable_call; }); \
    CHECK(refusal == thrown([&] { host_call; }));               \
    CHECK_THAT(refusal, ContainsSubstring(text));               \
  } while (false)

template <class T>
CsrMatrix<T> with_new_values(const CsrMatrix<T>& A) {
  auto B = deep_copy_of(A);
  for (std::size_t k = 0; k < B.values.extent(0); ++k)
    B.values(k) = static_cast<T>(1 + static_cast<double>(k % 1000) / 8);
  return B;
}

/// Refreshes a copy of A on both ways.
template <class SparseMatrix, class Source>
void check_update(SparseMatrix A, const Source& source) {
  using T = typename SparseMatrix::value_type;
  SparseMatrix B = A;
  B.values = Vector<T>("values", A.values.extent(0));
  Kokkos::deep_copy(B.values, T(-7));
  update_values(A, source);
  const long before = allocation_count();
  portable::update_values<Exec>(B, source);
  // Kokkos 4 and later make strings of their own for every fence.
  if (KOKKOS_VERSION < 40000) CHECK(allocation_count() == before);
  CHECK(same_layout(A, B));
}

}  // namespace

TEMPLATE_TEST_CASE("portable analysis equals the host's", "", float, double) {
  for (const auto& matrix : matrices<TestType>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    INFO(name);
    const Structure host = analyze(A);
    const Structure other = portable::analyze<Exec>(A);
    CHECK(host.rows == other.rows);
    CHECK(host.cols == other.cols);
    CHECK(host.nonzeros == other.nonzeros);
    CHECK(host.longest_row == other.longest_row);
    CHECK(host.shortest_row == other.shortest_row);
    CHECK(host.empty_rows == other.empty_rows);
    CHECK(host.mean_row == other.mean_row);
    CHECK(host.row_deviation == other.row_deviation);
    CHECK(host.lower_bandwidth == other.lower_bandwidth);
    CHECK(host.upper_bandwidth == other.upper_bandwidth);
    CHECK(host.diagonals == other.diagonals);
    CHECK(host.pattern_symmetric == other.pattern_symmetric);
    CHECK(host.value_symmetric == other.value_symmetric);
    CHECK(host.asymmetry == other.asymmetry);
    REQUIRE(host.occupancy.size() == other.occupancy.size());
    for (std::size_t k = 0; k < host.occupancy.size(); ++k) {
      CHECK(host.occupancy[k].block_size == other.occupancy[k].block_size);
      CHECK(host.occupancy[k].blocks == other.occupancy[k].blocks);
      CHECK(host.occupancy[k].density == other.occupancy[k].density);
    }
    CHECK(portable::block_occupancy<Exec>(A, 7).blocks == block_occupancy(A, 7).blocks);
  }
}

TEMPLATE_TEST_CASE("portable layouts equal the host's", "", float, double) {
  for (const auto& matrix : matrices<TestType>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    for (const int b : {1, 2, 3, 7, 16}) {
      INFO(name << ", blocks of " << b);
      CHECK(same_layout(portable::to_bcsr<Exec>(A, b), to_bcsr(A, b)));
      CHECK(same_layout(portable::to_bsell<Exec>(A, b), to_bsell(A, b)));
      CHECK(same_layout(portable::to_bsell<Exec>(A, b, 5, 7), to_bsell(A, b, 5, 7)));
    }
    INFO(name);
    // Windows of one row, of several runs that are merged, and of all rows.
    for (const index_t window : {1, 256, 257, 700, 1025, 1 << 30})
      CHECK(same_layout(portable::to_bsell<Exec>(A, 1, 32, window), to_bsell(A, 1, 32, window)));
    for (const bool symmetric : {false, true}) {
      const std::string refusal = thrown([&] { to_dia(A, symmetric); });
      CHECK(thrown([&] { portable::to_dia<Exec>(A, symmetric); }) == refusal);
      if (refusal.empty())
        CHECK(same_layout(portable::to_dia<Exec>(A, symmetric), to_dia(A, symmetric)));
    }
  }
}

TEMPLATE_TEST_CASE("portable ways back to CSR equal the host's", "", float, double) {
  for (const auto& matrix : matrices<TestType>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    INFO(name);
    for (const int b : {1, 2, 3, 7}) {
      const auto bcsr = to_bcsr(A, b);
      CHECK(same_layout(portable::to_csr<Exec>(bcsr), to_csr(bcsr)));
      const auto bsell = to_bsell(A, b, 8);
      CHECK(same_layout(portable::to_csr<Exec>(bsell), to_csr(bsell)));
    }
    for (const bool symmetric : {false, true}) {
      if (!thrown([&] { to_dia(A, symmetric); }).empty()) continue;
      const auto dia = to_dia(A, symmetric);
      CHECK(same_layout(portable::to_csr<Exec>(dia), to_csr(dia)));
    }
  }
}

TEMPLATE_TEST_CASE("portable update_values equals the host's and allocates nothing", "", float,
                   double) {
  using Other = std::conditional_t<std::is_same_v<TestType, float>, double, float>;
  for (const auto& matrix : matrices<TestType>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    INFO(name);
    const auto source = with_new_values(A);
    const auto other = convert_values<Other>(source);
    check_update(deep_copy_of(A), source);
    check_update(deep_copy_of(A), other);
    for (const int b : {2, 3}) {
      check_update(to_bcsr(A, b), source);
      check_update(to_bcsr(A, b), other);
    }
    for (const int b : {1, 3}) {
      check_update(to_bsell(A, b), source);
      check_update(to_bsell(A, b, 4, 9), other);
    }
    for (const bool symmetric : {false, true})
      if (thrown([&] { to_dia(A, symmetric); }).empty())
        check_update(to_dia(A, symmetric), symmetric ? A : source);
    check_update(to_bcsr(A, 2), random_csr<TestType>(A.rows, A.cols, 0, 1));
    check_update(to_bsell(A), random_csr<TestType>(A.rows, A.cols, 0, 1));
  }
}

TEST_CASE("portable update_values refuses what the host's refuses") {
  const auto pattern =
      literal_csr<double>(4, 4, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 3, 3}, {1, 2, 3, 4, 5, 6});
  const auto foreign = literal_csr<double>(4, 4, {0, 0, 0, 0, 2}, {0, 3}, {1, 1});
  const auto disordered = literal_csr<double>(4, 4, {0, 2, 2, 2, 2}, {3, 0}, {1, 1});
  const auto large = literal_csr<double>(4, 4, {0, 1, 2, 2, 2}, {0, 1}, {1, 1e60});
  const auto check = [](auto A, const auto& source, const char* text) {
    CHECK_SAME_REFUSAL(text, portable::update_values<Exec>(A, source), update_values(A, source));
  };
  check(to_bcsr(pattern, 2), foreign, "entry (3, 0) has no place");
  check(to_bcsr(pattern, 2), disordered, "has no place");
  check(to_bcsr(pattern, 2), random_csr<double>(4, 5, 0, 1), "differ in rows or cols");
  check(to_bcsr(pattern, 2), to_bcsr(pattern, 2), "must be CSR");
  check(to_bsell(pattern, 2, 4), foreign, "entry (3, 0) has no place");
  check(to_bsell(pattern, 1, 2), disordered, "has no place");
  check(to_bcsr(convert_values<float>(pattern), 2), large, "entry (1, 1) is too large");
  check(to_bsell(convert_values<float>(pattern)), large, "entry (1, 1) is too large");
  check(to_dia(pattern), foreign, "row 3 has no place");
  check(to_dia(convert_values<float>(pattern)), large, "row 1 has no place");

  const auto symmetric = literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, 4});
  check(to_dia(symmetric, true), literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 2, 4}),
        "row 1 is not symmetric");
  check(to_dia(symmetric, true), literal_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {4, 0, 4}),
        "without a mirror image");
}

TEST_CASE("portable conversions refuse what the host's refuse") {
  const auto A = random_csr<double>(40, 40, 5, 2);
  CHECK_SAME_REFUSAL("block size", portable::to_bcsr<Exec>(A, 17), to_bcsr(A, 17));
  CHECK_SAME_REFUSAL("block size", portable::to_bsell<Exec>(A, 0), to_bsell(A, 0));
  CHECK_SAME_REFUSAL("slice height", portable::to_bsell<Exec>(A, 1, 1025), to_bsell(A, 1, 1025));
  CHECK_SAME_REFUSAL("sort window", portable::to_bsell<Exec>(A, 1, 8, -1), to_bsell(A, 1, 8, -1));
  const auto wide = random_csr<double>(4, 5, 2, 1);
  CHECK_SAME_REFUSAL("square", portable::to_dia<Exec>(wide, true), to_dia(wide, true));
  const auto arrow = random_csr<double>(3000, 3000, 2, 1, one_dense_row);
  CHECK_SAME_REFUSAL("diagonals", portable::to_dia<Exec>(arrow), to_dia(arrow));
  const auto blocks = to_bcsr(A, 2);
  CHECK_SAME_REFUSAL("CSR", portable::to_bsell<Exec>(blocks), to_bsell(blocks));
  CHECK_SAME_REFUSAL("CSR", portable::analyze<Exec>(blocks), analyze(blocks));
}

TEST_CASE("portable convert_values equals the host's") {
  const auto A = to_bcsr(random_csr<double>(200, 200, 12, 5, block(2)), 2);
  CHECK(same_layout(portable::convert_values<float, Exec>(A), convert_values<float>(A)));
  CHECK(same_layout(portable::convert_values<double, Exec>(A), convert_values<double>(A)));
  A.values(3) = infinity;
  CHECK(same_layout(portable::convert_values<float, Exec>(A), convert_values<float>(A)));
  A.values(A.values.extent(0) / 2) = 1e60;
  A.values(A.values.extent(0) - 1) = -1e60;
  CHECK_SAME_REFUSAL("too large", (portable::convert_values<float, Exec>(A)),
                     convert_values<float>(A));
}

TEST_CASE("portable validate names the faults that the host's names") {
  const auto check = [](const auto& A, const char* text) {
    CHECK_SAME_REFUSAL(text, portable::validate<Exec>(A), A.validate());
  };
  const auto write = [](const auto& view, std::size_t i, auto value) {
    const_cast<std::remove_const_t<std::remove_reference_t<decltype(view(i))>>&>(view(i)) =
        static_cast<std::remove_const_t<std::remove_reference_t<decltype(view(i))>>>(value);
  };
  const auto csr = random_csr<double>(300, 301, 6, 9, banded);
  SECTION("csr") {
    auto A = deep_copy_of(csr);
    write(A.columns, 700, 400);
    check(A, "column 400 is out of range");
    write(A.columns, 700, -4);
    check(A, "column -4 is out of range");
    write(A.columns, 700, A.columns(701));
    check(A, "more than once");
    write(A.row_offsets, 4, 1 << 20);
    check(A, "do not lie in order");
    write(A.row_offsets, 300, 5);
    check(A, "end at the number of blocks");
    write(A.row_offsets, 0, 1);
    check(A, "start at 0");
    A.nonzeros = -1;
    check(A, "nonzeros");
  }
  SECTION("bcsr") {
    auto A = to_bcsr(csr, 4);
    const auto last = static_cast<std::size_t>(A.row_offsets(3)) - 1;
    write(A.columns, last, A.block_cols() - 1);
    for (std::size_t k = 0; k < 16; ++k) write(A.values, last * 16 + k, 1);
    check(A, "block row 2: an entry outside the matrix is not zero");
    A.rows = 400;
    check(A, "row_offsets");
  }
  SECTION("bsell") {
    auto A = to_bsell(csr, 1, 8, 16);
    const auto slot = static_cast<std::size_t>(A.slice_offsets(3)) - 1;
    write(A.values, slot, 3);
    check(A, "padding is not zero");
    write(A.columns, 100, 400);
    check(A, "a column is out of range");
    write(A.slice_offsets, 1, 9);
    check(A, "multiple of the slice height");
    write(A.slice_offsets, 1, -8);
    check(A, "slice offsets do not ascend");
    write(A.row_permutation, 302, 4);
    check(A, "not -1 at sorted position 302");
    write(A.row_permutation, 77, A.row_permutation(20));
    check(A, "repeats a block row at sorted position 77");
    write(A.row_permutation, 50, 300);
    check(A, "out of range at sorted position 50");
    write(A.slice_offsets, 0, 8);
    check(A, "start at 0");
    A.sort_window = 0;
    check(A, "sort window");
  }
  SECTION("dia") {
    auto A = to_dia(csr);
    write(A.values, 0, 1);
    check(A, "value outside the matrix in row 0");
    write(A.values, 0, 0);
    write(A.offsets, 2, -300);
    check(A, "offset outside the matrix");
    write(A.offsets, 1, A.offsets(0));
    check(A, "ascend");
    A.rows = 5;
    check(A, "diagonals * rows");
  }
}

TEMPLATE_TEST_CASE("portable preconditioners equal the host's", "", (std::pair<float, float>),
                   (std::pair<double, double>), (std::pair<float, double>),
                   (std::pair<double, float>)) {
  using V = typename TestType::first_type;
  using S = typename TestType::second_type;
  const auto check = [](const CsrMatrix<S>& A, PreconditionerKind kind, int b) {
    Preconditioner<V> host, other;
    const PreconditionerSetup expected = set_up_preconditioner(A, kind, b, host);
    const PreconditionerSetup found = portable::set_up_preconditioner<Exec>(A, kind, b, other);
    CHECK(found.row == expected.row);
    CHECK(found.singular_block == expected.singular_block);
    CHECK(other.kind == host.kind);
    CHECK(other.block_size == host.block_size);
    CHECK(same_bytes(other.inverse, host.inverse));
    const V* inverse = other.inverse.data();
    portable::set_up_preconditioner<Exec>(A, kind, b, other);
    CHECK(other.inverse.data() == inverse);
  };
  for (const auto& matrix : matrices<S>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    if (A.rows != A.cols) continue;
    INFO(name);
    check(A, PreconditionerKind::none, 1);
    check(A, PreconditionerKind::jacobi, 5);
    for (const int b : {1, 2, 3, 4, 5, 8, 13, 16}) check(A, PreconditionerKind::block_jacobi, b);
    if (A.values.extent(0) < 20) continue;
    const auto spoiled = deep_copy_of(A);
    spoiled.values(spoiled.values.extent(0) / 2) = static_cast<S>(infinity);
    check(spoiled, PreconditionerKind::jacobi, 1);
    check(spoiled, PreconditionerKind::block_jacobi, 3);
  }
}

TEST_CASE("portable preconditioners refuse what the host's refuse") {
  Preconditioner<double> M;
  const auto wide = random_csr<double>(4, 5, 2, 1);
  const auto square = random_csr<double>(4, 4, 2, 1);
  constexpr auto blocks = PreconditionerKind::block_jacobi;
  CHECK_SAME_REFUSAL("square", portable::set_up_preconditioner<Exec>(wide, blocks, 2, M),
                     set_up_preconditioner(wide, blocks, 2, M));
  CHECK_SAME_REFUSAL("block size", portable::set_up_preconditioner<Exec>(square, blocks, 17, M),
                     set_up_preconditioner(square, blocks, 17, M));
}

TEST_CASE("choose_format weighs a device by its own efficiencies") {
  const auto choice = [](const CsrMatrix<double>& A) {
    return choose_format(analyze(A), 8, MemorySpace::device).format.text();
  };
  CHECK(choice(generate_problem("poisson2d:60x60")) == "dia-symmetric");
  CHECK(choice(random_csr<double>(3000, 3000, 4, 1)) == "csr");  // sliced rows start later
  CHECK(choice(random_csr<double>(3000, 3000, 60, 1, block(3))) == "bcsr:3");
  CHECK(choice(random_csr<double>(30000, 30000, 60, 1, block(3))) == "bsell:3");
  CHECK_THAT(choose_format(analyze(random_csr<double>(300, 300, 4, 1)), 8, MemorySpace::device)
                 .reasons.front(),
             ContainsSubstring("78 % of memory speed"));
}
