#include "peers/petsc.hpp"

#include "peers/petsc_calls.hpp"

#include <petscksp.h>

#include <memory>

namespace cnc::perf::petsc {
namespace {

/// Vectors are the caller's arrays, placed for the time of a call.
struct Problem {
  Mat matrix = nullptr;
  Vec x = nullptr, y = nullptr;
  KSP solver = nullptr;

  Problem(const CsrArrays<double>& A, int block_size) {
    initialize();
    // PETSc keeps the arrays that it is given: the copy is its own.
    Mat given = nullptr;
    check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, A.rows, A.cols,
                                    const_cast<int*>(A.row_offsets), const_cast<int*>(A.columns),
                                    const_cast<double*>(A.values), &given));
    check(MatSetBlockSize(given, block_size));
    check(MatConvert(given, block_size > 1 ? MATSEQBAIJ : MATSEQAIJ, MAT_INITIAL_MATRIX, &matrix));
    check(MatDestroy(&given));
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, block_size, A.cols, nullptr, &x));
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, block_size, A.rows, nullptr, &y));
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem() {
    KSPDestroy(&solver);
    VecDestroy(&x);
    VecDestroy(&y);
    MatDestroy(&matrix);
  }

  /// f() with the arrays as x and y.
  template <class F>
  void with_arrays(const double* of_x, const double* of_y, const F& f) {
    check(VecPlaceArray(x, of_x));
    check(VecPlaceArray(y, of_y));
    f();
    check(VecResetArray(x));
    check(VecResetArray(y));
  }
};

std::string name_of(int block_size) {
  return block_size > 1 ? "PETSc:" + std::to_string(block_size) : "PETSc";
}

}  // namespace

SpmvPeer<double> spmv(const CsrArrays<double>& A, int block_size) {
  const auto problem = std::make_shared<Problem>(A, block_size);
  return {name_of(block_size), [problem](const double* x, double* y) {
            problem->with_arrays(x, y,
                                 [&] { check(MatMult(problem->matrix, problem->x, problem->y)); });
          }};
}

// No norm is computed for a stopping test.
SolverPeer<double> solver(const CsrArrays<double>& A, Krylov method, int block_size) {
  const auto problem = std::make_shared<Problem>(A, block_size);
  KSP& solver = problem->solver;
  check(KSPCreate(PETSC_COMM_SELF, &solver));
  check(KSPSetOperators(solver, problem->matrix, problem->matrix));
  switch (method) {
    case Krylov::pcg:
      check(KSPSetType(solver, KSPCG));
      check(KSPSetNormType(solver, KSP_NORM_NONE));
      break;
    case Krylov::bicgstab:
      check(KSPSetType(solver, KSPBCGS));
      check(KSPSetNormType(solver, KSP_NORM_NONE));
      check(KSPSetPCSide(solver, PC_RIGHT));
      break;
    case Krylov::gmres:
      check(KSPSetType(solver, KSPGMRES));
      check(KSPGMRESSetRestart(solver, gmres_restart));
      check(KSPSetPCSide(solver, PC_RIGHT));
      break;
  }
  check(KSPSetConvergenceTest(solver, KSPConvergedSkip, nullptr, nullptr));
  PC preconditioner = nullptr;
  check(KSPGetPC(solver, &preconditioner));
  check(PCSetType(preconditioner, block_size > 1 ? PCPBJACOBI : PCJACOBI));
  check(KSPSetUp(solver));
  return {name_of(block_size), block_size, false,
          [problem](const double* b, double* x, int iterations) {
            check(KSPSetTolerances(problem->solver, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT,
                                   iterations));
            problem->with_arrays(x, b,
                                 [&] { check(KSPSolve(problem->solver, problem->y, problem->x)); });
          }};
}

std::string version() {
  return "PETSc " + std::to_string(PETSC_VERSION_MAJOR) + "." +
         std::to_string(PETSC_VERSION_MINOR) + "." + std::to_string(PETSC_VERSION_SUBMINOR) +
         " (one process)";
}

}  // namespace cnc::perf::petsc
