#include "convert/analyze.hpp"
#include "convert/bcsr.hpp"
#include "convert/bsell.hpp"
#include "convert/dia.hpp"
#include "convert/spaces.hpp"
#include "convert/transpose.hpp"
#include "precondition/set_up_preconditioner.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/copy.hpp>
#include <cnc/formats.hpp>
#include <cnc/problems.hpp>

#include <cmath>
#include <limits>

// Set-up is written once over loops; here they are Kokkos' loops, in host memory and on the device if there is one,
// against those of the host's threads. What the results must be is tested by format, on the host.

using namespace cnc;
using namespace cnc::testing;
namespace set_up = cnc::detail::set_up;

namespace {

/// Kokkos' host space as if it were a device.
struct LikeDevice : Kokkos::DefaultHostExecutionSpace {};

}  // namespace

template <>
inline constexpr bool cnc::detail::on_threads<LikeDevice> = false;

namespace {

using Catch::Matchers::ContainsSubstring;

constexpr double infinity = std::numeric_limits<double>::infinity();

#define FORWARD(name, function) \
  template <class... A>         \
  static auto name(A&&... a) {  \
    return function(a...);      \
  }
#define FORWARD_TO(name) FORWARD(name, set_up::name<LikeDevice>)

/// Set-up functions by Kokkos' loops in host memory.
template <class Value>
struct ByKokkos {
  using T = Value;
  using Space = HostSpace;
  FORWARD_TO(analyze)
  FORWARD_TO(block_occupancy)
  FORWARD_TO(find_asymmetry)
  FORWARD_TO(to_bcsr)
  FORWARD_TO(to_bsell)
  FORWARD_TO(to_dia)
  FORWARD_TO(to_csr)
  FORWARD_TO(validate)
  FORWARD_TO(transpose)
  FORWARD_TO(update_values)
  FORWARD_TO(set_up_preconditioner)
  FORWARD_TO(set_up_normal_preconditioner)
  FORWARD(to_float, (set_up::convert_values<float, LikeDevice>))
  FORWARD(to_double, (set_up::convert_values<double, LikeDevice>))
};

#ifdef CNC_KOKKOS_HAS_DEVICE
/// The library's functions, in device memory.
template <class Value>
struct OnDevice {
  using T = Value;
  using Space = detail::DeviceSpace;
  FORWARD(analyze, cnc::analyze)
  FORWARD(block_occupancy, cnc::block_occupancy)
  FORWARD(find_asymmetry, cnc::find_asymmetry)
  FORWARD(to_bcsr, cnc::to_bcsr)
  FORWARD(to_bsell, cnc::to_bsell)
  FORWARD(to_dia, cnc::to_dia)
  FORWARD(to_csr, cnc::to_csr)
  FORWARD(transpose, cnc::transpose)
  FORWARD(update_values, cnc::update_values)
  FORWARD(set_up_preconditioner, cnc::set_up_preconditioner)
  FORWARD(set_up_normal_preconditioner, cnc::set_up_normal_preconditioner)
  FORWARD(to_float, cnc::convert_values<float>)
  FORWARD(to_double, cnc::convert_values<double>)
  template <class A>
  static auto validate(const A& a) {
    return a.validate();
  }
};
#define EXECUTIONS ByKokkos<float>, ByKokkos<double>, OnDevice<float>, OnDevice<double>
#define EXECUTIONS_OF_DOUBLE ByKokkos<double>, OnDevice<double>
#else
#define EXECUTIONS ByKokkos<float>, ByKokkos<double>
#define EXECUTIONS_OF_DOUBLE ByKokkos<double>
#endif

template <class View, class Other>
bool same_view(const View& host, const Other& other) {
  return same_entries(host, copy_to<HostSpace>(other));
}
template <class T, class Space>
bool same_layout(const BcsrMatrix<T>& A, const BcsrMatrix<T, Space>& B) {
  return same_matrix(A, copy_to<HostSpace>(B));
}
template <class T, class Space>
bool same_layout(const BsellMatrix<T>& A, const BsellMatrix<T, Space>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         A.slice_height == B.slice_height && A.sort_window == B.sort_window &&
         A.nonzeros == B.nonzeros && same_view(A.slice_offsets, B.slice_offsets) &&
         same_view(A.columns, B.columns) && same_view(A.row_permutation, B.row_permutation) &&
         same_view(A.values, B.values);
}
template <class T, class Space>
bool same_layout(const DiaMatrix<T>& A, const DiaMatrix<T, Space>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.symmetric == B.symmetric &&
         A.nonzeros == B.nonzeros && same_view(A.offsets, B.offsets) &&
         same_view(A.values, B.values);
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

/// Both refuse, with the same words.
#define CHECK_SAME_REFUSAL(text, call, host_call)              \
  do {                                                         \
    const std::string refusal = thrown([&] { (void)(call); }); \
    CHECK(refusal == thrown([&] { (void)(host_call); }));      \
    CHECK_THAT(refusal, ContainsSubstring(text));              \
  } while (false)

/// New values for both layouts, which are alike before and after.
template <class By, class Layout, class Other, class Source>
void check_update(Layout& host, Other& other, const Source& source) {
  const auto copy = copy_to<typename By::Space>(source);
  Kokkos::deep_copy(other.values, typename By::T(-7));
  const long before = allocation_count();
  By::update_values(other, copy);
  // Kokkos 4 and later make strings of their own for every fence.
  if (KOKKOS_VERSION < 40000 && std::is_same_v<typename By::Space, HostSpace>)
    CHECK(allocation_count() == before);
  update_values(host, source);
  CHECK(same_layout(host, other));
}

/// Builds a layout of A both ways, leads it back to CSR, and gives it new values.
template <class By, class Build, class BuildOther>
void check_layout(const CsrMatrix<typename By::T>& A, const Build& build,
                  const BuildOther& build_other) {
  using T = typename By::T;
  using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;
  const auto D = copy_to<typename By::Space>(deep_copy_of(A));
  const std::string refusal = thrown([&] { build(A); });
  CHECK(thrown([&] { build_other(D); }) == refusal);
  if (!refusal.empty()) return;
  auto host = build(deep_copy_of(A));
  auto other = build_other(D);
  CHECK(same_layout(host, other));
  CHECK_NOTHROW(By::validate(other));
  CHECK(same_layout(to_csr(host), By::to_csr(other)));
  check_update<By>(host, other, A);
  check_update<By>(host, other, convert_values<Other>(A));
  check_update<By>(host, other, random_csr<T>(A.rows, A.cols, 0, 1));
  if constexpr (!std::is_same_v<decltype(host), DiaMatrix<T>>)
    check_update<By>(host, other, with_new_values(A));
}

}  // namespace

TEMPLATE_TEST_CASE("Kokkos' loops analyse as the host's", "", EXECUTIONS) {
  using By = TestType;
  for (const auto& matrix : matrices<typename By::T>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    INFO(name);
    const auto D = copy_to<typename By::Space>(A);
    const Structure host = analyze(A), other = By::analyze(D);
    CHECK(host.longest_row == other.longest_row);
    CHECK(host.shortest_row == other.shortest_row);
    CHECK(host.empty_rows == other.empty_rows);
    CHECK(host.row_deviation == other.row_deviation);
    CHECK(host.lower_bandwidth == other.lower_bandwidth);
    CHECK(host.upper_bandwidth == other.upper_bandwidth);
    CHECK(host.diagonals == other.diagonals);
    CHECK(host.pattern_symmetric == other.pattern_symmetric);
    CHECK(host.value_symmetric == other.value_symmetric);
    CHECK(host.asymmetry == other.asymmetry);
    CHECK(host.least_symmetric.row == other.least_symmetric.row);
    CHECK(host.least_symmetric.column == other.least_symmetric.column);
    REQUIRE(host.occupancy.size() == other.occupancy.size());
    for (std::size_t k = 0; k < host.occupancy.size(); ++k) {
      CHECK(host.occupancy[k].blocks == other.occupancy[k].blocks);
      CHECK(host.occupancy[k].blocks == block_occupancy(A, host.occupancy[k].block_size).blocks);
    }
    CHECK(block_occupancy(A, 7).blocks == By::block_occupancy(D, 7).blocks);
    if (A.rows == A.cols) CHECK(find_asymmetry(A).row == By::find_asymmetry(D).row);
  }
}

TEMPLATE_TEST_CASE("Kokkos' loops build and refresh the layouts that the host's do", "",
                   EXECUTIONS) {
  using By = TestType;
  for (const auto& matrix : matrices<typename By::T>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;
    for (const int b : {1, 2, 3, 7, 16}) {
      INFO(name << ", blocks of " << b);
      check_layout<By>(
          A, [=](const auto& a) { return to_bcsr(a, b); },
          [=](const auto& a) { return By::to_bcsr(a, b); });
      // Windows of one slice, of several runs that are merged once or more often, and of all rows.
      for (const index_t window : {1, 7, 256, 700, 1025, 1 << 30}) {
        if (b != 1 && window != 700) continue;
        INFO("window " << window);
        check_layout<By>(
            A, [=](const auto& a) { return to_bsell(a, b, 5, window); },
            [=](const auto& a) { return By::to_bsell(a, b, 5, window); });
      }
    }
    INFO(name);
    for (const bool symmetric : {false, true})
      check_layout<By>(
          A, [=](const auto& a) { return to_dia(a, symmetric); },
          [=](const auto& a) { return By::to_dia(a, symmetric); });
    const auto D = copy_to<typename By::Space>(A);
    CHECK(same_layout(transpose(A), By::transpose(D)));
    CHECK(same_layout(convert_values<float>(A), By::to_float(D)));
    CHECK(same_layout(convert_values<double>(A), By::to_double(D)));
  }
}

TEMPLATE_TEST_CASE("Kokkos' loops name the entries that update_values refuses on the host", "",
                   EXECUTIONS_OF_DOUBLE) {
  using By = TestType;
  using Space = typename By::Space;
  const auto pattern =
      literal_csr<double>(4, 4, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 3, 3}, {1, 2, 3, 4, 5, 6});
  const auto foreign = literal_csr<double>(4, 4, {0, 0, 1, 1, 3}, {3, 0, 1}, {1, 1, 1});
  const auto large = literal_csr<double>(4, 4, {0, 1, 2, 2, 2}, {0, 1}, {1, 1e60});
  const auto check = [](auto A, const auto& source, const char* text) {
    auto D = copy_to<Space>(A);
    CHECK_SAME_REFUSAL(text, (By::update_values(D, copy_to<Space>(source)), 0),
                       (update_values(A, source), 0));
  };
  check(to_bcsr(pattern, 2), foreign, "entry (1, 3) has no place");
  check(to_bcsr(pattern, 2), to_bcsr(pattern, 2), "must be CSR");
  check(to_bsell(pattern, 2, 4), foreign, "entry (1, 3) has no place");
  check(to_bcsr(convert_values<float>(pattern), 2), large, "entry (1, 1) is too large");
  check(to_bsell(convert_values<float>(pattern)), large, "entry (1, 1) is too large");
  check(to_dia(pattern), foreign, "row 1 has no place");
  check(to_dia(convert_values<float>(pattern)), large, "row 1 has no place");
  const auto symmetric = literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, 4});
  check(to_dia(symmetric, true), literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 2, 4}),
        "row 1 (counted from 0) differs from its column");
  check(to_dia(symmetric, true), literal_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {4, 0, 4}),
        "row 0 (counted from 0) has an entry without a mirror image");
  check(to_dia(literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {4, 4}), true),
        literal_csr<double>(2, 2, {0, 1, 3}, {0, 0, 1}, {4, 1, 4}),
        "row 1 (counted from 0) has an entry without a mirror image");

  auto blocks = to_bcsr(random_csr<double>(200, 200, 12, 5, block(2)), 2);
  blocks.values(blocks.values.extent(0) / 2) = 1e60;
  blocks.values(blocks.values.extent(0) - 1) = -1e60;
  CHECK_SAME_REFUSAL("too large", By::to_float(copy_to<Space>(blocks)),
                     convert_values<float>(blocks));
}

TEMPLATE_TEST_CASE("Kokkos' loops name the faults that validate names on the host", "",
                   EXECUTIONS_OF_DOUBLE) {
  using By = TestType;
  const auto check = [](const auto& A, const char* text) {
    const auto D = copy_to<typename By::Space>(A);
    CHECK(thrown([&] { A.validate(); }) == thrown([&] { By::validate(D); }));
    CHECK_THAT(thrown([&] { A.validate(); }), ContainsSubstring(text));
  };
  const auto write = [](const auto& view, std::size_t i, auto value) {
    using Entry = std::remove_const_t<std::remove_reference_t<decltype(view(i))>>;
    const_cast<Entry&>(view(i)) = static_cast<Entry>(value);
  };
  const auto csr = random_csr<double>(300, 301, 6, 9, banded);
  SECTION("csr") {
    auto A = deep_copy_of(csr);
    write(A.columns, 700, 400);
    write(A.columns, 800, 400);
    check(A, "column 400 is out of range");
    write(A.columns, 700, -4);
    check(A, "column -4 is out of range");
    write(A.columns, 800, 0);
    write(A.columns, 700, A.columns(701));
    check(A, "more than once");
    write(A.row_offsets, 4, 1 << 20);
    check(A, "do not lie in order");
    write(A.row_offsets, 300, 5);
    check(A, "end at the number of blocks");
    write(A.row_offsets, 0, 1);
    check(A, "start at 0");
  }
  SECTION("bcsr") {
    auto A = to_bcsr(csr, 4);
    const auto last = static_cast<std::size_t>(A.row_offsets(3)) - 1;
    write(A.columns, last, A.block_cols() - 1);
    for (std::size_t k = 0; k < 16; ++k) write(A.values, last * 16 + k, 1);
    check(A, "block row 2: an entry outside the matrix is not zero");
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
  }
  SECTION("dia") {
    auto A = to_dia(csr);
    write(A.values, A.values.extent(0) - 1, 1);
    write(A.values, 1, 1);
    write(A.values, 0, 1);
    check(A, "value outside the matrix in row 0 (diagonal 0)");
    write(A.offsets, 2, -300);
    check(A, "offset outside the matrix");
  }
}

/// Every layout gives the blocks that CSR gives, to the last bit.
template <class By, class T>
void check_layouts(const CsrMatrix<T>& A) {
  using Space = typename By::Space;
  const CsrMatrix<T, Space> given = copy_to<Space>(A);
  for (const char* text :
       {"csr", "bcsr:2", "bcsr:3", "bsell:1", "bsell:4", "dia", "dia-symmetric"}) {
    Matrix<T, Space> layout;
    try {
      layout = build_format(given, parse_format(text));
    } catch (const InvalidArgument&) {
      continue;  // too many diagonals
    }
    INFO(text);
    for (const auto& [kind, b] :
         {std::pair{PreconditionerKind::none, 1}, std::pair{PreconditionerKind::jacobi, 1},
          std::pair{PreconditionerKind::block_jacobi, 3},
          std::pair{PreconditionerKind::block_jacobi, 16}}) {
      Preconditioner<T, Space> expected, found;
      expected.diagonal = found.diagonal =
          b == 3 ? DiagonalRule::as_it_is : DiagonalRule::magnitude;
      const PreconditionerSetup from_csr = By::set_up_preconditioner(given, kind, b, expected);
      const PreconditionerSetup from_layout = By::set_up_preconditioner(layout, kind, b, found);
      CHECK(from_layout.row == from_csr.row);
      CHECK(from_layout.singular_block == from_csr.singular_block);
      CHECK(found.kind == expected.kind);
      CHECK(found.block_size == expected.block_size);
      CHECK(same_view(copy_to<HostSpace>(expected.inverse), found.inverse));
    }
  }
}

TEMPLATE_TEST_CASE("Kokkos' loops invert the diagonal blocks that the host's do", "", EXECUTIONS) {
  using By = TestType;
  using T = typename By::T;
  const auto check = [](const auto& A, PreconditionerKind kind, int b) {
    Preconditioner<T> host;
    Preconditioner<T, typename By::Space> other;
    const auto D = copy_to<typename By::Space>(A);
    const PreconditionerSetup expected = set_up_preconditioner(A, kind, b, host);
    const PreconditionerSetup found = By::set_up_preconditioner(D, kind, b, other);
    CHECK(found.row == expected.row);
    CHECK(found.singular_block == expected.singular_block);
    CHECK(other.kind == host.kind);
    CHECK(other.block_size == host.block_size);
    const auto inverse = copy_to<HostSpace>(other.inverse);
    REQUIRE(inverse.extent(0) == host.inverse.extent(0));
    // Devices contract products and sums.
    const double tolerance = std::is_same_v<typename By::Space, HostSpace> ? 0 : 1e-5;
    for (std::size_t k = 0; k < inverse.extent(0); ++k)
      REQUIRE(std::abs(inverse(k) - host.inverse(k)) <= tolerance * (1 + std::abs(inverse(k))));
    const T* kept = other.inverse.data();
    By::set_up_preconditioner(D, kind, b, other);
    CHECK(other.inverse.data() == kept);
  };
  for (const auto& matrix : matrices<T>()) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;
    if (A.rows != A.cols) continue;
    INFO(name);
    check(A, PreconditionerKind::none, 1);
    check(A, PreconditionerKind::jacobi, 5);
    check(convert_values<float>(A), PreconditionerKind::jacobi, 1);
    check(convert_values<double>(A), PreconditionerKind::block_jacobi, 3);
    for (const int b : {1, 2, 4, 5, 8, 13, 16}) check(A, PreconditionerKind::block_jacobi, b);
    check_layouts<By>(A);
    if (A.values.extent(0) < 20) continue;
    const auto spoiled = deep_copy_of(A);
    spoiled.values(spoiled.values.extent(0) / 2) = static_cast<T>(infinity);
    check(spoiled, PreconditionerKind::jacobi, 1);
    check_layouts<By>(spoiled);
    check(spoiled, PreconditionerKind::block_jacobi, 3);
  }
}

TEMPLATE_TEST_CASE("Kokkos' loops invert the diagonal blocks of A^T A that the host's do", "",
                   EXECUTIONS_OF_DOUBLE) {
  using By = TestType;
  for (const auto& matrix : matrices<double>()) {
    if (matrix.A.rows != matrix.A.cols) continue;
    INFO(matrix.name);
    const auto At = transpose(matrix.A);
    const auto D = copy_to<typename By::Space>(At);
    for (const int b : {1, 3}) {
      Preconditioner<double> host;
      Preconditioner<double, typename By::Space> other;
      host.diagonal = other.diagonal = DiagonalRule::one_for_zero;
      const auto kind = PreconditionerKind::block_jacobi;
      CHECK(set_up_normal_preconditioner(At, kind, b, host).row ==
            By::set_up_normal_preconditioner(D, kind, b, other).row);
      const auto inverse = copy_to<HostSpace>(other.inverse);
      REQUIRE(inverse.extent(0) == host.inverse.extent(0));
      const double tolerance = std::is_same_v<typename By::Space, HostSpace> ? 0 : 1e-5;
      for (std::size_t k = 0; k < inverse.extent(0); ++k)
        REQUIRE(std::abs(inverse(k) - host.inverse(k)) <= tolerance * (1 + std::abs(inverse(k))));
    }
  }
}
