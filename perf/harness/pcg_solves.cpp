#include "harness/pcg_solves.hpp"

#include "harness/check.hpp"

namespace cnc::perf {

SolveOptions endless(Method method, PreconditionerKind preconditioner, int block_size) {
  SolveOptions options;
  options.method = method;
  options.preconditioner = preconditioner;
  options.preconditioner_block_size = block_size;
  options.rtol = 0;  // never met, so that every solve runs to its limit
  options.divergence = std::numeric_limits<double>::max();
  options.record_history = false;
  return options;
}

double expected_residual(const CsrMatrix<double>& A, int block_size) {
  Context<> ctx("reference");
  const auto kind = block_size == 1 ? PreconditionerKind::jacobi : PreconditionerKind::block_jacobi;
  SolveOptions options = endless(Method::pcg, kind, block_size);
  options.format = FormatSpec{"csr", 1};
  options.max_iterations = shorter;
  Solver<double> solver(ctx, options);
  solver.prepare(A);
  const Vector<double> x("x", static_cast<std::size_t>(A.rows));
  return solver.solve(Vector<const double>(random_vector<double>(A.rows, 2)), x)
      .recurrence_residual;
}

}  // namespace cnc::perf
