#include "solve/backends.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/copy.hpp>
#include <cnc/preconditioner.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// CSR as callers have it: what is harmless is taken, the rest is refused by row and column, whatever the layout.

namespace {

/// CSR arrays that a test may spoil.
struct Arrays {
  index_t rows = 0, cols = 0;
  std::vector<index_t> row_offsets, columns;
  std::vector<double> values;

  explicit Arrays(const CsrMatrix<double>& A)
      : rows(A.rows),
        cols(A.cols),
        row_offsets(entries(A.row_offsets)),
        columns(entries(A.columns)),
        values(entries(A.values)) {}

  CsrMatrix<double> wrapped(const WrapOptions& options = {}) {
    return wrap_csr(rows, cols, static_cast<offset_t>(columns.size()), row_offsets.data(),
                    columns.data(), values.data(), options);
  }

  /// Puts the entries of every row into the order of `before`(row, a, b), a and b columns.
  template <class Before>
  void reorder(const Before& before) {
    for (index_t row = 0; row < rows; ++row) {
      const auto begin = row_offsets[row], n = row_offsets[row + 1] - begin;
      std::vector<std::pair<index_t, double>> sorted;
      for (index_t k = begin; k < begin + n; ++k) sorted.emplace_back(columns[k], values[k]);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](const auto& a, const auto& b) { return before(row, a.first, b.first); });
      for (index_t k = 0; k < n; ++k)
        std::tie(columns[begin + k], values[begin + k]) = sorted[static_cast<std::size_t>(k)];
    }
  }
};

Arrays diagonal_first(Arrays given) {
  given.reorder([](index_t row, index_t a, index_t b) { return a == row && b != row; });
  return given;
}
Arrays shuffled(Arrays given) {
  given.reorder([](index_t row, index_t a, index_t b) {
    return (a * 7919 + row) % 101 < (b * 7919 + row) % 101;
  });
  return given;
}

const FormatSpec layouts[] = {{"csr", 1},   {"auto", 1}, {"bcsr", 2},         {"bcsr", 3},
                              {"bsell", 1}, {"dia", 1},  {"dia-symmetric", 1}};

std::vector<SolveOptions> ways() {
  std::vector<SolveOptions> all;
  for (const FormatSpec& format : layouts)
    for (const StoragePrecision storage :
         {StoragePrecision::lossless, StoragePrecision::as_vectors, StoragePrecision::f32})
      for (const int block : {0, 1, 3}) {
        SolveOptions options;
        options.format = format;
        options.storage = storage;
        options.preconditioner = block == 0   ? PreconditionerKind::none
                                 : block == 1 ? PreconditionerKind::jacobi
                                              : PreconditionerKind::block_jacobi;
        options.preconditioner_block_size = block;
        options.rtol = 1e-10;
        all.push_back(options);
      }
  SolveOptions reordered;
  reordered.reordering = Reordering::rcm;
  all.push_back(reordered);
  return all;
}

/// Calls body(ctx) in each memory that contexts can be in.
template <class Body>
void in_each_memory(const Body& body) {
  Context<> host("openmp", 2);
  body(host);
#ifdef CNC_KOKKOS_HAS_DEVICE
  if (!detail::is_host_space<Kokkos::DefaultExecutionSpace::memory_space>) {
    Context<Kokkos::DefaultExecutionSpace> device;
    body(device);
  }
#endif
}

template <class Exec>
void check_refused(Context<Exec>& ctx, const CsrMatrix<double>& A, const std::string& text,
                   const std::string& where) {
  using Space = typename Exec::memory_space;
  for (const SolveOptions& options : ways()) {
    INFO(options.format.text());
    Solver<double, Exec> solver(ctx, options);
    CHECK_THROWS_WITH(solver.prepare(copy_to<Space>(A)),
                      ContainsSubstring(text) && ContainsSubstring(where));
  }
}

template <class Exec>
void check_solves(Context<Exec>& ctx, const CsrMatrix<double>& given,
                  const KnownProblem<double>& problem, const SolveOptions& options) {
  using Space = typename Exec::memory_space;
  INFO(options.format.text() << " preconditioner " << int(options.preconditioner) << " storage "
                             << int(options.storage));
  Solver<double, Exec> solver(ctx, options);
  const auto A = copy_to<Space>(given);
  const auto b = copy_to<Space>(problem.b);
  const auto x = zeroed<double, Space>("x", b.extent(0));
  solver.prepare(A);
  for (const double factor : {1.0, 3.0}) {
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    auto solution = copy_to<HostSpace>(x);
    if constexpr (detail::is_host_space<Space>) solution = copy_of(x);
    for (std::size_t i = 0; i < solution.extent(0); ++i) solution(i) *= factor;
    CHECK(relative_difference(solution, problem.solution) < 1e-6);
    auto next = copy_of(given.values);
    for (std::size_t k = 0; k < next.extent(0); ++k) next(k) *= 3.0;
    const CsrMatrix<double, Space> updated(A.rows, A.cols, 1, A.row_offsets, A.columns,
                                           copy_to<Space>(next));
    solver.update_values(updated);
  }
}

}  // namespace

TEST_CASE("a matrix with a fault is refused by row and column, whatever the layout") {
  const Arrays good(generate_problem("poisson2d:9x9"));
  in_each_memory([&](auto& ctx) {
    for (const index_t column : {81, 1000000000, -1, -2000000000}) {
      Arrays spoiled = good;
      spoiled.columns[spoiled.row_offsets[4] + 1] = column;
      check_refused(ctx, spoiled.wrapped(), "row 4: column " + std::to_string(column), "range");
    }
    Arrays descending = good;
    descending.row_offsets[7] = descending.row_offsets[6] - 1;
    check_refused(ctx, descending.wrapped(), "row 6: its offsets", "order");
    Arrays beyond = good;
    beyond.row_offsets[5] = 1 << 30;
    check_refused(ctx, beyond.wrapped(), "row 4: its offsets", std::to_string(1 << 30));
    Arrays longer = good;
    longer.row_offsets.back() += 1000;
    check_refused(ctx, longer.wrapped(), "end at the number of", "369");
    Arrays twice = good;
    const index_t first = twice.row_offsets[10];
    twice.columns[first + 2] = twice.columns[first];
    check_refused(ctx, twice.wrapped(), "row 10 has column 1 more than once", "");
  });
}

TEST_CASE("block-Jacobi and Jacobi set-up check the matrix too") {
  Arrays spoiled(generate_problem("poisson2d:9x9"));
  spoiled.columns[spoiled.row_offsets[4]] = -7;
  Preconditioner<double> M;
  for (const int b : {1, 3})
    CHECK_THROWS_WITH(
        set_up_preconditioner(spoiled.wrapped(), PreconditionerKind::block_jacobi, b, M),
        ContainsSubstring("row 4: column -7"));
}

TEST_CASE("rows in any order are solved and updated, whatever the layout") {
  const auto problem = known_problem<double>("elasticity2d:7");
  for (Arrays arrays : {diagonal_first(Arrays(problem.A)), shuffled(Arrays(problem.A))}) {
    const CsrMatrix<double> A = arrays.wrapped();
    in_each_memory([&](auto& ctx) {
      for (const SolveOptions& options : ways()) {
        if (options.format.name.rfind("dia", 0) == 0) continue;
        check_solves(ctx, A, problem, options);
      }
    });
  }
  const auto stencil = known_problem<double>("poisson2d:20x20");
  Arrays arrays = diagonal_first(Arrays(stencil.A));
  const CsrMatrix<double> A = arrays.wrapped();
  in_each_memory([&](auto& ctx) {
    for (const SolveOptions& options : ways()) check_solves(ctx, A, stencil, options);
  });
}

TEST_CASE("const values, wide offsets and an index base of 1 are taken") {
  const auto problem = known_problem<double>("poisson2d:20x20");
  Arrays arrays(problem.A);
  const std::vector<double> values = arrays.values;
  const auto nonzeros = static_cast<offset_t>(values.size());
  Context<> ctx("openmp", 2);

  const auto constant =
      wrap_csr(400, 400, nonzeros, arrays.row_offsets.data(), arrays.columns.data(), values.data());
  CHECK(constant.values.data() == values.data());
  CHECK(constant.row_offsets.data() == arrays.row_offsets.data());
  CHECK(constant.columns.data() == arrays.columns.data());
  for (const SolveOptions& options : ways()) check_solves(ctx, constant, problem, options);
  CHECK(values == arrays.values);
  auto same = constant;
  CHECK_THROWS_WITH(update_values(same, deep_copy_of(problem.A)), ContainsSubstring("const"));

  const std::vector<std::int64_t> wide(arrays.row_offsets.begin(), arrays.row_offsets.end());
  const auto from_wide =
      wrap_csr(400, 400, nonzeros, wide.data(), arrays.columns.data(), arrays.values.data());
  CHECK(same_matrix(from_wide, problem.A));
  CHECK(from_wide.columns.data() == arrays.columns.data());
  CHECK(from_wide.values.data() == arrays.values.data());
  const std::vector<std::size_t> columns(arrays.columns.begin(), arrays.columns.end());
  CHECK(same_matrix(wrap_csr(400, 400, nonzeros, wide.data(), columns.data(), arrays.values.data()),
                    problem.A));

  for (index_t& offset : arrays.row_offsets) ++offset;
  for (index_t& column : arrays.columns) ++column;
  const auto from_one = arrays.wrapped({.index_base = 1});
  CHECK(same_matrix(from_one, problem.A));
  CHECK(from_one.values.data() == arrays.values.data());
  for (const SolveOptions& options : ways()) check_solves(ctx, from_one, problem, options);
  Solver<double> solver(ctx);
  CHECK_THROWS_WITH(solver.prepare(arrays.wrapped()), ContainsSubstring("index_base"));
}

TEST_CASE("wide indices that 32 bits do not hold are refused by their place") {
  std::vector<std::int64_t> offsets = {0, 1, std::int64_t{1} << 32};
  const std::vector<std::int64_t> columns = {0, (std::int64_t{1} << 40) + 1};
  const std::vector<double> values = {1, 1};
  CHECK_THROWS_WITH(wrap_csr(2, 2, 2, offsets.data(), columns.data(), values.data()),
                    ContainsSubstring("row_offsets[2] is 4294967296"));
  offsets[2] = 2;
  CHECK_THROWS_WITH(wrap_csr(2, 2, 2, offsets.data(), columns.data(), values.data()),
                    ContainsSubstring("columns[1] is 1099511627777"));
  CHECK_THROWS_WITH(
      wrap_csr(2, 2, offset_t{1} << 31, offsets.data(), columns.data(), values.data()),
      ContainsSubstring("2^31 - 1"));
  const std::vector<index_t> zero_based = {0, 0};
  Context<> ctx;
  Solver<double> solver(ctx);
  for (std::int64_t& offset : offsets) ++offset;
  CHECK_THROWS_WITH(solver.prepare(wrap_csr(2, 2, 2, offsets.data(), zero_based.data(),
                                            values.data(), {.index_base = 1})),
                    ContainsSubstring("row 0: column -1"));
}

TEST_CASE("a trusted matrix is not checked again") {
  // A count that validate() refuses and that harms nothing tells whether it was asked.
  CsrMatrix<double> A = generate_problem("poisson2d:9x9");
  A.nonzeros = A.stored() + 1;
  Context<> ctx;
  for (const FormatSpec& format : layouts) {
    INFO(format.text());
    SolveOptions options;
    options.format = format;
    CHECK_THROWS_WITH(Solver<double>(ctx, options).prepare(A), ContainsSubstring("nonzeros"));
    options.trusted = true;
    CHECK_NOTHROW(Solver<double>(ctx, options).prepare(A));
  }
  CHECK_THROWS_AS(to_bsell(A), InvalidArgument);
  A.checked = Checked::ascending;
  CHECK_NOTHROW(to_bsell(A));
  // Extents are looked at in any case: it costs nothing.
  A.values = Vector<double>("short", A.values.extent(0) - 1);
  SolveOptions trusting;
  trusting.trusted = true;
  CHECK_THROWS_AS(Solver<double>(ctx, trusting).prepare(A), InvalidArgument);
}

TEST_CASE("update_values refuses arrays that are too short") {
  const auto problem = known_problem<double>("poisson2d:9x9");
  in_each_memory([&](auto& ctx) {
    using Exec = std::remove_cvref_t<decltype(ctx.execution_space_instance())>;
    using Space = typename Exec::memory_space;
    for (const SolveOptions& options : ways()) {
      INFO(options.format.text());
      Solver<double, Exec> solver(ctx, options);
      const auto A = copy_to<Space>(problem.A);
      solver.prepare(A);
      auto short_one = A;
      short_one.values = zeroed<double, Space>("short", A.values.extent(0) - 1);
      CHECK_THROWS_AS(solver.update_values(short_one), InvalidArgument);
      auto other = A;
      other.columns = Kokkos::subview(A.columns, std::pair<std::size_t, std::size_t>(1, 5));
      CHECK_THROWS_AS(solver.update_values(other), InvalidArgument);
    }
  });
}
