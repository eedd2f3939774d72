#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"
#include "support/small_matrix.hpp"

#include <cnc/block_jacobi.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/polynomial.hpp>
#include <cnc/reorder.hpp>
#include <cnc/triplets.hpp>

#include <memory>

using namespace cnc;
using namespace cnc::testing;

namespace {

using Catch::Matchers::ContainsSubstring;

bool takes_objects(const Backend& backend) {
  return solves(backend) && takes_parts_of_others(backend, Method::pcg);
}
/// The reference has no other method than CG with objects.
Method for_any_matrix(const Backend& backend) {
  return takes_parts_of_others(backend, Method::bicgstab) ? Method::bicgstab : Method::gmres;
}

template <class P, class Exec>
SolveReport solve_with(Context<Exec>& ctx, Method method, std::shared_ptr<P> object,
                       const KnownProblem<double>& problem, const Vector<double>& x) {
  auto solver = solver_on<double>(ctx, options_for(method, {}, PreconditionerKind::none));
  solver.set_preconditioner(std::move(object));
  solver.prepare(problem.A);
  return solver.solve(problem.b, x);
}

template <class Exec>
auto incomplete(const IncompleteOptions& options) {
  return std::make_shared<IncompleteFactorization<double, Exec>>(options);
}

/// z = M^-1 r on the host.
template <class P>
Vector<double> applied(Context<>& ctx, const P& object, const Vector<double>& r) {
  const Vector<double> z = zeros<double>(static_cast<index_t>(r.extent(0)));
  object.apply(ctx, r, z);
  return z;
}

double dot_of(const Vector<double>& x, const Vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) sum += x(i) * y(i);
  return sum;
}

}  // namespace

/// A without what couples blocks of so many rows.
CsrMatrix<double> in_blocks(const CsrMatrix<double>& A, index_t size) {
  std::vector<Triplet<double>> entries;
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      if (A.columns(k) / size == i / size) entries.push_back({i, A.columns(k), A.values(k)});
  return csr_from_triplets<double>(A.rows, A.cols, entries);
}

constexpr IncompleteKind every_kind[] = {IncompleteKind::ic0, IncompleteKind::ict,
                                         IncompleteKind::ilu0, IncompleteKind::ilut};

TEST_CASE("blocks of a factorisation know nothing of each other") {
  Context<> ctx;
  const auto A = generate_problem("convection3d:14:1");  // rows for several threads
  const Vector<double> r = varied_vector<double>(A.rows);
  for (const IncompleteKind kind : every_kind)
    for (const index_t size : {1, 7, 500, 1372, 2744, 5000}) {
      INFO(int(kind) << " " << size);
      // What is dropped is measured by the whole row.
      IncompleteFactorization<double> blocks({.kind = kind, .drop = 0, .block_rows = size});
      IncompleteFactorization<double> whole({.kind = kind, .drop = 0});
      const auto parts = in_blocks(A, size);
      REQUIRE(blocks.set_up(ctx, A, Matrix<double>(A)).ok());
      REQUIRE(whole.set_up(ctx, parts, Matrix<double>(parts)).ok());
      CHECK(blocks.entries() == whole.entries());
      CHECK(relative_difference(applied(ctx, blocks, r), applied(ctx, whole, r)) == 0);
    }
  CHECK_THROWS_WITH(IncompleteFactorization<double>({.block_rows = -1}),
                    ContainsSubstring("rows of a block"));
}

TEST_CASE("colours are another order of the rows, and as many levels") {
  Context<> ctx;
  const auto A = generate_problem("convection3d:6:1");
  const Vector<double> r = varied_vector<double>(A.rows);
  // Red and black points of the grid.
  std::vector<index_t> order;
  for (const int colour : {0, 1})
    for (index_t i = 0; i < A.rows; ++i)
      if ((i + i / 6 + i / 36) % 2 == colour) order.push_back(i);
  const auto p = zeroed<index_t>("p", order.size());
  std::copy(order.begin(), order.end(), p.data());
  const auto by_colours = permute(A, p);
  const Vector<double> permuted = zeros<double>(A.rows), expected = zeros<double>(A.rows);
  for (index_t i = 0; i < A.rows; ++i) permuted(i) = r(p(i));
  for (const IncompleteKind kind : {IncompleteKind::ilu0, IncompleteKind::ilut}) {
    IncompleteFactorization<double> M({.kind = kind, .by_colours = true});
    IncompleteFactorization<double> other({.kind = kind});
    REQUIRE(M.set_up(ctx, A, Matrix<double>(A)).ok());
    REQUIRE(other.set_up(ctx, by_colours, Matrix<double>(by_colours)).ok());
    if (kind == IncompleteKind::ilu0) CHECK(M.levels() == 2);
    const Vector<double> z = applied(ctx, other, permuted);
    for (index_t i = 0; i < A.rows; ++i) expected(p(i)) = z(i);
    CHECK(relative_difference(applied(ctx, M, r), expected) == 0);
  }
  // The row at fault is the caller's.
  IncompleteFactorization<double> M({.by_colours = true});
  const auto faulty = small_matrix({{2, 1, 0}, {0, 0, 0}, {0, 1, 2}});
  CHECK(M.set_up(ctx, faulty, Matrix<double>(faulty)).row == 1);
  CHECK_THROWS_WITH(IncompleteFactorization<double>({.block_rows = 4, .by_colours = true}),
                    ContainsSubstring("colours"));
}

TEST_CASE("sweeps are powers of the triangles, of which there are no more than levels") {
  Context<> ctx;
  const auto A = generate_problem("convection3d:4:1");
  const Vector<double> r = varied_vector<double>(A.rows);
  for (const IncompleteKind kind : every_kind)
    for (const bool by_colours : {false, true}) {
      INFO(int(kind) << by_colours);
      IncompleteFactorization<double> exact({.kind = kind, .by_colours = by_colours});
      REQUIRE(exact.set_up(ctx, A, Matrix<double>(A)).ok());
      const Vector<double> expected = applied(ctx, exact, r);
      double before = 1e300;
      for (const int sweeps : {1, 2, 5, exact.levels() - 1, 100}) {
        IncompleteFactorization<double> M(
            {.kind = kind, .by_colours = by_colours, .sweeps = sweeps});
        REQUIRE(M.set_up(ctx, A, Matrix<double>(A)).ok());
        CHECK(M.levels() == 0);
        const double difference = relative_difference(applied(ctx, M, r), expected);
        if (sweeps < exact.levels() - 1) {
          CHECK(difference < before);
          CHECK(difference > 1e-12);
        } else {
          CHECK(difference < 1e-14);
        }
        before = difference;
      }
    }
  for (const int sweeps : {-1, 101})
    CHECK_THROWS_WITH(IncompleteFactorization<double>({.sweeps = sweeps}),
                      ContainsSubstring("sweeps"));
}

CNC_SOLVER_TEST_WHERE(takes_objects, "factors that are swept, or by colours, save iterations") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x25", "poisson2d:9x8"));
  const SolveReport jacobi =
      solve_once(ctx, options_for(Method::pcg, {}, PreconditionerKind::jacobi), P.A, P.b,
                 zeros<double>(P.rows()));
  for (const IncompleteOptions& options :
       {IncompleteOptions{.kind = IncompleteKind::ic0, .by_colours = true},
        IncompleteOptions{.kind = IncompleteKind::ic0, .sweeps = 1},
        IncompleteOptions{.kind = IncompleteKind::ic0, .sweeps = 4}}) {
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solve_with(ctx, Method::pcg, incomplete<Exec>(options), P, x);
    CHECK(report.converged());
    CHECK(report.iterations < jacobi.iterations);
    CHECK(relative_difference(x, P.solution) < 1e-6);
  }
}

CNC_SOLVER_TEST_WHERE(takes_objects, "dense blocks of block-Jacobi are inverted whole") {
  const auto P = known_problem<double>("convection3d:5:1");
  const auto blocks = with_known_solution<double>("blocks", in_blocks(P.A, 32));
  const Vector<double> x = zeros<double>(P.rows());
  const Method method = for_any_matrix(ctx.backend());
  const SolveReport exact = solve_with(
      ctx, method, std::make_shared<BlockJacobi<double, Exec>>(BlockJacobiOptions{32}), blocks, x);
  CHECK(exact.converged());
  CHECK(exact.iterations <= 2);
  CHECK(relative_difference(x, blocks.solution) < 1e-10);
  const auto iterations = [&](int b) {
    const Vector<double> y = zeros<double>(P.rows());
    const SolveReport report = solve_with(
        ctx, method, std::make_shared<BlockJacobi<double, Exec>>(BlockJacobiOptions{b}), P, y);
    CHECK(report.converged());
    CHECK(relative_difference(y, P.solution) < 1e-5);
    return report.iterations;
  };
  CHECK(iterations(29) < iterations(1));
}

TEST_CASE("dense blocks are those of the built-in block-Jacobi, and name what is singular") {
  Context<> ctx;
  const auto A = generate_problem("convection3d:5:1");
  const Vector<double> r = varied_vector<double>(A.rows), z = zeros<double>(A.rows);
  BlockJacobi<double> dense({7});
  CHECK(dense.name() == "block-jacobi:7");
  CHECK_THROWS_WITH(dense.apply(ctx, r, z), ContainsSubstring("without a set_up"));
  REQUIRE(dense.set_up(ctx, A, Matrix<double>(A)).ok());
  Preconditioner<double> built_in;
  REQUIRE(set_up_preconditioner(A, PreconditionerKind::block_jacobi, 7, built_in).ok());
  const Vector<double> expected = zeros<double>(A.rows);
  apply_local<double>(ctx, built_in.operand(), r, expected);
  CHECK(relative_difference(applied(ctx, dense, r), expected) < 1e-14);
  // u . M^-1 r = M^-T u . r
  const Vector<double> u = zeros<double>(A.rows), of_u = zeros<double>(A.rows);
  for (index_t i = 0; i < A.rows; ++i) u(i) = (i * 53 % 17) - 8.0;
  dense.apply_transposed(ctx, u, of_u);
  CHECK(std::abs(dot_of(u, expected) - dot_of(of_u, r)) <= 1e-12 * std::abs(dot_of(u, expected)));

  const auto singular = small_matrix({{1, 2, 0, 0}, {2, 4, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}});
  const PreconditionerSetup fault =
      BlockJacobi<double>({2}).set_up(ctx, singular, Matrix<double>(singular));
  CHECK(fault.row == 0);
  CHECK(fault.singular_block);
  CHECK_THROWS_WITH(BlockJacobi<double>({33}), ContainsSubstring("1 to 32"));
}

CNC_SOLVER_TEST_WHERE(takes_objects, "a factorisation that drops nothing solves at once") {
  // Tridiagonal: the pattern of A holds its factors. With room for all, ILUT has those of any matrix.
  const auto line = known_problem<double>("poisson2d:40x1");
  for (const IncompleteKind kind : {IncompleteKind::ic0, IncompleteKind::ilu0}) {
    const Vector<double> x = zeros<double>(line.rows());
    const auto M = incomplete<Exec>({kind});
    CHECK(solve_with(ctx, Method::pcg, M, line, x).iterations <= 1);
    CHECK(relative_difference(x, line.solution) < 1e-10);
    CHECK(M->entries() == line.A.nonzeros);
    CHECK(M->levels() == line.rows());
    CHECK(M->shift() == 0);
  }
  const auto grid = known_problem<double>("poisson3d:4");
  CHECK(solve_with(ctx, Method::pcg, incomplete<Exec>({IncompleteKind::ict, 0, 1000}), grid,
                   zeros<double>(grid.rows()))
            .iterations <= 1);
  const auto P = known_problem<double>("convection3d:4:2");
  const Vector<double> x = zeros<double>(P.rows());
  CHECK(solve_with(ctx, for_any_matrix(ctx.backend()),
                   incomplete<Exec>({IncompleteKind::ilut, 0, 1000}), P, x)
            .iterations <= 1);
  CHECK(relative_difference(x, P.solution) < 1e-8);
}

CNC_SOLVER_TEST_WHERE(takes_objects, "incomplete factorisations save iterations") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x25", "poisson2d:9x8"));
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport jacobi =
      solve_once(ctx, options_for(Method::pcg, {}, PreconditionerKind::jacobi), P.A, P.b,
                 zeros<double>(P.rows()));
  const SolveReport ic0 =
      solve_with(ctx, Method::pcg, incomplete<Exec>({IncompleteKind::ic0}), P, x);
  CHECK(ic0.converged());
  CHECK(ic0.preconditioner == "ic0");
  CHECK(2 * ic0.iterations < jacobi.iterations + 8);
  const SolveReport ict = solve_with(ctx, Method::pcg, incomplete<Exec>({IncompleteKind::ict}), P,
                                     zeros<double>(P.rows()));
  CHECK(ict.converged());
  CHECK(ict.preconditioner == "ict:0.001");
  CHECK(ict.iterations < ic0.iterations);
  CHECK(relative_difference(x, P.solution) < 1e-6);
  const auto flow = known_problem<double>(sized(ctx, "convection3d:10:5", "convection3d:5:5"));
  const Vector<double> y = zeros<double>(flow.rows());
  const SolveReport ilu0 = solve_with(ctx, for_any_matrix(ctx.backend()),
                                      incomplete<Exec>({IncompleteKind::ilu0}), flow, y);
  const SolveReport ilut = solve_with(ctx, for_any_matrix(ctx.backend()),
                                      incomplete<Exec>({IncompleteKind::ilut, 1e-4, 4}), flow,
                                      zeros<double>(flow.rows()));
  CHECK(ilu0.converged());
  CHECK(ilut.converged());
  CHECK(ilut.iterations <= ilu0.iterations);
  CHECK(ilut.preconditioner == "ilut:0.0001");
  CHECK(relative_difference(y, flow.solution) < 1e-6);
}

TEST_CASE("ic0 is symmetric to rounding, whatever the entries") {
  Context<> ctx;
  const auto P = known_problem<double>("wathen:6x5");
  IncompleteFactorization<double> M({IncompleteKind::ic0});
  CHECK(M.set_up(ctx, P.A, Matrix<double>(P.A)).ok());
  const Vector<double> u = varied_vector<double>(P.rows()), v = zeros<double>(P.rows());
  for (index_t i = 0; i < P.rows(); ++i) v(i) = (i * 53 % 17) - 8.0;
  const double uv = dot_of(u, applied(ctx, M, v)), vu = dot_of(v, applied(ctx, M, u));
  CHECK(std::abs(uv - vu) <= 1e-13 * dot_of(u, applied(ctx, M, u)));
  for (const int sweeps : {1, 2, 3}) {
    IncompleteFactorization<double> swept(
        {.kind = IncompleteKind::ic0, .by_colours = sweeps == 3, .sweeps = sweeps});
    REQUIRE(swept.set_up(ctx, P.A, Matrix<double>(P.A)).ok());
    const double with_u = dot_of(u, applied(ctx, swept, v)),
                 with_v = dot_of(v, applied(ctx, swept, u));
    const double size = dot_of(u, applied(ctx, swept, u));
    CHECK(size > 0);
    CHECK(std::abs(with_u - with_v) <= 1e-13 * size);
  }
}

TEST_CASE("levels give what one row after the other gives") {
  // Many short chains: two levels, long enough for threads. Solved exactly, so the textbook knows the answer.
  const index_t n = 40000;
  const auto offsets = zeroed<index_t>("offsets", std::size_t(n) + 1);
  const auto columns = zeroed<index_t>("columns", std::size_t(2 * n));
  const auto values = zeroed<double>("values", std::size_t(2 * n));
  for (index_t i = 0; i < n; ++i) {
    offsets(i + 1) = 2 * (i + 1);
    const index_t other = i ^ 1;
    columns(2 * i) = std::min(i, other);
    columns(2 * i + 1) = std::max(i, other);
    for (const index_t k : {2 * i, 2 * i + 1}) values(k) = columns(k) == i ? 3 : -1;
  }
  const CsrMatrix<double> A(n, n, 1, offsets, columns, values);
  ThreadedContext ctx("openmp", 3);
  IncompleteFactorization<double> M({IncompleteKind::ilu0});
  CHECK(M.set_up(ctx, A, Matrix<double>(A)).ok());
  CHECK(M.levels() == 2);
  const auto P = with_known_solution<double>("pairs", A);
  CHECK(relative_difference(applied(ctx, M, P.b), P.solution) < 1e-14);
}

TEST_CASE("what a symmetric factorisation drops does not depend on units") {
  Context<> ctx;
  const auto A = generate_problem("poisson2d:20x17");
  const CsrMatrix<double> scaled = convert_values<double>(A);
  const auto unit = [](index_t i) { return std::ldexp(1.0, i * 7 % 31 - 15); };
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      scaled.values(k) *= unit(i) * unit(A.columns(k));
  IncompleteFactorization<double> M({IncompleteKind::ict, 1e-2});
  IncompleteFactorization<double> other({IncompleteKind::ict, 1e-2});
  REQUIRE(M.set_up(ctx, A, Matrix<double>(A)).ok());
  REQUIRE(other.set_up(ctx, scaled, Matrix<double>(scaled)).ok());
  CHECK(M.entries() == other.entries());
  CHECK(M.entries() > A.nonzeros);
  const Vector<double> r = varied_vector<double>(A.rows), s = copy_of(r);
  for (index_t i = 0; i < A.rows; ++i) s(i) *= unit(i);
  const Vector<double> z = applied(ctx, M, r), y = applied(ctx, other, s);
  for (index_t i = 0; i < A.rows; ++i) CHECK(y(i) * unit(i) == Approx(z(i)).epsilon(1e-12));
}

TEST_CASE("pivots that are zero are helped, rows that are zero are named") {
  Context<> ctx;
  const auto set_up = [&](const std::vector<std::vector<double>>& rows,
                          IncompleteFactorization<double>& M) {
    const CsrMatrix<double> A = small_matrix(rows);
    return M.set_up(ctx, A, Matrix<double>(A));
  };
  for (const IncompleteKind kind : every_kind) {
    IncompleteFactorization<double> saddle({kind}), empty({kind}), not_finite({kind});
    CHECK(set_up({{0, 1}, {1, 0}}, saddle).ok());  // no diagonal at all
    CHECK(saddle.shift() > 0);
    const auto fault = set_up({{2, 1, 0}, {1, 2, 0}, {0, 0, 0}}, empty);
    CHECK(fault.row == 2);
    CHECK(set_up({{2, 1}, {1, std::nan("")}}, not_finite).row == 1);
  }
  // Unknowns of different units.
  for (const IncompleteKind kind : {IncompleteKind::ic0, IncompleteKind::ilu0}) {
    IncompleteFactorization<double> units({kind});
    CHECK(set_up({{1, 1e11}, {1e11, 1e24}}, units).ok());
    CHECK(units.shift() == 0);
  }
  IncompleteFactorization<double> negative({IncompleteKind::ic0});
  CHECK(set_up({{1, 2}, {2, 1}}, negative).ok());
  CHECK(negative.shift() > 1);
  CHECK_THROWS_AS((IncompleteFactorization<double>({IncompleteKind::ilut, -1})), InvalidArgument);
  CHECK_THROWS_AS((IncompleteFactorization<double>({IncompleteKind::ilut, 0.1, 0.5})),
                  InvalidArgument);
  CHECK_THROWS_AS(applied(ctx, IncompleteFactorization<double>(), zeros<double>(3)),
                  InvalidArgument);
}

CNC_SOLVER_TEST_WHERE(takes_objects, "a polynomial of the matrix saves iterations by its degree") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:40x35", "poisson2d:11x9"));
  index_t before = 10000;
  for (const int degree : {1, 2, 4, 8}) {
    INFO(degree);
    const Vector<double> x = zeros<double>(P.rows());
    const auto M = std::make_shared<ChebyshevPolynomial<double, Exec>>(PolynomialOptions{degree});
    const SolveReport report = solve_with(ctx, Method::pcg, M, P, x);
    CHECK(report.converged());
    CHECK(report.iterations < before);
    CHECK(relative_difference(x, P.solution) < 1e-6);
    CHECK(M->largest_eigenvalue() <= 2);
    CHECK(M->largest_eigenvalue() > 1.8);
    before = report.iterations;
  }
  CHECK_THROWS_AS((ChebyshevPolynomial<double, Exec>({0})), InvalidArgument);
  CHECK_THROWS_AS((ChebyshevPolynomial<double, Exec>({2, 1})), InvalidArgument);
}
