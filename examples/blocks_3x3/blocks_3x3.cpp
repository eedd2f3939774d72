// A matrix that is assembled in blocks: three unknowns per node, so 3 x 3 blocks (BCSR), and a preconditioner
// that inverts the diagonal blocks.

#include <cnc/cnc.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr int b = 3;

/// Adds scale (I + 2 d d^T) to a row-major block: a spring with direction d that also resists shear.
void add_spring(double* block, const double* d, double scale) {
  for (int r = 0; r < b; ++r)
    for (int c = 0; c < b; ++c) block[r * b + c] += scale * ((r == c) + 2 * d[r] * d[c]);
}

}  // namespace

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);
  try {
    // A chain of springs; both ends are fixed.
    const int nodes = 500;
    const double direction[b] = {2.0 / 3, 2.0 / 3, 1.0 / 3};
    std::vector<int> row_offsets = {0}, columns;  // in blocks
    std::vector<double> values;                   // nine per block, row by row
    for (int i = 0; i < nodes; ++i) {
      for (int j = i - 1; j <= i + 1; ++j) {
        if (j < 0 || j >= nodes) continue;
        columns.push_back(j);
        values.resize(values.size() + b * b, 0.0);
        add_spring(&values[values.size() - b * b], direction, j == i ? 2.0 : -1.0);
      }
      row_offsets.push_back(static_cast<int>(columns.size()));
    }
    const int n = b * nodes;  // sizes count scalars
    std::vector<double> load(static_cast<std::size_t>(n), 0.0), x(load);
    for (int i = 0; i < nodes; ++i) load[static_cast<std::size_t>(b * i + 2)] = -1e-3;  // downwards

    const cnc::Matrix<double> A = cnc::wrap_bcsr(n, n, b, row_offsets.back(), row_offsets.data(),
                                                 columns.data(), values.data());

    cnc::Context context;
    cnc::Solver<double> solver(context, {.preconditioner = cnc::PreconditionerKind::block_jacobi});
    solver.prepare(A);  // uses the blocks as they are
    const cnc::SolveReport report =
        solver.solve(cnc::wrap<>(load.data(), n), cnc::wrap<>(x.data(), n));
    std::printf("%s after %d iterations in %s: the middle moves by (%.4f, %.4f, %.4f)\n",
                cnc::to_string(report.status), report.iterations, report.format.c_str(), x[n / 2],
                x[n / 2 + 1], x[n / 2 + 2]);
    return report.converged() ? 0 : 1;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "blocks_3x3: %s\n", error.what());
    return 2;
  }
}
