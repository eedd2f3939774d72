// A membrane of bilinear elements whose edge is held: assembled once, and again for another edge and other elements.

#include <cnc/cnc.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

/// The Laplacian of one square, its nodes row by row, times 6.
const double square[4][4] = {{4, -1, -1, -2}, {-1, 4, -2, -1}, {-1, -2, 4, -1}, {-2, -1, -1, 4}};

/// n x n squares on the unit square.
struct Membrane {
  int n;

  int nodes() const { return (n + 1) * (n + 1); }
  int node(int x, int y) const { return y * (n + 1) + x; }
  bool is_on_edge(int x, int y) const { return x == 0 || y == 0 || x == n || y == n; }

  /// A harmonic function: the membrane has its value in every node once its edge has.
  double height(int x, int y, double time) const {
    const double u = double(x) / n, v = double(y) / n;
    return u * v + time * (u * u - v * v);
  }
  void hold_edge(cnc::SystemBuilder<double>& builder, double time) const {
    for (int y = 0; y <= n; ++y)
      for (int x = 0; x <= n; ++x)
        if (is_on_edge(x, y)) builder.lock(node(x, y), height(x, y, time));
  }
  void assemble(cnc::SystemBuilder<double>& builder, double tension) const {
    builder.assemble(n * n, [&](cnc::SystemChunk<double>& chunk, cnc::offset_t element) {
      const int x = static_cast<int>(element % n), y = static_cast<int>(element / n);
      const int corners[4] = {node(x, y), node(x + 1, y), node(x, y + 1), node(x + 1, y + 1)};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) chunk.add(corners[i], corners[j], tension / 6 * square[i][j]);
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);  // before everything else of the library
  try {
    const Membrane membrane{100};
    cnc::SystemBuilder<double> builder(membrane.nodes());
    cnc::Context context;
    cnc::Solver<double> solver(context, cnc::SolveOptions{.rtol = 1e-10});
    std::vector<double> heights(static_cast<std::size_t>(membrane.nodes())), unknowns;

    for (int step = 0; step < 3; ++step) {
      membrane.hold_edge(builder, step);
      membrane.assemble(builder, 1.0 + step);
      if (builder.was_refreshed()) {
        solver.update_values(builder.matrix());
      } else {
        solver.prepare(builder.matrix());
      }

      unknowns.resize(static_cast<std::size_t>(builder.free_variables()));
      const cnc::SolveReport report = solver.solve(
          builder.right_hand_side(), cnc::wrap<>(unknowns.data(), builder.free_variables()));
      builder.scatter(unknowns, heights);

      double error = 0;
      for (int y = 0; y <= membrane.n; ++y)
        for (int x = 0; x <= membrane.n; ++x)
          error =
              std::fmax(error, std::fabs(heights[static_cast<std::size_t>(membrane.node(x, y))] -
                                         membrane.height(x, y, step)));
      std::printf("step %d: %s, %d unknowns, %s after %d iterations, error %.1e\n", step,
                  builder.was_refreshed() ? "refreshed" : "assembled", builder.free_variables(),
                  cnc::to_string(report.status), report.iterations, error);
      if (!report.converged() || error > 1e-6) return 1;
    }
    return 0;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "assemble: %s\n", error.what());
    return 2;
  }
}
