/* Entries by row and column, patterns, and systems whose values change. */
#include "problem.h"

static struct Problem p;

static NLboolean was_refreshed(void) {
  NLboolean refreshed = 2;
  nlGetBooleanv(NL_VALUES_REFRESHED_CNC, &refreshed);
  return refreshed;
}

static void say_entries(void) {
  int i, k, s;
  nlBegin(NL_MATRIX);
  for (i = 0; i < p.rows; ++i) {
    for (k = 0; k < row_length; ++k)
      CHECK(nlAddIJCoefficient((NLuint)i, (NLuint)p.index[i][k], p.value[i][k]) == (NLulong)-1);
    for (s = 0; s < p.systems; ++s)
      if (s == 0) {
        nlAddIRightHandSide((NLuint)i, p.b[i][s] - 1);
        nlAddIRightHandSide((NLuint)i, 1);
      } else {
        nlMultiAddIRightHandSide((NLuint)i, (NLuint)s, p.b[i][s]);
      }
  }
  nlEnd(NL_MATRIX);
}

static void entries(void) {
  make_general(&p, 40, 21);
  p.systems = 2;
  new_context(&p);
  nlEnable(NL_NO_VARIABLES_INDIRECTION);
  nlBegin(NL_SYSTEM);
  say_entries();
  nlEnd(NL_SYSTEM);
  solve_and_check(&p, "entries");
  nlDeleteContext(nlGetCurrent());
}

static void say_pattern(int length) {
  int i;
  nlBegin(NL_MATRIX_PATTERN);
  for (i = 0; i < p.rows; ++i) nlSetRowLength((NLuint)i, (NLuint)length);
  nlEnd(NL_MATRIX_PATTERN);
}

/* Each entry in two parts, the second by its index. */
static void pattern(void) {
  NLint nonzeros = 0;
  int i, k;
  make_general(&p, 40, 22);
  new_context(&p);
  nlBegin(NL_SYSTEM);
  say_pattern(row_length + 1); /* one place too many */
  nlBegin(NL_MATRIX);
  for (i = 0; i < p.rows; ++i) {
    for (k = 0; k < row_length; ++k) {
      const NLuint row = (NLuint)i, column = (NLuint)p.index[i][k];
      const NLulong at = nlAddIJCoefficient(row, column, 0.5 * p.value[i][k]);
      CHECK(at == (NLulong)(i * (row_length + 1) + k));
      nlAddIJCoefficientAt(row, column, 0.5 * p.value[i][k], at);
    }
    nlAddIRightHandSide((NLuint)i, p.b[i][0]);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  nlGetIntegerv(NL_NNZ, &nonzeros);
  CHECK(nonzeros == 40 * row_length);
  solve_and_check(&p, "a pattern");
  nlDeleteContext(nlGetCurrent());
}

static void pattern_by_offset(void) {
  int i, k;
  make_general(&p, 40, 23);
  new_context(&p);
  nlBegin(NL_SYSTEM);
  say_pattern(row_length);
  nlBegin(NL_MATRIX);
  for (i = p.rows - 1; i >= 0; --i) {
    for (k = 0; k < row_length; ++k)
      nlSetIJCoefficientAtRowOffset((NLuint)i, (NLuint)p.index[i][k], p.value[i][k],
                                    (NLuint)(row_length - 1 - k));
    nlAddIRightHandSide((NLuint)i, p.b[i][0]);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  solve_and_check(&p, "a pattern by offsets");
  nlDeleteContext(nlGetCurrent());
}

/* Of a symmetric matrix the lower triangle is kept; what is said of the upper one has no index. */
static void symmetric_pattern(void) {
  NLint solver = 0;
  int i, k;
  make_symmetric(&p, 40, 24);
  new_context(&p);
  nlSolverParameteri(NL_SYMMETRIC, NL_TRUE);
  nlBegin(NL_SYSTEM);
  say_pattern(3);
  nlBegin(NL_MATRIX);
  for (i = 0; i < p.rows; ++i) {
    for (k = 0; k < row_length; ++k) {
      const NLulong at = nlAddIJCoefficient((NLuint)i, (NLuint)p.index[i][k], p.value[i][k]);
      CHECK((at == (NLulong)-1) == (p.index[i][k] > i));
    }
    nlAddIRightHandSide((NLuint)i, p.b[i][0]);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  nlGetIntegerv(NL_SOLVER, &solver);
  CHECK(solver == NL_CG);
  solve_and_check(&p, "a symmetric pattern");
  nlDeleteContext(nlGetCurrent());
}

/* The same calls with other values, then other calls. */
static void refresh(void) {
  int i, k, time;
  for (k = 0; k < 2; ++k) {
    if (k == 0)
      make_general(&p, 40, 25);
    else
      make_least_squares(&p, 30, 70, 26);
    new_context(&p);
    for (time = 0; time < 4; ++time) {
      if (time == 3) p.index[1][2] = (p.index[1][2] + 1) % p.variables;
      for (i = 0; i < p.rows; ++i) {
        p.value[i][0] += 0.25;
        p.b[i][0] += 0.5 * i;
      }
      nlBegin(NL_SYSTEM);
      say_matrix(&p);
      nlEnd(NL_SYSTEM);
      CHECK(was_refreshed() == (time == 1 || time == 2));
      solve_and_check(&p, "a refreshed system");
    }
    nlDeleteContext(nlGetCurrent());
  }
}

/* Locks that move, and a value of a locked variable that changes. */
static void refresh_of_locks(void) {
  int time;
  make_least_squares(&p, 30, 70, 27);
  new_context(&p);
  for (time = 0; time < 4; ++time) {
    if (time == 0) lock(&p, 3, 1);
    if (time == 1) lock(&p, 3, 2);
    if (time == 2) p.is_locked[3] = 0;
    if (time == 2) lock(&p, 8, 4);
    if (time == 3) lock(&p, 9, 4);
    say_system(&p);
    CHECK(was_refreshed() == (time == 1));
    solve_and_check(&p, "moved locks");
  }
  nlDeleteContext(nlGetCurrent());
}

/* The parameters of a solve may change between systems. */
static void refresh_of_parameters(void) {
  static const NLint solvers[] = {NL_CG, NL_BICGSTAB, NL_GMRES, NL_SOLVER_DEFAULT};
  int time;
  make_symmetric(&p, 40, 28);
  new_context(&p);
  nlSolverParameteri(NL_INNER_ITERATIONS, 40);
  for (time = 0; time < 4; ++time) {
    nlSolverParameteri(NL_SOLVER, solvers[time]);
    nlSolverParameteri(NL_PRECONDITIONER, time % 2 ? NL_PRECOND_SSOR : NL_PRECOND_JACOBI);
    say_system(&p);
    solve_and_check(&p, "another solver");
  }
  nlDeleteContext(nlGetCurrent());
}

/* Other right-hand sides for the matrix that is there; least squares: A^T b. */
static void updated_right_hand_side(void) {
  double values[max_variables], b[max_rows];
  int i, k, time;
  make_general(&p, 40, 29);
  new_context(&p);
  say_system(&p);
  solve_and_check(&p, "the first right-hand side");
  for (time = 0; time < 2; ++time) {
    for (i = 0; i < 40; ++i) values[i] = p.b[i][0] = i - 10.0 * time;
    nlUpdateRightHandSide(values);
    solve_and_check(&p, "an updated right-hand side");
  }
  nlDeleteContext(nlGetCurrent());

  make_least_squares(&p, 30, 70, 30);
  new_context(&p);
  say_system(&p);
  for (i = 0; i < 30; ++i) values[i] = 0;
  for (i = 0; i < 70; ++i) {
    b[i] = p.b[i][0] = 1.0 / (i + 1);
    for (k = 0; k < row_length; ++k) values[p.index[i][k]] += p.value[i][k] * b[i];
  }
  nlUpdateRightHandSide(values);
  solve_and_check(&p, "an updated right-hand side of least squares");
  say_system(&p);
  solve_and_check(&p, "rows again");
  nlDeleteContext(nlGetCurrent());
}

/* Calls of OpenNL's first versions. */
static void row_parameters(void) {
  int i, k;
  make_least_squares(&p, 25, 60, 31);
  new_context(&p);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (i = 0; i < p.rows; ++i) {
    p.scale[i] = 2;
    nlRowParameteri(NL_ROW_SCALING, 2);
    nlRowParameterd(NL_RIGHT_HAND_SIDE, p.b[i][0]);
    nlBegin(NL_ROW);
    for (k = 0; k < row_length; ++k) nlCoefficient((NLuint)p.index[i][k], p.value[i][k]);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  solve_and_check(&p, "row parameters");
  nlDeleteContext(nlGetCurrent());
}

/* The current matrix and its parts, in order: here of least squares, A^T A. */
static void products(void) {
  double N[40 * 40], x[40], y[40], z[40], sum;
  unsigned seed = 32;
  int i, j, k, l;
  make_least_squares(&p, 40, 90, seed);
  new_context(&p);
  say_system(&p);
  for (i = 0; i < 40 * 40; ++i) N[i] = 0;
  for (i = 0; i < 90; ++i)
    for (k = 0; k < row_length; ++k)
      for (l = 0; l < row_length; ++l)
        N[p.index[i][k] * 40 + p.index[i][l]] += p.value[i][k] * p.value[i][l];
  for (i = 0; i < 40; ++i) x[i] = number(&seed);
  nlMultMatrixVector(nlGetCurrentMatrix(), x, y);
  for (i = 0; i < 40; ++i) {
    for (sum = 0, j = 0; j < 40; ++j) sum += N[i * 40 + j] * x[j];
    CHECK_NEAR(y[i], sum, 1e-13);
  }
  for (i = 0; i < 40; ++i) y[i] = x[i];
  nlMultDiagonal(y, 1.5);
  for (i = 0; i < 40; ++i) CHECK_NEAR(y[i], x[i] * N[i * 40 + i] / 1.5, 1e-13);
  nlMultDiagonalInverse(y, 1.5);
  for (i = 0; i < 40; ++i) CHECK_NEAR(y[i], x[i], 1e-13);
  nlMultLowerInverse(x, y, 1.5);
  nlMultUpperInverse(x, z, 1.5);
  for (i = 0; i < 40; ++i) {
    for (sum = N[i * 40 + i] / 1.5 * y[i], j = 0; j < i; ++j) sum += N[i * 40 + j] * y[j];
    CHECK_NEAR(sum, x[i], 1e-13);
    for (sum = N[i * 40 + i] / 1.5 * z[i], j = i + 1; j < 40; ++j) sum += N[i * 40 + j] * z[j];
    CHECK_NEAR(sum, x[i], 1e-13);
  }
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  nlDeleteContext(nlGetCurrent());
}

/* A mass matrix beside the stiffness matrix: assembled, multiplied with, and no eigenvalues. */
static void mass_matrix(void) {
  double x[10], y[10];
  int i;
  make_general(&p, 10, 33);
  new_context(&p);
  nlBegin(NL_SYSTEM);
  say_matrix(&p);
  nlMatrixMode(NL_MASS_MATRIX);
  nlBegin(NL_MATRIX);
  for (i = 0; i < 10; ++i) nlAddIJCoefficient((NLuint)i, (NLuint)i, i + 1.0);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  for (i = 0; i < 10; ++i) x[i] = 1;
  nlMultMatrixVector(nlGetCurrentMatrix(), x, y);
  for (i = 0; i < 10; ++i) CHECK(y[i] == i + 1.0);
  solve_and_check(&p, "a system with a mass matrix");
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  entries();
  pattern();
  pattern_by_offset();
  symmetric_pattern();
  refresh();
  refresh_of_locks();
  refresh_of_parameters();
  updated_right_hand_side();
  row_parameters();
  products();
  mass_matrix();
  return failures == 0 ? 0 : 1;
}
