// Solves a Poisson problem on a square grid and prints what came of it.
//
//   solve_poisson [PROBLEM]        for example: solve_poisson poisson2d:200x200

#include <cnc/cnc.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);
  try {
    const char* problem = argc > 1 ? argv[1] : "poisson2d:64x64";
    const cnc::CsrMatrix<double> A = cnc::generate_problem(problem);

    cnc::Vector<double> b("b", A.rows);
    cnc::Vector<double> x("x", A.cols);  // starts from zero
    Kokkos::deep_copy(b, 1.0);

    cnc::Context context;  // the best backend for this host
    cnc::Solver<double> solver(context, cnc::SolveOptions{.rtol = 1e-8});
    solver.prepare(A);  // once per pattern
    const cnc::SolveReport report = solver.solve(b, x);

    std::printf("%s: %s after %lld iterations on %s, relative true residual %.2e\n", problem,
                cnc::to_string(report.status), static_cast<long long>(report.iterations),
                report.backend.c_str(), report.relative_residual);
    return report.converged() ? 0 : 1;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "solve_poisson: %s\n", error.what());
    return 2;
  }
}
