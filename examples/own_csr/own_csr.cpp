// Solves A x = b for arrays of the program's own: nothing is copied on the way in, and x is written in place.

#include <cnc/cnc.hpp>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);  // before everything else of the library
  try {
    // A rod of n nodes with its ends held at zero: 2 on the diagonal, -1 beside it.
    const int n = 1000;
    std::vector<int> row_offsets = {0}, columns;
    std::vector<double> values;
    for (int i = 0; i < n; ++i) {
      for (int j = i - 1; j <= i + 1; ++j)
        if (j >= 0 && j < n) {
          columns.push_back(j);
          values.push_back(j == i ? 2.0 : -1.0);
        }
      row_offsets.push_back(static_cast<int>(columns.size()));
    }
    std::vector<double> b(n, 1.0), x(n, 0.0);

    // Views of those arrays; they must live for as long as the solver is used.
    const auto A =
        cnc::wrap_csr(n, n, row_offsets.back(), row_offsets.data(), columns.data(), values.data());

    cnc::Context context;  // the best backend for this host
    cnc::Solver<double> solver(context, cnc::SolveOptions{.rtol = 1e-10});
    solver.prepare(A);
    const cnc::SolveReport report =
        solver.solve(cnc::wrap<>(b.data(), n), cnc::wrap<>(x.data(), n));

    // The exact solution is a parabola: x(i) = (i + 1) (n - i) / 2.
    std::printf(
        "%s after %d iterations, relative residual %.1e; x in the middle %.6g (exact %.6g)\n",
        cnc::to_string(report.status), report.iterations, report.relative_residual, x[n / 2],
        0.5 * (n / 2 + 1) * (n - n / 2));
    return report.converged() ? 0 : 1;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "own_csr: %s\n", error.what());
    return 2;
  }
}
