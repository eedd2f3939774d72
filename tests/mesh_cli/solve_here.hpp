#pragma once

#include "geometry/solve_on.hpp"

namespace cnc::test {

/// What solves on this machine, tightly.
class SolveHere {
 public:
  explicit SolveHere(LeastSquaresMethod method = LeastSquaresMethod::automatic, double rtol = 1e-12)
      : solver_(context_, options_with(rtol), method) {}
  operator geometry::SystemSolver&() { return solver_; }

 private:
  static SolveOptions options_with(double rtol) {
    SolveOptions options;
    options.rtol = rtol;
    options.max_iterations = 100'000;
    return options;
  }
  Context<> context_{"auto", 1};
  geometry::SolveOn<double, Kokkos::DefaultHostExecutionSpace> solver_;
};

}  // namespace cnc::test
