/* Systems of every kind against a dense solve. */
#include "problem.h"

static struct Problem p;

static void methods(void) {
  static const NLint solvers[] = {NL_SOLVER_DEFAULT, NL_BICGSTAB, NL_GMRES};
  static const NLint preconditioners[] = {NL_PRECOND_NONE, NL_PRECOND_JACOBI, NL_PRECOND_SSOR};
  int i, k;
  for (i = 0; i < 3; ++i)
    for (k = 0; k < 3; ++k) {
      make_general(&p, 40, 1u + (unsigned)i);
      new_context(&p);
      nlSolverParameteri(NL_SOLVER, solvers[i]);
      nlSolverParameteri(NL_PRECONDITIONER, preconditioners[k]);
      nlSolverParameteri(NL_INNER_ITERATIONS, 20);
      nlSolverParameterd(NL_OMEGA, 1.2);
      say_system(&p);
      solve_and_check(&p, "a general matrix");
      nlDeleteContext(nlGetCurrent());
    }
  for (k = 0; k < 3; ++k) {
    make_symmetric(&p, 40, 5);
    new_context(&p);
    nlSolverParameteri(NL_SOLVER, NL_CG);
    nlSolverParameteri(NL_PRECONDITIONER, preconditioners[k]);
    say_system(&p);
    solve_and_check(&p, "a symmetric matrix");
    nlDeleteContext(nlGetCurrent());
  }
}

static void symmetric_by_default(void) {
  NLint solver = -1, preconditioner = -1, limit = -1, nonzeros = -1;
  NLlong long_nonzeros = -1;
  make_symmetric(&p, 30, 6);
  lock(&p, 3, 0.25);
  /* As many rows as free variables: the ring without the locked one's. */
  p.rows = 29;
  {
    int i, k;
    for (i = 3; i < 29; ++i)
      for (k = 0; k < row_length; ++k) {
        p.index[i][k] = p.index[i + 1][k];
        p.value[i][k] = p.value[i + 1][k];
        p.b[i][0] = p.b[i + 1][0];
      }
  }
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 30);
  nlSolverParameteri(NL_SYMMETRIC, NL_TRUE);
  nlSolverParameterd(NL_THRESHOLD, 1e-14);
  say_system(&p);
  nlGetIntegerv(NL_SOLVER, &solver);
  nlGetIntegerv(NL_PRECONDITIONER, &preconditioner);
  nlGetIntegerv(NL_MAX_ITERATIONS, &limit);
  nlGetIntegerv(NL_NNZ, &nonzeros);
  nlGetIntegervL(NL_NNZ, &long_nonzeros);
  CHECK(solver == NL_CG);
  CHECK(preconditioner == NL_PRECOND_JACOBI);
  CHECK(limit == 5 * 29);
  CHECK(nonzeros == 3 * 29 - 2);
  CHECK(long_nonzeros == nonzeros);
  solve_and_check(&p, "a locked variable");
  nlDeleteContext(nlGetCurrent());
}

static void least_squares(void) {
  static const NLint solvers[] = {NL_SOLVER_DEFAULT, NL_CG, NL_BICGSTAB, NL_GMRES};
  static const NLint preconditioners[] = {NL_PRECOND_NONE, NL_PRECOND_JACOBI, NL_PRECOND_SSOR};
  int i, k, row;
  for (i = 0; i < 4; ++i)
    for (k = 0; k < 3; ++k) {
      make_least_squares(&p, 25, 60, 7u + (unsigned)i);
      p.systems = 1 + i % 3;
      p.is_normalized = k % 2;
      lock(&p, 4, 2);
      lock(&p, 17, -1);
      for (row = 0; row < p.rows; row += 3) p.scale[row] = 1.0 + 0.25 * (row % 4);
      new_context(&p);
      nlSolverParameteri(NL_SOLVER, solvers[i]);
      nlSolverParameteri(NL_PRECONDITIONER, preconditioners[k]);
      nlSolverParameteri(NL_INNER_ITERATIONS, 25);
      say_system(&p);
      solve_and_check(&p, "least squares");
      nlDeleteContext(nlGetCurrent());
    }
}

/* A variable in no equation keeps its value. */
static void unused_variable(void) {
  double x[max_variables];
  int i;
  make_least_squares(&p, 20, 50, 11);
  new_context(&p);
  nlDeleteContext(nlGetCurrent());
  ++p.variables;
  p.is_locked[20] = 1;
  p.start[20][0] = 7.5;
  dense_answer(&p, 0, x);
  new_context(&p);
  p.is_locked[20] = 0;
  say_system(&p);
  CHECK(nlSolve() == NL_TRUE);
  for (i = 0; i < 21; ++i) CHECK_NEAR(nlGetVariable((NLuint)i), x[i], 1e-11);
  nlDeleteContext(nlGetCurrent());
}

static void several_systems(void) {
  NLboolean converged = NL_FALSE;
  NLdouble error = -1, seconds = -1, gflops = -1;
  NLint iterations = -1;
  make_general(&p, 40, 12);
  p.systems = 3;
  new_context(&p);
  say_system(&p);
  solve_and_check(&p, "several systems");
  nlGetBooleanv(NL_CONVERGED_CNC, &converged);
  nlGetDoublev(NL_ERROR, &error);
  nlGetDoublev(NL_ELAPSED_TIME, &seconds);
  nlGetDoublev(NL_GFLOPS, &gflops);
  nlGetIntegerv(NL_USED_ITERATIONS, &iterations);
  CHECK(error >= 0 && error < 1e-13);
  CHECK(converged == (error <= 1e-14));
  CHECK(seconds > 0 && seconds < 60);
  CHECK(gflops > 0);
  CHECK(iterations > 3 && iterations < 60);
  nlDeleteContext(nlGetCurrent());
}

/* Doubles 24 bytes apart, where no double is aligned. */
static void bound_buffers(void) {
  static unsigned char memory[max_systems][24 * max_variables + 4];
  double x[max_variables];
  int i, s;
  make_least_squares(&p, 25, 60, 13);
  p.systems = 2;
  lock(&p, 9, 3);
  new_context(&p);
  nlEnable(NL_VARIABLES_BUFFER);
  CHECK(nlIsEnabled(NL_VARIABLES_BUFFER) == NL_TRUE);
  nlBegin(NL_SYSTEM);
  for (s = 0; s < 2; ++s) nlBindBuffer(NL_VARIABLES_BUFFER, (NLuint)s, memory[s] + 4, 24);
  say_variables(&p);
  say_matrix(&p);
  nlEnd(NL_SYSTEM);
  solve_and_check(&p, "bound buffers");
  for (s = 0; s < 2; ++s) {
    dense_answer(&p, s, x);
    for (i = 0; i < 25; ++i) {
      double value;
      unsigned char* bytes = (unsigned char*)&value;
      size_t k;
      for (k = 0; k < sizeof value; ++k) bytes[k] = memory[s][4 + 24 * (size_t)i + k];
      CHECK_NEAR(value, x[i], 1e-11);
    }
  }
  nlDeleteContext(nlGetCurrent());
}

/* Conjugate gradients with Jacobi's preconditioner as in the books. */
static void textbook_cg(int n, const double* A, const double* b, int iterations, double* x) {
  double r[max_variables], d[max_variables], q[max_variables], rz, before, dq;
  int i, j, k;
  for (i = 0; i < n; ++i) {
    r[i] = b[i];
    for (j = 0; j < n; ++j) r[i] -= A[i * n + j] * x[j];
    d[i] = 0;
  }
  for (before = 1, k = 0; k < iterations; ++k) {
    for (rz = 0, i = 0; i < n; ++i) rz += r[i] * r[i] / A[i * n + i];
    for (i = 0; i < n; ++i) d[i] = r[i] / A[i * n + i] + (k == 0 ? 0 : rz / before) * d[i];
    for (dq = 0, i = 0; i < n; ++i) {
      for (q[i] = 0, j = 0; j < n; ++j) q[i] += A[i * n + j] * d[j];
      dq += d[i] * q[i];
    }
    for (i = 0; i < n; ++i) {
      x[i] += rz / dq * d[i];
      r[i] -= rz / dq * q[i];
    }
    before = rz;
  }
}

/* At the limit of iterations the variables are those of the last one, whatever its residual. */
static void limit_of_iterations(void) {
  static double A[max_variables * max_variables];
  double b[max_variables], x[max_variables];
  NLboolean converged;
  NLdouble error;
  NLint iterations;
  int kind, i, s;
  for (kind = 0; kind < 4; ++kind) {
    if (kind < 2)
      make_symmetric(&p, 60, 14);
    else
      make_least_squares(&p, 40, 90, 18);
    p.systems = 1 + kind % 2;
    for (i = 0; i < p.variables; ++i) p.start[i][0] = 0.01 * i;
    new_context(&p);
    nlSolverParameteri(NL_SOLVER, NL_CG);
    nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_JACOBI);
    nlSolverParameteri(NL_MAX_ITERATIONS, 4);
    say_system(&p);
    CHECK(nlSolve() == NL_TRUE);
    nlGetBooleanv(NL_CONVERGED_CNC, &converged);
    nlGetIntegerv(NL_USED_ITERATIONS, &iterations);
    nlGetDoublev(NL_ERROR, &error);
    CHECK(converged == NL_FALSE);
    CHECK(iterations == 4);
    CHECK(error > 1e-8);
    for (s = 0; s < p.systems; ++s) {
      const int n = dense_system(&p, s, A, b);
      for (i = 0; i < n; ++i) x[i] = p.start[i][s];
      textbook_cg(n, A, b, 4, x);
      for (i = 0; i < n; ++i) CHECK_NEAR(nlMultiGetVariable((NLuint)i, (NLuint)s), x[i], 1e-12);
    }
    nlDeleteContext(nlGetCurrent());
  }
}

/* Symmetric and not definite: CG breaks down or does not, and the answer is there. */
static void indefinite(void) {
  int i;
  make_symmetric(&p, 40, 15);
  for (i = 0; i < 40; i += 2) p.value[i][3] = -9;
  new_context(&p);
  nlSolverParameteri(NL_SOLVER, NL_CG);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_JACOBI);
  say_system(&p);
  solve_and_check(&p, "an indefinite matrix");
  nlDeleteContext(nlGetCurrent());
}

static void cnc_solvers(void) {
  static const NLint solvers[] = {NL_CNC_FLOAT_CRS,    NL_CNC_DOUBLE_CRS, NL_CNC_FLOAT_BCRS2,
                                  NL_CNC_DOUBLE_BCRS2, NL_CNC_FLOAT_ELL,  NL_CNC_DOUBLE_ELL,
                                  NL_CNC_FLOAT_HYB,    NL_CNC_DOUBLE_HYB};
  int i;
  CHECK(nlInitExtension("CNC") == NL_TRUE);
  for (i = 0; i < 8; ++i) {
    make_symmetric(&p, 41, 16);
    new_context(&p);
    nlSolverParameteri(NL_SOLVER, solvers[i]);
    say_system(&p);
    solve_and_check(&p, "a solver of CNC's first version");
    nlDeleteContext(nlGetCurrent());
  }
}

/* Everything is locked: there is nothing to solve. */
static void no_unknowns(void) {
  int i;
  make_least_squares(&p, 5, 12, 17);
  for (i = 0; i < 5; ++i) lock(&p, i, i);
  new_context(&p);
  say_system(&p);
  CHECK(nlSolve() == NL_TRUE);
  for (i = 0; i < 5; ++i) CHECK(nlGetVariable((NLuint)i) == i);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  methods();
  symmetric_by_default();
  least_squares();
  unused_variable();
  several_systems();
  bound_buffers();
  limit_of_iterations();
  indefinite();
  cnc_solvers();
  no_unknowns();
  return failures == 0 ? 0 : 1;
}
