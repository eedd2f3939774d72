#ifndef CNC_TESTS_NL_PROBLEM_H
#define CNC_TESTS_NL_PROBLEM_H

/* A system as a list of rows, which is said to nl.h and solved densely. */

#include <cnc/nl.h>

#include "check.h"

enum { max_variables = 64, max_rows = 160, row_length = 4, max_systems = 3 };

struct Problem {
  int variables, rows, systems;
  int is_least_squares, is_normalized;
  int index[max_rows][row_length]; /* the same variable may come more than once */
  double value[max_rows][row_length];
  double b[max_rows][max_systems];
  double scale[max_rows];
  int is_locked[max_variables];
  double start[max_variables][max_systems]; /* where a free variable starts, what a locked one is */
};

/* n equations, diagonally dominant. */
static inline void make_general(struct Problem* p, int n, unsigned seed) {
  int i, k;
  p->variables = p->rows = n;
  p->systems = 1;
  p->is_least_squares = p->is_normalized = 0;
  for (i = 0; i < n; ++i) {
    for (k = 0; k < row_length; ++k) {
      p->index[i][k] = k == 0 ? i : (i + 7 * k) % n;
      p->value[i][k] = k == 0 ? 4.0 + number(&seed) : number(&seed);
    }
    for (k = 0; k < max_systems; ++k) p->b[i][k] = number(&seed);
    p->scale[i] = 1;
  }
  for (i = 0; i < n; ++i) {
    p->is_locked[i] = 0;
    for (k = 0; k < max_systems; ++k) p->start[i][k] = 0;
  }
}

/* A ring of springs with a weight at each variable: symmetric and positive definite. */
static inline void make_symmetric(struct Problem* p, int n, unsigned seed) {
  int i;
  double spring[max_variables];
  make_general(p, n, seed);
  for (i = 0; i < n; ++i) spring[i] = 1.5 + number(&seed);
  for (i = 0; i < n; ++i) {
    const int next = (i + 1) % n, previous = (i + n - 1) % n;
    p->index[i][0] = p->index[i][3] = i;
    p->value[i][0] = spring[i] + spring[previous];
    p->index[i][1] = next;
    p->value[i][1] = -spring[i];
    p->index[i][2] = previous;
    p->value[i][2] = -spring[previous];
    p->value[i][3] = 0.5;
  }
}

/* m >= 2 n equations of n variables, for a least-squares problem. */
static inline void make_least_squares(struct Problem* p, int n, int m, unsigned seed) {
  int i, k;
  make_general(p, n, seed);
  p->rows = m;
  p->is_least_squares = 1;
  for (i = 0; i < m; ++i) {
    for (k = 0; k < row_length; ++k) {
      p->index[i][k] = (i + (1 + i / n) * k) % n;
      p->value[i][k] = k == 0 ? 3.0 + number(&seed) : number(&seed);
    }
    for (k = 0; k < max_systems; ++k) p->b[i][k] = number(&seed);
    p->scale[i] = 1;
  }
}

static inline void lock(struct Problem* p, int variable, double value) {
  int k;
  p->is_locked[variable] = 1;
  for (k = 0; k < max_systems; ++k) p->start[variable][k] = value + k;
}

/* What each row is multiplied by. */
static inline double factor_of(const struct Problem* p, int row) {
  double sum = 0;
  int k;
  for (k = 0; k < row_length; ++k) sum += p->value[row][k] * p->value[row][k];
  return p->scale[row] / (p->is_normalized ? sqrt(sum) : 1.0);
}

/* The matrix of the free variables, [n][n], and the right-hand side of system s. Returns n. */
static inline int dense_system(const struct Problem* p, int s, double* N, double* c) {
  static double A[max_rows * max_variables];
  double b[max_rows];
  int unknown[max_variables], n = 0, i, j, k;
  for (i = 0; i < p->variables; ++i) unknown[i] = p->is_locked[i] ? -1 : n++;
  for (i = 0; i < p->rows; ++i) {
    const double factor = factor_of(p, i);
    for (j = 0; j < n; ++j) A[i * n + j] = 0;
    b[i] = factor * p->b[i][s];
    for (k = 0; k < row_length; ++k) {
      const int variable = p->index[i][k];
      if (unknown[variable] >= 0)
        A[i * n + unknown[variable]] += factor * p->value[i][k];
      else
        b[i] -= factor * p->value[i][k] * p->start[variable][s];
    }
  }
  for (i = 0; i < n; ++i) {
    c[i] = p->is_least_squares ? 0 : b[i];
    for (j = 0; j < n; ++j) N[i * n + j] = p->is_least_squares ? 0 : A[i * n + j];
    for (k = 0; k < p->rows && p->is_least_squares; ++k) {
      for (j = 0; j < n; ++j) N[i * n + j] += A[k * n + i] * A[k * n + j];
      c[i] += A[k * n + i] * b[k];
    }
  }
  return n;
}

/* All variables of system s. */
static inline void dense_answer(const struct Problem* p, int s, double* x) {
  static double N[max_variables * max_variables];
  double c[max_variables];
  const int n = dense_system(p, s, N, c);
  int i, k = 0;
  dense_solve(n, N, c);
  for (i = 0; i < p->variables; ++i) x[i] = p->is_locked[i] ? p->start[i][s] : c[k++];
}

/* A context with the parameters of the problem, solved far enough to compare with a dense solve. */
static inline NLContext new_context(const struct Problem* p) {
  const NLContext context = nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, p->variables);
  if (p->systems != 1) nlSolverParameteri(NL_NB_SYSTEMS, p->systems);
  if (p->is_least_squares) nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  if (p->is_normalized) nlEnable(NL_NORMALIZE_ROWS);
  nlSolverParameterd(NL_THRESHOLD, 1e-14);
  nlSolverParameteri(NL_MAX_ITERATIONS, 2000);
  return context;
}

static inline void say_variables(const struct Problem* p) {
  int i, s;
  for (i = 0; i < p->variables; ++i) {
    for (s = 0; s < p->systems; ++s) nlMultiSetVariable((NLuint)i, (NLuint)s, p->start[i][s]);
    if (p->is_locked[i])
      nlLockVariable((NLuint)i);
    else
      nlUnlockVariable((NLuint)i);
  }
}

static inline void say_row(const struct Problem* p, int row) {
  int k, s;
  if (p->scale[row] != 1) nlRowScaling(p->scale[row]);
  nlBegin(NL_ROW);
  for (k = 0; k < row_length; ++k) nlCoefficient((NLuint)p->index[row][k], p->value[row][k]);
  for (s = 0; s < p->systems; ++s) nlMultiRightHandSide((NLuint)s, p->b[row][s]);
  nlEnd(NL_ROW);
}

static inline void say_matrix(const struct Problem* p) {
  int i;
  nlBegin(NL_MATRIX);
  for (i = 0; i < p->rows; ++i) say_row(p, i);
  nlEnd(NL_MATRIX);
}

static inline void say_system(const struct Problem* p) {
  nlBegin(NL_SYSTEM);
  say_variables(p);
  say_matrix(p);
  nlEnd(NL_SYSTEM);
}

/* Whether the variables are those of the dense solve. */
static inline void check_answer(const struct Problem* p, const char* what) {
  double x[max_variables];
  const int before = failures;
  int i, s;
  for (s = 0; s < p->systems; ++s) {
    dense_answer(p, s, x);
    for (i = 0; i < p->variables; ++i)
      CHECK_NEAR(nlMultiGetVariable((NLuint)i, (NLuint)s), x[i], 1e-11);
  }
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  if (failures != before) fprintf(stderr, "  of %s: %s\n", what, nlGetMessageCNC());
}

static inline void solve_and_check(const struct Problem* p, const char* what) {
  CHECK(nlSolve() == NL_TRUE);
  check_answer(p, what);
}

#endif
