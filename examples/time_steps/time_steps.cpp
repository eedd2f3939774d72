// Many systems with one pattern: a plate cools by implicit Euler steps while its conductivity falls with its
// temperature. The layout is built once; each step brings new values and starts from the step before.

#include <cnc/cnc.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr int width = 40, n = width * width;

/// A plate of width x width cells whose rim is held at zero degrees.
struct Plate {
  std::vector<int> row_offsets = {0}, columns;
  std::vector<double> values, temperature = std::vector<double>(n, 1.0);

  Plate() {  // the pattern: every cell and its neighbours
    for (int i = 0; i < n; ++i) {
      for (const int j : {i - width, i - 1, i, i + 1, i + width})
        if (are_neighbours(i, j)) columns.push_back(j);
      row_offsets.push_back(static_cast<int>(columns.size()));
    }
    values.resize(columns.size());
  }

  static bool are_neighbours(int i, int j) {
    return j >= 0 && j < n && (i / width == j / width || i % width == j % width);
  }

  double conductivity(int i) const { return 1 / (2 - temperature[static_cast<std::size_t>(i)]); }

  /// I + step K, with K from the temperatures of now.
  void assemble(double step) {
    for (int i = 0; i < n; ++i) {
      double diagonal = 1;
      std::size_t at_diagonal = 0;
      // Four neighbours each; those beyond the rim have no column.
      for (int k = row_offsets[static_cast<std::size_t>(i)];
           k < row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const auto entry = static_cast<std::size_t>(k);
        const int j = columns[entry];
        if (j == i) {
          at_diagonal = entry;
          continue;
        }
        values[entry] = -step * 0.5 * (conductivity(i) + conductivity(j));
        diagonal -= values[entry];
      }
      const int neighbours = row_offsets[static_cast<std::size_t>(i) + 1] -
                             row_offsets[static_cast<std::size_t>(i)] - 1;
      values[at_diagonal] = diagonal + step * (4 - neighbours) * conductivity(i);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);
  try {
    Plate plate;
    const auto A = cnc::wrap_csr(n, n, plate.row_offsets.back(), plate.row_offsets.data(),
                                 plate.columns.data(), plate.values.data());
    const auto b = cnc::zeroed<double>("b", n);
    const auto x = cnc::wrap<>(plate.temperature.data(), n);

    cnc::Context context;
    cnc::Solver<double> solver(context);
    for (int step = 0; step < 10; ++step) {
      plate.assemble(20.0);
      if (step == 0)
        solver.prepare(A);  // analyses the pattern, builds the layout, allocates
      else
        solver.update_values(A);  // refills it
      Kokkos::deep_copy(b, x);
      const cnc::SolveReport report = solver.solve(b, x);  // from the temperatures of before
      if (!report.converged()) {
        std::fprintf(stderr, "time_steps: %s %s\n", cnc::to_string(report.status),
                     report.detail.c_str());
        return 1;
      }
      std::printf("step %2d: %3d iterations, %.4f degrees in the middle\n", step + 1,
                  report.iterations, plate.temperature[n / 2 + width / 2]);
    }
    return 0;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "time_steps: %s\n", error.what());
    return 2;
  }
}
