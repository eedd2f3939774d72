#include "solve/backends.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

using namespace cnc;
using namespace cnc::testing;

// The caller's memory is used where it is.

namespace {

/// A caller's own arrays.
struct Arrays {
  std::vector<index_t> row_offsets, columns;
  std::vector<double> values, b, x;

  explicit Arrays(const KnownProblem<double>& P)
      : row_offsets(entries(P.A.row_offsets)),
        columns(entries(P.A.columns)),
        values(entries(P.A.values)),
        b(entries(P.b)),
        x(b.size(), 0.0) {}

  index_t rows() const { return static_cast<index_t>(b.size()); }
  CsrMatrix<double> matrix() {
    return wrap_csr(rows(), rows(), static_cast<index_t>(columns.size()), row_offsets.data(),
                    columns.data(), values.data());
  }
};

}  // namespace

TEST_CASE("wrapped arrays are the matrix") {
  Arrays arrays(known_problem<double>("poisson2d:9x8"));
  const auto A = arrays.matrix();
  CHECK(A.row_offsets.data() == arrays.row_offsets.data());
  CHECK(A.columns.data() == arrays.columns.data());
  CHECK(A.values.data() == arrays.values.data());

  // The layout csr is those arrays again.
  const Matrix<double> layout = build_format(A, {"csr", 1});
  const auto& csr = std::get<CsrMatrix<double>>(layout);
  CHECK(csr.row_offsets.data() == arrays.row_offsets.data());
  CHECK(csr.columns.data() == arrays.columns.data());
  CHECK(csr.values.data() == arrays.values.data());

  // Narrower values share the index arrays.
  const auto narrow = convert_values<float>(A);
  CHECK(narrow.row_offsets.data() == arrays.row_offsets.data());
  CHECK(narrow.columns.data() == arrays.columns.data());
}

TEST_CASE("a solve works in the caller's arrays and writes to x alone") {
  const auto P = known_problem<double>("poisson2d:9x8");
  for (const std::string& name : host_backends())
    for (const Method method : every_method) {
      INFO(name << " " << to_string(method));
      Arrays arrays(P);
      const Arrays before = arrays;
      ThreadedContext ctx(name, 2);
      Solver<double> solver(ctx, options_for(method, {"csr", 1}, PreconditionerKind::jacobi));
      solver.prepare(arrays.matrix());
      const auto x = wrap(arrays.x.data(), arrays.rows());
      CHECK(solver.solve(wrap(arrays.b.data(), arrays.rows()), x).converged());
      CHECK(relative_difference(wrap(arrays.x.data(), arrays.rows()), P.solution) < 1e-6);
      CHECK(arrays.row_offsets == before.row_offsets);
      CHECK(arrays.columns == before.columns);
      CHECK(arrays.values == before.values);
      CHECK(arrays.b == before.b);
    }
}

TEST_CASE("a solver prepared with csr reads the caller's values, not a copy") {
  const auto P = known_problem<double>("poisson2d:9x8");
  for (const std::string& name : host_backends()) {
    INFO(name);
    Arrays arrays(P);
    ThreadedContext ctx(name, 2);
    Solver<double> solver(ctx, options_for(Method::pcg, {"csr", 1}, PreconditionerKind::none));
    solver.prepare(arrays.matrix());
    for (double& value : arrays.values) value *= 4;
    const auto x = wrap(arrays.x.data(), arrays.rows());
    CHECK(solver.solve(P.b, x).converged());
    for (double& value : arrays.x) value *= 4;
    CHECK(relative_difference(x, P.solution) < 1e-6);
  }
}

TEST_CASE("views and layouts of the caller are shared, not copied") {
  const auto P = known_problem<double>("elasticity2d:6");
  const auto bcsr = to_bcsr(P.A, 2);
  const auto bsell = to_bsell(P.A, 2);
  ThreadedContext ctx("auto", 2);
  SolveOptions options;
  options.preconditioner = PreconditionerKind::none;
  const auto owners = [](const auto& view) { return view.use_count(); };
  const auto bcsr_before = owners(bcsr.values);
  const auto bsell_before = owners(bsell.values);
  Solver<double> by_bcsr(ctx, options), by_bsell(ctx, options);
  by_bcsr.prepare(bcsr);
  by_bsell.prepare(Matrix<double>(bsell));
  CHECK(owners(bcsr.values) > bcsr_before);
  CHECK(owners(bsell.values) > bsell_before);
}
