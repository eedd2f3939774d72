// No matrix at all: the program says what y = A x does, and what z = M^-1 r does.

#include <cnc/cnc.hpp>

#include <cstdio>

namespace {

using In = cnc::Vector<const double>;
using Out = cnc::Vector<double>;

constexpr int width = 60, n = width * width;

/// Conductivity of a cell: a bar across the grid conducts a hundred times as well.
double conductivity(int i) { return i / width > 24 && i / width < 36 ? 100.0 : 1.0; }

/// Between two cells: their harmonic mean. Beyond the rim there is a cell like the one inside.
double between(int i, int j) { return 2 / (1 / conductivity(i) + 1 / conductivity(j)); }

/// f(neighbour, weight) for the four neighbours of a cell; -1 stands for one beyond the rim.
template <class F>
void for_each_neighbour(int i, const F& f) {
  const auto visit = [&](bool inside, int j) {
    inside ? f(j, between(i, j)) : f(-1, conductivity(i));
  };
  visit(i % width > 0, i - 1);
  visit(i % width < width - 1, i + 1);
  visit(i >= width, i - width);
  visit(i < n - width, i + width);
}

/// y := A x, the finite-volume form of -div(k grad x).
void apply(const In& x, const Out& y) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for_each_neighbour(i, [&](int j, double k) { sum += k * (x(i) - (j < 0 ? 0.0 : x(j))); });
    y(i) = sum;
  }
}

/// z := M^-1 r with M the symmetric Gauss-Seidel form (D + L) D^-1 (D + U) of the same operator.
void precondition(const In& r, const Out& z) {
  const auto sweep = [&](int i, double right_hand_side) {
    double diagonal = 0;
    for_each_neighbour(i, [&](int j, double k) {
      diagonal += k;
      if (j >= 0) right_hand_side += k * z(j);
    });
    z(i) = right_hand_side / diagonal;
  };
  Kokkos::deep_copy(z, 0.0);
  for (int i = 0; i < n; ++i) sweep(i, r(i));
  for (int i = n - 1; i >= 0; --i) sweep(i, r(i));
}

}  // namespace

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);
  try {
    const auto b = cnc::zeroed<double>("b", n), x = cnc::zeroed<double>("x", n);
    Kokkos::deep_copy(b, 1.0);

    cnc::Context context;
    cnc::Solver<double> solver(context, {.preconditioner = cnc::PreconditionerKind::none});
    solver.prepare(cnc::LinearOperator<double>{n, apply});
    const cnc::SolveReport plain = solver.solve(b, x);

    solver.set_preconditioner(precondition);
    Kokkos::deep_copy(x, 0.0);
    const cnc::SolveReport report = solver.solve(b, x);

    std::printf("plain:                  %s after %d iterations\n", cnc::to_string(plain.status),
                plain.iterations);
    std::printf("symmetric Gauss-Seidel: %s after %d iterations\n", cnc::to_string(report.status),
                report.iterations);
    return plain.converged() && report.converged() ? 0 : 1;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "own_operator: %s\n", error.what());
    return 2;
  }
}
