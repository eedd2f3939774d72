#include "solve/backends.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/blas1.hpp>
#include <cnc/spmv.hpp>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// What a caller can do wrong is an exception, and leaves x as it was.

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

CsrMatrix<double> line_of(index_t n) {
  return generate_problem("poisson2d:" + std::to_string(n) + "x1");
}

template <class Change>
void check_refused(const Change& change) {
  Context<> ctx("reference");
  SolveOptions options;
  change(options);
  CHECK_THROWS_AS(Solver<double>(ctx, options), InvalidArgument);
  Solver<double> solver(ctx);
  CHECK_THROWS_AS(solver.set_options(options), InvalidArgument);
}

}  // namespace

TEST_CASE("a solver that is not prepared does not solve") {
  Context<> ctx;
  Solver<double> solver(ctx);
  CHECK_THROWS_WITH(solver.solve(zeros<double>(3), zeros<double>(3)), ContainsSubstring("prepare"));
  CHECK_THROWS_AS(solver.update_values(line_of(3)), InvalidArgument);
  CHECK_THROWS_AS(solver.update_values(Matrix<double>(line_of(3))), InvalidArgument);
  // A prepare that fails leaves it unprepared, also after one that did not.
  solver.prepare(line_of(3));
  SolveOptions unknown;
  unknown.format = {"no such format", 1};
  solver.set_options(unknown);
  CHECK_THROWS_AS(solver.prepare(line_of(3)), InvalidArgument);
  CHECK_THROWS_AS(solver.solve(zeros<double>(3), zeros<double>(3)), InvalidArgument);
}

TEST_CASE("vectors of the wrong length or in each other's way are refused") {
  Context<> ctx;
  Solver<double> solver(ctx);
  solver.prepare(line_of(4));
  const Vector<double> b = varied_vector<double>(4), x = zeros<double>(4);
  for (const index_t n : {0, 3, 5}) {
    CHECK_THROWS_WITH(solver.solve(zeros<double>(n), x), ContainsSubstring("4 rows"));
    CHECK_THROWS_WITH(solver.solve(b, zeros<double>(n)), ContainsSubstring("4 rows"));
  }
  CHECK_THROWS_WITH(solver.solve(b, b), ContainsSubstring("overlap"));
  std::vector<double> memory(7, 1.0);
  const auto first = wrap(memory.data(), 4), last = wrap(memory.data() + 3, 4);
  CHECK_THROWS_WITH(solver.solve(first, last), ContainsSubstring("overlap"));
  CHECK_THROWS_WITH(solver.solve(last, first), ContainsSubstring("overlap"));
  CHECK(memory == std::vector<double>(7, 1.0));
  std::vector<double> neighbours(8, 1.0);
  CHECK(solver.solve(wrap(neighbours.data(), 4), wrap(neighbours.data() + 4, 4)).converged());
}

// A matrix of strided arrays does not compile.
using Column = Kokkos::View<double*, Kokkos::LayoutStride, HostSpace>;
using IndexColumn = Kokkos::View<index_t*, Kokkos::LayoutStride, HostSpace>;
using Indices = Kokkos::View<index_t*, HostSpace>;
static_assert(std::is_constructible_v<CsrMatrix<double>, index_t, index_t, int, Indices, Indices,
                                      Vector<double>>);
static_assert(
    !std::is_constructible_v<CsrMatrix<double>, index_t, index_t, int, Indices, Indices, Column>);
static_assert(!std::is_constructible_v<CsrMatrix<double>, index_t, index_t, int, Indices,
                                       IndexColumn, Vector<double>>);

TEST_CASE("a strided view is refused, one that only looks strided is not") {
  Context<> ctx;
  Solver<double> solver(ctx);
  solver.prepare(line_of(4));
  const Vector<double> b = varied_vector<double>(4), x = zeros<double>(4);
  const Kokkos::View<double**, Kokkos::LayoutRight, HostSpace> table("table", 4, 3);
  const auto column = Kokkos::subview(table, Kokkos::ALL, 1);
  CHECK_THROWS_WITH(solver.solve(b, column), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(solver.solve(column, x), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(spmv(ctx, 1.0, line_of(4), column, 0.0, x), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(spmv(ctx, 1.0, line_of(4), x, 0.0, column), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(axpy(ctx, 1.0, column, x), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(axpby(ctx, 1.0, x, 0.0, column), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(dot(ctx, x, column), ContainsSubstring("contiguous"));
  CHECK_THROWS_WITH(nrm2(ctx, column), ContainsSubstring("contiguous"));
  const Kokkos::View<double*, Kokkos::LayoutStride, HostSpace> dense(x.data(),
                                                                     Kokkos::LayoutStride(4, 1));
  CHECK(solver.solve(b, dense).converged());
  CHECK(norm2(x) > 0);
}

TEST_CASE("a matrix that is not square is refused") {
  Context<> ctx;
  Solver<double> solver(ctx);
  const auto wide = literal_csr<double>(2, 3, {0, 1, 2}, {0, 1}, {1, 1});
  CHECK_THROWS_WITH(solver.prepare(wide), ContainsSubstring("square"));
  CHECK_THROWS_WITH(solver.prepare(Matrix<double>(wide)), ContainsSubstring("square"));
  CHECK_THROWS_WITH(solver.prepare(Matrix<double>(to_bsell(wide))), ContainsSubstring("square"));
}

TEST_CASE("a matrix in a layout of its own is neither converted nor reordered") {
  Context<> ctx;
  const Matrix<double> A = to_bcsr(line_of(4), 2);
  for (int i = 0; i < 3; ++i) {
    SolveOptions options;
    if (i == 0) options.format = {"csr", 1};
    if (i == 1) options.reordering = Reordering::rcm;
    if (i == 2) options.storage = StoragePrecision::f32;
    Solver<double> solver(ctx, options);
    CHECK_THROWS_WITH(solver.prepare(A), ContainsSubstring("layout"));
    CHECK_THROWS_WITH(solver.prepare(to_bcsr(line_of(4), 2)), ContainsSubstring("layout"));
  }
}

TEST_CASE("a matrix-free solver has no matrix to precondition or to update") {
  Context<> ctx;
  const LinearOperator<double> copy{3,
                                    [](const auto& x, const auto& y) { Kokkos::deep_copy(y, x); }};
  for (const auto kind : {PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
    Solver<double> solver(ctx, options_for(Method::pcg, {}, kind));
    CHECK_THROWS_WITH(solver.prepare(copy), ContainsSubstring("matrix-free"));
  }
  Solver<double> solver(ctx, options_for(Method::pcg, {}, PreconditionerKind::none));
  CHECK_THROWS_AS(solver.prepare(LinearOperator<double>{}), InvalidArgument);
  CHECK_THROWS_AS(solver.prepare(LinearOperator<double>{-1, copy.apply}), InvalidArgument);
  solver.prepare(copy);
  CHECK_THROWS_AS(solver.update_values(line_of(3)), InvalidArgument);
  CHECK_THROWS_AS(solver.update_values(Matrix<double>(line_of(3))), InvalidArgument);
  CHECK(solver.solve(varied_vector<double>(3), zeros<double>(3)).converged());
}

TEST_CASE("options out of range are refused") {
  for (const double bad : {-1e-9, not_a_number, infinity}) {
    check_refused([&](SolveOptions& o) { o.rtol = bad; });
    check_refused([&](SolveOptions& o) { o.atol = bad; });
  }
  for (const double bad : {-1.0, not_a_number})
    check_refused([&](SolveOptions& o) { o.max_seconds = bad; });
  for (const double bad : {-1.0, 0.0, 1.0, not_a_number})
    check_refused([&](SolveOptions& o) { o.divergence = bad; });
  check_refused([](SolveOptions& o) { o.max_iterations = -1; });
  check_refused([](SolveOptions& o) { o.callback_interval = -1; });
  check_refused([](SolveOptions& o) { o.preconditioner_block_size = -1; });
  check_refused([](SolveOptions& o) { o.preconditioner_block_size = max_block_size + 1; });
  Context<> ctx;
  for (const FormatSpec& bad : {FormatSpec{"bcsr", 0}, {"bcsr", 17}, {"bsell", -1}, {"", 1}}) {
    SolveOptions options;
    options.format = bad;
    Solver<double> solver(ctx, options);
    CHECK_THROWS_AS(solver.prepare(line_of(3)), InvalidArgument);
  }
}

TEST_CASE("float storage is for double vectors") {
  Context<> ctx;
  SolveOptions options;
  options.storage = StoragePrecision::f32;
  CHECK_THROWS_WITH(Solver<float>(ctx, options), ContainsSubstring("f32"));
  CHECK_NOTHROW(Solver<double>(ctx, options));
}

TEST_CASE("another method asks for another prepare") {
  Context<> ctx;
  Solver<double> solver(ctx);
  solver.prepare(line_of(5));
  SolveOptions options;
  options.method = Method::pcg_single_reduction;
  solver.set_options(options);
  const Vector<double> b = varied_vector<double>(5);
  CHECK_THROWS_WITH(solver.solve(b, zeros<double>(5)), ContainsSubstring("prepare again"));
  solver.prepare(line_of(5));
  CHECK(solver.solve(b, zeros<double>(5)).converged());
}

TEST_CASE("a backend that lacks an operation says so and is not called") {
  for (const Backend* backend : backends()) {
    if (!backend->baseline || backend->memory != MemorySpace::host ||
        !backend->availability().usable)
      continue;
    Context<> ctx(backend->name);
    if (vector_ops<float>(*backend).nrm2 == nullptr) {
      Solver<float> solver(ctx);
      CHECK_THROWS_AS(solver.prepare(convert_values<float>(line_of(4))), UnsupportedOperation);
    }
    if (matrix_ops<BsellOperand<double>, double>(*backend).spmv == nullptr) {
      Solver<double> solver(ctx,
                            options_for(Method::pcg, {"bsell", 1}, PreconditionerKind::jacobi));
      CHECK_THROWS_AS(solver.prepare(line_of(4)), UnsupportedOperation);
    }
    if (vector_ops<double>(*backend).precondition == nullptr) {
      Solver<double> solver(ctx,
                            options_for(Method::pcg, {"csr", 1}, PreconditionerKind::block_jacobi));
      CHECK_THROWS_AS(solver.prepare(line_of(4)), UnsupportedOperation);
    }
  }
}
